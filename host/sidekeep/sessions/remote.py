"""A Git remote through the git program, with the user's credential helpers and nothing else of their configuration.

No hooks, filters, aliases or includes of theirs run, no terminal is asked, and a URL can name neither an option nor a
program. Sessions lie on the remote as branches `sessions/<id>`; one connection moves many of them.
"""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping

from sidekeep.model.errors import Conflict, NeedsPermission, NotFound, ProviderNetwork, SidekeepError
from sidekeep.model.ids import is_uuid
from sidekeep.model.remote_url import checked

PREFIX = "refs/heads/sessions/"
FETCHED = "refs/remotes/there/"
_BEHIND = re.compile(r"non-fast-forward|fetch first|failed to update ref|cannot lock ref|stale info")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_POLL_SECONDS = 0.2
_SECONDS = 600.0
_KEPT = ("PATH", "HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "XDG_RUNTIME_DIR",
         "DBUS_SESSION_BUS_ADDRESS", "TMPDIR", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA")  # fmt: skip
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.askPass": "",
    "core.fsmonitor": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "fetch.fsckObjects": "true",
    "fetch.unpackLimit": "1",
    "push.gpgSign": "false",
    "protocol.allow": "never",
    "protocol.file.allow": "always",
    "protocol.ssh.allow": "always",
    "protocol.https.allow": "always",
    "protocol.http.allow": "always",
    "submodule.recurse": "false",
}


class Cancelled(Exception):
    """The caller wants no more of it."""


class Remote:
    """One remote. `cancelled` is asked while git works; Cancelled is raised once it says so."""

    def __init__(self, url: str, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.url = checked(url)
        self._cancelled = cancelled
        self._credentials: list[str] | None = None

    def heads(self, hub: str) -> dict[str, str]:
        """Session → commit of every session there. `hub` is a repository to run git in.

        Raises NotFound, NeedsPermission, ProviderNetwork, Conflict; so do the others.
        """
        found = {}
        for line in self._git(hub, "ls-remote", "--refs", "--", self.url, f"{PREFIX}*").splitlines():
            commit, _, name = line.partition("\t")
            session = name.removeprefix(PREFIX)
            if is_uuid(session) and re.fullmatch("[0-9a-f]{40}", commit):
                found[session] = commit
        return found

    def fetch(self, hub: str, sessions: list[str]) -> None:
        """Bring the commits of these sessions into the hub, as `refs/remotes/there/<id>`."""
        specs = [f"+{PREFIX}{session}:{FETCHED}{session}" for session in sessions]
        quietly = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        self._git(hub, "fetch", *quietly, "--", self.url, *specs)

    def push(self, hub: str, commits: Mapping[str, str]) -> dict[str, str | None]:
        """Session → None when its branch leads to the commit now, else why it does not (`behind`: fetch first)."""
        specs = [f"{commit}:{PREFIX}{session}" for session, commit in commits.items()]
        out = self._git(hub, "push", "--porcelain", "--no-verify", "--", self.url, *specs, allowed=(0, 1))
        told: dict[str, str | None] = dict.fromkeys(commits, "was not taken")
        for line in out.splitlines():
            flag, _, rest = line.partition("\t")
            names, _, summary = rest.partition("\t")
            session = names.partition(":")[2].removeprefix(PREFIX)
            if session in told:
                behind = _BEHIND.search(summary) is not None
                told[session] = None if flag in (" ", "*", "=") else "behind" if behind else _clean(summary)
        return told

    def _git(self, hub: str, *words: str, allowed: tuple[int, ...] = (0,)) -> str:
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        process = subprocess.Popen(
            ["git", *settings, *self._helpers(), "-C", hub, *words],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        waited = 0.0
        while True:
            try:
                out, err = process.communicate(timeout=_POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                waited += _POLL_SECONDS
                if self._cancelled() or waited > _SECONDS:
                    _end(process)
                    if waited > _SECONDS:
                        raise ProviderNetwork("The remote did not answer in ten minutes; try again.") from None
                    raise Cancelled from None
        if process.returncode not in allowed or (process.returncode and not out.strip()):
            raise explained(err.decode("utf-8", "replace"))
        return out.decode("utf-8", "replace")

    def _helpers(self) -> list[str]:
        """The user's credential settings, and those of the machine, as options."""
        if self._credentials is None:
            self._credentials = []
            done = subprocess.run(
                ["git", "config", "--null", "--includes", "--get-regexp", r"^credential\."],
                env={name: os.environ[name] for name in _KEPT if name in os.environ},
                cwd=os.path.abspath(os.sep),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
            for entry in done.stdout.decode("utf-8", "replace").split("\0"):
                name, line, value = entry.partition("\n")
                if line and name.lower().startswith("credential.") and "=" not in name:
                    self._credentials += ["-c", f"{name}={value}"]
        return self._credentials


def _environment() -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes -o ConnectTimeout=20",
        "GIT_ALLOW_PROTOCOL": "file:ssh:https:http",
        "GIT_OPTIONAL_LOCKS": "0",
    }


def _end(process: "subprocess.Popen[bytes]") -> None:
    """git and what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, AttributeError):
        process.kill()
    process.communicate()


_REASONS: tuple[tuple[str, Callable[[str], SidekeepError]], ...] = (
    (r"Authentication failed|Permission denied|could not read (Username|Password)|error: 40[13]|Host key verification|"
     r"not allowed|protected branch|pre-receive hook declined|dubious ownership|read-only|Read-only",
     lambda words: NeedsPermission(f"The remote does not let us in: {words}")),
    (r"does not appear to be a git repository|[Rr]epository.*not found|No such file or directory|error: 404",
     lambda words: NotFound(f"There is no Git repository at the remote: {words}")),
    (r"Could not resolve host|unable to access|Connection|timed out|Failed to connect|early EOF|hung up|unreachable",
     lambda words: ProviderNetwork(f"The remote is out of reach: {words}")),
)  # fmt: skip


def explained(stderr: str) -> SidekeepError:
    """The product's error for what git said."""
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal:", "error:", "remote:", "ssh:"))]
    words = _clean((lines or stderr.splitlines() or ["git said nothing"])[0])
    for pattern, make in _REASONS:
        if re.search(pattern, stderr):
            return make(words)
    return Conflict(f"The remote refused: {words}")


def _clean(text: str) -> str:
    return _CONTROL.sub(" ", text).strip()[:300]
