"""What an endpoint's refusal means: statuses, error bodies and waiting times, as errors of the contract.

Nothing of a request is ever in a message, and every message passes `Redactor`: endpoints repeat keys.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

from msgspec import DecodeError, json

from sidekeep.model.errors import (
    ProviderAuth,
    ProviderContentFilter,
    ProviderContextTooLong,
    ProviderError,
    ProviderNetwork,
    ProviderOverloaded,
    ProviderProtocol,
    ProviderRateLimit,
)

_LONGEST_MESSAGE = 400
_LONGEST_WAIT_MS = 24 * 3600 * 1000
_BY_STATUS: dict[int, type[ProviderError]] = {
    401: ProviderAuth,
    402: ProviderAuth,
    403: ProviderAuth,
    407: ProviderNetwork,
    408: ProviderNetwork,
    409: ProviderOverloaded,
    413: ProviderContextTooLong,
    425: ProviderOverloaded,
    429: ProviderRateLimit,
}
#: Words of `code` and `type` that say more than the status.
_BY_WORD: tuple[tuple[str, type[ProviderError]], ...] = (
    ("context_length_exceeded", ProviderContextTooLong),
    ("exceed_context_size", ProviderContextTooLong),
    ("request_too_large", ProviderContextTooLong),
    ("content_filter", ProviderContentFilter),
    ("content_policy", ProviderContentFilter),
    ("responsibleaipolicy", ProviderContentFilter),
    ("insufficient_quota", ProviderAuth),
    ("billing", ProviderAuth),
    ("authentication", ProviderAuth),
    ("invalid_api_key", ProviderAuth),
    ("permission", ProviderAuth),
    ("rate_limit", ProviderRateLimit),
    ("overloaded", ProviderOverloaded),
    ("unavailable", ProviderOverloaded),
    ("server_error", ProviderOverloaded),
    ("api_error", ProviderOverloaded),
    ("timeout", ProviderOverloaded),
)
_TOO_LONG = re.compile(
    r"(maximum|available|model'?s|exceeds?( the)?) context|context (length|size|window)|prompt is too long"
    r"|too many (input )?tokens|input (token count|is too long)|reduce the length",
    re.IGNORECASE,
)
_LIKE_A_KEY = re.compile(
    r"(?i)\b(bearer|basic)\s+[^\s\"',;]{6,}|\b(?:sk|pk|rk|gsk|xai|ghp|hf|AIza)[-_A-Za-z0-9]{12,}|([?&](?:api_?)?key=)[^&\s\"']+"
)
_HIDDEN = "•••"


class Told(NamedTuple):
    """What an error body says: its message, and its code and type as one text in lower case."""

    message: str
    words: str = ""
    status: int = 0


class Redactor:
    """Takes secrets out of a text: the values that this request carried, and whatever looks like a key."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        found = {form for value in values for form in (value, value.strip()) if len(form) >= 4}
        self._values = sorted(found, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for value in self._values:
            text = text.replace(value, _HIDDEN)
        return _LIKE_A_KEY.sub(lambda found: (found[2] or "") + _HIDDEN, text)


def told(body: bytes) -> Told:
    """Read an error body of any of the usual shapes; of a page only that it is one."""
    try:
        return told_by(json.decode(body))
    except DecodeError:
        pass
    text = body.decode("utf-8", "replace").strip()
    if text[:1] == "<":
        return Told("it answered with a web page; is the address right?")
    return Told(" ".join(text.split()))


def told_by(value: Any) -> Told:
    """The same of a decoded value: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`, `{"detail": …}`."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return Told(str(value))
    error = value.get("error", value)
    if not isinstance(error, dict):
        error = {**value, "message": error}
    message = next((error[name] for name in ("message", "detail", "error") if error.get(name)), "")
    if not isinstance(message, str):
        message = json.encode(message).decode()
    words = " ".join(str(error[name]) for name in ("code", "type", "status") if error.get(name)).lower()
    code = error.get("code", error.get("status_code"))
    return Told(" ".join(message.split()), words, code if isinstance(code, int) and 400 <= code < 600 else 0)


def refusal(status: int, said: Told, who: str, redact: Redactor, retry_after_ms: int | None = None) -> ProviderError:
    """The error for a status (0: inside a stream) and what the body said."""
    kind = _kind(status or said.status, said)
    what = redact(said.message)[:_LONGEST_MESSAGE] or "no reason was given"
    shown = f" ({status or said.status})" if status or said.status else ""
    extra: dict[str, object] = {}
    if retry_after_ms is not None and kind.retryable:
        extra["retryAfterMs"] = retry_after_ms
    return kind(f"{who} refused{shown}: {what}", **extra)


def _kind(status: int, said: Told) -> type[ProviderError]:
    by_word = next((kind for word, kind in _BY_WORD if word in said.words), None)
    if by_word in (ProviderContextTooLong, ProviderContentFilter):
        return by_word
    if status in (0, 400, 413, 422, 500) and _TOO_LONG.search(said.message):
        return ProviderContextTooLong
    if status == 429 and by_word is ProviderAuth:
        return ProviderAuth  # no waiting brings back a balance that is spent
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return ProviderOverloaded
    if status == 0 and by_word is not None:
        return by_word
    return ProviderProtocol


def retry_after_ms(headers: Any, now: datetime | None = None) -> int | None:
    """How long to wait, from `retry-after-ms` or `Retry-After` in seconds or as a date; at most a day."""
    try:
        if precise := headers.get("retry-after-ms"):
            return _bounded(float(precise))
        plain = headers.get("retry-after")
        if not plain:
            return None
        try:
            return _bounded(float(plain) * 1000)
        except ValueError:
            when = parsedate_to_datetime(plain)
            if when.tzinfo is None:
                when = when.replace(tzinfo=UTC)
            return _bounded((when - (now or datetime.now(UTC))).total_seconds() * 1000)
    except (ValueError, TypeError, OverflowError):
        return None


def _bounded(ms: float) -> int:
    return int(min(max(ms, 0.0), _LONGEST_WAIT_MS))
