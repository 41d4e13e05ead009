"""Conversations as Git repositories: written after the store, readable without it."""
