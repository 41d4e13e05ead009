"""`SessionStore`: the second document's eight methods over the store that the browsers use."""

import contextlib
import io
import re
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidekeep import SessionStore
from sidekeep.model.errors import Conflict, InvalidCommand, NotFound, ProjectFrozen, RunActive
from support.fixtures import store
from support.stores import Store, text

__all__ = ["store"]

DOCS = Path(__file__).parents[2] / "docs" / "session-store.md"


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[SessionStore]:
    """On a store of its own."""
    with SessionStore(str(tmp_path / "state")) as found:
        yield found


@pytest.fixture
def session(sessions: SessionStore) -> str:
    """A session without messages."""
    return _made(sessions)


def _made(sessions: SessionStore, **fields: object) -> str:
    session_id = str(uuid.uuid4())
    sessions.create_session(session_id, "main", **fields)  # type: ignore[arg-type]
    return session_id


def _say(sessions: SessionStore, session: str, words: str, role: str = "user", **more: object) -> str:
    message_id = str(uuid.uuid4())
    sessions.append_message(session, {"id": message_id, "role": role, "content": words, **more})
    return message_id


def _said(sessions: SessionStore, session: str, head: str | None = None) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in sessions.get_branch(session, head)]


def test_the_example_in_the_docs_runs(tmp_path: Path) -> None:
    """What the documentation shows is what happens."""
    code, printed = re.findall(r"```(?:python)?\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {"state_dir": str(tmp_path / "state")})
    assert out.getvalue() == printed


def test_a_session_has_the_fields_of_the_document(sessions: SessionStore) -> None:
    """All of the table but the internal one; times in seconds (B2, B18)."""
    session = _made(
        sessions, title="T", source="wechat", channel="wechat", account_id="a", peer_id="p", peer_display="P", group="g"
    )
    found = sessions.get_session(session)
    assert found is not None
    assert {name: found[name] for name in (
        "id", "agent_id", "title", "source", "channel", "account_id", "peer_id", "peer_display", "group", "pinned",
        "archived", "status", "unread", "project_id", "head_id", "preview",
    )} == {
        "id": session, "agent_id": "main", "title": "T", "source": "wechat", "channel": "wechat", "account_id": "a",
        "peer_id": "p", "peer_display": "P", "group": "g", "pinned": False, "archived": False, "status": "idle",
        "unread": False, "project_id": None, "head_id": None, "preview": None,
    }  # fmt: skip
    assert isinstance(found["created_at"], float)
    assert 1.7e9 < found["created_at"] == found["updated_at"] < 4e9
    assert "_auto_titled" not in found
    assert sessions.get_session(str(uuid.uuid4())) is None


def test_only_appended_messages_move_the_time(sessions: SessionStore, session: str) -> None:
    """Rename, pin, archive and head moves leave `updated_at`; a message moves it, and names the session."""
    before = sessions.get_session(session)
    assert before is not None
    sessions.update_session(session, pinned=True, archived=True, tags=["a", "b"], group="g", unread=True)
    after = sessions.get_session(session)
    assert after is not None
    assert after["updated_at"] == before["updated_at"]
    assert (after["pinned"], after["archived"], after["tags"], after["group"]) == (True, True, ["a", "b"], "g")
    first = _say(sessions, session, "  Line one  \nline\u2028two" + " x" * 100)
    said = sessions.get_session(session)
    assert said is not None
    assert said["updated_at"] > before["updated_at"]
    assert said["head_id"] == first
    assert said["title"] == "Line one"
    assert said["preview"] == ("Line one line two" + " x" * 100)[:80]
    sessions.update_session(session, head_id=first)
    assert sessions.get_session(session) == said


def test_a_branch_is_read_root_first_from_any_head(sessions: SessionStore, session: str) -> None:
    """Messages hang under the head or under the parent that is named; the last one added is the head."""
    one = _say(sessions, session, "one")
    two = _say(sessions, session, "two", "assistant", model="m")
    three = _say(sessions, session, "three", parent_id=one, created_at=1.5)
    assert _said(sessions, session) == [("user", "one"), ("user", "three")]
    assert _said(sessions, session, two) == [("user", "one"), ("assistant", "two")]
    branch = sessions.get_branch(session)
    assert [message["parent_id"] for message in branch] == [None, one]
    assert (branch[1]["id"], branch[1]["created_at"]) == (three, 1.5)
    sessions.update_session(session, head_id=two)
    assert _said(sessions, session) == [("user", "one"), ("assistant", "two")]
    assert sessions.latest_user_text(session) == "one"
    with pytest.raises(NotFound):
        sessions.get_branch(session, str(uuid.uuid4()))
    with pytest.raises(NotFound):
        _say(sessions, session, "x", parent_id=str(uuid.uuid4()))


def test_a_message_with_an_id_is_added_once(sessions: SessionStore, session: str) -> None:
    """The same again is done already; another one under its id is a conflict, and changes nothing."""
    message = {"id": str(uuid.uuid4()), "role": "user", "content": "once"}
    sessions.append_message(session, message)
    sessions.append_message(session, dict(message))
    with pytest.raises(Conflict):
        sessions.append_message(session, {**message, "content": "otherwise"})
    other = _made(sessions)
    with pytest.raises(Conflict):
        sessions.append_message(other, message)
    assert _said(sessions, session) == [("user", "once")]
    assert _said(sessions, other) == []


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ({"content": "x"}, "role"),
        ({"role": "tool", "content": "x"}, "role"),
        ({"role": "user"}, "content"),
        ({"role": "user", "content": 1}, "content"),
        ({"role": "user", "content": [{"type": "sound"}]}, "type"),
        ({"role": "user", "content": "x", "id": "no"}, "id"),
        ({"role": "user", "content": "x", "created_at": -1}, "created_at"),
        ({"role": "user", "content": "x", "colour": "red"}, "colour"),
        ({"role": "user", "content": "x", "usage": {}}, "usage"),
        ({"role": "system", "content": ["x"]}, "content"),
        ({"role": "assistant", "content": "x", "usage": {"inputTokens": -1, "outputTokens": 0}}, "inputTokens"),
    ],
)
def test_a_message_that_does_not_fit_is_refused_by_name(
    sessions: SessionStore, session: str, message: dict[str, object], named: str
) -> None:
    """Nothing of it is written."""
    with pytest.raises(InvalidCommand, match=named):
        sessions.append_message(session, message)
    assert sessions.get_branch(session) == []


