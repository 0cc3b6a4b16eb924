"""Numbers and counts for people: one minus sign, and nouns that agree with their number.

Tables for programs, such as csv and JSON, keep the hyphen that they can read back.
"""

MINUS = "−"


def with_minus(number: str) -> str:
    """Return a number that is written out with a minus sign in the place of a hyphen.

    Examples
    --------
    >>> with_minus("-1,200"), with_minus("1e-20"), with_minus("-0.0")
    ('−1,200', '1e−20', '0.0')
    """
    if number.startswith("-") and not any(digit in number for digit in "123456789"):
        number = number[1:]
    return number.replace("-", MINUS)


def counted(count: float, noun: str, plural: str | None = None) -> str:
    """Return how many there are of something, with its noun in the right number.

    Parameters
    ----------
    count
        How many: a whole number, or one with decimals.
    noun
        What is counted, in the singular.
    plural
        The noun where there is not exactly one; by default with an ``s``.

    Examples
    --------
    >>> counted(1, "row"), counted(0, "row"), counted(1200, "row"), counted(2, "person", "people")
    ('1 row', '0 rows', '1,200 rows', '2 people')
    """
    number = with_minus(f"{count:,.12g}")
    return f"{number} {noun if number == '1' else plural or f'{noun}s'}"
