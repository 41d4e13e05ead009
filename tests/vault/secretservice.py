"""The far end of the OS keyring: a bus on a Unix socket with a Secret Service on it, as desktops have one.

It speaks real D-Bus to whoever connects, keeps items in memory, and can be locked: a locked one shows its dialog,
which nobody answers.
"""

import contextlib
import socket
import threading
from pathlib import Path
from typing import Any

from jeepney import HeaderFields, Message, MessageType, Parser, new_error, new_method_return

_PREFIX = "org.freedesktop.Secret."
_COLLECTION = "/org/freedesktop/secrets/aliases/default"


class SecretService:
    """Serves from the start to `close`; `items` are what it holds, by path."""

    def __init__(self, folder: Path) -> None:
        self.items: dict[str, tuple[dict[str, str], bytes]] = {}
        self.locked = False
        self.connections = 0
        self._made = 0
        self._sockets: list[socket.socket] = []
        path = str(folder / "bus")
        self.address = f"unix:path={path}"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for each in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._sockets.append(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        parser, serial = Parser(), 0
        with contextlib.suppress(OSError):
            parser.add_data(_authenticated(connection))
            while True:
                while (call := parser.get_next_message()) is not None:
                    serial += 1
                    answer = self._answer(call)
                    if answer is not None:
                        answer.header.fields[HeaderFields.sender] = "org.freedesktop.secrets"
                        connection.sendall(answer.serialise(serial=serial))
                data = connection.recv(65536)
                if not data:
                    return
                parser.add_data(data)

    def _answer(self, call: Message) -> Message | None:
        if call.header.message_type != MessageType.method_call:
            return None
        fields = call.header.fields
        path, member = fields[HeaderFields.path], fields[HeaderFields.member]
        match member:
            case "Hello":
                return new_method_return(call, "s", (":1.1",))
            case "AddMatch" | "Close":
                return new_method_return(call)
            case "NameHasOwner":
                return new_method_return(call, "b", (call.body[0] == "org.freedesktop.secrets",))
            case "ListActivatableNames" | "ListNames":
                return new_method_return(call, "as", (["org.freedesktop.secrets"],))
            case "Get":
                value = ("b", self.locked) if call.body[1] == "Locked" else ("s", "Default")
                return new_method_return(call, "v", (value,))
            case "Unlock" | "Lock":
                return new_method_return(call, "aoo", ([], "/prompt" if self.locked else "/"))
            case "Prompt":
                return new_method_return(call)  # the dialog is open; nobody answers it
            case "OpenSession" if call.body[0] == "plain":
                return new_method_return(call, "vo", (("s", ""), "/session"))
            case "OpenSession":
                return new_error(call, "org.freedesktop.DBus.Error.NotSupported")
            case "SearchItems":
                found = [p for p, (known, _) in self.items.items() if call.body[0].items() <= known.items()]
                return new_method_return(call, "ao", (found,))
            case "CreateItem":
                return new_method_return(call, "oo", (self._create(call.body), "/"))
            case "GetSecret":
                return new_method_return(call, "(oayays)", (("/session", b"", self.items[path][1], "text/plain"),))
            case "Delete":
                del self.items[path]
                return new_method_return(call, "o", ("/",))
        return new_error(call, "org.freedesktop.DBus.Error.UnknownMethod")

    def _create(self, body: Any) -> str:
        attributes = dict(body[0][_PREFIX + "Item.Attributes"][1])
        self._made += 1
        path = f"{_COLLECTION}/{self._made}"
        self.items[path] = (attributes, bytes(body[1][2]))
        return path


def _authenticated(connection: socket.socket) -> bytes:
    """Lets anybody in; returns what came behind the greeting. Raises OSError when the other end leaves."""
    held = b""
    while True:
        while b"\r\n" not in held:
            piece = connection.recv(4096)
            if not piece:
                raise ConnectionError
            held += piece.lstrip(b"\0") if not held else piece
        line, _, held = held.partition(b"\r\n")
        if line.startswith(b"AUTH"):
            connection.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
        elif line == b"BEGIN":
            return held
        else:
            connection.sendall(b"ERROR\r\n")
