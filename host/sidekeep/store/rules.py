"""Rules: what a tool may do on a site; `*` stands for any tool or any origin, one rule for each pair."""

from typing import NamedTuple

from sidekeep.store.tx import Tx


class Rule(NamedTuple):
    """`origin` is an origin (`https://a.example`), a site (`a.example`, `*.a.example`) or `*`."""

    tool: str
    origin: str
    verdict: str


def save(tx: Tx, tool: str, origin: str, verdict: str, rule_id: str | None = None) -> tuple[str, int]:
    """Make or change the rule of a tool and an origin; returns id and revision."""
    standing = tx.one("SELECT id FROM rules WHERE tool = ? AND origin = ?", (tool, origin))
    rule_id = rule_id or (standing[0] if standing else tx.new_id())
    if standing and standing[0] != rule_id:
        # One rule stands for a tool and an origin: the one that is named takes the other's place.
        tx.run("DELETE FROM rules WHERE id = ?", standing)
        tx.change("store.changed", id=standing[0], detail={"kind": "rules", "id": standing[0]})
    tx.run(
        "INSERT INTO rules (id, tool, origin, verdict, updated_at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET tool = excluded.tool, origin = excluded.origin, "
        "verdict = excluded.verdict, updated_at = excluded.updated_at, revision = revision + 1",
        (rule_id, tool, origin, verdict, tx.now),
    )
    (revision,) = tx.one("SELECT revision FROM rules WHERE id = ?", (rule_id,)) or (1,)
    tx.change("store.changed", id=rule_id, revision=revision, detail={"kind": "rules", "id": rule_id})
    return str(rule_id), int(revision)


def listing(tx: Tx) -> list[Rule]:
    return [Rule._make(row) for row in tx.all("SELECT tool, origin, verdict FROM rules ORDER BY tool, origin")]
