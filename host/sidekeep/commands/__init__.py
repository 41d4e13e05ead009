"""What the extension may ask for: one module an op or a small family of ops.

A command is `def name(tx, op, ctx) -> dict`: check, decide, write, and return the members of its answer. A
query is the same without writes; what it returns is the answer's `data`.
"""
