"""The Windows side of `locks`: LockFileEx over one byte far beyond any content."""

import ctypes
import msvcrt
from ctypes import wintypes

_kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
_FAIL_AT_ONCE, _EXCLUSIVE = 1, 2
_LOCK_VIOLATION, _IO_PENDING = 33, 997
_OFFSET = 0x7FFF_0000


class _Overlapped(ctypes.Structure):
    _fields_ = (
        ("Internal", ctypes.c_void_p),
        ("InternalHigh", ctypes.c_void_p),
        ("Offset", wintypes.DWORD),
        ("OffsetHigh", wintypes.DWORD),
        ("hEvent", wintypes.HANDLE),
    )


def lock(fd: int, mode: int, wait: bool) -> bool:
    unlock(fd)  # LockFileEx stacks; a conversion starts anew
    flags = (_EXCLUSIVE if mode == 2 else 0) | (0 if wait else _FAIL_AT_ONCE)
    place = _Overlapped(Offset=_OFFSET)
    handle = msvcrt.get_osfhandle(fd)  # type: ignore[attr-defined,unused-ignore]
    if _kernel.LockFileEx(handle, flags, 0, 1, 0, ctypes.byref(place)):
        return True
    error = ctypes.get_last_error()  # type: ignore[attr-defined,unused-ignore]
    if error in (_LOCK_VIOLATION, _IO_PENDING):
        return False
    raise OSError(error, "LockFileEx")


def unlock(fd: int) -> None:
    place = _Overlapped(Offset=_OFFSET)
    handle = msvcrt.get_osfhandle(fd)  # type: ignore[attr-defined,unused-ignore]
    _kernel.UnlockFileEx(handle, 0, 1, 0, ctypes.byref(place))
