"""One endpoint over HTTP: the client, its keys, the request that tries them, and the answer's events.

Whatever goes wrong comes out as an error of the contract, without a secret in it. A redirect is refused, so
that no key follows one; a proxy is used only for https, and only as HTTPS_PROXY and NO_PROXY say.
"""

import asyncio
import contextlib
import os
import ssl
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, asynccontextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple, NoReturn, cast

import httpx
from httpx_sse import ServerSentEvent
from msgspec import json

from sidekeep import __version__
from sidekeep.model.errors import (
    InvalidCommand,
    NotFound,
    ProviderAuth,
    ProviderError,
    ProviderNetwork,
    ProviderProtocol,
    ProviderRateLimit,
)
from sidekeep.providers import faults, sse
from sidekeep.providers.addresses import Address
from sidekeep.providers.base import ProviderBinding, Resolve, SecretHeader
from sidekeep.providers.faults import Redactor

_LARGEST_BODY = 16 * 1024 * 1024
_LARGEST_ERROR = 64 * 1024
_DRAIN_SECONDS = 0.25
# httpcore looks for sniffio at every lock that it makes. Where that is not installed each look is a search of all
# paths, together a fifth of the time that a request takes; this answers it at once.
if find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # type: ignore[assignment]
#: Secrets are looked up beside the loop: a keyring may take its time. One thread holds one reader's connection.
_lookups = ThreadPoolExecutor(1, thread_name_prefix="secrets")


class Patience(NamedTuple):
    """Seconds: to connect, until the first event (a prompt may be read for minutes), between events, for a list."""

    connect: float = 10.0
    first: float = 600.0
    between: float = 120.0
    listing: float = 15.0


class Answer(NamedTuple):
    """A response with a good status, and what its request must not give away."""

    response: httpx.Response
    redact: Redactor


