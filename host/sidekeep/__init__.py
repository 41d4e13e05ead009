"""Sidekeep: the companion of a side panel, which keeps every word, page and file on this machine.

`SessionStore` is the Python interface to the conversations.
"""

TYPE_CHECKING = False  # importing `typing` for its own would take as long as all that a host does before it answers
if TYPE_CHECKING:
    from sidekeep.sessions.session_store import SessionStore as SessionStore

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`SessionStore`, imported when it is asked for: a host's start needs none of it."""
    if name == "SessionStore":
        from sidekeep.sessions.session_store import SessionStore

        return SessionStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
