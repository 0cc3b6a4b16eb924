"""The format of the database: made on first use, brought up to date, refused where it is newer.

To change the tables, raise `CURRENT` and add to `STEPS` the function that turns the format before
into the new one. It runs in the transaction that opens the database.
"""

from collections.abc import Callable, Mapping

from sqlalchemy import Connection, insert, inspect, select, text, update

from proce.errors import StoreError
from proce.server.store.tables import FORMAT, METADATA

CURRENT = 1
STEPS: Mapping[int, Callable[[Connection], None]] = {}  # from this format to the next one
_MAKING = 0x70726F6366  # PostgreSQL's advisory lock while tables are made or changed


def bring_up_to_date(
    connection: Connection,
    shown: str,
    current: int = CURRENT,
    steps: Mapping[int, Callable[[Connection], None]] = STEPS,
) -> None:
    """Make the tables where there are none, or change those of an older format.

    Raises
    ------
    StoreError
        The database is of a newer ProCE, or holds something else under the names of our tables.
    """
    if connection.dialect.name == "postgresql":
        encoding = connection.scalar(text("SHOW server_encoding"))
        if encoding != "UTF8":
            raise StoreError(
                f"database {shown}: its encoding is {encoding}, which cannot hold every text."
                " Create the database with ENCODING 'UTF8'."
            )
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MAKING})
    ours = set(METADATA.tables) & set(inspect(connection).get_table_names())
    if not ours:
        METADATA.create_all(connection)
        connection.execute(insert(FORMAT).values(version=current))
        return
    versions = connection.scalars(select(FORMAT.c.version)).all() if FORMAT.name in ours else []
    if len(versions) != 1 or not isinstance(versions[0], int) or versions[0] < 1:
        raise StoreError(
            f"database {shown}: it has a table {min(ours)!r}, but not in a format that ProCE wrote."
            " Name another database."
        )
    (version,) = versions
    if version > current:
        raise StoreError(
            f"database {shown}: it has format {version} of a newer ProCE; this one knows formats"
            f" up to {current}. Upgrade ProCE, or name another database."
        )
    for older in range(version, current):
        steps[older](connection)
    if version < current:
        connection.execute(update(FORMAT).values(version=current))
