"""A Windows registry in memory: default values, and keys that exist without one."""


class MemoryRegistry:
    """Behaves like the real one as far as the installer sees it; `keys` is all of it."""

    def __init__(self) -> None:
        self.keys: dict[tuple[str, str], str | None] = {}

    def read(self, hive: str, key: str) -> str | None:
        return self.keys.get((hive, key))

    def exists(self, hive: str, key: str) -> bool:
        return (hive, key) in self.keys

    def write(self, hive: str, key: str, value: str) -> None:
        parts = key.split("\\")
        for count in range(1, len(parts)):
            self.keys.setdefault((hive, "\\".join(parts[:count])), None)
        self.keys[(hive, key)] = value

    def remove_if_empty(self, hive: str, key: str) -> bool:
        if any(other.startswith(key + "\\") for found, other in self.keys if found == hive):
            return False
        self.keys.pop((hive, key), None)
        return True