def test_fields_that_do_not_fit_are_refused_by_name(sessions: SessionStore, session: str) -> None:
    """Unknown ones, those that are only read, and values of another type; nothing is changed by half."""
    before = sessions.get_session(session)
    for fields in (
        {"colour": "red"},
        {"status": "idle"},
        {"pinned": 1},
        {"title": None},
        {"tags": "a"},
        {"agent_id": "b"},
    ):
        with pytest.raises(InvalidCommand, match=next(iter(fields))):
            sessions.update_session(session, group="g", **fields)
    for wrong in ({"colour": 1}, {"limit": -1}, {"offset": "a"}):
        with pytest.raises(InvalidCommand, match=next(iter(wrong))):
            sessions.list_sessions(**wrong)
    with pytest.raises(InvalidCommand):
        sessions.update_session(session)
    with pytest.raises(InvalidCommand, match="session_id"):
        sessions.create_session("../elsewhere", "main")
    with pytest.raises(Conflict):
        sessions.create_session(session, "main")
    assert sessions.get_session(session) == before


def test_the_list_is_filtered_paged_and_a_copy(sessions: SessionStore) -> None:
    """Last active first; the trash and archived ones are not in it."""
    made = [_made(sessions, title=f"{number}", tags=["odd"] if number % 2 else []) for number in range(5)]
    _say(sessions, made[0], "newest")
    sessions.update_session(made[1], archived=True)
    sessions.delete_session(made[2])
    listed = [session["id"] for session in sessions.list_sessions()]
    assert listed == [made[0], made[4], made[3]]
    assert [s["id"] for s in sessions.list_sessions(limit=1, offset=1)] == [made[4]]
    assert [s["id"] for s in sessions.list_sessions(tags="odd", archived="all")] == [made[3], made[1]]
    assert [s["id"] for s in sessions.list_sessions(archived=True)] == [made[1]]
    assert [s["id"] for s in sessions.list_sessions(channel=None, source="python")] == listed
    sessions.list_sessions()[0]["title"] = "changed"
    assert sessions.list_sessions()[0]["title"] == "0"
    assert sessions.get_session(made[2]) is None
    assert sessions.latest_user_text(made[2]) is None
    with pytest.raises(NotFound):
        sessions.update_session(made[2], pinned=True)


