"""The native host: one process a port; takes ops, commits, answers, and turns changes into events."""
