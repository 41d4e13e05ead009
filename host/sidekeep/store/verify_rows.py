"""Checks what the store says of itself: receipts, changes against revisions, runs' snapshots, counters."""

from typing import Any

import apsw
import msgspec

from sidekeep.model.digests import digest_of, sha256_hex
from sidekeep.model.ids import is_uuid
from sidekeep.store import settings
from sidekeep.store.sql import statements
from sidekeep.store.verify_findings import Look, Report

sql = statements(__file__)

#: Tables whose rows carry a revision that `store.changed` tells.
REVISED = frozenset(("folders", "presets", "rules", "connections", "memories", "skills", "projects"))
ANSWERS = {"acknowledged": "command.ack", "rejected": "command.rejected"}
CUT = "keep what is left of it as a page that was cut by damage, with a digest of that"
_EACH = 1000
_object = msgspec.json.Decoder(dict[str, Any]).decode


def check(db: Look, report: Report) -> None:
    for what, part in (
        ("The table of receipts", _receipts),
        ("The table of changes", _changes),
        ("The table of runs", _snapshots),
        ("The table of kept pages", _pages),
        ("The table of the store's own counters", _counters),
        ("The table of settings", _settings),
    ):
        try:
            part(db, report)
        except apsw.CorruptError as error:
            report.damaged(what, error)


def _receipts(db: Look, report: Report) -> None:
    for number, row in enumerate(db.rows(sql.receipts)):
        if number % _EACH == 0:
            report.progress("receipts", number, 0)
        report.checked["receipts"] += 1
        client, submission, kind, status, fingerprint, response = row
        if not _answers(submission, status, response) or not _is_digest(fingerprint) or not kind:
            named = submission.decode("utf-8", "replace")
            report.fault(
                "receipt_damaged",
                f"The receipt of command {named} cannot be answered with.",
                "answer the command, if it comes again, with `storage_corrupt`: it is not done twice",
                id=named,
                more=(client, submission),
            )


def _answers(submission: bytes, status: str, response: bytes) -> bool:
    try:
        answer = _object(response)
    except (msgspec.DecodeError, RecursionError):
        return False
    return answer.get("type") == ANSWERS.get(status) and answer.get("submissionId") == submission.decode(
        "utf-8", "replace"
    )


def _is_digest(text: bytes) -> bool:
    return len(text) == 64 and not text.strip(b"0123456789abcdef")


def _changes(db: Look, report: Report) -> None:
    report.progress("changes", 0, 0)
    count, first, last = db.some(sql.change_range)
    report.checked["changes"] += count
    if count != last - first + 1:
        report.fault(
            "change_lost",
            f"{last - first + 1 - count} of the changes that others have yet to hear of are gone.",
            "let everybody read anew",
        )
    for key, thread_id, revision, told in db.rows(sql.thread_revisions):
        report.fault(
            "revision",
            f"The thread has revision {revision}, but {told} was told.",
            "give it the higher one, and tell it",
            thread=thread_id,
            key=key,
            more=told,
        )
    for seq, thread_id, number in db.rows(sql.node_changes):
        report.fault(
            "change_ahead",
            f"Change {seq} tells of message number {number}, which the thread never had.",
            "forget the change",
            thread=thread_id,
            key=seq,
        )
    for table, thing_id, told, _seq in list(db.rows(sql.changed_things)):
        if table not in REVISED or told is None:
            continue
        row = db.one(f"SELECT revision FROM {table} WHERE id = ?", (thing_id,))
        if row is not None and row[0] != told:
            report.fault(
                "revision",
                f"{thing_id} of {table} has revision {row[0]}, but {told} was told.",
                "give it the higher one, and tell it",
                id=thing_id,
                more=(table, told),
            )


def _snapshots(db: Look, report: Report) -> None:
    report.progress("runs", 0, 0)
    for key, run_id, environment, digest, _recoverable in db.rows(sql.snapshots):
        report.checked["snapshots"] += 1
        if not _is_intact(environment, digest):
            report.fault(
                "snapshot_damaged",
                f"The environment of run {run_id} does not match its digest; it cannot be continued.",
                "keep what it had said as a message, and forget the environment",
                id=run_id,
                key=key,
            )


def _is_intact(environment: bytes, digest: str | None) -> bool:
    try:
        snapshot = _object(environment)
        said = snapshot.pop("digest", None)
        return bool(said == digest == digest_of(snapshot))
    except (msgspec.DecodeError, RecursionError):
        return False


def _pages(db: Look, report: Report) -> None:
    """A page's digest covers its text, its address and the digests of its parts."""
    report.progress("pages", 0, 0)
    for key, page_id, url, title, captured_at, digest, cut, text in db.rows(sql.pages):
        parts = [sha for (sha,) in db.rows(sql.page_parts, (key,))]
        if None in parts:
            continue  # a part that is lost has a finding of its own
        subject: dict[str, Any] = {"capturedAt": captured_at, "parts": parts, "title": title, "url": url}
        report.checked["pages"] += 1
        try:
            if cut is not None:
                subject["cut"] = _object(cut)
            if text is not None:
                subject["text"] = sha256_hex(text)
            right = digest_of(subject) == digest
        except (msgspec.DecodeError, RecursionError):
            right = False
        if not right:
            report.fault("page_digest", f"The kept page {page_id} does not match its digest.", CUT, id=page_id, key=key)


def _counters(db: Look, report: Report) -> None:
    found = dict(db.rows("SELECT key, value FROM meta"))
    newest = max(db.number(sql.newest_thread), db.number(sql.newest_owner))
    counter = found.get("nextThread")
    if type(counter) is not int or counter <= newest:
        report.fault(
            "counter",
            "A new thread would get the number of one that is here.",
            "count on from the newest",
            more=newest + 1,
        )
    if not is_uuid(found.get("storeId")):
        report.fault("store_id", "The store has lost its id.", "give it a new one")
    indexed = found.get("indexedChange")
    last = db.number("SELECT coalesce(max(seq), 0) FROM changes")
    if type(indexed) is not int or indexed > last:
        report.fault(
            "search_ahead", "The search index says it has seen what has yet to come.", "build the search index anew"
        )


def _settings(db: Look, report: Report) -> None:
    """Values of another kind than their key takes. What is no JSON at all is named by the check of texts."""
    for key, value in db.rows(f"SELECT key, CAST(value AS BLOB) FROM settings WHERE key IN ({_KEYS})"):
        fault = settings.fault_of(key, value)
        if fault is not None and fault != settings.UNREADABLE:
            remedy = "block every site until it is set anew" if key in settings.CLOSED else "put back its default"
            report.fault("setting_damaged", f"The setting {key} {fault}.", remedy, id=key)


_KEYS = ", ".join(f"'{key}'" for key in settings.KEYS)
