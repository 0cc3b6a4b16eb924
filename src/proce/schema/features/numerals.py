"""Numbers and counts for people: one minus sign, and nouns that agree with their number.

Tables for programs, such as csv and JSON, keep the hyphen that they can read back.
"""

MINUS = "−"


def with_minus(number: str) -> str:
    """Return a number that is written out with a minus sign in the place of a hyphen."""
    if number.startswith("-") and not any(digit in number for digit in "123456789"):
        number = number[1:]
    return number.replace("-", MINUS)


def counted(count: float, noun: str, plural: str | None = None) -> str:
    """Return how many there are of something, with its noun in the right number."""
    number = with_minus(f"{count:,.12g}")
    return f"{number} {noun if number == '1' else plural or f'{noun}s'}"
