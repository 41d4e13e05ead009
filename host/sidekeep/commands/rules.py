"""`rule.save`, `rule.delete`, `rule.list`: what a tool may do on a site."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.errors import NotFound
from sidekeep.model.ops.setup import RuleDelete, RuleList, RuleSave
from sidekeep.store import rules
from sidekeep.store.tx import Tx


def save(tx: Tx, op: RuleSave, _ctx: Context) -> dict[str, Any]:
    rule = op.rule
    rule_id, revision = rules.save(tx, rule.tool, rule.origin, rule.verdict, given(rule.id))
    return {"ruleId": rule_id, "revision": revision}


def delete(tx: Tx, op: RuleDelete, _ctx: Context) -> dict[str, Any]:
    tx.run("DELETE FROM rules WHERE id = ?", (op.rule_id,))
    if tx.changed_rows() != 1:
        raise NotFound(f"No rule {op.rule_id}.")
    tx.change("store.changed", id=op.rule_id, detail={"kind": "rules", "id": op.rule_id})
    return {}


def listing(tx: Tx, _op: RuleList, _ctx: Context) -> dict[str, Any]:
    names = ("id", "tool", "origin", "verdict", "revision", "updatedAt")
    rows = tx.all("SELECT id, tool, origin, verdict, revision, updated_at FROM rules ORDER BY tool, origin")
    return {"rules": [dict(zip(names, row, strict=True)) for row in rows]}
