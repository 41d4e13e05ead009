"""`sidekeep vault`: keys of model endpoints go in here; only their names and ages come out."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Annotated, Any

from cyclopts import App, Parameter

from sidekeep.cli.options import Flag, Json, State, places
from sidekeep.cli.outcome import Status, emit, say
from sidekeep.model.clock import now_ms
from sidekeep.model.errors import InvalidCommand
from sidekeep.model.ids import new_id
from sidekeep.model.places import Places
from sidekeep.store import secrets
from sidekeep.store.bell import announce
from sidekeep.store.doorway import Doorway
from sidekeep.store.opener import open_store
from sidekeep.store.tx import Tx
from sidekeep.vault import Vault
from sidekeep.vault.keyring_door import LONG_PATIENCE
from sidekeep.vault.resealing import rekey as reseal
from sidekeep.vault.resealing import settle

app = App(name="vault", help="Keys of model endpoints: names and ages only come out.", result_action="return_value")

After = Callable[[], None] | None
Name = Annotated[str, Parameter(help="The name that connections know the secret by.")]
_LONGEST_NAME = 200  # as in the wire contract


@app.command(name="list")
def list_secrets(*, state: State = None, json: Json = False) -> int:
    """Print each secret's name, its age and the connections that use it."""
    where = places(state)
    with closing(open_store(where)) as store:
        found = secrets.listing(Tx(store.db, now_ms(), new_id))
    about = Vault(where).status()
    if json:
        emit({"vault": about, "secrets": found})
        return Status.DONE
    say(f"The key: {_PLACES[str(about['place'])]}{', locked' if about['locked'] else ''}.")
    for secret in found:
        users = ", ".join(secret["usedBy"]) or "no connection"
        say(f"{secret['name']}  set {_day(secret['updatedAt'])}  used by {users}")
    return Status.DONE


@app.command(name="set")
def set_secret(name: Name, *, state: State = None, json: Json = False) -> int:
    """Store a secret; its value is asked for, or read from standard input, and never an argument."""
    if not 0 < len(name) <= _LONGEST_NAME:
        raise InvalidCommand(f"A name has 1 to {_LONGEST_NAME} characters.")
    where = places(state)
    value = _asked(f"Value of {name}: ", "the value")

    def put(tx: Tx) -> After:
        vault = Vault(where)
        secrets.put(tx, name, vault.seal(name, value))
        return settle(tx, vault) or _nothing

    _change(where, put)
    return _done(f"{name} is stored.", json, name=name)


@app.command(name="delete")
def delete_secret(name: Name, *, state: State = None, json: Json = False) -> int:
    """Forget a secret."""

    def delete(tx: Tx) -> After:
        secrets.delete(tx, name)
        return _nothing

    _change(places(state), delete)
    return _done(f"{name} is forgotten.", json, name=name)


@app.command
def lock(*, state: State = None, json: Json = False) -> int:
    """Let nobody use the secrets until they are unlocked."""
    where = places(state)
    Vault(where).lock()
    _change(where, _told)
    return _done("The vault is locked.", json)


@app.command
def unlock(*, state: State = None, json: Json = False) -> int:
    """Put the key in reach until `lock`, a passphrase's key until the session ends."""
    where = places(state)
    vault = Vault(where)
    asked = _asked("Passphrase: ", "the passphrase") if vault.status()["place"] == "passphrase" else None
    vault.unlock(asked, LONG_PATIENCE)
    _change(where, lambda tx: (_told(tx), settle(tx, vault))[1] or _nothing)
    return _done("The vault is open.", json)


@app.command
def rekey(*, passphrase: Annotated[bool, Flag] = False, state: State = None, json: Json = False) -> int:
    """Make a new key and seal every secret anew under it.

    Parameters
    ----------
    passphrase
        Guard the new key with a passphrase, which is asked for (or read from standard input).
        Without it the key goes to the system's keyring, or to a key file.
    """
    where = places(state)
    chosen = _asked("New passphrase: ", "the new passphrase", twice=True) if passphrase else None

    def work(tx: Tx) -> After:
        _told(tx)
        return reseal(tx, Vault(where), chosen)

    _change(where, work)
    place = str(Vault(where).status()["place"])
    return _done(f"Every secret is sealed under a new key. The key: {_PLACES[place]}.", json, place=place)


_PLACES = {
    "none": "made with the first secret",
    "file": "in a file that only you can read",
    "keyring": "in the system's keyring",
    "passphrase": "behind a passphrase",
}


def _nothing() -> None:
    """A change that leaves nothing to do after it."""


def _told(tx: Tx) -> After:
    tx.change("store.changed", id="vault", detail={"kind": "secrets", "id": "vault"})
    return _nothing


def _change(where: Places, work: Callable[[Tx], After]) -> None:
    """One transaction, what follows it, and word of it to the hosts."""
    with _writing(where) as doorway:
        after = doorway.run(work)
        if after is not None:
            after()
    announce(where)


@contextmanager
def _writing(where: Places) -> Iterator[Doorway]:
    with closing(open_store(where)) as store:
        yield Doorway(store)


def _asked(prompt: str, what: str, *, twice: bool = False) -> str:
    """Typed without being shown, or the standard input without its last line break."""
    if sys.stdin.isatty():
        from getpass import getpass

        value = getpass(prompt)
        if twice and getpass("Once more: ") != value:
            raise InvalidCommand("The two are not the same; nothing was changed.")
    else:
        value = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not value:
        raise InvalidCommand(f"Nothing was given for {what}.")
    return value


def _day(ms: int) -> str:
    days = (now_ms() - ms) // 86_400_000
    date = time.strftime("%Y-%m-%d", time.localtime(ms / 1000))
    return f"{date} (today)" if days <= 0 else f"{date} ({days} days ago)"


def _done(sentence: str, json: bool, **members: Any) -> int:
    if json:
        emit({"done": True, **members})
    else:
        say(sentence)
    return Status.DONE
