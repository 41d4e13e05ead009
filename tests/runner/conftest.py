"""What the tests of the runner share: a store on which a runner works, and one whose runner is held back."""

from support.fixtures import running_store, store

__all__ = ["running_store", "store"]
