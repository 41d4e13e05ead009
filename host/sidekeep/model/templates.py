"""Templates of connections: what a person need not know of the usual endpoints. The panel offers them as they stand.

`key` says whether the endpoint wants one, `keyUrl` where a person gets it. Servers on this machine write the thinking
of some models into the answer, which is why they have `thinkTags`: an answer without the marks is left as it is.
"""

from typing import Any

TEMPLATES: list[dict[str, Any]] = [
    {
        "id": "anthropic",
        "name": "Anthropic",
        "kind": "anthropic",
        "baseUrl": "https://api.anthropic.com/v1",
        "key": "required",
        "keyUrl": "https://console.anthropic.com/settings/keys",
    },
    {
        "id": "openai",
        "name": "OpenAI",
        "kind": "openai",
        "baseUrl": "https://api.openai.com/v1",
        "key": "required",
        "keyUrl": "https://platform.openai.com/api-keys",
    },
    {
        "id": "openrouter",
        "name": "OpenRouter",
        "kind": "openai",
        "baseUrl": "https://openrouter.ai/api/v1",
        "key": "required",
        "keyUrl": "https://openrouter.ai/settings/keys",
    },
    {
        "id": "deepseek",
        "name": "DeepSeek",
        "kind": "openai",
        "baseUrl": "https://api.deepseek.com/v1",
        "key": "required",
        "keyUrl": "https://platform.deepseek.com/api_keys",
    },
    {
        "id": "ollama",
        "name": "Ollama",
        "kind": "openai",
        "baseUrl": "http://127.0.0.1:11434/v1",
        "key": "none",
        "quirks": {"thinkTags": True},
    },
    {
        "id": "lmstudio",
        "name": "LM Studio",
        "kind": "openai",
        "baseUrl": "http://127.0.0.1:1234/v1",
        "key": "optional",
        "quirks": {"thinkTags": True},
    },
    {
        "id": "llamacpp",
        "name": "llama.cpp",
        "kind": "openai",
        "baseUrl": "http://127.0.0.1:8080/v1",
        "key": "optional",
        "quirks": {"thinkTags": True},
    },
    {"id": "custom", "name": "OpenAI-compatible", "kind": "openai", "key": "optional", "quirks": {"thinkTags": True}},
]
