"""`rule.save`, `rule.delete`, `rule.list`: what a tool may do on a site."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.errors import NotFound
from sidekeep.model.ops import RuleDelete, RuleList, RuleSave
from sidekeep.store.tx import Tx


def save(tx: Tx, op: RuleSave, _ctx: Context) -> dict[str, Any]:
    rule = op.rule
    standing = tx.one("SELECT id FROM rules WHERE tool = ? AND origin = ?", (rule.tool, rule.origin))
    rule_id = given(rule.id) or (standing[0] if standing else tx.new_id())
    if standing and standing[0] != rule_id:
        # One rule stands for a tool and an origin: the one that is named takes the other's place.
        tx.run("DELETE FROM rules WHERE id = ?", standing)
        tx.change("store.changed", id=standing[0], detail={"kind": "rules", "id": standing[0]})
    tx.run(
        "INSERT INTO rules (id, tool, origin, verdict, updated_at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET tool = excluded.tool, origin = excluded.origin, "
        "verdict = excluded.verdict, updated_at = excluded.updated_at, revision = revision + 1",
        (rule_id, rule.tool, rule.origin, rule.verdict, tx.now),
    )
    (revision,) = tx.one("SELECT revision FROM rules WHERE id = ?", (rule_id,)) or (1,)
    tx.change("store.changed", id=rule_id, revision=revision, detail={"kind": "rules", "id": rule_id})
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
