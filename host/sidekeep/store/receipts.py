"""Receipts: the durable answer to each command, in the transaction of its change."""

from typing import NamedTuple

import apsw

from sidekeep.model.errors import InvalidCommand
from sidekeep.model.limits import RECEIPT_MS
from sidekeep.store.sql import statements
from sidekeep.store.tx import Tx

sql = statements(__file__)


class Identity(NamedTuple):
    """Who a command is: the same one again gets the same answer."""

    client_id: str
    submission_id: str
    command_type: str
    fingerprint: str


def standing(tx: Tx, who: Identity) -> str | None:
    """The terminal answer that this command already has.

    Raises InvalidCommand when the identity was used for another type or payload; the first receipt stays.
    """
    row = tx.one(sql.find, (who.submission_id, who.client_id))
    if row is None:
        return None
    command_type, fingerprint, response = row
    if command_type == who.command_type and fingerprint == who.fingerprint:
        return str(response)
    raise OtherPayload(
        f"submissionId {who.submission_id} was already used for another command ({command_type}); "
        "a new command needs a new submissionId."
    )


class OtherPayload(InvalidCommand):
    """The refusal of another payload; it leaves no receipt of its own."""

    keeps_receipt = False


class Standing(Exception):
    """This command has its receipt already."""


def keep(tx: Tx, who: Identity, status: str, response: str) -> None:
    """Write the receipt; `status` is `acknowledged` or `rejected`. Raises Standing."""
    client_id, submission_id, command_type, fingerprint = who
    now = tx.now
    try:
        tx.run(
            sql.keep,
            (client_id, submission_id, command_type, status, fingerprint, now, now + RECEIPT_MS, response),
        )
    except apsw.ConstraintError as error:
        raise Standing from error


def find(tx: Tx, client_id: str, submission_id: str) -> tuple[str, str] | None:
    """(status, response) of a command, or None when it is unknown."""
    row = tx.one(sql.status, (submission_id, client_id))
    return None if row is None else (str(row[0]), str(row[1]))


def collect(tx: Tx, limit: int) -> int:
    """Remove at most `limit` expired receipts; returns how many."""
    tx.run(sql.collect, (tx.now, limit))
    return tx.changed_rows()
