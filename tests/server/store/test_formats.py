"""Databases of other formats: brought up to date, or refused."""

import pytest
from sqlalchemy import Connection, delete, insert, text, update

from proce.errors import StoreError
from proce.server.store import Store
from proce.server.store.tables import FORMAT, bring_up_to_date


def test_a_database_is_made_once_and_kept(address: str) -> None:
    first = Store.open(address)
    id = first.create({"n": 1}, "applicant").id
    first.close()
    second = Store.open(address)
    assert second.record(id) is not None
    second.close()


@pytest.mark.parametrize("version", [2, 99])
def test_a_newer_format_is_refused_and_left_alone(address: str, version: int) -> None:
    store = Store.open(address)
    with store._database.writing() as connection:
        connection.execute(update(FORMAT).values(version=version))
    store.close()
    with pytest.raises(StoreError, match=f"format {version} of a newer ProCE"):
        Store.open(address)


@pytest.mark.parametrize("versions", [[], [0], [-1], [1, 1]])
def test_an_unknown_format_is_refused(address: str, versions: list[int]) -> None:
    store = Store.open(address)
    with store._database.writing() as connection:
        connection.execute(delete(FORMAT))
        for version in versions:
            connection.execute(insert(FORMAT).values(version=version))
    store.close()
    with pytest.raises(StoreError, match="not in a format that ProCE wrote"):
        Store.open(address)


def test_tables_of_others_do_not_matter_unless_they_have_our_names(address: str) -> None:
    store = Store.open(address)
    with store._database.writing() as connection:
        connection.execute(text("CREATE TABLE customers (id INTEGER)"))
        connection.execute(text("DROP TABLE proce_format"))
    store.close()
    with pytest.raises(StoreError, match="has a table 'proce_explanations'"):
        Store.open(address)


def test_an_older_format_is_brought_up_to_date_step_by_step(address: str) -> None:
    store = Store.open(address)
    id = store.create({}, "applicant").id
    steps = []

    def step(number: int, statement: str) -> object:
        def change(connection: Connection) -> None:
            steps.append(number)
            connection.execute(text(statement))

        return change

    changes = {
        1: step(1, "ALTER TABLE proce_explanations ADD COLUMN reviewed INTEGER"),
        2: step(2, "UPDATE proce_explanations SET reviewed = 7"),
    }
    with store._database.writing() as connection:
        bring_up_to_date(connection, "here", 3, changes)  # type: ignore[arg-type]
    with store._database.reading() as connection:
        assert connection.scalar(text("SELECT reviewed FROM proce_explanations")) == 7
        assert connection.scalar(text("SELECT version FROM proce_format")) == 3
    assert steps == [1, 2]
    assert store.record(id) is not None
    store.close()


def test_a_step_that_fails_changes_nothing(address: str) -> None:
    store = Store.open(address)

    def fail(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE proce_half (id INTEGER)"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), store._database.writing() as connection:
        bring_up_to_date(connection, "here", 2, {1: fail})
    with store._database.reading() as connection:
        assert connection.scalar(text("SELECT version FROM proce_format")) == 1
    with pytest.raises(StoreError), store._database.reading() as connection:
        connection.execute(text("SELECT * FROM proce_half"))
    store.close()
