"""Stores of the tests' own."""

from support.fixtures import store

__all__ = ["store"]
