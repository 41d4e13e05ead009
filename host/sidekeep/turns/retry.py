"""When a model call is made again by itself: after which faults, how often, and after which pause.

A fault that passes (too many requests, an endpoint out of breath, a connection that did not come about) is waited
for, a little longer each time, with jitter, or as long as the endpoint says. Once a word of the answer was shown, the
call is not made again: nobody's text is written twice.
"""

import random
from collections.abc import Callable

from sidekeep.model.errors import ProviderError, ProviderNetwork, ProviderOverloaded, ProviderRateLimit

#: Seconds after the first, second, … fault; afterwards it is told.
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
#: An endpoint on this machine that does not run, or no network at all, does not come back by itself soon.
NETWORK_PAUSES = (0.3, 1.0)
JITTER = 0.25
LONGEST_SECONDS = 60.0

Jitter = Callable[[float, float], float]


def pause_after(error: ProviderError, attempt: int, jitter: Jitter = random.uniform) -> float | None:
    """Seconds to wait after the fault of this attempt (from 1); None when it is not tried again.

    What the endpoint asks for (`retryAfterMs`) is kept to, and never shortened; more than a minute is told instead.
    """
    if not isinstance(error, ProviderRateLimit | ProviderOverloaded | ProviderNetwork):
        return None
    pauses = NETWORK_PAUSES if isinstance(error, ProviderNetwork) else PAUSES
    if attempt > len(pauses):
        return None
    pause = pauses[attempt - 1] * jitter(1 - JITTER, 1 + JITTER)
    asked = error.extra.get("retryAfterMs")
    if isinstance(asked, int):
        pause = max(asked / 1000, 0.0) + pauses[0] * jitter(0.0, JITTER)
        if pause > LONGEST_SECONDS:
            return None
    return pause


def attempts_after(error: ProviderError) -> int:
    """How many attempts there are in all after a fault of this kind."""
    return 1 + len(NETWORK_PAUSES if isinstance(error, ProviderNetwork) else PAUSES)
