"""Units of time: what a feature that waits is counted in."""

_DAYS_PER_YEAR = 365.25
YEARS_PER_UNIT = {
    "year": 1.0,
    "month": 1 / 12,
    "week": 7 / _DAYS_PER_YEAR,
    "day": 1 / _DAYS_PER_YEAR,
}
_SPELLINGS = {
    **dict.fromkeys(("year", "years", "yr", "yrs", "y"), "year"),
    **dict.fromkeys(("month", "months", "mo", "mos"), "month"),
    **dict.fromkeys(("week", "weeks", "wk", "wks"), "week"),
    **dict.fromkeys(("day", "days", "d"), "day"),
}


def time_unit(unit: str | None) -> str | None:
    """Return ``year``, ``month``, ``week`` or ``day``; ``None`` where a unit is none of time.

    A feature without a unit is counted in years.
    """
    return "year" if unit is None else _SPELLINGS.get(unit.strip().rstrip(".").lower())
