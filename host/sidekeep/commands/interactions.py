"""`interaction.response`: the user's answer to what a run waits for; the first one stands."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.errors import Conflict, InvalidCommand, NotFound
from sidekeep.model.ops.turns import InteractionResponse
from sidekeep.store import interactions
from sidekeep.store.tx import Tx

#: kind of request → (member, type, what is said of it)
_ANSWERS: dict[str, tuple[str, type, str]] = {
    "ask_user": ("answer", str, '{"answer": text}'),
    "hand_over": ("done", bool, '{"done": true or false, "note"?: text}'),
    "wait_until": ("continue", bool, '{"continue": true}'),
}


def respond(tx: Tx, op: InteractionResponse, ctx: Context) -> dict[str, Any]:
    """Raises NotFound; InvalidCommand for an answer of another shape; Conflict for a second one."""
    found = interactions.find(tx, op.interaction_id)
    row = None if found is None else tx.thread_by_key(found.thread)
    if found is None or row is None or row.deleted_at is not None:
        raise NotFound(f"No interaction {op.interaction_id}.")
    response = ctx.plain["response"]
    _check(str(found.asked.get("kind")), response)
    if not interactions.answer(tx, row.id, found, response, ctx.client_id):
        if found.status == "pending":
            raise Conflict("The time for this answer is over.")
        if found.answer != response:
            raise Conflict("This was answered before.", current={"response": found.answer})
        return {}
    ctx.work = True
    return {}


def _check(kind: str, response: dict[str, Any]) -> None:
    member, wanted, shape = _ANSWERS.get(kind, ("answer", str, '{"answer": text}'))
    more = set(response) - {member, "note"}
    # Not to go on is what a wait does by itself.
    waits = kind == "wait_until" and response.get(member) is False
    if type(response.get(member)) is not wanted or waits or more or not isinstance(response.get("note", ""), str):
        raise InvalidCommand(f"response: takes {shape}.")
