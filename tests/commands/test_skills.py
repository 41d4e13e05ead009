"""Skills: SKILL.md texts that are checked when they are saved, listed without their bodies, switched off, deleted."""

import pytest

from support.stores import Store

RAW = """---
name: tea-lover
description: "How to talk about tea"
sites:
  - tea.example
  - leaf.example
command: /tea
license: free
---

# Tea
Always mention green tea.
"""


def test_a_skill_from_its_file_to_its_end(store: Store) -> None:
    """Saved by name, shown with what its front matter says, off and on, gone; each told to every port."""
    host, other = store.open(), store.open()
    saved = host.ack("skill.save", raw=RAW)
    other.event("store.changed", where=lambda e: e["kind"] == "skills")
    (skill,) = host.query("skill.list")["skills"]
    assert {name: skill[name] for name in ("name", "description", "enabled", "sites", "command")} == {
        "name": "tea-lover",
        "description": "How to talk about tea",
        "enabled": True,
        "sites": ["tea.example", "leaf.example"],
        "command": "/tea",
    }
    assert "raw" not in skill
    assert host.query("skill.get", skillId=saved["skillId"])["skill"]["raw"] == RAW
    again = host.ack("skill.save", raw=RAW.replace("green", "black"))
    assert (again["skillId"], again["revision"]) == (saved["skillId"], 2)
    host.ack("skill.setEnabled", skillId=saved["skillId"], enabled=False)
    assert host.query("skill.list")["skills"][0]["enabled"] is False
    host.ack("skill.delete", skillId=saved["skillId"])
    assert host.query("skill.list")["skills"] == []
    assert host.refused("skill.get", skillId=saved["skillId"])["code"] == "not_found"


@pytest.mark.parametrize(
    ("raw", "named"),
    [
        ("# Tea", "three dashes"),
        ("---\nname: tea", "no end"),
        ("---\nname\n---\n", "line 2"),
        ("---\ndescription: x\n---\n", "name: Field required"),
        ("---\nname: tea\ndescription: ''\n---\n", "description: String should have at least 1 character"),
        ("---\nname: a/b\ndescription: x\nsites: no\n---\n", "sites: Input should be a valid list"),
    ],
)
def test_every_fault_is_named_in_its_place(store: Store, raw: str, named: str) -> None:
    """Nothing is saved of a file that is not one."""
    host = store.open()
    refused = host.refused("skill.save", raw=raw)
    assert refused["code"] == "invalid_command"
    assert named in refused["message"]
    assert host.query("skill.list")["skills"] == []
