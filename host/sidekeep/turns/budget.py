"""`budget.turn_tokens`: how many tokens a turn may take before it asks to go on.

It is looked at between model calls, never inside one; `run.resume` gives the turn as many again.
"""

from sidekeep.store import settings
from sidekeep.store.tx import Tx


def tokens_of(usage: dict[str, int] | None) -> int:
    """What one call counts: what was read and what was written."""
    return usage["inputTokens"] + usage["outputTokens"] if usage else 0


def is_spent(tx: Tx, tokens: int) -> bool:
    """Whether an attempt that has taken so many tokens must ask; without a budget never."""
    budget = int(settings.get(tx, "budget.turn_tokens"))
    return 0 < budget <= tokens


def summed(before: dict[str, int] | None, call: dict[str, int] | None) -> dict[str, int] | None:
    """The figures of a run after one more call; None when no call told any."""
    if not before or not call:
        return call or before
    return {name: before.get(name, 0) + call.get(name, 0) for name in {**before, **call}}
