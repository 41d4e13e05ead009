"""What the front matter of a SKILL.md must hold: written by people, so every fault is named with its place."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sidekeep.model.limits import SKILL_DESCRIPTION_CHARACTERS, SKILL_NAME_CHARACTERS


class SkillFront(BaseModel):
    """Further members are kept and not looked at: other programs have theirs."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: Annotated[str, Field(min_length=1, max_length=SKILL_NAME_CHARACTERS, pattern=r"^[\w][\w .-]*$")]
    description: Annotated[str, Field(min_length=1, max_length=SKILL_DESCRIPTION_CHARACTERS)]
    sites: Annotated[list[Annotated[str, Field(max_length=253)]], Field(max_length=100)] = []
    command: Annotated[str, Field(pattern=r"^/?[\w-]{1,64}$")] = ""
