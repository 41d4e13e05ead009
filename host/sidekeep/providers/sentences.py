"""Cuts text of any language into sentences, and sentences into the words that are worth counting."""

# ruff: noqa: RUF001, SIM905 (the marks of other scripts are the point; word lists are read as text)

import re
import unicodedata

#: Ends a sentence wherever it stands (scripts that write no space after it).
_WIDE_ENDS = "。！？｡．︒؟۔।॥။።፧"
#: Ends a sentence only before white space, and not after an abbreviation or an initial.
_NARROW_ENDS = ".!?…"
_CLOSERS = "\"'”’»）)】」』〉》]"
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof sr jr st vs etc e.g i.e cf al fig no vol pp inc ltd co corp dept est approx "
    "jan feb mar apr jun jul aug sep sept oct nov dec z.b d.h bzw usw u.a ca nr abb bd hr fr p.ex".split()
)
_SPLIT = re.compile(
    rf"(?<=[{_WIDE_ENDS}])[{re.escape(_CLOSERS)}]*"
    rf"|[{re.escape(_NARROW_ENDS)}]+[{re.escape(_CLOSERS)}]*(?=\s)"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_WIDE = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
    "|[\U00020000-\U0003ffff]+"
)
_MARKUP = re.compile(r"^\s{0,3}(?:#{1,6}\s+|[-*+•]\s+|>\s?|\d+[.)]\s+)|!\[[^\]]*\]\([^)]*\)|[*_`]{1,3}")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

# Words that say nothing about a text, in the languages that most pages are written in. Others are damped
# by how many sentences they stand in (extract.py), so a language missing here is only a little worse.
STOPWORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has have having
    he her here hers him his how i if in into is it its itself just me more most my no nor not now of off on
    once only or other our out over own same she should so some such than that the their them then there these
    they this those through to too under until up very was we were what when where which while who whom why
    will with would you your page tell please
    der die das den dem des ein eine einer eines einem und oder aber ist sind war waren wird werden nicht auch
    auf aus bei mit nach von zu zum zur im in an als wie wenn dass sich es er sie wir ihr für über um so nur
    le la les un une des du de et ou mais est sont était dans par pour sur avec sans ce cette ces que qui quoi
    il elle on nous vous ils elles ne pas plus au aux se sa son ses leur
    el los las una unos unas y o pero es son era en por para con sin que como se su sus lo al del más
    il lo gli uno una e ma è sono nel nella per con non che di da si
    """.split()
)


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, white space settled, headings and list items each on its own."""
    found: list[str] = []
    for line in text.splitlines():
        plain = _MARKUP.sub("", _LINK.sub(r"\1", line)).strip()
        if plain:
            found.extend(_of_line(" ".join(plain.split())))
    return found


def words(sentence: str) -> list[str]:
    """The words that count, folded; scripts without spaces give their pairs of characters."""
    folded = unicodedata.normalize("NFKC", sentence).casefold()
    counted: list[str] = []
    for run in _WIDE.findall(folded):
        counted.extend(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    counted.extend(
        _stem(word) for word in _WORD.findall(_WIDE.sub(" ", folded)) if len(word) > 1 and word not in STOPWORDS
    )
    return counted


def _stem(word: str) -> str:
    """`takes` and `take`, `bridges` and `bridge` are one; anything finer needs to know the language."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _of_line(line: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for mark in _SPLIT.finditer(line):
        end = mark.end()
        if end > start and not _is_abbreviation(line, mark.start()):
            pieces.append(line[start:end].strip())
            start = end
    pieces.append(line[start:].strip())
    return [piece for piece in pieces if piece]


def _is_abbreviation(line: str, at: int) -> bool:
    """A full stop after a known short form or a single letter does not end a sentence."""
    if at >= len(line) or line[at] != ".":
        return False
    word = line[line.rfind(" ", 0, at) + 1 : at].lstrip("(\"'“‘").casefold()
    return word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha())
