"""The runner: one process a store that executes turns, detached from every browser."""
