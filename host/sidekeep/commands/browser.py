"""`browser.response`: what the browser did for a tool."""

from typing import Any

from sidekeep.commands.context import Context
from sidekeep.model.errors import Conflict, InvalidCommand, NotFound
from sidekeep.model.ops.turns import BrowserResponse
from sidekeep.store import browser_requests
from sidekeep.store.tx import Tx


def respond(tx: Tx, op: BrowserResponse, ctx: Context) -> dict[str, Any]:
    """Raises NotFound; InvalidCommand without `result` or `error`; Conflict when it comes too late."""
    request = browser_requests.find(tx, op.request_id)
    if request is None:
        raise NotFound(f"No request {op.request_id}.")
    member = "result" if op.ok else "error"
    if member not in ctx.plain:
        raise InvalidCommand(f"{member}: is missing.")
    if not browser_requests.answer(tx, request, {"ok": op.ok, member: ctx.plain[member]}):
        raise Conflict("The tool does not wait for this any more.")
    ctx.work = True
    return {}
