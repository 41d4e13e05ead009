"""What the files of a session's repository say: a node, a turn, `meta.json`, a commit's message."""

import json
from typing import Any

import msgspec

from sidekeep.store.session_repos import EndedTurn, Lacking, StoredNode
from sidekeep.store.thread_row import ThreadRow

SUBJECT_CHARS = 72
META_STEP = 1024


def _written(value: object) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def node_file(node: StoredNode) -> bytes:
    """A node: exactly the subject of its digest, the digest, and the tombstone where there is one.

    A payload that the disk damaged is kept as text under `damaged`.
    """
    about: dict[str, Any] = {
        "id": node.id,
        "parentId": node.parent_id,
        "parentDigest": node.parent_digest,
        "ts": node.ts,
        "type": node.type,
        "payload": msgspec.Raw(node.payload),
        "digest": node.digest,
    }
    if node.deleted:
        about["deleted"] = True
    try:
        return _written(about)
    except (msgspec.DecodeError, UnicodeDecodeError):
        about["payload"] = None
        about["damaged"] = node.payload.decode("utf-8", "replace")
        return _written(about)


def turn_file(turn: EndedTurn, number: int) -> bytes:
    """The record of a turn: what asked which model under which environment, and what it used."""
    return _written(
        {
            "turn": number,
            "turnId": turn.turn_id,
            "runId": turn.run_id,
            "state": turn.state,
            "stopReason": turn.stop_reason,
            "finishedAt": turn.at / 1000,
            "model": turn.model,
            "connectionId": turn.connection_id,
            "usage": turn.usage,
            "costUsd": turn.cost_usd,
            "environmentDigest": turn.environment_digest,
        }
    )


def meta(row: ThreadRow, head_id: str | None) -> dict[str, Any]:
    """`meta.json`: every field of the second document's table, times in seconds, and what a rebuild needs besides."""
    return {
        "id": row.id,
        "agent_id": row.agent_id,
        "title": row.title,
        "created_at": row.created_at / 1000,
        "updated_at": row.updated_at / 1000,
        "project_id": row.project_id,
        "project_name": row.project_name,
        "source": row.source,
        "channel": row.channel,
        "account_id": row.account_id,
        "peer_display": row.peer_display,
        "peer_id": row.peer_id,
        "pinned": bool(row.pinned),
        "archived": bool(row.archived),
        "group": row.grouping,
        "status": row.status,
        "unread": bool(row.unread),
        "_auto_titled": row.title_source in ("first_line", "model"),
        "head_id": head_id,
        "parent_session_id": row.parent_thread,
        "folder_id": row.folder_id,
        "preset": row.preset,
        "tags": _list(row.tags),
        "title_source": row.title_source,
        "deleted_at": None if row.deleted_at is None else row.deleted_at / 1000,
        "stats": {"turns": row.turns, "total_tokens": row.total_tokens, "cost_usd": row.cost_usd},
    }


def meta_file(row: ThreadRow, head_id: str | None, at_least: int) -> bytes:
    """`meta.json` with blank lines at its end: at least as long as the file that it is written over, so that one write
    replaces all of that."""
    written = _written(meta(row, head_id))
    length = max(at_least, -(-len(written) // META_STEP) * META_STEP)
    return written + b"\n" * (length - len(written))


def _list(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def turn_message(lack: Lacking, turn: EndedTurn, number: int, after: int) -> str:
    """Its subject is what was asked after the seq of the commit before; it names the model and the usage."""
    usage = turn.usage
    used = f"{usage.get('inputTokens', 0)} in, {usage.get('outputTokens', 0)} out" if usage else ""
    how = "" if turn.state == "completed" else f" ({turn.state})"
    lines = [f"Turn {number}{how}: {_subject(lack, turn, after)}", ""]
    if turn.model:
        lines.append(f"Model: {_one_line(turn.model)}")
    if used:
        lines.append(f"Usage: {used} tokens" + (f", ${turn.cost_usd:.6f}" if turn.cost_usd else ""))
    lines += [f"Turn: {_one_line(turn.turn_id)}", f"Run: {turn.run_id}"]
    return "\n".join(lines)


def other_message(lack: Lacking) -> str:
    added = len(lack.nodes)
    what = f"{added} message{'' if added == 1 else 's'} added" if added else "Changed without a turn"
    return f"{what}\n"


def _subject(lack: Lacking, turn: EndedTurn, after: int) -> str:
    for node in lack.nodes:
        if node.type == "user_message" and after < node.seq <= turn.upto:
            try:
                content = json.loads(node.payload).get("content") or ()
            except (ValueError, AttributeError):
                continue
            text = " ".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
            if text.strip():
                return _one_line(text)[:SUBJECT_CHARS]
    return _one_line(lack.thread.title)[:SUBJECT_CHARS] or "no words"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def trailers(store: str, seq: int, revision: int, turns: int) -> str:
    """How far a commit brings its repository: `Position: <store> <seq> <revision> <turns so far>`."""
    return f"Position: {store} {seq} {revision} {turns}\n"


def position_in(message: str) -> tuple[str, int, int, int] | None:
    """What `trailers` wrote, read back; None for a commit that somebody else made."""
    words = _value(message, "Position").split()
    if len(words) != 4 or not all(word.isascii() and word.isdigit() for word in words[1:]):
        return None
    return words[0], int(words[1]), int(words[2]), int(words[3])


def turn_in(message: str) -> tuple[str | None, str | None]:
    """The turn and the run that a commit is of."""
    return _value(message, "Turn") or None, _value(message, "Run") or None


def _value(message: str, name: str) -> str:
    # The subject may say anything; only the last paragraph is ours.
    body = message.partition("\n\n")[2]
    for line in body.splitlines():
        if line.startswith(f"{name}: "):
            return line[len(name) + 2 :]
    return ""
