"""Settings: dotted keys with a checker each; an unknown key is refused by name."""

from collections.abc import Callable
from typing import Any

import msgspec

from sidekeep.model.errors import InvalidCommand
from sidekeep.model.limits import NAME_CHARACTERS
from sidekeep.store.tx import Tx, dumps

Check = Callable[[Any], bool]


def _model(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"connectionId", "modelId"}
        and all(isinstance(part, str) and 0 < len(part) <= NAME_CHARACTERS for part in value.values())
    )


def _whole(low: int, high: int) -> Check:
    return lambda value: type(value) is int and low <= value <= high


def _one_of(*allowed: str) -> Check:
    return lambda value: value in allowed


def _texts(value: Any) -> bool:
    return isinstance(value, list) and len(value) <= 10_000 and all(isinstance(item, str) for item in value)


def _short_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 100_000


def _flag(value: Any) -> bool:
    return type(value) is bool


#: key → (checker, what it takes, default)
KEYS: dict[str, tuple[Check, str, Any]] = {
    "models.default": (_model, '{"connectionId","modelId"}', None),
    "models.task": (_model, '{"connectionId","modelId"}', None),
    "models.params": (lambda value: isinstance(value, dict), "an object of model parameters", {}),
    "policy.default": (_one_of("always", "untrusted", "auto"), "always, untrusted or auto", "untrusted"),
    "instructions.global": (_short_text, "a text of at most 100,000 characters", ""),
    "attachments.limit_bytes": (_whole(1024 * 1024, 2**40), "bytes, at least 1 MiB", 200 * 1024 * 1024),
    "capture.blocked_sites": (_texts, "a list of site names, * for every site", []),
    "retention.archived_days": (_whole(0, 36_500), "days, 0 for never", 0),
    "retention.trash_days": (_whole(1, 36_500), "days, at least 1", 30),
    "backup.keep_daily": (_whole(0, 1000), "how many daily backups to keep", 0),
    "budget.turn_tokens": (_whole(0, 10**9), "tokens, 0 for no budget", 0),
    "sync.minutes": (_whole(0, 10_080), "minutes, 0 for by hand", 0),
    "titles.model": (_flag, "true or false", True),
    "ui.language": (_one_of("auto", "en", "zh_CN"), "auto, en or zh_CN", "auto"),
    "ui.theme": (_one_of("auto", "light", "dark"), "auto, light or dark", "auto"),
}


UNREADABLE = "cannot be read"
#: What stands for a damaged value where the default would let through what was forbidden: every site.
CLOSED: dict[str, Any] = {"capture.blocked_sites": ["*"]}


def get(tx: Tx, key: str) -> Any:
    """The value of one setting, or its default."""
    row = tx.one("SELECT CAST(value AS BLOB) FROM settings WHERE key = ?", (key,))
    return KEYS[key][2] if row is None else _kept(key, row[0])


def _kept(key: str, value: bytes) -> Any:
    """A value as its row holds it; where that is damaged, or from who knew other values, what stands for it."""
    return instead(key) if fault_of(key, value) is not None else msgspec.json.decode(value)


def instead(key: str) -> Any:
    """What stands for a damaged value: the default, or, of what forbids something, all of it."""
    return CLOSED.get(key, KEYS[key][2])


def fault_of(key: str, value: bytes) -> str | None:
    """What is wrong with a stored value of a known setting; None for nothing."""
    check, takes, _default = KEYS[key]
    try:
        found = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return UNREADABLE
    try:
        return None if check(found) else f"takes {takes}, and is something else"
    except TypeError:
        return f"takes {takes}, and is something else"


def listing(tx: Tx, keys: list[str] | None = None) -> dict[str, Any]:
    """All settings, or the named ones; what has neither a value nor a default is left out.

    Raises InvalidCommand for an unknown name.
    """
    found: dict[str, bytes] = dict(tx.all("SELECT key, CAST(value AS BLOB) FROM settings"))
    wanted = list(KEYS) if keys is None else keys
    values = {key: _kept(key, found[key]) if key in found else _known(key)[2] for key in wanted}
    return {key: value for key, value in values.items() if value is not None}


def put(tx: Tx, patch: dict[str, Any]) -> None:
    """Set each key; null puts back its default. Raises InvalidCommand, naming the key; then none is set."""
    for key, value in patch.items():
        check, takes, _default = _known(key)
        if value is None:
            tx.run("DELETE FROM settings WHERE key = ?", (key,))
        elif not check(value):
            raise InvalidCommand(f"patch.{key}: takes {takes}.")
        else:
            tx.run(
                "INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
                (key, dumps(value), tx.now),
            )
        tx.change("store.changed", id=key, detail={"kind": "settings", "id": key})


def _known(key: str) -> tuple[Check, str, Any]:
    try:
        return KEYS[key]
    except KeyError:
        raise InvalidCommand(f"{key[:100]}: there is no such setting. Known: {', '.join(sorted(KEYS))}.") from None


def put_instead(tx: Tx, key: str) -> None:
    """Take a damaged value away, or forbid all of what it forbade something of, until it is set anew."""
    put(tx, {key: CLOSED.get(key)})