def test_a_project_is_frozen_after_the_first_message(sessions: SessionStore) -> None:
    """Binding the same again is fine (B5)."""
    project = "another program's"
    session = _made(sessions)
    with pytest.raises(NotFound):
        sessions.update_session(session, project_id=str(uuid.uuid4()))
    sessions.update_session(session, project_id=project)
    _say(sessions, session, "first")
    sessions.update_session(session, project_id=project)
    with pytest.raises(ProjectFrozen):
        sessions.update_session(session, project_id=None)


def test_a_panel_hears_of_it_and_a_running_turn_is_not_disturbed(store: Store) -> None:
    """The same store as the browser's: events in half a second, `run_active` while an answer is written (D1, B8)."""
    host = store.open()
    with SessionStore(str(store.state)) as sessions:
        session = _made(sessions, title="From a program")
        assert host.event("thread.created", timeout=0.5)["thread"]["title"] == "From a program"
        host.query("thread.subscribe", threadId=session)
        first = _say(sessions, session, "hello")
        assert host.event("thread.node", timeout=0.5)["node"]["id"] == first
        host.ack("turn.submit", threadId=session, input=text("go"))
        with pytest.raises(RunActive):
            _say(sessions, session, "in between")
        with pytest.raises(RunActive):
            sessions.update_session(session, head_id=first)
        sessions.delete_session(session)
        assert host.event("thread.deleted", timeout=0.5) == {
            "type": "thread.deleted", "threadId": session, "purged": False,
        }  # fmt: skip
        assert host.ack("thread.restore", threadId=session)["threadId"] == session
        assert _said(sessions, session)[0] == ("user", "hello")


def test_threads_and_processes_write_together(tmp_path: Path) -> None:
    """Every message of every writer is there once."""
    state = str(tmp_path / "state")
    with SessionStore(state) as sessions:
        session = _made(sessions)
        code = (
            "import sys; from sidekeep import SessionStore\n"
            "with SessionStore(sys.argv[1]) as s:\n"
            "    for n in range(20): s.append_message(sys.argv[2], {'role': 'user', 'content': f'{sys.argv[3]} {n}'})"
        )
        processes = [subprocess.Popen([sys.executable, "-c", code, state, session, f"process {n}"]) for n in range(2)]

        def write(name: str) -> None:
            for number in range(20):
                sessions.append_message(session, {"role": "user", "content": f"{name} {number}"})

        writers = [threading.Thread(target=write, args=(f"thread {n}",)) for n in range(2)]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        assert [process.wait(30) for process in processes] == [0, 0]
        wanted = {f"{kind} {n} {number}" for kind in ("thread", "process") for n in range(2) for number in range(20)}
        branch = sessions.get_branch(session)
        assert len(branch) == 80
        assert {message["content"] for message in branch} == wanted


def test_a_closed_one_says_so(sessions: SessionStore) -> None:
    """Closing twice is fine."""
    sessions.close()
    sessions.close()
    with pytest.raises(InvalidCommand, match="closed"):
        sessions.list_sessions()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(categories=None), max_size=80))
def test_any_text_comes_back(sessions: SessionStore, words: str) -> None:
    """Any Unicode; a lone surrogate becomes U+FFFD and fails nothing."""
    session = _made(sessions, title="x")
    _say(sessions, session, words)
    kept = words.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert _said(sessions, session) == [("user", kept)]
    assert sessions.latest_user_text(session) == kept
