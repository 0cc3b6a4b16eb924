"""The error of a wrong request, which names the field that is wrong."""

from proce.errors import ProceError


class RequestError(ProceError, ValueError):
    """A field of a request that cannot be honoured.

    Parameters
    ----------
    field
        Where the field stands in the request, such as ``rows[0].savings`` or ``rules[2]``.
    message
        What is wrong with it, what was expected, and what to do.

    Attributes
    ----------
    field, message
        The parameters of the same names.
    position
        How many characters of a text stand before the mistake; ``None`` where it has no place.
    """

    position: int | None = None

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)  # so that the error survives the way between processes
        self.field, self.message = field, message

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"
