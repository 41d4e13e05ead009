"""`sidekeep doctor`: goes the browser's way from the manifest to the handshake and names the first hop that fails."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from sidekeep.install import browsers, chain, manifest, policy, probe
from sidekeep.install import receipt as receipts
from sidekeep.install.chain import Broken
from sidekeep.install.install import Request, program_folder
from sidekeep.install.machine import Machine
from sidekeep.store import place
from sidekeep.wire.origins import EXTENSION_ID

T = TypeVar("T")


class Hop(msgspec.Struct, omit_defaults=True):
    """One step of the chain: what was looked at, and what is wrong with it."""

    name: str
    ok: bool
    path: str = ""
    detail: str = ""
    fix: str = ""


class Registration(msgspec.Struct, omit_defaults=True):
    """One registration with the hops that were gone; the last one is the first that failed."""

    browser: str
    hops: list[Hop] = []

    @property
    def failed(self) -> Hop | None:
        return next((hop for hop in self.hops if not hop.ok), None)


class Report(msgspec.Struct, omit_defaults=True):
    """All registrations; `failed` is the first hop of all that does not hold."""

    ok: bool
    state: str
    registrations: list[Registration] = []
    failed: Hop | None = None
    notes: list[str] = []


def examine(machine: Machine, state: Path, names: tuple[str, ...] = (), *, system: bool = False) -> Report:
    """Examines what the receipt says was registered, or only these browsers.

    Raises InvalidCommand for a name that is no browser.
    """
    receipt = receipts.load(program_folder(machine, state, system=system))
    notes = [*browsers.warnings(machine), *(warning["message"] for warning in place.warnings(str(state)))]
    report = Report(ok=False, state=str(state), notes=notes)
    manifests = [(Path(entry.path), entry.browsers) for entry in receipt.files("manifest")]
    for name in names:
        browser = browsers.named(name, machine)
        found = [path for path, who in manifests if name in who] or _expected(machine, browser)
        report.registrations += [_walk(machine, state, path, (name,)) for path in found]
    if not names:
        report.registrations = [_walk(machine, state, path, who) for path, who in manifests]
    failures = [one.failed for one in report.registrations if one.failed]
    if not report.registrations:
        failures = [Hop("registration", False, "", "no browser is registered", "run `sidekeep install`")]
    report.failed = failures[0] if failures else None
    report.ok = not failures
    return report


def _expected(machine: Machine, browser: browsers.Browser) -> list[Path]:
    places = browser.on(machine)
    return [machine.path(folder) / manifest.FILE_NAME for folder in places.user] if places else []


def _walk(machine: Machine, state: Path, path: Path, who: tuple[str, ...]) -> Registration:
    """Goes the chain of one registration up to the first hop that fails."""
    registration = Registration(", ".join(who) or "all browsers")
    hops = registration.hops
    origin = manifest.origin(EXTENSION_ID)
    try:
        launcher = _hop(hops, "manifest", path, lambda: chain.check_manifest(path, origin))
        _hop(hops, "policy", path, lambda: _check_policy(machine, who, path))
        _hop(hops, "launcher", launcher, lambda: chain.check_program(launcher, "launcher"))
        if machine.system != "windows":
            launch = _hop(hops, "launch line", launcher, lambda: chain.read_launcher(launcher))
            _hop(hops, "interpreter", launch.python, lambda: chain.check_program(launch.python, "interpreter"))
            _hop(hops, "package", launch.entry, lambda: chain.check_package(launch))
            owned = [path, launcher, launch.entry, state]
            _hop(hops, "ownership", state, lambda: chain.check_ownership(machine, owned))
        _hop(hops, "state folder", state, lambda: chain.check_state(state))
        shaken = _hop(hops, "handshake", launcher, lambda: _check_handshake(launcher, origin))
        hops[
            -1
        ].detail = (
            f"version {shaken.version} answered in {shaken.answer_ms:.0f} ms and left in {shaken.leave_ms:.0f} ms"
        )
    except Broken as broken:
        hops[-1].ok, hops[-1].detail, hops[-1].fix = False, broken.what, broken.fix
    return registration


def _hop(hops: list[Hop], name: str, path: Path, check: Callable[[], T]) -> T:
    hops.append(Hop(name, True, str(path)))
    return check()


def _check_policy(machine: Machine, who: tuple[str, ...], path: Path) -> None:
    for browser in browsers.table().browser:
        places = browser.on(machine)
        if browser.name not in who or places is None:
            continue
        of_user = path.parent in [machine.path(folder) for folder in places.user]
        told = policy.forbidden(machine, browser, user_level=of_user)
        if told:
            raise Broken(told, "nothing that this program can change")


def _check_handshake(launcher: Path, origin: str) -> probe.Handshake:
    shaken = probe.shake_hands(launcher, origin)
    if shaken.fault:
        raise Broken(f"the host was started with an empty environment, but {shaken.fault}", chain.REGISTER)
    return shaken


def repair(machine: Machine, state: Path, report: Report, *, system: bool, bake_state: bool) -> Request | None:
    """What `--fix` asks the installer for: the registrations that do not hold; None when there are none."""
    receipt = receipts.load(program_folder(machine, state, system=system))
    broken = {hop.path for one in report.registrations for hop in one.hops[:1] if one.failed}
    names: list[str] = []
    folders: list[Path] = []
    for entry in receipt.files("manifest"):
        if entry.path not in broken:
            continue
        for who in entry.browsers:
            if who.startswith("folder "):
                folders.append(Path(who.removeprefix("folder ")))
            else:
                names.append(who)
    if not names and not folders:
        return None
    return Request(
        state=state, bake_state=bake_state, browsers=tuple(names), user_data_dirs=tuple(folders), system=system
    )
