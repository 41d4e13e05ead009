"""The tools that a model may call, one descriptor each."""
