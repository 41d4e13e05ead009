"""Model endpoints behind one interface: what a turn asks, and what comes back piece by piece."""
