"""The working thread's life: opens the store while ops wait, then runs the engine."""

import gc
import os
from _queue import Empty, SimpleQueue
from _thread import start_new_thread
from time import sleep
from typing import TYPE_CHECKING, Any

from sidekeep.host import answers
from sidekeep.host.outlet import Outlet
from sidekeep.host.request import Request
from sidekeep.model.errors import Internal, SidekeepError, StoreBusy
from sidekeep.model.logfile import LogFile
from sidekeep.model.places import Places
from sidekeep.wire.answers import dump

if TYPE_CHECKING:
    from sidekeep.host.serve import Intake

AGAIN_SECONDS = 0.1  # between two tries at a store that is busy


def work_until_end(
    places: Places,
    inbox: "SimpleQueue[Any]",
    intake: "Intake",
    outlet: Outlet,
    about: dict[str, object],
    origin: str,
    client_id: str,
    subscribe: str | None,
) -> None:
    """Serve the inbox until it says `end`. An exception answers everything with `internal`; it never ends silently."""
    echo = 2 if os.environ.get("SIDEKEEP_LOG") == "debug" else None
    log = LogFile(os.path.join(places.logs, "host.log"), echo=echo)
    engine = None
    while engine is None:
        try:
            engine = _open(places, inbox, intake, outlet, about, origin, client_id, subscribe, log)
        except SidekeepError as error:
            log(f"the store was not opened: {error.code}: {error.message}")
            if _refuse_everything(inbox, intake, outlet, error):
                return
        except Exception as error:
            log(_trace())
            if _refuse_everything(inbox, intake, outlet, Internal(f"The host could not start: {error}.")):
                return
    intake.opened = True
    try:
        engine.run()
    except Exception as error:
        log(_trace())
        outlet.send([answers.refused(Request.fault(fault := Internal(f"An internal fault: {error}.")), fault)])
        _refuse_everything(inbox, intake, outlet, fault)


def _trace() -> str:
    import traceback  # slow to import, and a host that works never needs it

    return traceback.format_exc()


def _open(
    places: Places,
    inbox: "SimpleQueue[Any]",
    intake: "Intake",
    outlet: Outlet,
    about: dict[str, object],
    origin: str,
    client_id: str,
    subscribe: str | None,
    log: LogFile,
) -> Any:
    from sidekeep.host.busy import BusyNotices
    from sidekeep.host.clients import Clients
    from sidekeep.host.election import Election
    from sidekeep.host.engine import BELL, GONE, Engine, fresh_tx
    from sidekeep.host.events import Feed
    from sidekeep.host.presence import Presence, remove_the_dead
    from sidekeep.model.clock import now_ms
    from sidekeep.store import place
    from sidekeep.store.bell import open_bell
    from sidekeep.store.doorway import Doorway
    from sidekeep.store.opener import open_store

    notices = BusyNotices(outlet.send)
    try:
        store = open_store(places, progress=notices.progress)
    finally:
        notices.end()
    doorway = Doorway(store, log=log)
    clients = Clients()
    bell = open_bell(places, str(about["instanceId"]), log)
    presence = Presence(places, str(about["instanceId"]), str(about["version"]), origin)
    remove_the_dead(places)
    election = Election(
        places,
        str(about["version"]),
        gone=lambda: inbox.put(GONE),
        ring=bell.ring if bell is not None else lambda: None,
        log=log,
    )
    (newest,) = fresh_tx(store.db, now_ms).one("SELECT coalesce(max(seq), 0) FROM changes") or (0,)
    engine = Engine(
        inbox=inbox,
        doorway=doorway,
        read=lambda: fresh_tx(store.db, now_ms),
        bell=bell,
        election=election,
        presence=presence,
        clients=clients,
        feed=Feed(places, clients, newest),
        send=outlet.send,
        answered=intake.done,
        places=places,
        instance_id=str(about["instanceId"]),
        seal=_sealer(places),
        log=log,
    )
    presence.tell([])
    engine.meet(client_id)
    outlet.send([dump(_ready(store.store_id, place.warnings(places.state))).encode()])
    if subscribe is not None:
        engine.greet(client_id, subscribe)
    # What was imported lives as long as the process, and ops leave few cycles: look for them more rarely.
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    start_new_thread(_listen if bell is not None else _poll, (bell, inbox, BELL))
    return engine


def _ready(store_id: str, warnings: list[dict[str, str]]) -> dict[str, object]:
    ready: dict[str, object] = {"type": "store.ready", "storeId": store_id}
    if warnings:
        ready["warnings"] = warnings
    return ready


def _listen(bell: Any, inbox: "SimpleQueue[Any]", ring: str) -> None:
    """Each ring wakes the engine once."""
    while True:
        bell.wait()
        inbox.put(ring)


def _poll(_bell: Any, inbox: "SimpleQueue[Any]", ring: str) -> None:
    """Where there are no Unix datagrams: a change is heard within a fifth of a second."""
    while True:
        sleep(0.2)
        inbox.put(ring)


def _sealer(places: Places) -> Any:
    def seal(name: str, value: str) -> bytes:
        from sidekeep.vault import Vault

        return Vault(places).seal(name, value)

    return seal


def _refuse_everything(inbox: "SimpleQueue[Any]", intake: "Intake", outlet: Outlet, error: SidekeepError) -> bool:
    """A store that is refused answers every op with its code; `ping` still works. Returns True at the end of the input.

    One that was busy is tried again once everything that waited is answered: then it returns False.
    """
    while True:
        try:
            item = inbox.get(block=error.code != StoreBusy.code)
        except Empty:
            sleep(AGAIN_SECONDS)
            return False
        if item == "end":
            return True
        if not isinstance(item, Request):
            continue
        if item.name == "ping" and item.error is None:
            outlet.send([answers.pong(item)])
        else:
            outlet.send([answers.refused(item, item.error or error)])
        intake.done(item)
