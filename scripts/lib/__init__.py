"""What `scripts/start` and `scripts/test` are made of; the first half runs before anything is installed."""
