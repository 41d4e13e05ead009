"""The measurements: each workload beside its yardstick, in turns, in one run."""
