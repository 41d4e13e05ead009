"""Settings of another kind than their key takes are named; what forbids something fails closed."""

import json
from pathlib import Path

import pytest

from support.damage import behind_its_back, check, mended

PUT = "INSERT OR REPLACE INTO settings (key, value, updated_at) VALUES (?, CAST(? AS TEXT), 0)"


@pytest.mark.parametrize("value", [b"7", b"null", b'{"a":1}', b"[1]", b"{", b"\xff"])
def test_a_damaged_list_of_blocked_sites_blocks_every_site(state: Path, value: bytes) -> None:
    with behind_its_back(state) as db:
        db.execute(PUT, ("capture.blocked_sites", value))
    (finding,) = check(state).findings
    assert finding.code == ("text_damaged" if value in (b"{", b"\xff") else "setting_damaged")
    assert "capture.blocked_sites" in finding.message
    assert mended(state).left.sound
    with behind_its_back(state) as db:
        found = db.execute("SELECT value FROM settings WHERE key = 'capture.blocked_sites'").fetchone()
    assert found is not None
    assert json.loads(found[0]) == ["*"]


def test_other_settings_go_back_to_their_defaults(state: Path) -> None:
    with behind_its_back(state) as db:
        db.execute(PUT, ("policy.default", b"[]"))
        db.execute(PUT, ("retention.trash_days", b'"30"'))
        db.execute(PUT, ("a.later.one", b'"a newer program knows it"'))
    found = check(state).findings
    assert sorted((finding.code, finding.id) for finding in found) == [
        ("setting_damaged", "policy.default"),
        ("setting_damaged", "retention.trash_days"),
    ]
    assert mended(state).left.sound
    with behind_its_back(state) as db:
        left = {key for (key,) in db.execute("SELECT key FROM settings")}
    assert "a.later.one" in left
    assert not left & {"policy.default", "retention.trash_days"}
