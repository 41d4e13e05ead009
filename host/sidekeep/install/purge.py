"""Removes a whole state folder, when it is one and nobody is using it."""

import os
import shutil

from sidekeep.install.receipt import FILE_NAME
from sidekeep.model.errors import ForbiddenPath, NotFound, StoreBusy
from sidekeep.model.places import Places, home
from sidekeep.store import locks


def check(places: Places) -> None:
    """Refuses what must not be removed.

    Raises NotFound when there is nothing, ForbiddenPath for a folder that is no state folder,
    StoreBusy while a host or the runner lives on it.
    """
    state = os.path.realpath(places.state)
    if not os.path.isdir(state):
        raise NotFound(f"There is no state folder {places.state}.")
    marks = (places.database, os.path.join(places.state, FILE_NAME), places.locks, os.path.join(places.state, "bin"))
    if state in ("/", os.path.realpath(home())) or not any(os.path.exists(mark) for mark in marks):
        raise ForbiddenPath(f"{places.state} does not look like a state folder of Sidekeep, so it is not removed.")
    if _in_use(places):
        raise StoreBusy("The store is in use: close the browser, wait a minute for the runner to end, and try again.")


def _in_use(places: Places) -> bool:
    """Whether any process holds the store open: all of them hold this lock shared."""
    try:
        descriptor = os.open(places.schema_lock, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not locks.lock(descriptor, locks.EXCLUSIVE, wait=False)
    finally:
        os.close(descriptor)


def purge(places: Places) -> None:
    """Removes the state folder and what the runtime folder holds for it."""
    shutil.rmtree(places.runtime, ignore_errors=True)
    shutil.rmtree(places.state)
