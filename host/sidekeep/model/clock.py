"""The one place that reads the clock."""

from time import time_ns


def now_ms() -> int:
    """Milliseconds since 1970."""
    return time_ns() // 1_000_000
