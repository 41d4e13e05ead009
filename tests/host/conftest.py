"""What the tests of this folder start from."""

from support.fixtures import port, running_store, store

__all__ = ["port", "running_store", "store"]
