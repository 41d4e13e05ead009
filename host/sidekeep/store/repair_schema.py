"""Makes lost or changed tables, indexes and triggers anew, where nothing that is still there is lost by it."""

from sidekeep.store import repair_rows, search_index
from sidekeep.store.tx import Tx
from sidekeep.store.verify_findings import Finding
from sidekeep.store.verify_schema import BACKUP_ONLY, is_of_search, wanted


def lost(tx: Tx, finding: Finding) -> bool:
    """An empty table, or an index or trigger as its version has it; False for what only a backup brings back."""
    kind, name, version = finding.more
    if kind == "table" and name in BACKUP_ONLY:
        return False
    if tx.one("SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ?", (kind, name)) is not None:
        return False
    whole = wanted(version)
    if kind == "table" and is_of_search(name):
        tx.run("DROP TABLE IF EXISTS search")
        tx.run(whole[kind, "search"])
        if tx.one("SELECT 1 FROM sqlite_schema WHERE name = 'search_rows'") is None:
            tx.run(whole["table", "search_rows"])
        search_index.begin_anew(tx)
        return True
    tx.run(whole[kind, name])
    if name == "search_rows":
        search_index.begin_anew(tx)
    if name == "command_receipts":
        # As after a salvage: clients show what they had not yet sent, and do not send it by themselves.
        repair_rows.store_id(tx, finding)
    return True


def changed(tx: Tx, finding: Finding) -> bool:
    """An index or a trigger as its version has it; a table that has another shape is left as it is."""
    kind, name, version = finding.more
    if kind == "table":
        return False
    tx.run(f'DROP {kind} IF EXISTS "{name}"')
    tx.run(wanted(version)[kind, name])
    return True
