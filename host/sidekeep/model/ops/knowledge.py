"""Ops on what models are given to know: memories, skills, plugins."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from sidekeep.model.limits import SKILL_BODY_BYTES
from sidekeep.model.ops.base import Op
from sidekeep.model.payloads import Id, Name


class MemoryList(Op, tag="memory.list", kw_only=True):
    """All memories."""


class MemorySet(Op, tag="memory.set", kw_only=True):
    """Makes or changes a memory."""

    memory_id: Id | UnsetType = UNSET
    key: Name
    value: str


class MemoryDelete(Op, tag="memory.delete", kw_only=True):
    """Forgets a memory."""

    memory_id: Id


class SkillList(Op, tag="skill.list", kw_only=True):
    """All skills, without their bodies."""


class SkillGet(Op, tag="skill.get", kw_only=True):
    """A skill with its body."""

    skill_id: Name


class SkillSave(Op, tag="skill.save", kw_only=True):
    """Makes or changes a skill from the text of its SKILL.md."""

    skill_id: Name | UnsetType = UNSET
    raw: Annotated[str, Meta(max_length=2 * SKILL_BODY_BYTES)]


class SkillSetEnabled(Op, tag="skill.setEnabled", kw_only=True):
    """Offers a skill to models, or no longer."""

    skill_id: Name
    enabled: bool


class SkillDelete(Op, tag="skill.delete", kw_only=True):
    """Deletes a skill."""

    skill_id: Name


class PluginInspect(Op, tag="plugin.inspect", kw_only=True):
    """What a ZIP holds: a job."""

    attachment_id: Id


class PluginInstall(Op, tag="plugin.install", kw_only=True):
    """Installs a ZIP, off at first: a job."""

    attachment_id: Id


class PluginSetEnabled(Op, tag="plugin.setEnabled", kw_only=True):
    """Turns a plugin on or off."""

    plugin_id: Name
    enabled: bool


class PluginRemove(Op, tag="plugin.remove", kw_only=True):
    """Removes a plugin."""

    plugin_id: Name
