"""Sidekeep: the companion of a side panel, which keeps every word, page and file on this machine."""

__version__ = "0.1.0"
