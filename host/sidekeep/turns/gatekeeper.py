"""Whether a tool may act: allowed, asked about, or denied; every call passes here, and again before the act.

In this order, the first that says something counts:
1. a rule `deny`, and the sites that are never captured;
2. a sensitive payload to a place that this turn has not acted on before (asked, whatever the policy);
3. the most specific rule, `ask` before `allow` where two are equally specific;
4. what the user allowed for this conversation;
5. a sensitive site (asked, whatever the policy);
6. the policy: `always` asks about everything but what reads the store, `untrusted` about pages other than the one
   beside the panel, and about files and lasting changes once the conversation holds what a page has said, `auto` about
   nothing.
"""

from typing import NamedTuple

from sidekeep.store import grants, rules, settings
from sidekeep.store.pages import site_named, site_of
from sidekeep.store.rules import Rule
from sidekeep.store.tx import Tx
from sidekeep.turns import sensitive
from sidekeep.turns.tools.descriptor import Args, Tool

ALLOW, ASK, DENY = "allow", "ask", "deny"


class Case(NamedTuple):
    """What is judged. `url` is the page that the call means, empty for none; `here`: it is the tab beside the panel;
    `tainted`: what a page said is part of the conversation; `seen`: sites that a call of this run acted on before."""

    tool: Tool
    args: Args
    policy: str
    url: str = ""
    here: bool = False
    tainted: bool = False
    seen: frozenset[str] = frozenset()


class Verdict(NamedTuple):
    """`reason` names what decided it: policy, rule, session, sensitive_site, sensitive_payload, harmless."""

    kind: str
    reason: str


def judge(case: Case, standing: list[Rule], *, granted: bool) -> Verdict:
    """The verdict on a call under these rules; `granted`: the user allowed it for this conversation."""
    if case.tool.risk == "user":
        return Verdict(ALLOW, "harmless")
    rule = ruling(standing, case.tool.name, case.url)
    if rule is not None and rule.verdict == DENY:
        return Verdict(DENY, "rule")
    site = site_of(case.url)
    if case.tool.risk != "read" and (site or "*") not in case.seen and sensitive.payload(case.args):
        return Verdict(ASK, "sensitive_payload")
    if rule is not None:
        return Verdict(rule.verdict, "rule")
    if granted:
        return Verdict(ALLOW, "session")
    if site and sensitive.is_sensitive_site(site):
        return Verdict(ASK, "sensitive_site")
    return _by_policy(case)


def _by_policy(case: Case) -> Verdict:
    risk, reads_store = case.tool.risk, case.tool.risk == "read" and case.tool.level == "builtin"
    if case.policy == "auto" or reads_store:
        return Verdict(ALLOW, "policy")
    if case.policy == "always":
        return Verdict(ASK, "policy")
    asked = (risk == "page" and not case.here) or (risk in ("file", "write") and case.tainted)
    return Verdict(ASK if asked else ALLOW, "policy")


def ruling(standing: list[Rule], tool: str, url: str) -> Rule | None:
    """The rule that counts: a deny that fits before all, else the most specific one, ask before allow."""
    fitting = [(rule, _fit(rule, tool, url)) for rule in standing]
    found = [(rule, fit) for rule, fit in fitting if fit is not None]
    denying = [rule for rule, _ in found if rule.verdict == DENY]
    if denying:
        return denying[0]
    found.sort(key=lambda each: (each[1], each[0].verdict == ASK), reverse=True)
    return found[0][0] if found else None


def _fit(rule: Rule, tool: str, url: str) -> tuple[int, int] | None:
    """How specific a rule is for this call (origin, then tool); None when it is not about it."""
    if rule.tool not in ("*", tool):
        return None
    place = _place(rule.origin.strip().lower(), url)
    return None if place is None else (place, int(rule.tool != "*"))


def _place(origin: str, url: str) -> int | None:
    """0 for any origin; above it the longer name, an exact one before all below it, an origin with its scheme first."""
    if origin == "*":
        return 0
    if not url:
        return None
    if "://" in origin:
        return 10_000 if origin_of(origin) == origin_of(url) else None
    site = site_of(url)
    name = origin.removeprefix("*.").removeprefix("www.").rstrip(".")
    if site == name:
        return 1_000 + len(name)
    return len(name) if site.endswith(f".{name}") else None


def origin_of(url: str) -> str:
    """Scheme, host and port as written, lower case; empty for what has no host."""
    scheme, mark, rest = url.partition("://")
    host = rest.partition("/")[0].partition("?")[0].partition("#")[0].rpartition("@")[2]
    return f"{scheme}://{host}".lower() if mark and host else ""


def verdict(tx: Tx, thread: int, case: Case) -> Verdict:
    """The verdict under the rules and permissions as they are now."""
    granted = grants.given(tx, thread, case.tool.name, origin_of(case.url) or "*")
    never = [Rule("*", _never(site_named(name), case), DENY) for name in settings.get(tx, "capture.blocked_sites")]
    return judge(case, [*never, *rules.listing(tx)], granted=granted)


def _never(site: str, case: Case) -> str:
    """The site of a rule; every site is the one at hand, so that tools that look at none go on."""
    return origin_of(case.url) if site == "*" else site
