"""What is asked about even where all is allowed: payment cards, keys and passwords, and sites for money and health.

Cards are told from other numbers by Luhn's check; keys by the shapes that their makers give them.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import msgspec

_CARD = re.compile(r"(?<!\d)(?<!\d\.)\d(?:[ -]?\d){12,18}(?!\d)(?!\.\d)")
#: A shape, and what a text has to hold for it to be looked for at all: a search for plain words is a hundred times as
#: quick, and most long texts hold none of them.
_CREDENTIALS = tuple(
    (hints, re.compile(shape))
    for hints, shape in (
        (("PRIVATE KEY",), r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
        (
            ("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"),
            r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{16,}",
        ),
        (
            ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"),
            r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}|\bglpat-[A-Za-z0-9_-]{20,}",
        ),
        (("AKIA", "ASIA"), r"\bA(?:KIA|SIA)[A-Z0-9]{16}\b"),
        (("xox",), r"\bxox[abposr]-[A-Za-z0-9-]{10,}"),
        (("AIza",), r"\bAIza[A-Za-z0-9_-]{35}"),
        (("eyJ",), r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"),
    )
)
_SAID = re.compile(r"\b(?:password|passwd|passphrase|api[ _-]?key|secret|token)\b\s*(?:[:=]|is)\s*\S{6,}")
_SAID_HINTS = ("passw", "passphrase", "api", "secret", "token")
_LONG = 16 * 1024
#: Words that a site's name is made of where a page shows money, health, mail or accounts.
_SENSITIVE_NAMES = re.compile(
    r"(?:^|[.-])(?:[a-z0-9]*bank(?:ing)?|paypal|stripe|wise|revolut|webmail|mail|outlook|health|patient|clinic|"
    r"accounts?|login|signin|auth|sso|id|vault|password|passwords|1password|bitwarden|lastpass|tax|payroll)(?:[.-]|$)"
)


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of those before it (ISO/IEC 7812-1)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if place % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def has_card(text: str) -> bool:
    """Whether it holds a number of 13 to 19 digits that passes Luhn's check and is not one digit again and again."""
    for match in _CARD.finditer(text):
        digits = re.sub(r"[ -]", "", match.group())
        if 13 <= len(digits) <= 19 and len(set(digits)) > 1 and luhn(digits):
            return True
    return False


def has_credential(text: str) -> bool:
    """Whether it holds something of the shape of a key, or a password that is called one."""
    for hints, shape in _CREDENTIALS:
        if any(hint in text for hint in hints) and shape.search(text):
            return True
    lower = text.lower()
    return any(hint in lower for hint in _SAID_HINTS) and _SAID.search(lower) is not None


@lru_cache(maxsize=4)
def _found_in(text: str) -> str | None:
    """What is sensitive in a long text: it is judged before the approval and again before the act."""
    return "card" if has_card(text) else "credential" if has_credential(text) else None


def look_ahead(arguments: str) -> None:
    """Look at the long texts of a call's arguments (its JSON) now, so that no transaction waits for it."""
    if len(arguments) > _LONG:
        with suppress(msgspec.MsgspecError, RecursionError):
            for text in _texts(msgspec.json.decode(arguments)):
                if len(text) > _LONG:
                    _found_in(text)


def payload(arguments: Any) -> str | None:
    """What in the arguments of a call is sensitive: `card`, `credential`, or None."""
    for text in _texts(msgspec.to_builtins(arguments)):
        if len(text) > _LONG:
            found = _found_in(text)
        else:
            found = "card" if has_card(text) else "credential" if has_credential(text) else None
        if found is not None:
            return found
    return None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def is_sensitive_site(site: str) -> bool:
    """Whether a site's name says that its pages show money, health, mail or accounts."""
    return bool(_SENSITIVE_NAMES.search(site.lower()))
