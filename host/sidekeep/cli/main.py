"""The command `sidekeep`: names the commands, runs one, and turns what went wrong into a sentence and a status."""

import os
import sys
from collections.abc import Sequence
from errno import EDQUOT, EIO, ENOSPC
from io import TextIOWrapper

from cyclopts import App
from cyclopts.exceptions import CycloptsError

from sidekeep import __version__
from sidekeep.cli.outcome import Status, fail, log_fault, status_of
from sidekeep.model.digests import quicken
from sidekeep.model.errors import SidekeepError

# Each command's module is imported when it is called, and not before: the help costs no store and no crypto.
_COMMANDS = (
    ("install", "install:install", "Register the host with the browsers on this machine."),
    ("uninstall", "uninstall:uninstall", "Take away exactly what `install` wrote."),
    ("doctor", "doctor:doctor", "Go the browser's way to the host and name the first hop that fails."),
    ("status", "status:status", "Where the store is, what is in it, and which processes are alive."),
    ("threads", "threads:threads", "List the conversations, the newest first."),
    ("show", "show:show", "Print a conversation as it stands in the panel."),
    ("search", "search:search", "Find words in conversations, kept pages and titles."),
    ("pages", "pages:app", "The pages that were kept: list, show, export."),
    ("sessions", "sessions:app", "The conversations' Git repositories: list, commits, path, rebuild."),
    ("projects", "projects:app", "Folders that conversations are bound to: list, create, relocate."),
    ("sync", "sync:sync", "Unite the conversations with a Git remote."),
    ("import", "importing:import_", "Take over conversations of another program."),
    ("vault", "vault:app", "Keys of model endpoints: names and ages only come out."),
    ("verify", "verify:verify", "Check the whole store, and mend what is damaged."),
    ("gc", "gc:gc", "Let go what is needed no more, and give room back to the disk."),
    ("origins", "origins:origins", "The extension origins that the host accepts, one a line."),
    ("protocol", "protocol:protocol", "The wire contract between extension and host."),
)


def make_app() -> App:
    """The command tree; nothing of a command is imported yet."""
    app = App(
        name="sidekeep",
        help="Chat in the side panel, kept on this machine.",
        version=__version__,
        result_action="return_value",
    )
    for name, place, summary in _COMMANDS:
        app.command(f"sidekeep.cli.{place}", name=name, help=summary)
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status (0 done, 1 not so, 2 usage, 3 refused, 4 store)."""
    words = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in words
    quicken()
    _write_any_text(as_json)
    try:
        done = make_app()(words, exit_on_error=False, print_error=False)
        sys.stdout.flush()
    except CycloptsError as error:
        return fail(Status.USAGE, "usage", _sentence(error), as_json=as_json)
    except SidekeepError as error:
        return fail(status_of(error), error.code, error.message, as_json=as_json)
    except BrokenPipeError:
        # Whoever read our output has enough.
        _leave_output()
        return Status.DONE
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None and error.errno in (ENOSPC, EDQUOT, EIO):
            # Not a file that has a name: the output itself.
            _leave_output()
            sys.stderr.write(f"The output could not be written: {error.strerror}.\n")
            return Status.NOT_SO
        return fail(Status.NOT_SO, "internal", log_fault(error, _state(words)), as_json=as_json)
    return done if isinstance(done, int) else Status.DONE


def _leave_output() -> None:
    """What is left to write goes nowhere: the interpreter must not complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_any_text(as_json: bool) -> None:
    """Any text can be printed whatever the locale: what it lacks as `?`; a JSON document is always UTF-8."""
    if sys.stdout is None:  # closed by whoever started us
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8" if as_json else None, errors="replace")


def _state(words: Sequence[str]) -> str | None:
    """The state folder that a command line names, for the log of a command that failed."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == "--state" and following:
            return os.path.expanduser(following)
        if word.startswith("--state="):
            return os.path.expanduser(word.removeprefix("--state="))
    return None


def _sentence(error: CycloptsError) -> str:
    text = " ".join(str(error).split())
    return f"{text} See `sidekeep --help`."


if __name__ == "__main__":
    sys.exit(main())
