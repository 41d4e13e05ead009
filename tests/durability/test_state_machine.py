"""Any sequence of product commands, with the power cut between and inside them, leaves what the model has."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from durability.machine import Machine

HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("examples", "steps"), [(12, 25), pytest.param(300, 40, marks=pytest.mark.long)], ids=["quick", "full"]
)
def test_the_store_equals_the_model_whatever_loses_power(examples: int, steps: int) -> None:
    """Threads, nodes, parents, seq, tombstones, cursor, revisions, changes and receipts, after every step (E12)."""
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=HEALTH)
    )
