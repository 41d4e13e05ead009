"""Skills: the SKILL.md texts that a person keeps, by name, and which of them models are offered."""

from typing import Any, NamedTuple

from sidekeep.model.errors import Conflict, NotFound
from sidekeep.model.skillfile import split
from sidekeep.store.tx import Tx

_COLUMNS = "SELECT id, name, enabled, source_ref, revision, updated_at, raw FROM skills"


class Skill(NamedTuple):
    """One row; `raw` is the whole SKILL.md, checked when it was saved."""

    id: str
    name: str
    enabled: int
    source: str | None
    revision: int
    updated_at: int
    raw: str

    @property
    def front(self) -> dict[str, Any]:
        return split(self.raw).front

    @property
    def description(self) -> str:
        return str(self.front.get("description", ""))

    @property
    def body(self) -> str:
        return split(self.raw).body


def listing(tx: Tx) -> list[Skill]:
    """All, by name."""
    return [Skill._make(row) for row in tx.all(f"{_COLUMNS} ORDER BY name")]


def get(tx: Tx, skill_id: str) -> Skill:
    """Raises NotFound."""
    row = tx.one(f"{_COLUMNS} WHERE id = ?", (skill_id,))
    if row is None:
        raise NotFound(f"No skill {skill_id}.")
    return Skill._make(row)


def enabled(tx: Tx, name: str) -> Skill | None:
    """The skill of this name, if models are offered it."""
    row = tx.one(f"{_COLUMNS} WHERE name = ? AND enabled = 1", (name,))
    return None if row is None else Skill._make(row)


def save(tx: Tx, name: str, raw: str, skill_id: str | None = None) -> tuple[str, int]:
    """Make or change one; returns id and revision. Raises Conflict when another has the name."""
    standing = tx.one("SELECT id FROM skills WHERE name = ?", (name,))
    skill_id = skill_id or (standing[0] if standing else tx.new_id())
    if standing and standing[0] != skill_id:
        raise Conflict(f"Another skill has the name {name}.")
    tx.run(
        "INSERT INTO skills (id, name, created_at, updated_at, raw) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET name = excluded.name, raw = excluded.raw, "
        "updated_at = excluded.updated_at, revision = revision + 1",
        (skill_id, name, tx.now, tx.now, raw),
    )
    return str(skill_id), _told(tx, str(skill_id))


def set_enabled(tx: Tx, skill_id: str, offered: bool) -> int:
    """Its revision. Raises NotFound."""
    get(tx, skill_id)
    tx.run(
        "UPDATE skills SET enabled = ?, updated_at = ?, revision = revision + 1 WHERE id = ?",
        (int(offered), tx.now, skill_id),
    )
    return _told(tx, skill_id)


def delete(tx: Tx, skill_id: str) -> None:
    """Raises NotFound."""
    get(tx, skill_id)
    tx.run("DELETE FROM skills WHERE id = ?", (skill_id,))
    tx.change("store.changed", id=skill_id, detail={"kind": "skills", "id": skill_id})


def _told(tx: Tx, skill_id: str) -> int:
    revision = get(tx, skill_id).revision
    tx.change("store.changed", id=skill_id, revision=revision, detail={"kind": "skills", "id": skill_id})
    return revision