class HttpEndpoint:
    """The HTTP side of one connection; used from one loop. `authorise` makes a key's headers."""

    def __init__(
        self,
        binding: ProviderBinding,
        resolve: Resolve,
        headers: Mapping[str, str | SecretHeader],
        address: Address,
        authorise: Callable[[str], dict[str, str]],
        patience: Patience | None = None,
    ) -> None:
        self.address = address
        self.patience = patience or Patience()
        self._resolve = resolve
        self._headers = dict(headers)
        self._authorise = authorise
        self._keys: list[str] = list(binding.credentials)
        self._client: httpx.AsyncClient | None = None

    @property
    def who(self) -> str:
        """How messages name the endpoint."""
        return self.address.origin

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    @asynccontextmanager
    async def ask(self, method: str, path: str, body: Any = None) -> AsyncIterator[Answer]:
        """Send, with one key after the other while they are refused; the answer is let go at the end.

        Leaving early, by cancellation or otherwise, closes the connection, which ends the upstream request.
        """
        answer = await self._first_that_serves(method, path, None if body is None else json.encode(body))
        try:
            yield answer
        finally:
            await answer.response.aclose()

    async def get(self, path: str) -> Any:
        """A small JSON document."""
        try:
            async with asyncio.timeout(self.patience.listing), self.ask("GET", path) as answer:
                try:
                    return json.decode(await self._body(answer.response, _LARGEST_BODY))
                except ValueError:
                    raise ProviderProtocol(f"{self.who} did not answer with JSON; is the address right?") from None
        except TimeoutError:
            raise ProviderNetwork(f"{self.who} did not answer in {self.patience.listing:.0f} seconds.") from None

    async def events(self, answer: Answer) -> AsyncGenerator[ServerSentEvent, None]:
        """The events of an answer, until its end."""
        await self._must_be_events(answer)
        # No deadline around a `yield`: it is for the wait alone, not for what the reader does between.
        async with aclosing(self._pieces(answer.response)) as pieces, aclosing(sse.events(pieces)) as found:
            try:
                async for event in found:
                    yield event
            except sse.TooLong:
                raise ProviderProtocol(f"{self.who} sent an event without end.") from None

    async def drain(self, events: AsyncGenerator[ServerSentEvent, None]) -> None:
        """After the end mark: read to the end of the answer, so that the connection can be used again."""
        with contextlib.suppress(TimeoutError, ProviderError):
            async with asyncio.timeout(_DRAIN_SECONDS):
                async for _ in events:
                    pass

    # --- sending ---

    async def _first_that_serves(self, method: str, path: str, content: bytes | None) -> Answer:
        keys: list[str | None] = [*self._keys] or [None]
        for place, name in enumerate(keys):
            last = place == len(keys) - 1
            try:
                headers, redact = await self._headers_for(name)
            except NotFound:
                if last:
                    raise
                continue
            response = await self._send(method, path, content, headers)
            if response.is_success:
                if name is not None and place:
                    # The next request begins with the key that serves.
                    self._keys = [name, *(other for other in self._keys if other != name)]
                return Answer(response, redact)
            error = await self._refused(response, redact)
            if last or not isinstance(error, ProviderAuth | ProviderRateLimit):
                raise error
        raise AssertionError("a loop over at least one key returns or raises")

    async def _send(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> httpx.Response:
        client = await self._open_client()
        try:
            request = client.build_request(method, self.address.at(path), content=content, headers=headers)
            async with asyncio.timeout(self.patience.first):
                return await client.send(request, stream=True)
        except TimeoutError:
            raise ProviderNetwork(f"{self.who} did not answer in {self.patience.first:.0f} seconds.") from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            self._broken(error)

    async def _headers_for(self, key_name: str | None) -> tuple[dict[str, str], Redactor]:
        values: list[str] = []

        async def secret(name: str) -> str:
            value = (await asyncio.get_running_loop().run_in_executor(_lookups, self._resolve, name)).strip()
            values.append(value)
            if not value or not value.isascii() or not value.isprintable():
                raise ProviderAuth(f"The secret {name} has characters that no key has; enter it again.")
            return value

        headers = {"content-type": "application/json"}
        if key_name is not None:
            headers |= self._authorise(await secret(key_name))
        for name, value in self._headers.items():
            # A connection's own header goes before ours, whatever the case of its letters.
            headers = {known: kept for known, kept in headers.items() if known.lower() != name.lower()}
            headers[name] = await secret(value.secret) if isinstance(value, SecretHeader) else value
        return headers, Redactor(values)

    async def _open_client(self) -> httpx.AsyncClient:
        if self._client is None:
            trusted: ssl.SSLContext | bool = False  # plain http, to this machine only
            if self.address.secure:
                trusted = await asyncio.to_thread(httpx.create_ssl_context)
            if self._client is None:
                self._client = httpx.AsyncClient(
                    verify=trusted,
                    trust_env=False,
                    proxy=_proxy_for(self.address),
                    follow_redirects=False,
                    timeout=httpx.Timeout(None, connect=self.patience.connect, pool=self.patience.connect),
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=8, keepalive_expiry=30.0),
                    headers={"user-agent": f"sidekeep/{__version__}", "accept-encoding": "identity"},
                )
        return self._client

    # --- receiving ---

    async def _pieces(self, response: httpx.Response) -> AsyncGenerator[bytes, None]:
        wait = self.patience.first
        async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_raw())) as pieces:
            while True:
                try:
                    async with asyncio.timeout(wait):
                        piece = await anext(pieces, None)
                except TimeoutError:
                    raise ProviderNetwork(f"{self.who} said nothing for {wait:.0f} seconds.") from None
                except httpx.HTTPError as error:
                    self._broken(error)
                if piece is None:
                    return
                yield piece
                wait = self.patience.between

    async def _body(self, response: httpx.Response, largest: int) -> bytes:
        """At most `largest` bytes; more is cut off. Raises ProviderNetwork."""
        found = bytearray()
        try:
            async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_bytes())) as pieces:
                async for piece in pieces:
                    found += piece
                    if len(found) >= largest:
                        break
        except httpx.HTTPError as error:
            self._broken(error)
        return bytes(found[:largest])

    async def _refused(self, response: httpx.Response, redact: Redactor) -> ProviderError:
        """The error that a response with another status means; lets it go."""
        try:
            if response.has_redirect_location:
                return ProviderProtocol(
                    f"{self.who} sends on to another address ({response.status_code}), which is not followed with a "
                    "key; set the address that it leads to."
                )
            body = b""
            with contextlib.suppress(TimeoutError, ProviderNetwork):
                async with asyncio.timeout(self.patience.listing):
                    body = await self._body(response, _LARGEST_ERROR)
            wait = faults.retry_after_ms(response.headers)
            return faults.refusal(response.status_code, faults.told(body), self.who, redact, wait)
        finally:
            await response.aclose()

    async def _must_be_events(self, answer: Answer) -> None:
        """Some endpoints answer a fault with status 200, or do not stream."""
        kind = answer.response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind.endswith("json") and "stream" not in kind and "ndjson" not in kind:
            body = await self._body(answer.response, _LARGEST_ERROR)
            if b'"error"' in body:
                raise faults.refusal(0, faults.told(body), self.who, answer.redact)
            raise ProviderProtocol(f"{self.who} answered in one piece instead of streaming.")
        if kind == "text/html":
            raise ProviderProtocol(f"{self.who} answered with a web page; is the address right?")

    def _broken(self, error: Exception) -> NoReturn:
        """Foreign faults as ours. Their own texts may hold headers, so none is repeated."""
        who = self.who
        match error:
            case httpx.ConnectTimeout() | httpx.PoolTimeout():
                raise ProviderNetwork(f"{who} was not reached in {self.patience.connect:.0f} seconds.") from None
            case httpx.ProxyError():
                raise ProviderNetwork(f"The proxy of HTTPS_PROXY did not let us through to {who}.") from None
            case httpx.ConnectError():
                why = "its certificate is not trusted" if _is_about_trust(error) else "nothing answers there"
                raise ProviderNetwork(f"{who} was not reached: {why}.") from None
            case httpx.LocalProtocolError() | ValueError() | httpx.InvalidURL() | httpx.UnsupportedProtocol():
                raise InvalidCommand("connection: its address or a header cannot be sent over HTTP.") from None
            case httpx.TimeoutException():
                raise ProviderNetwork(f"{who} took too long.") from None
            case _:
                raise ProviderNetwork(f"The connection to {who} broke off.") from None


def _is_about_trust(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _proxy_for(address: Address) -> str | None:
    """HTTPS_PROXY for https to another machine, unless NO_PROXY names it. Over a plain proxy a key would be read."""
    if not address.secure or address.loopback:
        return None
    host = address.origin.partition("://")[2].strip("[]").rsplit(":", 1)[0].lower()
    for name in (os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or "").split(","):
        suffix = name.strip().lower().lstrip("*").removeprefix(".")
        if name.strip() == "*" or (suffix and (host == suffix or host.endswith("." + suffix))):
            return None
    return os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy") or None
