"""`sidekeep-runner`: takes the store's runner lock, opens the store, and runs turns until nobody needs it.

A host starts it detached and hands it the descriptor of the lock, which is taken already. By hand it is started
with `--foreground` and takes the lock itself.
"""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence

from sidekeep.model.digests import quicken
from sidekeep.model.limits import RUNNER_IDLE_MS, RUNNER_LOCK_TRIES, RUNNER_LOCK_TRY_MS
from sidekeep.model.logfile import LogFile
from sidekeep.model.places import Places, private_file

USAGE = "usage: sidekeep-runner [--foreground] [--state DIR] [--lock-fd N] [--idle-seconds S]"
LIVES = "Another runner works on this store already; there is nothing to do for this one."


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0 after a clean end, 1 after a fault, 2 for wrong arguments, 3 beside another."""
    try:
        options = _options(sys.argv[1:] if argv is None else argv)
    except ValueError as error:
        sys.stderr.write(f"{error}\n{USAGE}\n")
        return 2
    os.umask(0o077)
    quicken()
    places = Places(options.get("state")).make()
    foreground = "foreground" in options
    echo = 2 if foreground or os.environ.get("SIDEKEEP_LOG") == "debug" else None
    log = LogFile(os.path.join(places.logs, "runner.log"), echo=echo)
    lock = _take_lock(places, options.get("lock-fd"))
    if lock is None:
        if foreground:
            sys.stderr.write(LIVES + "\n")
        return 3
    return _serve(places, lock, log, float(options.get("idle-seconds", RUNNER_IDLE_MS / 1000)))


def _options(arguments: Sequence[str]) -> dict[str, str]:
    """By hand: a parser's import costs more than the rest of the start. Raises ValueError."""
    found: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name = word.removeprefix("--")
        if word == "--foreground":
            found[name] = ""
        elif word in ("--state", "--lock-fd", "--idle-seconds"):
            value = next(words, None)
            if value is None:
                raise ValueError(f"{word} needs a value")
            found[name] = _number(word, value) if word != "--state" else value
        else:
            raise ValueError(f"{word} is not known")
    return found


def _number(word: str, value: str) -> str:
    if not value.replace(".", "", 1).isdigit():
        raise ValueError(f"{word} needs a number, not {value}")
    return value


def _take_lock(places: Places, handed: str | None) -> int | None:
    """The descriptor that holds the lock, closed on exec; None beside another runner."""
    from sidekeep.store import locks

    if handed is not None:
        fd = int(handed)
        os.set_inheritable(fd, False)
        ours = locks.leads_to(places.runner_lock, fd)
        # Taking it again through the same descriptor succeeds exactly when it is held through it.
        return fd if ours and locks.lock(fd, locks.EXCLUSIVE, wait=False) else None
    fd = locks.open_lock_file(places.runner_lock)
    if locks.lock_within(fd, locks.EXCLUSIVE, RUNNER_LOCK_TRIES * RUNNER_LOCK_TRY_MS / 1000):
        return fd
    os.close(fd)
    return None


def _serve(places: Places, lock: int, log: LogFile, idle_seconds: float) -> int:
    from sidekeep import __version__
    from sidekeep.model.errors import SidekeepError

    if hasattr(signal, "pthread_sigmask"):
        # Who reads below who we are may tell us to end at once: that is heard when the loop listens.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
    about = places.runner_lock + ".json"
    started = int(time.time() * 1000)
    _write(about, f'{{"pid":{os.getpid()},"version":"{__version__}","startedAt":{started}}}')

    held = [lock]

    def release() -> None:
        """Let the lock go, once; what is said of us goes first, or it would be the next runner's."""
        if held:
            _remove(about)
            os.close(held.pop())

    log(f"runner {__version__} begins")
    try:
        status = _run(places, lock, release, log, idle_seconds)
    except SidekeepError as error:
        log(f"the store cannot be served: {error.code} {error.message}")
        status = 1
    except Exception:
        # Nobody reads the standard error of a detached process.
        import traceback

        log(traceback.format_exc())
        status = 1
    finally:
        release()
    log(f"runner ends ({status})")
    return status


def _run(places: Places, lock: int, release: Callable[[], None], log: LogFile, idle_seconds: float) -> int:
    import asyncio

    from sidekeep import __version__
    from sidekeep.runner.loop import Runner
    from sidekeep.store import locks
    from sidekeep.store.bell import open_bell
    from sidekeep.store.doorway import Doorway
    from sidekeep.store.opener import open_store

    store = open_store(places)
    bell = open_bell(places, "runner", log)
    # What was imported lives as long as the process, and turns leave few cycles: look for them more rarely.
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)

    async def serve() -> int:
        runner = Runner(
            store,
            Doorway(store, log=log),
            bell,
            version=__version__,
            release=release,
            deposed=lambda: not locks.leads_to(places.runner_lock, lock),
            log=log,
            first_commit=lambda: _remove(places.runner_lock + ".starts"),
            idle_seconds=idle_seconds,
        )
        return await runner.run()

    try:
        return asyncio.run(serve())
    finally:
        if bell is not None:
            bell.close()
        store.close()


def _write(path: str, text: str) -> None:
    """Atomically, 0600."""
    temporary = f"{path}.{os.getpid()}"
    fd = private_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)
    os.replace(temporary, path)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


if __name__ == "__main__":
    sys.exit(main())
