"""Registers the native host with the browsers, takes it away again, and finds out why it does not start."""
