"""`skill.*`: the SKILL.md texts that models may load; their front matter is checked when they are saved."""

from typing import Any

from sidekeep.commands.context import Context, given
from sidekeep.model.errors import InvalidCommand
from sidekeep.model.limits import SKILL_BODY_BYTES
from sidekeep.model.ops.knowledge import SkillDelete, SkillGet, SkillList, SkillSave, SkillSetEnabled
from sidekeep.model.skillfile import split
from sidekeep.store import skills
from sidekeep.store.skills import Skill
from sidekeep.store.tx import Tx


def save(tx: Tx, op: SkillSave, _ctx: Context) -> dict[str, Any]:
    """Raises InvalidCommand, with every fault of the front matter in its place; Conflict when the name is taken."""
    file = split(op.raw)
    if len(file.body.encode()) > SKILL_BODY_BYTES:
        raise InvalidCommand(f"raw: the body may have {SKILL_BODY_BYTES} bytes.")
    skill_id, revision = skills.save(tx, _name(file.front), op.raw, given(op.skill_id))
    return {"skillId": skill_id, "revision": revision}


def _name(front: dict[str, Any]) -> str:
    from pydantic import ValidationError  # slow to import, and seldom needed

    from sidekeep.commands.skill_front import SkillFront

    try:
        return SkillFront.model_validate(front).name
    except ValidationError as faults:
        told = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults.errors())
        raise InvalidCommand(f"raw: the front matter of SKILL.md: {told}.") from None


def set_enabled(tx: Tx, op: SkillSetEnabled, _ctx: Context) -> dict[str, Any]:
    return {"revision": skills.set_enabled(tx, op.skill_id, op.enabled)}


def delete(tx: Tx, op: SkillDelete, _ctx: Context) -> dict[str, Any]:
    skills.delete(tx, op.skill_id)
    return {}


def listing(tx: Tx, _op: SkillList, _ctx: Context) -> dict[str, Any]:
    return {"skills": [_shown(skill) for skill in skills.listing(tx)]}


def get(tx: Tx, op: SkillGet, _ctx: Context) -> dict[str, Any]:
    skill = skills.get(tx, op.skill_id)
    return {"skill": {**_shown(skill), "raw": skill.raw}}


def _shown(skill: Skill) -> dict[str, Any]:
    front = skill.front
    shown: dict[str, Any] = {
        "id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "enabled": bool(skill.enabled),
        "source": skill.source or "user",
        "revision": skill.revision,
        "updatedAt": skill.updated_at,
    }
    return shown | {name: front[name] for name in ("sites", "command") if name in front}
