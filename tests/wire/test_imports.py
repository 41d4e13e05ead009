"""What a host has loaded when it gives its first answers: the promise of a start that is quick everywhere."""

import os
import sys
from pathlib import Path

import pytest

import sidekeep
from sidekeep.install.launcher import import_folders
from support.stores import Store

pytestmark = pytest.mark.timeout(60)

#: Would cost more than the whole first answer (milliseconds over `-IS`, measured): see docs/performance.md.
HEAVY = (
    "apsw", "asyncio", "contextlib", "cryptography", "ctypes", "dataclasses", "enum", "hashlib", "httpx", "inspect",
    "json", "logging", "msgspec", "pathlib", "platformdirs", "pydantic", "re", "sidekeep.store", "sidekeep.vault",
    "sidekeep.model.ops", "socket", "sqlite3", "ssl", "subprocess", "tempfile", "threading", "traceback", "typing",
    "typing_extensions", "uuid",
)  # fmt: skip
#: Not even with the store open and a command acknowledged.
NEVER = ("asyncio", "httpx", "logging", "pydantic", "socket", "sqlite3", "subprocess", "typing_extensions")

# Stops the host in the first import behind its answer, tells what is loaded, and goes on when it is told to.
HOOK = """
import os, sys
def hook(event, args):
    # Not the event of an import: import_module raises none.
    if event == "open" and {stop!r} in str(args[0]) and not told:
        told.append(1)
        out = os.open({out!r}, os.O_WRONLY)
        os.write(out, " ".join(sys.modules).encode())
        os.close(out)
        os.read(os.open({into!r}, os.O_RDONLY), 1)
told = []
sys.addaudithook(hook)
sys.path += {folders!r}
from sidekeep.host.main import main
sys.exit(main())
"""


class Stopped:
    """A host that is held where it opens the file of a module, by two named pipes."""

    def __init__(self, store: Store, folder: Path, stop: str) -> None:
        self._out, self._into = folder / "out", folder / "into"
        os.mkfifo(self._out)
        os.mkfifo(self._into)
        code = HOOK.format(stop=stop, out=str(self._out), into=str(self._into), folders=import_folders())
        self.host = store.start(command=[sys.executable, "-IS", "-c", code])

    def loaded(self) -> set[str]:
        """The names of its modules, once it stands there."""
        return set(self._out.read_text().split())

    def go_on(self) -> None:
        self._into.write_text("x")


@pytest.fixture
def answered(store: Store, tmp_path: Path) -> Stopped:
    """A host that will stand still behind its first answer."""
    return Stopped(store, tmp_path, "/serve.")


def test_the_first_answer_is_given_before_anything_heavy_is_loaded(answered: Stopped) -> None:
    """A host that has answered `initialize` has opened nothing heavy."""
    assert answered.host.initialize()["type"] == "initialized"  # it is out: the host stands still behind it
    loaded = answered.loaded()
    assert "sidekeep.wire.handshake" in loaded
    assert sorted(loaded & set(HEAVY)) == []
    assert len(loaded) < 80, sorted(loaded)
    answered.go_on()
    answered.host.ready()


def test_the_first_answer_opens_no_store(answered: Stopped, store: Store) -> None:
    """It is answered before the store is open: no file is made for it."""
    assert answered.host.initialize()["type"] == "initialized"
    answered.loaded()
    assert sorted(path.name for path in store.state.iterdir()) == [".locks"]
    answered.go_on()
    answered.host.ready()
    assert (store.state / "sidekeep.db").exists()


def test_a_host_at_work_never_loads_what_only_the_runner_needs(store: Store, tmp_path: Path) -> None:
    """Imports are paid for by the first acknowledged command: no asyncio, HTTP, sockets or logging in a host."""
    stopped = Stopped(store, tmp_path, "/memories.")
    host = stopped.host
    host.initialize()
    host.ready()
    thread = host.ack("thread.create")["threadId"]
    host.query("thread.subscribe", threadId=thread)
    host.ack("turn.submit", threadId=thread, input={"content": [{"type": "text", "text": "x"}]})
    host.send("memory.list")
    loaded = stopped.loaded()
    assert {"apsw", "msgspec", "sidekeep.commands.submit"} <= loaded
    assert sorted(loaded & set(NEVER)) == []
    stopped.go_on()


def test_the_extensions_of_the_package_are_the_ones_that_are_tested() -> None:
    """The host that is started here is the package that is tested, not another installation of it."""
    assert Path(sidekeep.__file__).parents[1] == Path(import_folders()[0])
