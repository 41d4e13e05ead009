"""Paths of attachments: allowed roots, the one old form, and a thousand ways that lead nowhere."""

import os
import random
import uuid
from pathlib import Path

import pytest

from sessions.conftest import Desk
from sessions.test_rebuild import send_file
from sidekeep import SessionStore
from sidekeep.model.errors import ForbiddenPath
from sidekeep.sessions import paths


class Case:
    """A session with an upload and a channel's file, another session beside it, and a secret outside."""

    def __init__(self, desk: Desk, tmp_path: Path) -> None:
        self.places = desk.store.places
        self.session, self.other = desk.thread(title="T"), desk.thread(title="Other")
        self.upload = send_file(desk, self.session, b"mine", "notes.txt")
        self.foreign = send_file(desk, self.other, b"theirs", "notes.txt")
        for each in (self.session, self.other):
            desk.archive.commit(each, rest=True)
        self.own = desk.folder(self.session) / "workdir" / "attachments" / self.upload / "notes.txt"
        self.theirs = desk.folder(self.other) / "workdir" / "attachments" / self.foreign / "notes.txt"
        self.channel = Path(self.places.state) / "channels" / "wechat" / "accounts" / "a" / "attachments" / "in.jpg"
        self.channel.parent.mkdir(parents=True)
        self.channel.write_bytes(b"picture")
        self.secret = tmp_path / "secret.txt"
        self.secret.write_text("secret")
        os.symlink(self.secret, self.own.parent / "link.txt")
        os.symlink(tmp_path, self.own.parent / "way")
        os.symlink(tmp_path, self.channel.parent / "way")
        os.symlink(tmp_path, Path(self.places.state) / "channels" / "evil")

    def read(self, path: str) -> bytes | None:
        return paths.read(self.places, self.session, path)


@pytest.fixture
def case(desk: Desk, tmp_path: Path) -> Case:
    """See Case."""
    return Case(desk, tmp_path)


def test_the_allowed_roots_and_the_old_form(case: Case, desk: Desk) -> None:
    """The session's own files, a channel's, and the exact old path of the same session (B16)."""
    assert case.read(str(case.own)) == b"mine"
    assert case.read(str(case.channel)) == b"picture"
    old = f"/home/me/project/.openprogram/sessions/{case.session}/workdir/attachments/{case.upload}/notes.txt"
    assert case.read(old) == b"mine"
    assert case.read(old.replace("notes.txt", "gone.txt")) is None
    assert paths.read(case.places, str(uuid.uuid4()), str(case.channel)) == b"picture"
    with SessionStore(case.places.state) as sessions:
        assert sessions.read_attachment(case.session, old) == b"mine"
        with pytest.raises(ForbiddenPath):
            sessions.read_attachment(case.session, str(case.theirs))


def hostile(case: Case) -> list[str]:
    """A thousand and more paths, each wrong in its way."""
    own, upload, state = str(case.own.parent), case.upload, case.places.state
    old = f"/p/.openprogram/sessions/{case.session}/workdir/attachments"
    other_old = f"/p/.openprogram/sessions/{case.other}/workdir/attachments/{case.foreign}/notes.txt"
    found = [
        "", "/", ".", "..", "notes.txt", str(case.theirs), str(case.secret), other_old, f"{state}/sidekeep.db",
        f"{own}/link.txt", f"{own}/way/secret.txt", f"{case.channel.parent}/way/secret.txt",
        f"{state}/channels/evil/accounts/a/attachments/secret.txt", f"{state}/channels/../sidekeep.db",
        f"{state}/channels/wechat/accounts/a/secrets/x", f"{state}/channels/wechat/accounts/../../../sidekeep.db",
        f"{state}/channels/.hidden/accounts/a/attachments/x", f"{own}", f"{own}/", f"/{own}/notes.txt",
        f"{old}/../../meta.json", f"{old}/{upload}/../{upload}/notes.txt", f"{old}{old}/{upload}/notes.txt",
        f"/p/.openprogram/sessions/{case.session.upper()}/workdir/attachments/{upload}/notes.txt",
        f"/p/.openprogram/sessions//workdir/attachments/{upload}/notes.txt", f"file://{case.own}", f"~{case.own}",
        f"/p/.openprogram/sessions/{case.session}/workdir/{upload}/notes.txt", f"\\\\?\\{case.own}",
        f"{case.own}\0.jpg",
        f"/p/.openprogram/sessions/{case.session}/history/x", f"{case.own}:stream", "C:\\x", "\\\\host\\share\\x",
    ]  # fmt: skip
    bad = [
        "..", ".", "", "con", "NUL.txt", "aux", "com1", "lpt9.x", ".git", "a\nb", "a\x00b", "a:b", "a\\b", "x ", "x.",
        "\x7f", ".git ", ".GIT", "conin$", ".sidekeep", "..\\..", "\u0000", "a\x1fb", "CON.", "\ud800", "a" * 300,
    ]  # fmt: skip
    dice = random.Random(16)
    roots = [own, old, str(case.channel.parent), str(case.own.parent.parent)]
    while len(found) < 1100:
        parts = [dice.choice(("a", "b", upload, "notes.txt")) for _ in range(dice.randrange(4))]
        parts.insert(dice.randrange(len(parts) + 1), dice.choice(bad))
        found.append("/".join((dice.choice(roots), *parts)))
    return found


def test_a_thousand_hostile_paths_are_refused(case: Case) -> None:
    """`..`, links, device names, NUL, streams, other sessions' ids, odd Unicode: `forbidden_path`, nothing read."""
    paths_ = hostile(case)
    assert len(paths_) >= 1000
    for path in paths_:
        with pytest.raises(ForbiddenPath):
            case.read(path)
