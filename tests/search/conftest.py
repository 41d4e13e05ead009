"""Stores of the tests' own, and one host for the tests of a module."""

from support.fixtures import port, store

__all__ = ["port", "store"]
