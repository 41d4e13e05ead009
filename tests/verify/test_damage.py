"""Each kind of damage inside a readable file: found under its name, mended, and nothing else touched."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

from sidekeep.store.verify_tree import LOST_CODE, UNKNOWN_DIGEST
from support.damage import behind_its_back, check, faults, mended, rows

Made = dict[str, Any]
Damage = Callable[[apsw.Connection, Made], object]


class Case(NamedTuple):
    """What is done to the store, what is found, and which rows may be others afterwards (their table and id)."""

    damage: Damage
    finds: set[str]
    touches: Callable[[Made], set[tuple[str, str]]]


def sql(statement: str, *names: str) -> Damage:
    """A statement whose parameters are ids of what is in the store, nodes by `nodes.3`."""

    def run(db: apsw.Connection, made: Made) -> None:
        db.execute(statement, tuple(pick(made, name) for name in names))
        assert db.changes() >= 1, "the damage was not done"

    return run


def pick(made: Made, name: str) -> Any:
    head, _, index = name.partition(".")
    return made[head][int(index)] if index else made[head]


def only(*names: str) -> Callable[[Made], set[tuple[str, str]]]:
    """Rows that may change, as `table:name`."""
    return lambda made: {(part.split(":")[0], pick(made, part.split(":")[1])) for part in names}


def nodes_of(made: Made, name: str) -> set[tuple[str, str]]:
    """Every node of a thread."""
    found = rows(made["state"])
    thread = found[("threads", made[name])][0]
    return {key for key, row in found.items() if key[0] == "nodes" and row[0] >> 32 == thread}


def bad_utf8(column: str, table: str) -> str:
    return f"UPDATE {table} SET {column} = CAST(X'7b22ff00fe' AS TEXT) WHERE id = ?"


CASES = {
    "a lost node": Case(
        sql("DELETE FROM nodes WHERE id = ?", "nodes.3"),
        {"node_lost", "leaf_unreachable", "search_left_over"},
        only("nodes:nodes.3", "threads:talk"),
    ),
    "a thread without its messages": Case(
        sql("DELETE FROM nodes WHERE k >> 32 = (SELECT k FROM threads WHERE id = ?)", "copy"),
        {"node_lost", "leaf_unreachable", "search_left_over"},
        lambda made: {("threads", made["copy"]), *nodes_of(made, "copy")},
    ),
    "a search index without words": Case(
        lambda db, made: db.execute("INSERT INTO search (search) VALUES ('delete-all')"), {"search_damaged"}, only()
    ),
    "a search index that has lost a message": Case(
        sql("DELETE FROM search_rows WHERE kind = 'node' AND ref = (SELECT k FROM nodes WHERE id = ?)", "nodes.4"),
        {"search_damaged", "search_left_over"},
        only(),
    ),
    "a search index that finds what is gone": Case(
        lambda db, made: db.execute("INSERT INTO search_rows (kind, ref) VALUES ('node', 77)"),
        {"search_left_over"},
        only(),
    ),
    "a lost last node": Case(
        sql("DELETE FROM nodes WHERE id = ?", "file_node"),
        {"node_lost", "leaf_unreachable", "search_left_over"},
        only("nodes:file_node", "threads:other"),
    ),
    "a node of bad text": Case(
        sql(bad_utf8("payload", "nodes"), "nodes.4"),
        {"node_undecodable"},
        only("nodes:nodes.4", "threads:talk"),
    ),
    "a node that is no JSON": Case(
        sql("UPDATE nodes SET payload = substr(payload, 1, 20) WHERE id = ?", "nodes.5"),
        {"node_undecodable"},
        only("nodes:nodes.5", "threads:talk"),
    ),
    "a node with other words": Case(
        sql("UPDATE nodes SET payload = replace(payload, 'naïve', 'naive') WHERE id = ?", "nodes.6"),
        {"node_digest"},
        only("nodes:nodes.6", "threads:talk"),
    ),
    "a node of no type": Case(
        sql("UPDATE nodes SET type = 'user_messagf' WHERE id = ?", "nodes.2"),
        {"node_undecodable", "row_damaged"},
        only("threads:talk"),
    ),
    "a node of another type": Case(
        sql("UPDATE nodes SET type = 'system_notice' WHERE id = ?", "nodes.2"),
        {"node_digest"},
        only("threads:talk"),
    ),
    "a node of another time": Case(
        sql("UPDATE nodes SET ts = (ts | 1048576) - (ts & 1048576) WHERE id = ?", "nodes.2"),
        {"node_digest"},
        only("threads:talk"),
    ),
    "a damaged digest": Case(
        sql("UPDATE nodes SET digest = replace(digest, substr(digest, 9, 9), '000000000') WHERE id = ?", "nodes.1"),
        {"node_digest"},
        only("threads:talk"),
    ),
    "a node under another earlier one": Case(
        sql("UPDATE nodes SET parent = parent - 1 WHERE id = ?", "nodes.5"),
        # The branch that was remembered there is none of the other parent's.
        {"node_digest"},
        only("threads:talk"),
    ),
    "a cycle": Case(
        sql("UPDATE nodes SET parent = k + 2 WHERE id = ?", "nodes.5"),
        {"node_parent", "node_digest", "leaf_unreachable", "row_damaged"},
        only("threads:talk"),
    ),
    "a parent in another thread": Case(
        sql("UPDATE nodes SET parent = (2 << 32) + 1 WHERE id = ?", "nodes.5"),
        {"node_parent", "node_digest", "leaf_unreachable", "row_damaged"},
        only("threads:talk"),
    ),
    "no leaf": Case(sql("UPDATE threads SET leaf = NULL WHERE id = ?", "talk"), {"leaf_missing"}, only("threads:talk")),
    "a leaf that is not there": Case(
        sql("UPDATE threads SET leaf = (k << 32) + 999 WHERE id = ?", "talk"),
        {"leaf_unreachable"},
        only("threads:talk"),
    ),
    "a leaf of another thread": Case(
        sql("UPDATE threads SET leaf = ((k + 1) << 32) + 2 WHERE id = ?", "talk"),
        {"leaf_elsewhere"},
        only("threads:talk"),
    ),
    "a lost thread": Case(
        sql("DELETE FROM threads WHERE id = ?", "copy"), {"thread_lost", "search_left_over"}, only("threads:copy")
    ),
    "a sequence that starts again": Case(
        sql("UPDATE threads SET next_seq = 3 WHERE id = ?", "talk"),
        {"seq_behind", "change_ahead"},
        only("threads:talk"),
    ),
    "a title of bad text": Case(sql(bad_utf8("title", "threads"), "talk"), {"text_damaged"}, only("threads:talk")),
    "tags that are no JSON": Case(
        sql("UPDATE threads SET tags = '[' WHERE id = ?", "other"), {"text_damaged"}, only("threads:other")
    ),
    "a branch choice to nowhere": Case(
        sql("UPDATE branch_choices SET child = 1 WHERE child >> 32 = (SELECT k FROM threads WHERE id = ?)", "talk"),
        {"branch_choice"},
        only(),
    ),
    "a revision that goes back": Case(
        sql("UPDATE threads SET revision = 1 WHERE id = ?", "talk"), {"revision"}, only("threads:talk")
    ),
    "a folder's revision that goes back": Case(
        sql("UPDATE folders SET revision = 0 WHERE id = ?", "folder"), {"revision"}, only("folders:folder")
    ),
    "a change that is gone": Case(
        lambda db, made: db.execute("DELETE FROM changes WHERE seq = (SELECT max(seq) - 5 FROM changes)"),
        {"change_lost"},
        only(),
    ),
    "a change of a message that never was": Case(
        lambda db, made: db.execute(
            "UPDATE changes SET revision = 4000 WHERE seq = (SELECT max(seq) FROM changes WHERE kind = 'thread.node')"
        ),
        {"change_ahead"},
        only(),
    ),
    "a connection that is no JSON": Case(
        sql("UPDATE connections SET body = '{' WHERE id = ?", "connection"),
        {"text_damaged"},
        only("connections:connection"),
    ),
    "a snapshot that was altered": Case(
        sql("UPDATE runs SET environment = replace(environment, 'extract', 'another') WHERE id = ?", "run"),
        {"snapshot_damaged"},
        only("runs:run"),
    ),
    "bytes that were altered": Case(
        sql(
            "UPDATE blob_chunks SET bytes = zeroblob(length(bytes)) WHERE k >> 20 = "
            "(SELECT blob FROM attachments WHERE id = ?) AND k & 1048575 = 1",
            "file",
        ),
        {"blob_damaged"},
        only("attachments:file", "nodes:file_node"),
    ),
    "bytes that are gone": Case(
        sql("DELETE FROM blob_chunks WHERE k = (SELECT blob << 20 FROM attachments WHERE id = ?)", "file"),
        {"blob_damaged"},
        only("attachments:file", "nodes:file_node"),
    ),
    "a lost blob": Case(
        sql("DELETE FROM blobs WHERE k = (SELECT blob FROM attachments WHERE id = ?)", "file"),
        {"attachment_damaged", "reference", "chunk_orphan"},
        only("attachments:file", "nodes:file_node"),
    ),
    "an attachment that names other bytes": Case(
        sql("UPDATE attachments SET blob = (SELECT max(k) FROM blobs) WHERE id = ?", "file"),
        {"attachment_damaged", "blob_orphan"},
        only(),
    ),
    "a page of other words": Case(
        sql("UPDATE pages SET text = 'Other words.' WHERE id = ?", "page"), {"page_digest"}, only("pages:page")
    ),
    "a lost part of a page": Case(
        sql("DELETE FROM attachments WHERE id = ?", "part"),
        {"page_part", "blob_orphan"},
        only("attachments:part", "pages:page"),
    ),
    "a thread counter that starts again": Case(
        lambda db, made: db.execute("UPDATE meta SET value = 1 WHERE key = 'nextThread'"), {"counter"}, only()
    ),
    "an index that has lost an entry": Case(lambda db, made: _without_index_entry(db, made), {"index_damaged"}, only()),
}


def _without_index_entry(db: apsw.Connection, made: Made) -> None:
    """An index that does not know of one row: filled while it leaves that row out."""
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    db.pragma("writable_schema", True)
    name = "nodes_by_parent"
    (text,) = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)).fetchone()
    db.execute(f"DROP INDEX {name}")
    db.execute(text + f" WHERE id <> '{made['nodes'][4]}'")
    db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text, name))
    db.pragma("writable_schema", False)


@pytest.mark.parametrize("name", CASES)
def test_found_and_mended(name: str, made: Made, state: Path) -> None:
    """E5, E9, E13, E20: damage of one row is named for what it is; after the repair the store is whole and every other
    row is as it was."""
    case = CASES[name]
    before = rows(state)
    assert faults(state) == {}
    with behind_its_back(state) as db:
        case.damage(db, made)
    assert set(faults(state)) == case.finds
    outcome = mended(state)
    assert outcome.left.sound, outcome.left.shown()
    assert not outcome.refused
    assert faults(state) == {}
    after = rows(state)
    touched = {key for key, row in before.items() if after.get(key) != row}
    assert touched <= case.touches(made)
    threads = {before[("threads", thread)][0] for table, thread in case.touches(made) if table == "threads"}
    added = {key for key in after if key not in before}
    assert all(table == "nodes" and after[(table, key)][0] >> 32 in threads for table, key in added), added


def test_a_lost_node_leaves_a_placeholder(made: Made, state: Path) -> None:
    """E13: where a message is gone stands a notice with its id; what followed it hangs there as before."""
    lost = made["nodes"][3]
    with behind_its_back(state) as db:
        (key,) = db.execute("SELECT k FROM nodes WHERE id = ?", (lost,)).fetchone()
        db.execute("DELETE FROM nodes WHERE id = ?", (lost,))
    mended(state)
    node = rows(state)[("nodes", lost)]
    assert node[0] == key
    assert node[3] == "system_notice"
    assert LOST_CODE in node[8]
    assert node[7] == UNKNOWN_DIGEST
    assert check(state).remarks["placeholders"] == 1


def test_a_damaged_node_keeps_id_and_digest(made: Made, state: Path) -> None:
    """A node whose text is another one keeps the digest that what follows is chained to, and shows what is left."""
    of = ("nodes", made["nodes"][6])
    digest = rows(state)[of][7]
    with behind_its_back(state) as db:
        db.execute("UPDATE nodes SET payload = replace(payload, 'naïve', 'naive') WHERE id = ?", (of[1],))
    mended(state)
    node = rows(state)[of]
    assert node[7] == digest
    assert "naive words" in node[8]
    assert check(state).remarks["placeholders"] == 1


def test_the_leaf_stays_where_it_was(made: Made, state: Path) -> None:
    """A gap in the middle does not move the reader to another branch: only the notice is new at the end."""
    before = rows(state)[("threads", made["talk"])][7]
    with behind_its_back(state) as db:
        db.execute("DELETE FROM nodes WHERE id = ?", (made["nodes"][3],))
    mended(state)
    after = rows(state)
    leaf = after[("threads", made["talk"])][7]
    notice = next(row for (table, _id), row in after.items() if table == "nodes" and row[0] == leaf)
    assert notice[2] == before
    assert '"repaired"' in notice[8]


def test_a_damaged_receipt_is_still_an_answer(made: Made, state: Path) -> None:
    """E34: a command whose receipt was damaged is not done twice when it comes again."""
    from support.stores import temporary_store

    with temporary_store(state) as store:
        host = store.open()
        first = host.ack("thread.create", title="Once")
    with behind_its_back(state) as db:
        db.execute("UPDATE command_receipts SET response = '{' WHERE submission_id = ?", (first["submissionId"],))
    assert set(faults(state)) == {"receipt_damaged"}
    assert mended(state).left.sound
    with temporary_store(state) as store:
        again = store.open(client_id=host.client_id)
        answer = again.refused("thread.create", title="Once", submissionId=first["submissionId"])
        assert answer["code"] == "storage_corrupt"
        titles = [thread["title"] for thread in again.query("thread.list", limit=50)["threads"]]
        assert titles.count("Once") == 1


def test_search_finds_everything_again(made: Made, state: Path) -> None:
    """E9: an index that was lost is made anew by the repair: the same words find the same messages as before."""
    from support.stores import temporary_store

    def hits() -> list[str]:
        with temporary_store(state) as store:
            found = store.open().query("thread.search", query="話", limit=100)["hits"]
            return sorted(str(hit.get("nodeId") or hit.get("pageId") or hit["threadId"]) for hit in found)

    before = hits()
    assert len(before) > 20
    with behind_its_back(state) as db:
        db.execute("INSERT INTO search (search) VALUES ('delete-all')")
        db.execute("DELETE FROM search_rows")
    assert mended(state).left.sound
    assert hits() == before


def test_what_has_no_words_is_no_fault(tmp_path: Path) -> None:
    """A conversation without a title and a message without words stand in the index without a word: nothing is lost."""
    from support.stores import temporary_store, text

    with temporary_store(tmp_path / "state") as store:
        host = store.open()
        thread = host.ack("thread.create")["threadId"]
        host.ack("node.append", threadId=thread, nodeType="user_message", payload=text(" … "))
        host.query("thread.search", query="a", limit=1)
    report = check(tmp_path / "state")
    assert report.sound, report.shown()
    assert report.checked["search"] == 2
