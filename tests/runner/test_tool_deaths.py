"""kill -9 of runners and hosts at random moments of runs with tools, approvals and questions."""

import pytest

from support.runners import processes_of
from support.steered import Steered
from support.stores import Store
from support.toolruns import sweep


def test_no_act_is_lost_or_done_twice(running_store: Store, far: Steered) -> None:
    """Some deaths, in each size of the suite: no command lost, no tool acts twice, no run stuck."""
    killed = sweep(running_store, far, 3, seed=11)
    assert sum(killed.values()) >= 2


@pytest.mark.long
@pytest.mark.timeout(900)
def test_fifty_deaths(running_store: Store, far: Steered) -> None:
    """The bar: 50 deaths at random moments, in every state that a run with tools can be in."""
    killed = sweep(running_store, far, 56, seed=20261201)
    assert sum(killed.values()) >= 50, killed
    assert {"waiting_approval", "waiting_interaction", "executing_tool", "streaming_model"} & set(killed), killed
    running_store.close()
    assert processes_of(running_store.state) == []
