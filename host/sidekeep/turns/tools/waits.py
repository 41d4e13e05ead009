"""Tools that wait: for an answer of the user, for something the user does, for a time."""

from datetime import UTC, datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from sidekeep.model.limits import WAIT_LONGEST_MS
from sidekeep.turns.tools.descriptor import Args, BadArguments, InteractionTool, Outcome


class AskUser(Args):
    """Arguments of ask_user."""

    question: Annotated[str, Meta(min_length=1, max_length=2_000)]
    options: Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=8)] | UnsetType = UNSET


class HandOver(Args):
    """Arguments of hand_over."""

    task: Annotated[str, Meta(min_length=1, max_length=2_000, description="What the user has to do by hand.")]


class WaitUntil(Args):
    """Arguments of wait_until."""

    at: Annotated[str, Meta(max_length=40, description="A time as ISO 8601 with zone.")] | UnsetType = UNSET
    seconds: Annotated[int, Meta(ge=1, le=WAIT_LONGEST_MS // 1000)] | UnsetType = UNSET
    reason: Annotated[str, Meta(max_length=200)] = ""


def _ask(args: AskUser, _now: int) -> tuple[dict[str, Any], int | None]:
    request: dict[str, Any] = {"kind": "ask_user", "question": args.question}
    if args.options is not UNSET and args.options:
        request["options"] = args.options
    return request, None


def _answered(_args: AskUser, response: dict[str, Any] | None) -> Outcome:
    answer = str((response or {}).get("answer", ""))
    return Outcome(True, f"The user answers: {answer}", {"answer": answer})


def _hand_over(args: HandOver, _now: int) -> tuple[dict[str, Any], int | None]:
    return {"kind": "hand_over", "task": args.task}, None


def _handed_back(_args: HandOver, response: dict[str, Any] | None) -> Outcome:
    told = response or {}
    done, note = bool(told.get("done")), str(told.get("note", ""))
    text = "The user says it is done." if done else "The user did not do it."
    return Outcome(done, f"{text} {note}".strip(), {"done": done})


def _wait(args: WaitUntil, now: int) -> tuple[dict[str, Any], int | None]:
    until = _time(args, now)
    if until - now > WAIT_LONGEST_MS:
        raise BadArguments("A wait may last 24 hours at most.")
    return {"kind": "wait_until", "until": until, "reason": args.reason}, max(until, now)


def _time(args: WaitUntil, now: int) -> int:
    if args.seconds is not UNSET:
        return now + args.seconds * 1000
    if args.at is UNSET:
        raise BadArguments("wait_until takes `at` or `seconds`.")
    try:
        at = datetime.fromisoformat(args.at)
    except ValueError:
        raise BadArguments(f"`at` is no time as ISO 8601 writes it: {args.at[:40]}") from None
    if at.tzinfo is None:
        raise BadArguments("`at` needs its zone, such as 2026-01-31T09:00:00+01:00.")
    return int(at.timestamp() * 1000)


def _waited(_args: WaitUntil, response: dict[str, Any] | None) -> Outcome:
    early = response is not None
    text = "The user ended the wait early." if early else "The time has come."
    return Outcome(True, text, {"early": early})


def _until(args: WaitUntil) -> str:
    if args.seconds is not UNSET:
        return f"Wait {args.seconds} seconds"
    at = datetime.fromisoformat(str(args.at)).astimezone(UTC)
    return f"Wait until {at:%Y-%m-%d %H:%M} UTC"


TOOLS = (
    InteractionTool(
        name="ask_user",
        description="Asks the user a question and waits for the answer; `options` are offered as buttons. Only when "
        "you cannot go on without it.",
        args=AskUser,
        level="builtin",
        risk="user",
        repeat="retry-safe",
        asks=lambda args: args.question,
        request=_ask,
        take=_answered,
    ),
    InteractionTool(
        name="hand_over",
        description="Asks the user to do something that you cannot do, and waits until they say that it is done.",
        args=HandOver,
        level="builtin",
        risk="user",
        repeat="retry-safe",
        asks=lambda args: args.task,
        request=_hand_over,
        take=_handed_back,
    ),
    InteractionTool(
        name="wait_until",
        description="Waits until a time (`at`) or for some seconds (`seconds`), 24 hours at most, then goes on.",
        args=WaitUntil,
        level="builtin",
        risk="user",
        repeat="retry-safe",
        asks=_until,
        request=_wait,
        take=_waited,
    ),
)
