"""From text to what the index holds: folded words, characters of scripts without spaces, symbols.

Case, accents and compatibility forms are folded, one character at a time. Scripts that are written without spaces stand
as single and double characters in order, so that any run of them is found from one character on. The tokenizer of the
index knows letters of Unicode 6.1 only and drops symbols; what it would lose is written as the hexadecimal number of
the character.
"""

import re
import unicodedata
from functools import lru_cache

#: More of one text is not indexed.
TEXT_CHARACTERS = 1_000_000

# Thai, Lao, Myanmar, Khmer; Hangul; radicals, kana, bopomofo, ideographs.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035"
    "\u3038-\u303c\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\U0001b000-\U0001b16f"
    "\U00020000-\U0003ffff"
)
# Vowel signs of Indic scripts and Tibetan belong to their words; danda and the like do not.
_SIGNS = "\u0900-\u0963\u0966-\u0dff\u0f18-\u0f39\u0f3e-\u0fbc"
_TOKEN = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)|(?P<word>(?:(?![{_UNSPACED}])(?:[^\W_]|[{_SIGNS}]))+)|(?P<other>[^\s\x00-\x7f])"
)
_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Names that end or begin in a symbol: C++, C#, #tag, @name, $variable.
_NAME = re.compile(r"[#@$]*[^\W_]+[+#]+|[#@$]+[^\W_]+")
_NAME_SYMBOLS = re.compile(r"[+#@$]")
# Where a part of a name in camel case begins, and how far the name goes on.
_HUMP = re.compile(r"(?<=[a-z0-9])[A-Z]|(?<=[A-Z])[A-Z](?=[a-z])")
_REST = re.compile(r"[^\W_]+")
_BLANK = re.compile(r"\s")
# What the tokenizer of the index takes as one letter each.
_KNOWN = re.compile(
    "[0-9a-z\u00df-\u00f6\u00f8-\u024f\u0250-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u0386\u0388-\u03ce\u03d0-\u03f5"
    "\u0430-\u045f\u0460-\u0481\u048a-\u0527\u0561-\u0586\u05d0-\u05ea\u0620-\u064a\u0660-\u0669\u066e-\u06d3"
    "\u06f0-\u06fc\u3041-\u3096\u30a1-\u30fa\u3400-\u4db5\u4e00-\u9fcb\uac00-\ud7a3]+"
)
_STRIPPED = re.compile(
    "[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]"
)
# Half-width kana carry their marks behind them, which only together become one letter.
_HALF_WIDTH = re.compile("[\uff66-\uff9f]+")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "\u0131": "i"})


class _Folding(dict[int, "str | int"]):
    """Each character's folded form, worked out once."""

    def __missing__(self, point: int) -> str | int:
        form: str | int = point
        if not (0xAC00 <= point <= 0xD7A3 or 0x3400 <= point <= 0x9FFF):
            apart = unicodedata.normalize("NFKD", chr(point).casefold()).casefold()
            form = unicodedata.normalize("NFC", _STRIPPED.sub("", apart).translate(_LETTERS))
        self[point] = form
        return form


_FOLDING = _Folding()


def composed(text: str) -> str:
    """The text with letters and their marks as one character each, where there is one."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _HALF_WIDTH.sub(lambda run: unicodedata.normalize("NFKC", run.group()), text))


def fold(text: str) -> str:
    """Composed text without case, accents and compatibility forms. Each character folds by itself."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def is_symbol(character: str) -> bool:
    """Emoji, arrows, currency and the like, beyond ASCII."""
    return unicodedata.category(character)[0] == "S"


@lru_cache(4096)
def token(word: str) -> str:
    """A folded word as the index takes it: one token."""
    if word.isascii() and word.isalnum():
        return word
    if _KNOWN.fullmatch(word):
        return word
    return "".join(letter if _KNOWN.fullmatch(letter) else f"x{ord(letter):x}x" for letter in word)


def grams(run: str) -> list[str]:
    """A run of unspaced characters as singles and doubles in order: 漢 漢字 字."""
    doubles = [run[index : index + 2] for index in range(len(run) - 1)]
    found = [text for both in zip(run, doubles, strict=False) for text in both]
    found.append(run[-1])
    return found if _KNOWN.fullmatch(run) else list(map(token, found))


def pieces(folded: str) -> list[tuple[str, str]]:
    """What stands in a folded text, in order: (`word`, …), (`run`, …), (`symbol`, …)."""
    found: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(folded):
        kind = match.lastgroup or ""
        text = match.group()
        if kind == "other":
            if is_symbol(text):
                found.append(("symbol", text))
        else:
            found.append((kind, text))
    return found


def names_with_symbols(folded: str) -> list[str]:
    """`c++`, `c#`, `#tag` and the like, as tokens."""
    return [token(name) for name in _NAME.findall(folded)] if _NAME_SYMBOLS.search(folded) else []


def _camel_tails(text: str) -> list[str]:
    """For `getUserName` also `username` and `name`."""
    tails = [_REST.match(text, hump.start()) for hump in _HUMP.finditer(text)]
    return [token(fold(tail)) for tail in dict.fromkeys(match.group() for match in tails if match)]


class Indexing:
    """A text on its way to the two columns of the index, a slice at a time: a long one holds nobody up."""

    def __init__(self, text: str) -> None:
        self._text = text[:TEXT_CHARACTERS]
        self._at = 0
        self._words: list[str] = []
        self._names: list[str] = []
        self._rest: list[str] = []

    def go_on(self, characters: int) -> int:
        """Works on about so many characters more, to the next blank; how many it were. 0: it is done."""
        text, start = self._text, self._at
        if len(text) - start > characters:
            blank = _BLANK.search(text, start + characters)
            self._at = blank.end() if blank else len(text)
        else:
            self._at = len(text)
        if self._at > start:
            self._take(text[start : self._at])
        return self._at - start

    def _take(self, text: str) -> None:
        text = composed(text)
        folded = fold(text)
        _put(self._names, names_with_symbols(folded) + _camel_tails(text))
        if folded.isascii():
            _put(self._words, _ASCII_WORD.findall(folded))
            return
        words: list[str] = []
        rest: list[str] = []
        for kind, piece in pieces(folded):
            if kind == "word":
                words.append(token(piece))
            elif kind == "run":
                rest += grams(piece)
            else:
                rest.append(token(piece))
        _put(self._words, words)
        _put(self._rest, rest)

    def columns(self) -> tuple[str, str]:
        """Its words, and everything that is found otherwise."""
        return " ".join(self._words), " ".join(self._names + self._rest)


def _put(column: list[str], tokens: list[str]) -> None:
    """Joined slice by slice: a join at the end would take as long as all of it."""
    if tokens:
        column.append(" ".join(tokens))


def indexed(text: str) -> tuple[str, str]:
    """The two columns of the index for a text, at once."""
    indexing = Indexing(text)
    indexing.go_on(TEXT_CHARACTERS)
    return indexing.columns()
