"""What each protocol is sent for the same conversation: roles, tool results, images, replayed thinking, quirks."""

from typing import Any

from sidekeep.providers import anthropic_request, openai_request
from sidekeep.providers.base import ContextText, ImageBlock, Message, ModelRequest, TextBlock, ToolCall, ToolSpec

CALL = ToolCall("c1", "look", '{"at":"x"}')
PIXEL = ImageBlock("image/png", b"\x89PNG")
STATE = {
    "protocol": "anthropic-messages",
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "redacted_thinking", "data": "zz"},
        {"type": "text", "text": "Looking."},
        {"type": "tool_use", "id": "theirs", "name": "look", "input": {"at": "x"}},
    ],
}


def _conversation(state: dict[str, Any] | None = None, model: str = "m", **members: Any) -> ModelRequest:
    messages = [
        Message("user", [ContextText("page", "<<", ">>"), TextBlock("What is it?"), PIXEL]),
        Message("assistant", [TextBlock("Looking.")], [CALL], provider_state=state),
        Message("tool", [TextBlock("a cat"), PIXEL], tool_call_id="c1", failed=True),
        Message("user", [TextBlock("And now?")]),
    ]
    return ModelRequest(model_id=model, system="Be brief.", messages=messages, **members)


def test_chat_completions() -> None:
    """System first, parts only beside images, a tool's images after it as the user's."""
    sent = openai_request.body_of(_conversation(), {}, "max_tokens")["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "user", "user"]
    assert [part["type"] for part in sent[1]["content"]] == ["text", "text", "image_url"]
    assert sent[1]["content"][0]["text"] == "<<page>>"
    assert sent[2]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at":"x"}'}
    assert sent[3] == {"role": "tool", "tool_call_id": "c1", "content": "a cat"}
    assert sent[4]["content"][-1]["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    assert sent[5] == {"role": "user", "content": "And now?"}


def test_the_quirks_of_chat_completions() -> None:
    """Each changes what it says and nothing else; what is not set is not sent."""
    tool = ToolSpec("look", "Looks.", {"type": "object"})
    asked = _conversation(tools=[tool], params={"maxTokens": 5, "temperature": None})
    plain = openai_request.body_of(asked, {}, "max_tokens")
    assert set(plain) == {"model", "messages", "stream", "stream_options", "max_tokens", "tools"}
    quirks = {"noStreamOptions": True, "maxTokensField": "limit", "noParallelToolCalls": True, "noSystemRole": True}
    odd = openai_request.body_of(asked, quirks, "max_tokens")
    assert set(odd) == {"model", "messages", "stream", "limit", "tools", "parallel_tool_calls"}
    assert odd["messages"][0]["role"] == "user"
    assert odd["messages"][0]["content"][0]["text"] == "Be brief."


def test_anthropic_s_messages() -> None:
    """Turns alternate, the tool's result leads the user's turn, the system text stands apart."""
    body = anthropic_request.body_of(_conversation(), {})
    assert body["system"] == [{"type": "text", "text": "Be brief."}]
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    result, text = body["messages"][2]["content"]
    assert (result["type"], result["tool_use_id"], result["is_error"]) == ("tool_result", "c1", True)
    assert [part["type"] for part in result["content"]] == ["text", "image"]
    assert text == {"type": "text", "text": "And now?"}
    assert body["max_tokens"] == anthropic_request.USUAL_MAX_TOKENS


def test_thinking_is_replayed_as_it_came() -> None:
    """Signed and redacted blocks in their order, the call under the id that it is stored by (row A19)."""
    sent = anthropic_request.body_of(_conversation(STATE), {})["messages"][1]["content"]
    assert sent == [*STATE["content"][:3], {**STATE["content"][3], "id": "c1"}]


def test_thinking_that_does_not_fit_is_left_out() -> None:
    """Another model, another protocol, or a text that was changed: only what was said is sent."""
    altered = {**STATE, "content": [*STATE["content"][:2], {"type": "text", "text": "Else."}, STATE["content"][3]]}
    for state, model in ((STATE, "other"), ({**STATE, "protocol": "x"}, "m"), (altered, "m")):
        sent = anthropic_request.body_of(_conversation(state, model), {})["messages"][1]["content"]
        assert [block["type"] for block in sent] == ["text", "tool_use"]


def test_asking_for_thinking() -> None:
    """Adaptive with an effort, or with the quirk a budget beside the answer's room; no sampling then."""
    params = {"reasoningEffort": "high", "temperature": 0.5, "maxTokens": 100}
    body = anthropic_request.body_of(_conversation(params=params), {})
    assert (body["thinking"], body["output_config"]) == ({"type": "adaptive"}, {"effort": "high"})
    assert "temperature" not in body
    old = anthropic_request.body_of(
        _conversation(params={**params, "thinkingBudget": 2000}), {"legacyThinkingBudget": 1}
    )
    assert old["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert old["max_tokens"] == 2100
    none = anthropic_request.body_of(_conversation(params={"temperature": 0.5}), {})
    assert (none["temperature"], "thinking" in none) == (0.5, False)


def test_where_the_cache_ends() -> None:
    """Marks after the system text and after the last block, only when asked for."""
    body = anthropic_request.body_of(_conversation(prompt_cache=True), {})
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in str(anthropic_request.body_of(_conversation(), {}))


def test_a_conversation_that_the_assistant_begins() -> None:
    """Appended messages need not begin with the user's; the endpoint wants one."""
    asked = ModelRequest(model_id="m", messages=[Message("assistant", [TextBlock("Hello.")])])
    assert [message["role"] for message in anthropic_request.body_of(asked, {})["messages"]] == ["user", "assistant"]


def test_a_closing_answer_may_call_no_tools() -> None:
    """One protocol is sent none; the other wants those declared that earlier calls name, and is told to use none."""
    asked = _conversation(tools=[ToolSpec("look", "Looks.", {"type": "object"})], closing=True)
    assert "tools" not in openai_request.body_of(asked, {}, "max_tokens")
    body = anthropic_request.body_of(asked, {"noParallelToolCalls": True})
    assert [tool["name"] for tool in body["tools"]] == ["look"]
    assert body["tool_choice"] == {"type": "none"}
