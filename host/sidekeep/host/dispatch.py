"""Finds the function that decides an op, imported when it is first asked for."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sidekeep.commands.catalog import COMMANDS, QUERIES
from sidekeep.commands.context import Context
from sidekeep.store.tx import Tx

Handler = Callable[[Tx, Any, Context], dict[str, Any]]
_found: dict[str, Handler] = {}


def handler(name: str) -> Handler:
    """The command or query of this name."""
    try:
        return _found[name]
    except KeyError:
        module, function = COMMANDS.get(name) or QUERIES[name]
        found: Handler = getattr(import_module(f"sidekeep.commands.{module}"), function)
        _found[name] = found
        return found
