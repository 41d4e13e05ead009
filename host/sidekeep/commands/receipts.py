"""`receipt.get`: what became of a command."""

from typing import Any

import msgspec

from sidekeep.commands.context import Context
from sidekeep.model.ops.port import ReceiptGet
from sidekeep.store import receipts
from sidekeep.store.tx import Tx


def get(tx: Tx, op: ReceiptGet, _ctx: Context) -> dict[str, Any]:
    found = receipts.find(tx, op.of.client_id, op.of.submission_id)
    if found is None:
        return {"status": "unknown"}
    status, response = found
    return {"status": status, "response": msgspec.Raw(response.encode())}
