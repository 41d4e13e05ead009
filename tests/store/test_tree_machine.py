"""Any sequence of commands keeps the invariants of the tree."""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from durability.machine import WithoutCuts


def test_the_tree_equals_a_plain_model_of_it() -> None:
    """A parent is in the same thread or null, seq has no gap, revisions rise and are told in `changes`, the chosen
    branch is remembered, tombstones, forks, purges and receipts are what was asked for (E21, E23, E24)."""
    run_state_machine_as_test(
        WithoutCuts,
        settings=settings(max_examples=15, stateful_step_count=40, suppress_health_check=[HealthCheck.too_slow]),
    )
