"""Stores of the tests' own."""

from support.fixtures import running_store, store

__all__ = ["running_store", "store"]
