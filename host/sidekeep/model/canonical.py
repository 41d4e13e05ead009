"""Canonical JSON (RFC 8785): the one form of a value that is hashed."""

from math import isfinite

import msgspec

from sidekeep.model.errors import InvalidCommand

_SAFE = 2**53  # from here on an integer's digits are those of the double nearest to it
_LAST_BMP = "\uffff"
# Agrees with RFC 8785 on what `_plain` lets through, at a fifth of the time of the json module.
_encode = msgspec.json.Encoder(order="sorted").encode
_quote = msgspec.json.encode


def canonical(value: object) -> bytes:
    """The RFC 8785 form of dicts, lists, strings, numbers, booleans and None.

    Raises InvalidCommand for anything else, for numbers that are not finite, for lone surrogates
    and for nesting deeper than the interpreter's stack.
    """
    try:
        return _encode(value) if _plain(value) else _bytes(value)
    except UnicodeEncodeError:
        raise InvalidCommand("no canonical JSON for a lone surrogate") from None
    except RecursionError:
        raise InvalidCommand("no canonical JSON for nesting this deep") from None


def _plain(value: object) -> bool:
    """No floats, no integers beyond 2^53, no keys whose order differs in UTF-16."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is dict:
        for key, item in value.items():  # type: ignore[attr-defined]
            if type(key) is not str:
                raise InvalidCommand(f"no canonical JSON for a key of type {type(key).__name__}")
            if not key.isascii() and max(key) > _LAST_BMP:
                return False
            if type(item) is not str and not _plain(item):
                return False
        return True
    if kind is list:
        for item in value:  # type: ignore[attr-defined]  # noqa: SIM110 - a generator costs twice the loop
            if type(item) is not str and not _plain(item):
                return False
        return True
    if kind is int:
        return -_SAFE < value < _SAFE  # type: ignore[operator]
    return False


def _bytes(value: object) -> bytes:
    """The same for any value, slowly."""
    kind = type(value)
    if kind is str:
        return _quote(value)
    if value is None or kind is bool:
        return _encode(value)
    if kind is int or kind is float:
        return number(value).encode()  # type: ignore[arg-type]
    if kind is list:
        return b"[" + b",".join(map(_bytes, value)) + b"]"  # type: ignore[call-overload]
    if kind is dict:
        return b"{" + b",".join(_members(value)) + b"}"  # type: ignore[arg-type]
    raise InvalidCommand(f"no canonical JSON for {kind.__name__}")


def _members(value: dict[str, object]) -> list[bytes]:
    for key in value:
        if type(key) is not str:
            raise InvalidCommand(f"no canonical JSON for a key of type {type(key).__name__}")
    # Big-endian UTF-16 sorts by code unit, which code points beyond the BMP do not.
    ordered = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
    return [_quote(key) + b":" + _bytes(item) for key, item in ordered]


def number(value: int | float) -> str:
    """A number as ECMAScript writes it: the shortest digits that read back as the same double."""
    if type(value) is int and -_SAFE < value < _SAFE:
        return str(value)
    try:
        double = float(value)
    except OverflowError:
        double = float("inf")
    if not isfinite(double):
        raise InvalidCommand("no canonical JSON for a number that is not finite")
    if double == 0:
        return "0"
    sign = "-" if double < 0 else ""
    digits, point = _shortest(abs(double))
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits if count == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{sign}{mantissa}e{point - 1:+d}"


def _shortest(double: float) -> tuple[str, int]:
    """The shortest digits of a positive double, and how many stand before its decimal point."""
    mantissa, _, exponent = repr(double).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) - (len(whole + fraction) - len(digits)) + int(exponent or 0)
    return digits.rstrip("0"), point
