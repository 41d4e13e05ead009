"""What the tests of this folder start from."""

from support.fixtures import running_store

__all__ = ["running_store"]
