"""The Windows registry as the installer needs it: default values of keys, created and removed one by one."""

import sys
from typing import Protocol

Hive = str  # "HKCU" for this user, "HKLM" for all users


class Registry(Protocol):
    """Keys are named with backslashes below a hive; a key's value is its default value, text only."""

    def read(self, hive: Hive, key: str) -> str | None:
        """The default value, or None where the key or the value is not there."""

    def exists(self, hive: Hive, key: str) -> bool:
        """Whether the key is there, with a value or without."""

    def write(self, hive: Hive, key: str, value: str) -> None:
        """Sets the default value; parents are made."""

    def remove_if_empty(self, hive: Hive, key: str) -> bool:
        """Removes a key that has no sub-keys and no named values; False where it stays."""


def parents(key: str) -> list[str]:
    """The keys above this one, nearest first."""
    parts = key.split("\\")
    return ["\\".join(parts[:n]) for n in range(len(parts) - 1, 0, -1)]


if sys.platform == "win32":
    import winreg

    class WindowsRegistry:
        """The real one. Browsers look at the 32-bit view, then at the 64-bit one: we write our own view."""

        _hives = {"HKCU": winreg.HKEY_CURRENT_USER, "HKLM": winreg.HKEY_LOCAL_MACHINE}  # noqa: RUF012

        def read(self, hive: Hive, key: str) -> str | None:
            try:
                with winreg.OpenKey(self._hives[hive], key) as handle:
                    value, kind = winreg.QueryValueEx(handle, "")
            except FileNotFoundError:
                return None
            return value if kind == winreg.REG_SZ else None

        def exists(self, hive: Hive, key: str) -> bool:
            try:
                winreg.OpenKey(self._hives[hive], key).Close()
            except FileNotFoundError:
                return False
            return True

        def write(self, hive: Hive, key: str, value: str) -> None:
            with winreg.CreateKey(self._hives[hive], key) as handle:
                winreg.SetValueEx(handle, "", 0, winreg.REG_SZ, value)

        def remove_if_empty(self, hive: Hive, key: str) -> bool:
            try:
                with winreg.OpenKey(self._hives[hive], key) as handle:
                    subkeys, values, _ = winreg.QueryInfoKey(handle)
            except FileNotFoundError:
                return True
            if subkeys or values > 1 or (values == 1 and self.read(hive, key) is None):
                return False
            winreg.DeleteKey(self._hives[hive], key)
            return True


def windows_registry() -> Registry | None:
    """The registry of this machine; None where there is none."""
    if sys.platform == "win32":
        return WindowsRegistry()
    return None
