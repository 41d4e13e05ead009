"""Who may act: rules before permissions before policies, and what is asked about whatever they say."""

from typing import Any

import pytest

from sidekeep.store.rules import Rule
from sidekeep.turns import sensitive
from sidekeep.turns.gatekeeper import Case, Verdict, judge, ruling
from sidekeep.turns.tools.registry import TOOLS

NEWS = "https://news.example/story"


def case(tool: str, url: str = "", policy: str = "untrusted", **members: Any) -> Case:
    arguments = members.pop("arguments", {"memory_write": '{"key": "k", "value": "v"}'}.get(tool, "{}"))
    return Case(TOOLS[tool], TOOLS[tool].read(arguments), policy, url, **members)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        # policy, tool, and whether it is the page beside the panel or the conversation holds a page's words
        (case("read_page", NEWS, "always", here=True), "ask"),
        (case("read_page", NEWS, here=True), "allow"),
        (case("read_page", NEWS), "ask"),
        (case("read_page", NEWS, "auto"), "allow"),
        (case("list_tabs", policy="always"), "ask"),
        (case("list_tabs"), "allow"),
        (case("memory_read", policy="always"), "allow"),
        (case("memory_write", policy="always"), "ask"),
        (case("memory_write"), "allow"),
        (case("memory_write", tainted=True), "ask"),
        (case("memory_write", policy="auto", tainted=True), "allow"),
        (case("wait_until", policy="always"), "allow"),
    ],
)
def test_policies(asked: Case, expected: str) -> None:
    """`always` asks, `untrusted` asks where a stranger's words may be behind it, `auto` does not."""
    assert judge(asked, [], granted=False).kind == expected


def test_deny_before_ask_before_allow() -> None:
    """A deny counts however general it is; of the others the most specific, ask first where two are alike."""
    allow, ask = Rule("read_page", "news.example", "allow"), Rule("*", "news.example", "ask")
    assert judge(case("read_page", NEWS, "always"), [ask, allow], granted=False) == Verdict("allow", "rule")
    assert judge(case("read_page", NEWS, "auto"), [Rule("*", "*", "deny"), allow], granted=True).kind == "deny"
    both = [Rule("read_page", "https://news.example", "ask"), Rule("read_page", "*", "allow")]
    assert judge(case("read_page", NEWS, "auto"), both, granted=True) == Verdict("ask", "rule")
    alike = [Rule("read_page", "news.example", "allow"), Rule("read_page", "*.news.example", "ask")]
    assert judge(case("read_page", NEWS), alike, granted=False).kind == "ask"


@pytest.mark.parametrize(
    ("origin", "url", "fits"),
    [
        ("*", "", True),
        ("*", NEWS, True),
        ("news.example", NEWS, True),
        ("*.example", NEWS, True),
        ("example", "https://notexample/", False),
        ("news.example", "https://badnews.example/", False),
        ("news.example", "https://news.example.evil.example/", False),
        ("https://news.example", NEWS, True),
        ("https://news.example", "http://news.example/", False),
        ("https://news.example", "https://news.example@evil.example/", False),
        ("news.example", "", False),
    ],
)
def test_which_places_a_rule_is_about(origin: str, url: str, fits: bool) -> None:
    """A site and what lies below it; an origin exactly; never a name that only looks alike."""
    assert (ruling([Rule("read_page", origin, "deny")], "read_page", url) is not None) is fits


def test_sensitive_things_are_asked_about_whatever_the_policy() -> None:
    """A payload before an allow rule; a site's name unless the user has decided on it."""
    card = case("memory_write", policy="auto", arguments='{"key": "card", "value": "4111 1111 1111 1111"}')
    rule = Rule("memory_write", "*", "allow")
    assert judge(card, [rule], granted=True) == Verdict("ask", "sensitive_payload")
    assert judge(card, [Rule("memory_write", "*", "deny")], granted=True).kind == "deny"
    bank = case("read_page", "https://www.mybank.example/", "auto", here=True)
    assert judge(bank, [], granted=False) == Verdict("ask", "sensitive_site")
    assert judge(bank, [], granted=True).kind == "allow"
    assert judge(bank, [Rule("*", "mybank.example", "allow")], granted=False).kind == "allow"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("4111 1111 1111 1111", "card"),
        ("pay with 5500-0000-0000-0004.", "card"),
        ("378282246310005", "card"),
        ("4111 1111 1111 1112", None),  # Luhn
        ("0000 0000 0000 0000", None),
        ("call 2025-11-30 at 12:30", None),
        ("ISBN 978-3-16-148410-0", None),
        ("sk-proj-abcdefghijklmnop1234", "credential"),
        ("ghp_" + "a" * 36, "credential"),
        ("AKIAIOSFODNN7EXAMPLE", "credential"),
        ("-----BEGIN RSA PRIVATE KEY-----", "credential"),
        ("my password is hunter22", "credential"),
        ("a skeleton and a risk of ghosts", None),
        ("the token economy", None),
    ],
)
def test_what_a_sensitive_payload_is(words: str, expected: str | None) -> None:
    """Cards by their check digit, credentials by their makers' shapes."""
    assert sensitive.payload({"text": [words]}) == expected


@pytest.mark.parametrize("site", ["bank.example", "mybank.com", "mail.example.org", "accounts.example", "paypal.com"])
def test_sensitive_sites(site: str) -> None:
    assert sensitive.is_sensitive_site(site)


@pytest.mark.parametrize("site", ["news.example", "riverbanks.example", "wikipedia.org", "idea.example"])
def test_other_sites(site: str) -> None:
    assert not sensitive.is_sensitive_site(site)


def test_a_descriptor_says_everything_once() -> None:
    """Schema, level and recovery rule of the snapshot's entry, and the check of arguments, come from one place."""
    entry = TOOLS["read_page"].entry
    assert entry["parameters"] == {
        "type": "object",
        "properties": {
            "tabId": {
                "type": "integer",
                "description": "The tab, from list_tabs; without it the tab beside the panel.",
            },
            "mode": {
                "enum": ["article", "selection", "snapshot"],
                "description": "article: the readable text; selection: what is selected; "
                "snapshot: all text of the page.",
                "default": "article",
            },
            "offset": {
                "type": "integer",
                "minimum": 0,
                "description": "Where to begin, in characters, to read on in a long page.",
                "default": 0,
            },
        },
        "required": [],
        "additionalProperties": False,
    }
    assert (entry["level"], entry["repeat"]) == ("L0", "retry-safe")


@pytest.mark.parametrize(
    ("secret", "kind"),
    [
        ("4111 1111 1111 1111", "card"),
        ("sk-proj-abcdefghijklmnop1234", "credential"),
        ("Password: hunter22", "credential"),
    ],
)
def test_a_megabyte_is_looked_through_to_its_end(secret: str, kind: str) -> None:
    """What is sensitive is found wherever it stands; plain text of that size is none."""
    filler = "The tide pool holds anemones, crabs and sea stars. " * 20_000
    assert sensitive.payload({"content": filler + secret}) == kind
    assert sensitive.payload({"content": filler}) is None
    sensitive.look_ahead('{"content": "' + filler + secret + '"}')
    sensitive.look_ahead("{" * 20_000)
