"""From the first answer to the end of the input: reads ops in this thread, works in another."""

import os
from _queue import SimpleQueue
from _thread import allocate_lock, start_new_thread
from typing import Any

from sidekeep.host import light as light  # isort: skip - before whatever imports msgspec

from sidekeep.host import answers
from sidekeep.host.outlet import Outlet
from sidekeep.host.request import FAULT, Request
from sidekeep.model.errors import Overloaded, WireError
from sidekeep.model.limits import WAITING_OPS
from sidekeep.model.places import Places
from sidekeep.wire.stdio import FrameReader, FrameWriter

# The browser kills two seconds after the end of the input; we are gone well before.
LEAVE_SECONDS = 0.6
# Ops that wait lie decoded in memory; the rest waits in the pipe.
WAITING_BYTES = 8 * 1024 * 1024
WAITING_ITEMS = 2048


class Intake:
    """Counts what waits: per thread for `overloaded`, in all so that memory stays bounded."""

    def __init__(self) -> None:
        self._threads: dict[str, int] = {}
        self._items = 0
        self._bytes = 0
        self._lock = allocate_lock()
        # Set when the engine takes over; until then the reader answers what needs no store.
        self.opened = False
        self._full = False
        self._room = allocate_lock()  # let go by the engine, taken by the reader: a signal and not a guard
        self._room.acquire()

    def admit(self, request: Request) -> None:
        """Count an op in; the 33rd that waits for one thread becomes a refusal."""
        thread = request.thread_id
        with self._lock:
            if thread is not None and request.error is None:
                waiting = self._threads.get(thread, 0)
                if waiting >= WAITING_OPS:
                    request.error = Overloaded(
                        f"{WAITING_OPS} commands wait for this conversation; send this one again."
                    )
                    request.kind = FAULT
                    request.thread_id = None
                else:
                    self._threads[thread] = waiting + 1
            self._items += 1
            self._bytes += request.size
            if self._items >= WAITING_ITEMS or self._bytes >= WAITING_BYTES:
                self._full = True

    def wait_for_room(self) -> None:
        """Blocks while too much waits. What was admitted has to be on its way: one op alone may be too much."""
        with self._lock:
            full = self._full
        if full:
            self._room.acquire()

    def done(self, request: Request) -> None:
        with self._lock:
            self._items -= 1
            self._bytes -= request.size
            thread = request.thread_id
            if thread is not None:
                left = self._threads[thread] - 1
                if left:
                    self._threads[thread] = left
                else:
                    del self._threads[thread]
            if self._full and self._items < WAITING_ITEMS // 2 and self._bytes < WAITING_BYTES // 2:
                self._full = False
                # A signal that was not waited for stands already: it lets one op more in, no harm is done.
                if self._room.locked():
                    self._room.release()


def serve(
    places: Places,
    reader: FrameReader,
    writer: FrameWriter,
    about: dict[str, object],
    origin: str,
    client_id: str,
    subscribe: str | None,
) -> int:
    """Never returns by itself: the process leaves by `_exit` when the input ends."""
    inbox: SimpleQueue[Any] = SimpleQueue()
    intake = Intake()
    outlet = Outlet(writer)
    ended = allocate_lock()
    ended.acquire()

    def work() -> None:
        from sidekeep.host.opening import work_until_end

        try:
            work_until_end(places, inbox, intake, outlet, about, origin, client_id, subscribe)
        finally:
            ended.release()
        # Either the input has ended, or another store lies here: then the next host says which.
        os._exit(0)

    start_new_thread(work, ())
    while True:
        message = reader.read()
        if message is None:
            break
        request = Request.fault(message) if isinstance(message, WireError) else Request(message, client_id)
        if request.name == "ping" and request.error is None and not intake.opened:
            outlet.send([answers.pong(request)])
            continue
        intake.admit(request)
        inbox.put(request)
        intake.wait_for_room()
    inbox.put("end")
    ended.acquire(timeout=LEAVE_SECONDS)
    # Other threads may wait in a system call; nothing that is not on disk matters now.
    os._exit(0)
