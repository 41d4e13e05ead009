"""Mends a store in place: proposes from what a check found, copies first, then one short transaction a fault.

Each repair brings other faults to light or makes them moot, so that the store is checked again after each round,
until nothing that can be mended is left. Threads that were mended say so in a notice.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from sidekeep.model.errors import SidekeepError
from sidekeep.store import repair_nodes, repair_rows, repair_schema
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import Store
from sidekeep.store.repair_copy import copy_as_it_is, free_name, refuse_without_room
from sidekeep.store.tree import first_key
from sidekeep.store.tx import Tx
from sidekeep.store.verify import Progress, Report, verify
from sidekeep.store.verify_findings import Finding

ROUNDS = 6

Mend = Callable[[Tx, Finding], object]

#: In this order: what others need to be read at all, then conversations from the first node on, then the rest.
MENDS: dict[str, Mend] = {
    "schema_lost": repair_schema.lost,
    "schema_changed": repair_schema.changed,
    "index_damaged": repair_rows.index_damaged,
    "text_damaged": repair_rows.text_damaged,
    "setting_damaged": repair_rows.setting_damaged,
    "receipt_damaged": repair_rows.receipt_damaged,
    "counter": repair_rows.counter,
    "store_id": repair_rows.store_id,
    "thread_id": repair_rows.thread_id,
    "thread_lost": repair_rows.thread_lost,
    "seq_behind": repair_rows.seq_behind,
    "node_lost": lambda tx, finding: repair_nodes.put_placeholder(tx, finding.key or 0),
    "node_parent": lambda tx, finding: repair_nodes.rehang(tx, finding.key or 0),
    "node_undecodable": lambda tx, finding: repair_nodes.mend(tx, finding.key or 0),
    "node_digest": lambda tx, finding: repair_nodes.mend(tx, finding.key or 0),
    "leaf_missing": lambda tx, finding: repair_nodes.move_leaf(tx, finding.key or 0),
    "leaf_elsewhere": lambda tx, finding: repair_nodes.move_leaf(tx, finding.key or 0),
    "leaf_unreachable": lambda tx, finding: repair_nodes.move_leaf(tx, finding.key or 0),
    "branch_choice": repair_rows.branch_choice,
    "blob_damaged": repair_rows.blob_damaged,
    "attachment_damaged": repair_rows.attachment_damaged,
    "reference": repair_rows.reference,
    "page_part": repair_rows.page_part,
    "page_digest": repair_rows.page_digest,
    "blob_orphan": repair_rows.blob_orphan,
    "chunk_orphan": repair_rows.chunk_orphan,
    "revision": repair_rows.revision,
    "change_ahead": repair_rows.change_ahead,
    "snapshot_damaged": repair_rows.snapshot_damaged,
    "search_left_over": repair_rows.search_left_over,
    "search_damaged": repair_rows.search_damaged,
    "search_ahead": repair_rows.search_damaged,
    "change_lost": repair_rows.change_lost,
}
#: Faults of a conversation: its thread says in a notice what was mended.
TOLD = {
    "thread_lost": "its entry in the list was made anew",
    "node_lost": "lost messages are marked",
    "node_parent": "a message was hung under its parent again",
    "node_undecodable": "a message that could not be read was healed or marked",
    "node_digest": "a message that did not match its digest was healed or marked",
    "leaf_missing": "it shows its newest message again",
    "leaf_elsewhere": "it shows its newest message again",
    "leaf_unreachable": "it shows its newest message again",
}
_ONCE = frozenset(("index_damaged", "search_damaged", "search_left_over", "search_ahead", "change_lost"))


class Outcome(NamedTuple):
    """What a repair did: how many of each kind were mended, what it could not do, what is left, and the copy."""

    mended: dict[str, int]
    refused: list[str]
    left: Report
    copy: str | None


def repair(
    store: Store, doorway: Doorway, found: Report, *, deep: bool, progress: Progress, copy: bool = True
) -> Outcome:
    """Mend what `found` names and what comes to light by it. The file itself must be readable (see `salvage`).

    Raises StorageFull when there is no room for the copy; then nothing was changed.
    """
    path = None
    if copy:
        refuse_without_room(store.places)
        path = free_name(store.places, "before-repair")
        copy_as_it_is(store.db, path, lambda done, total: progress("copy before the repair", done, total))
    mended: dict[str, int] = {}
    refused: list[str] = []
    told: dict[int, set[str]] = {}
    for _ in range(ROUNDS):
        if not _round(doorway, found, mended, refused, told, progress):
            break
        found = verify(store.db, deep=deep, progress=progress)
        if found.sound or found.unreadable:
            break
    _leave_notices(doorway, told, refused)
    return Outcome(mended, refused, verify(store.db, deep=deep, progress=progress) if told else found, path)


def _round(
    doorway: Doorway,
    found: Report,
    mended: dict[str, int],
    refused: list[str],
    told: dict[int, set[str]],
    progress: Progress,
) -> int:
    """One pass over the findings; returns how many were mended."""
    count = 0
    order = {code: place for place, code in enumerate(MENDS)}
    findings = sorted(
        (finding for finding in found.findings if finding.code in MENDS),
        key=lambda finding: (order[finding.code], finding.key or 0),
    )
    once: set[str] = set()
    for number, finding in enumerate(findings):
        progress("repair", number, len(findings))
        if finding.code in _ONCE:
            if finding.code in once:
                continue
            once.add(finding.code)
        try:
            if not _mend(doorway, finding):
                continue
        except SidekeepError as error:
            refused.append(f"{finding.message} {error.message}")
            continue
        count += 1
        mended[finding.code] = mended.get(finding.code, 0) + 1
        if finding.code in TOLD and finding.key is not None:
            thread = finding.key if finding.key < first_key(1) else finding.key >> 32
            told.setdefault(thread, set()).add(TOLD[finding.code])
    return count


def _mend(doorway: Doorway, finding: Finding) -> bool:
    """One fault, in transactions of its own; False when an earlier repair has made it moot."""

    def decide(tx: Tx) -> str:
        try:
            return "" if MENDS[finding.code](tx, finding) in (False, "") else "done"
        except repair_rows.Again:
            return "again"

    while (did := doorway.run(decide)) == "again":
        continue
    return bool(did)


def _leave_notices(doorway: Doorway, told: dict[int, set[str]], refused: list[str]) -> None:
    for thread, what in sorted(told.items()):
        words = ", ".join(sorted(what))
        try:
            doorway.run(partial(repair_nodes.leave_notice, key=thread, what=words))
        except SidekeepError as error:
            refused.append(f"No notice could be left in thread number {thread}: {error.message}")
