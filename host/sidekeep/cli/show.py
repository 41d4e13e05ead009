"""`sidekeep show`: a conversation as it stands in the panel, with the answer that is being written."""

import time
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from sidekeep.cli.looking import left_behind, looking, the_thread
from sidekeep.cli.options import Json, State, places
from sidekeep.cli.outcome import Status, emit, heading, printable, say
from sidekeep.model.limits import SNAPSHOT_NODES
from sidekeep.model.places import Places
from sidekeep.store import runs, snapshot, tree
from sidekeep.store.live import LiveTail, live_path
from sidekeep.store.tx import Tx


def show(
    thread: Annotated[str, Parameter(help="The conversation's id, or as much of its beginning as tells it.")],
    /,
    *,
    state: State = None,
    json: Json = False,
) -> int:
    """Print a conversation as it stands in the panel."""
    document = _read(places(state), thread)
    if json:
        emit(document)
    else:
        _print(document)
    return Status.DONE


def _read(where: Places, text: str) -> dict[str, Any]:
    """`{"thread", "nodes", "siblings", "activeTurn", "recoverable", "queue"}`: the whole active path, root first."""
    with looking(where) as tx:
        row = the_thread(tx, text)
        document = snapshot.snapshot(tx, row)
        nodes, before = document["nodes"], document["before"]
        while before is not None:
            page = snapshot.window(tx, row, tree.find(tx, row, before).parent, SNAPSHOT_NODES)
            nodes = page["nodes"] + nodes
            document["siblings"] |= page["siblings"]
            before = page["before"]
        document["nodes"] = nodes
        del document["before"]
        active = document["activeTurn"]
        if active is not None:
            active["items"] = _items(tx, where, active["runId"])
            if active["runId"] in left_behind(tx, where):
                _show_interrupted(document)
    return document


def _items(tx: Tx, where: Places, run_id: str) -> list[dict[str, Any]]:
    """What the run has said so far, from its live file."""
    tail = LiveTail(live_path(where, run_id, runs.get(tx, run_id).attempt))
    for _ in tail.read():
        pass
    tail.close()
    return [item.snapshot() for item in tail.items.values() if not item.done]


def _show_interrupted(document: dict[str, Any]) -> None:
    """Nobody writes this answer any more: the next runner will say so in the store."""
    active = document["activeTurn"]
    said = next((item.get("text") for item in active["items"] if item["kind"] == "assistant_message"), None)
    entry = {"runId": active["runId"], "turnId": active["turnId"], "state": "interrupted", "reason": "interrupted"}
    document["recoverable"].append(entry | ({"partialText": said} if said else {}))
    document["activeTurn"] = None
    document["thread"]["status"] = "interrupted"


_SPEAKERS = {"user_message": "You", "assistant_message": "Assistant", "system_notice": "Note"}


def _print(document: dict[str, Any]) -> None:
    thread = document["thread"]
    say(heading(printable(thread["title"] or "Untitled", one_line=True)))
    say(f"{thread['id']}, {time.strftime('%Y-%m-%d %H:%M', time.localtime(thread['createdAt'] / 1000))}")
    for node in document["nodes"]:
        payload = msgspec.json.decode(node["payload"])
        _say_part(_speaker(node["type"], payload), _text(node["type"], payload))
    active = document["activeTurn"]
    for item in active["items"] if active is not None else ():
        _say_part(f"{_SPEAKERS.get(item['kind'], item['kind'])} (being written)", item.get("text", "…"))
    for run in document["recoverable"]:
        _say_part("Assistant (interrupted; the panel can continue it)", run.get("partialText", ""))


def _say_part(speaker: str, text: str) -> None:
    say(f"\n{heading(printable(speaker, one_line=True))}")
    say(printable(text))


def _speaker(kind: str, payload: dict[str, Any]) -> str:
    if kind == "assistant_message":
        ending = {"interrupted": ", interrupted", "error": ", ended by an error"}.get(payload.get("stopReason", ""), "")
        return f"Assistant ({payload['model']}{ending})" if payload.get("model") else f"Assistant{ending}"
    return _SPEAKERS.get(kind, kind.replace("_", " "))


def _text(kind: str, payload: dict[str, Any]) -> str:
    match kind:
        case "user_message":
            return "\n".join([*map(_context, payload.get("attachedContext", ())), _blocks(payload["content"])])
        case "assistant_message":
            return _blocks(payload["content"])
        case "tool_call":
            return f"{payload['toolName']} {payload['params']}"
        case "tool_result":
            return _blocks(payload["contentForLlm"])
        case "system_notice":
            return str(payload["text"])
    return msgspec.json.encode(payload).decode()


def _blocks(content: list[dict[str, Any]]) -> str:
    return "\n".join(str(block["text"]) if block["type"] == "text" else f"[{block['mime']}]" for block in content)


def _context(block: dict[str, Any]) -> str:
    """One line for what was attached: the text itself is long, and `--json` has it."""
    what = " ".join(str(block[name]) for name in ("title", "url") if block.get(name))
    return f"[{block['kind']}: {what or str(len(block.get('text', ''))) + ' characters'}]"
