"""Finds out whether a runner lives, starts one when none does, and hears of its death.

The lock on `.locks/runner` is the runner: its descriptor is handed from the host that took it to the
process that it starts, so that there is no moment in which work is admitted and nobody would look.
"""

import os
import sys
import time
from _thread import start_new_thread
from collections.abc import Callable

from sidekeep.model.limits import RUNNER_LOCK_TRIES, RUNNER_LOCK_TRY_MS, RUNNER_STARTS_A_MINUTE
from sidekeep.model.places import Places, private_file
from sidekeep.store import handover, locks

TRIES, PAUSE = RUNNER_LOCK_TRIES, RUNNER_LOCK_TRY_MS / 1000
AGAIN_SECONDS = 1.0
STARTS, STARTS_SECONDS = RUNNER_STARTS_A_MINUTE, 60.0
# How often, and how long each time, a start is left to a newer host before it is done after all.
LEFT_TO_NEWER, LEFT_SECONDS = 20, 0.5
_KEPT_VARIABLES = (
    "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "XDG_RUNTIME_DIR", "XDG_DATA_HOME",
    "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS", "SIDEKEEP_LOG", "SIDEKEEP_VAULT", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "SYSTEMROOT", "PATH",
)  # fmt: skip


class Election:
    """One host's part in it. `gone` is called from another thread when the runner that it watched has died; `ring`
    has the runner look at what is new."""

    def __init__(
        self,
        places: Places,
        version: str,
        *,
        gone: Callable[[], None],
        ring: Callable[[], None],
        log: Callable[[str], None],
    ) -> None:
        self._places = places
        self._version = version
        self._gone = gone
        self._ring = ring
        self._log = log
        self._watching = False
        self._left_to_newer = 0
        self._uncounted: list[float] = []

    def ensure(self) -> float | None:
        """See to it that a runner lives; called only after the COMMIT that admitted work.

        Returns None when one lives or was started, else the seconds after which to ask again.
        """
        fd = locks.open_lock_file(self._places.runner_lock)
        try:
            for _ in range(TRIES):
                # Shared fails only beside a runner; exclusive fails beside another host's test, too.
                if not locks.lock(fd, locks.SHARED, wait=False):
                    if handover.ask(self._places, self._version):
                        self._log("an older runner was asked to leave")
                        self._ring()
                    return None
                # No runner lives while we have it shared: what a dead one said of itself goes before the lock is
                # taken for the next one, of which it would be read.
                _remove(self._places.runner_lock + ".json")
                if locks.lock(fd, locks.EXCLUSIVE, wait=False):
                    return self._try_to_start(fd)
                locks.unlock(fd)
                time.sleep(PAUSE)
            return AGAIN_SECONDS
        finally:
            os.close(fd)

    def _try_to_start(self, fd: int) -> float | None:
        try:
            return self._start(fd)
        except OSError as error:
            # No memory or no room for a process: the port goes on, and the start is tried again.
            self._log(f"a runner could not be started: {error}")
            return AGAIN_SECONDS

    def _start(self, fd: int) -> float | None:
        if self._left_to_newer < LEFT_TO_NEWER and handover.newer_host_lives(self._places, self._version):
            self._left_to_newer += 1
            return LEFT_SECONDS
        self._left_to_newer = 0
        handover.forget(self._places)
        wait = self._wait_before_start()
        if wait > 0:
            self._log(f"runners died before their first commit; the next start is in {wait:.0f} s")
            return wait
        os.set_inheritable(fd, True)
        command = [*runner_command(), "--lock-fd", str(fd), "--state", self._places.state]
        environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        if sys.platform == "win32":
            return self._start_on_windows(command, environment)
        null = os.open(os.devnull, os.O_RDWR)
        try:
            actions = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
            pid = os.posix_spawn(command[0], command, environment, file_actions=actions, setsid=True)
        finally:
            os.close(null)
        self._log(f"started runner {pid}")
        start_new_thread(_reap, (pid,))
        return None

    def _start_on_windows(self, command: list[str], environment: dict[str, str]) -> float | None:
        # There the lock cannot be handed over; the runner takes it itself, and a second one leaves.
        import subprocess

        subprocess.Popen(
            [*command[:-4], "--state", self._places.state],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=0x00000008 | 0x00000200 | 0x01000000,  # detached, own group, out of the job object
        )
        return None

    def _wait_before_start(self) -> float:
        """At most five starts a minute of runners that died before their first commit.

        The file is emptied by a runner that has committed, so one of those is replaced at once.
        """
        path = self._places.runner_lock + ".starts"
        now = time.time()
        try:
            with open(path, encoding="ascii") as file:
                times = [float(line) for line in file if line.strip()]
        except (FileNotFoundError, ValueError):
            times = []
        recent = sorted(when for when in {*times, *self._uncounted} if 0 <= now - when < STARTS_SECONDS)
        if len(recent) >= STARTS:
            return STARTS_SECONDS - (now - recent[0])
        try:
            fd = private_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            try:
                os.write(fd, "".join(f"{when}\n" for when in (*recent, now)).encode())
            finally:
                os.close(fd)
        except OSError:
            self._uncounted.append(now)  # no room for the file: counted for this host alone
        return 0.0

    def watch(self) -> None:
        """Wait, in a thread, for the death of the runner; at most one thread waits."""
        if self._watching:
            return
        self._watching = True
        start_new_thread(self._wait_for_death, ())

    def _wait_for_death(self) -> None:
        fd = locks.open_lock_file(self._places.runner_lock)
        try:
            locks.lock(fd, locks.SHARED, wait=True)
        finally:
            # Closing lets go at once: a starting runner must not be kept from the lock.
            os.close(fd)
            self._watching = False
        self._gone()


def runner_command() -> list[str]:
    """The interpreter without site and environment, and the runner's entry beside this package."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = list(dict.fromkeys((os.path.dirname(package), *(path for path in sys.path if path))))
    code = f"import sys; sys.path[:0] = {paths!r}; from sidekeep.runner.main import main; sys.exit(main())"
    return [sys.executable, "-IS", "-c", code]


def _reap(pid: int) -> None:
    """In a thread: whoever looks for the process after its end finds none."""
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        return


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
