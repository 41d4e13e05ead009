"""Nothing but frames reaches the browser, whoever writes to standard output."""

import os
import sys
from collections.abc import Sequence

import pytest

from support.hostclient import HostClient, host_command
from support.stores import Store

#: What a careless library may do at any moment; each must end on stderr or nowhere.
LOUD = """
import atexit, ctypes, os, sys, threading, time, warnings

def noise():
    print("printed")
    sys.stdout.write("written\\n"); sys.stdout.flush()
    sys.__stdout__.write("the original\\n"); sys.__stdout__.flush()
    os.write(1, b"descriptor one\\n")
    ctypes.CDLL(None).puts(b"from C"); ctypes.CDLL(None).fflush(None)
    os.system("echo from a child")
    warnings.warn("a warning")
    try:
        sys.stdin.read(1)  # the frames are not for others to read either
    except (OSError, ValueError):
        pass
"""


def command_with(prologue: str, epilogue: str = "") -> Sequence[str]:
    """The host's own entry, with code of a library's kind around it."""
    code = (
        f"import sys\nsys.argv[0] = {host_command()[0]!r}\n{prologue}\n"
        f"from sidekeep.host.main import main\n{epilogue}\nsys.exit(main())"
    )
    return [sys.executable, "-c", code]


def test_no_library_child_or_warning_reaches_the_pipe(store: Store) -> None:
    """B28: print, os.write(1), a C library, a child and a warning cannot reach the browser, at any moment."""
    # An audit hook fires in the middle of everything: at each import and each opened file, from every thread.
    hook = LOUD + (
        "count = [0]\nbusy = threading.local()\n"
        "def hook(event, _args):\n"
        "    ready = 'sidekeep.wire.handshake' in sys.modules\n"
        "    if event in ('import', 'open') and ready and count[0] < 60 and not getattr(busy, 'on', False):\n"
        "        busy.on = True; count[0] += 1\n"
        "        try: noise()\n"
        "        finally: busy.on = False\n"
        "sys.addaudithook(hook)\n"
    )
    host = store.start(command=command_with(hook))
    host.initialize()
    host.ready()
    thread = host.ack("thread.create", title="quiet")["threadId"]
    assert [row["id"] for row in host.query("thread.list")["threads"]] == [thread]
    host.close()
    assert host.faults == []
    for words in ("printed", "written", "the original", "descriptor one", "from C", "from a child", "a warning"):
        assert words in host.stderr, words


def test_a_traceback_in_the_host_is_no_frame(store: Store) -> None:
    """An exception that nobody catches goes to stderr; the pipe only ends."""
    host = store.start(command=command_with("", "import sidekeep.wire.origins as o\no.accepted = None"))
    assert host.wait_end(5) == 1
    assert host.frame_sizes == []
    assert "Traceback" in host.stderr


@pytest.mark.parametrize("closed", [[2], [1], [0], [0, 1, 2]])
def test_closed_standard_descriptors_are_filled_before_they_are_others(store: Store, closed: list[int]) -> None:
    """A descriptor that was closed must not become the database's, or text printed would go into it."""
    shut = "".join(f"os.close({number});" for number in closed)
    command = [sys.executable, "-c", f"import os,sys; {shut} os.execv({host_command()[0]!r}, sys.argv)"]
    host = HostClient(store.state, command=command)
    try:
        if closed == [2]:
            host.initialize()
            host.ready()
            assert host.ack("thread.create")["threadId"]
            opened = os.readlink(f"/proc/{host.process.pid}/fd/2")
            assert opened == os.devnull
        else:
            host.close_input()
            assert host.wait_end(5) == 0
            assert host.events == []
    finally:
        host.close()


def test_the_log_is_private_and_debug_goes_to_stderr(store: Store) -> None:
    """Logs go to a rotating 0600 file, and to stderr with SIDEKEEP_LOG=debug."""
    plain = store.open()
    assert plain.stderr == ""
    plain.close()
    store.hosts.remove(plain)
    store.let_runner_go()
    loud = store.open(env={"SIDEKEEP_LOG": "debug"})
    thread = loud.ack("thread.create")["threadId"]
    loud.ack("turn.submit", threadId=thread, input={"content": [{"type": "text", "text": "x"}]})
    loud.until(lambda _: "started runner" in loud.stderr, "a log line on stderr")
    log = store.state / "logs" / "host.log"
    assert "started runner" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.parent.stat().st_mode & 0o777 == 0o700
