"""From what a person types to a query of the index: any text is valid, and nothing in it is an operator.

Terms are joined by AND; quotes make a phrase. A term with a symbol inside (`a->b`, `foo_bar`) has to stand so in the
text, which the index alone cannot tell.
"""

import re
from typing import NamedTuple

from sidekeep.store import words

QUERY_CHARACTERS = 1000
TERMS = 32
RUN_CHARACTERS = 40
PREFIX_CHARACTERS = 3

_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02", '"'))
_TERM = re.compile(r'"([^"]*)"|([^\s"]+)')
_EDGES = ".,;:!?()[]{}'\u2018\u2019\u2026\u3001\u3002\uff0c\uff01\uff1f\uff1a\uff1b\uff08\uff09\u300c\u300d\u300e\u300f"
_LITERAL = re.compile(r"[_+#@$%^&*=<>/\\|~`]")
_NAME = re.compile(r"[#@$]*[^\W_]+[+#]+|[#@$]+[^\W_]+")


class Term(NamedTuple):
    """`exact` and `begun` are expressions of the index (`begun`: its last word goes on), `literal` has to stand in the
    folded text, `shown` are patterns for the snippet, the strictest first."""

    exact: str
    begun: str | None
    literal: re.Pattern[str] | None
    shown: tuple[re.Pattern[str], ...]


class Query(NamedTuple):
    """`tiers` are expressions of the index, the better hits first and no hit in two of them."""

    tiers: list[str]
    terms: list[Term]


def understood(text: str) -> Query | None:
    """The query, or None when nothing in the text can be searched for."""
    text = words.composed(text[:QUERY_CHARACTERS]).translate(_QUOTES)
    terms = [term for match in _TERM.finditer(text) if (term := _term(match.group(1) or match.group(2) or ""))]
    terms = terms[:TERMS]
    if not terms:
        return None
    exact = " AND ".join(term.exact for term in terms)
    tiers = [exact]
    if any(term.begun for term in terms):
        begun = " AND ".join(term.begun or term.exact for term in terms)
        tiers.append(f"({begun}) NOT ({exact})")
    return Query(tiers, terms)


def _term(text: str) -> Term | None:
    folded = words.fold(text).strip().strip(_EDGES)
    if _NAME.fullmatch(folded):
        plain = re.compile(re.escape(folded))
        return Term(f'{{cjk}} : "{words.token(folded)}"', None, None, (plain,))
    pieces = words.pieces(folded)
    if not pieces:
        return None
    spoken = [piece for kind, piece in pieces if kind == "word"]
    others = [(kind, piece) for kind, piece in pieces if kind != "word"]
    parts = [_other(kind, piece) for kind, piece in others]
    begun = None
    if spoken:
        phrase = " ".join(words.token(word) for word in spoken)
        column = "{text} : " if len(spoken) > 1 else ""
        if pieces[-1][0] == "word" and len(spoken[-1]) >= PREFIX_CHARACTERS:
            begun = " AND ".join([f'{column}"{phrase}" *', *parts])
        parts.insert(0, f'{column}"{phrase}"')
    mixed = len(others) > 1 or (others and spoken) or any(len(piece) > RUN_CHARACTERS for _, piece in others)
    literal = None
    if mixed or _LITERAL.search(folded):
        literal = re.compile(r"\s+".join(map(re.escape, folded.split())))
    return Term(" AND ".join(parts), begun, literal, _patterns(folded, spoken, bool(others)))


def _other(kind: str, piece: str) -> str:
    """A run of unspaced characters: its doubles in order; one character, or a symbol: itself."""
    if kind == "run":
        held = words.grams(piece[:RUN_CHARACTERS])
        return '{cjk} : "' + " ".join(held[1:-1] if len(held) > 1 else held) + '"'
    return f'{{cjk}} : "{words.token(piece)}"'


def _patterns(folded: str, spoken: list[str], others: bool) -> tuple[re.Pattern[str], ...]:
    plain = re.compile(r"\s+".join(map(re.escape, folded.split())))
    if others or not spoken:
        return (plain,)
    phrase = r"[\W_]+".join(map(re.escape, spoken))
    return (
        re.compile(rf"(?<![^\W_]){phrase}(?![^\W_])"),
        re.compile(rf"(?<![^\W_]){phrase}"),
        re.compile(phrase),
    )
