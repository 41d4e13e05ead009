"""Imports msgspec without `typing_extensions`, which costs as much as msgspec itself and which nothing here needs.

Imported before everything that imports msgspec; a later import of `typing_extensions` finds it as ever.
"""

import sys

if "typing_extensions" not in sys.modules:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec as msgspec
    finally:
        del sys.modules["typing_extensions"]
