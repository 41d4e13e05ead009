"""Which kinds of provider there are, which one answers by default, and how one is made from its binding."""

from collections.abc import Mapping

from msgspec import Struct

from sidekeep.model.errors import InvalidCommand
from sidekeep.model.installed import local_model as local_installed
from sidekeep.providers.base import Provider, ProviderBinding, Resolve, SecretHeader

#: Connections that are there from the start; their id is their kind.
LOCAL = "local"
EXTRACT = "extract"
LOCAL_MODEL = "smollm2-135m-instruct"
EXTRACT_MODEL = "extract"

#: kind → the protocol that a snapshot's binding names
PROTOCOLS = {
    "openai": "openai-chat",
    "anthropic": "anthropic-messages",
    LOCAL: "local-worker",
    EXTRACT: "extract",
}


class ModelChoice(Struct, rename="camel", frozen=True):
    """A model by its connection: the value of `models.default`."""

    connection_id: str
    model_id: str


def default_model() -> ModelChoice:
    """The model of a store without `models.default`: the local one if installed, else the extract."""
    return ModelChoice(LOCAL, LOCAL_MODEL) if local_installed() else ModelChoice(EXTRACT, EXTRACT_MODEL)


def make_provider(
    binding: ProviderBinding, resolve: Resolve, headers: Mapping[str, str | SecretHeader] | None = None
) -> Provider:
    """The provider of a binding. Secrets are resolved at each request, by name.

    Raises `invalid_command` for an unknown kind or an address that may not be used (plain http to another
    machine). Each kind's module, and what it imports, is loaded only when it is asked for.
    """
    if binding.kind == LOCAL:
        from sidekeep.providers.local import LocalProvider

        return LocalProvider()
    if binding.kind == EXTRACT:
        from sidekeep.providers.extract import ExtractProvider

        return ExtractProvider(model_installed=local_installed())
    if binding.kind == "openai":
        from sidekeep.providers.openai import OpenAIProvider

        return OpenAIProvider(binding, resolve, headers or {})
    if binding.kind == "anthropic":
        from sidekeep.providers.anthropic import AnthropicProvider

        return AnthropicProvider(binding, resolve, headers or {})
    raise InvalidCommand(f"there is no provider of the kind {binding.kind!r}")
