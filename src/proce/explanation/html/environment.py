"""The Jinja2 environment of every template: all text is escaped and stays on one line."""

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from proce.explanation.words.values import one_line


def render(template: str, record: object) -> str:
    """Return a template of this package filled in.

    Parameters
    ----------
    template
        The name of a file in ``templates/``.
    record
        What the template shows; the template calls it ``record``.
    """
    return _ENVIRONMENT.get_template(template).render(record=record)


def printable(value: object) -> object:
    """Return a value as text on one line without control characters; markup stays as it is."""
    if isinstance(value, Markup):
        return value
    text = str(value)
    return one_line("".join(char for char in text if char.isprintable() or char.isspace()))


def style_string(text: str) -> str:
    """Return text as a string of a style sheet, in which only letters and digits are bare."""
    plain = str(printable(text))
    return (
        '"'
        + "".join(
            char if char.isascii() and char.isalnum() else f"\\{ord(char):x} " for char in plain
        )
        + '"'
    )


_ENVIRONMENT = Environment(
    loader=PackageLoader("proce.explanation.html"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=printable,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
