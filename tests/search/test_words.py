"""How text becomes words of the index, and queries become expressions: for any text, not only for known scripts."""

import unicodedata
from collections.abc import Iterator

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sidekeep.store import words
from sidekeep.store.search_query import QUERY_CHARACTERS, understood
from sidekeep.store.snippets import LENGTH, MARK, UNMARK, score, shown, snippet

_MARKS = str.maketrans("", "", MARK + UNMARK)
TABLE = "CREATE VIRTUAL TABLE search USING fts5 (text, cjk, tokenize = 'unicode61 remove_diacritics 2')"
MIXED = st.text(
    st.one_of(
        st.characters(exclude_categories=("Cs",)),
        st.sampled_from("aA1 _+#@-\"'.,<>=/漢字かガｶﾞ한국ไทहि\u0301\u200d😀→ßİŁ"),
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def index() -> Iterator[apsw.Connection]:
    db = apsw.Connection(":memory:")
    db.execute(TABLE)
    yield db
    db.close()


def is_found(db: apsw.Connection, text: str, query: str) -> bool:
    """Whether a text that stands alone in the index is found by a query; True for a query without anything to find."""
    asked = understood(query)
    if asked is None:
        return True
    db.execute("DELETE FROM search")
    db.execute("INSERT INTO search (rowid, text, cjk) VALUES (1, ?, ?)", words.indexed(text))
    rows = [db.execute("SELECT 1 FROM search WHERE search MATCH ?", (tier,)).fetchall() for tier in asked.tiers]
    return any(rows) and score(words.fold(words.composed(text)), asked.terms) is not None


@given(MIXED)
@example("c++ c# #tag ##x @a$b a+b")
@example("e\u0301 \u0301e İi ﬁ ㍿ ｶﾞ")
def test_every_text_is_found_by_itself(index: apsw.Connection, text: str) -> None:
    """Whatever is written can be searched for as it is written, and in quotes."""
    assert is_found(index, text, text)
    if '"' not in text.translate(str.maketrans(dict.fromkeys("“”„‟«»＂", '"'))):  # noqa: RUF001
        assert is_found(index, text, f'"{text}"')


@given(MIXED)
def test_case_and_accents_do_not_matter(index: apsw.Connection, text: str) -> None:
    """A text is found by its upper case, its decomposed and its compatibility form."""
    assert is_found(index, text, unicodedata.normalize("NFD", text))
    if text.lower() == text.upper().lower():
        assert is_found(index, text, text.upper())


@given(st.text(st.sampled_from("漢字仮名かなカナ한국어ไทย"), min_size=1, max_size=12), st.data())
def test_any_run_of_unspaced_characters_is_found(index: apsw.Connection, text: str, data: st.DataObject) -> None:
    """From one character on, every piece of a run is found; a run that does not stand there is not."""
    first = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(first + 1, len(text)))
    assert is_found(index, text, text[first:end])
    other = data.draw(st.text(st.sampled_from("漢字仮名かなカナ한국어ไทย"), min_size=1, max_size=4))
    assert is_found(index, text, other) == (words.fold(other) in words.fold(text))


def test_each_token_is_one_to_the_index(index: apsw.Connection) -> None:
    """No letter or symbol of Unicode is lost or split by the index's own tokenizer, whose letters are those of 6.1."""
    tokens: set[str] = set()
    for point in (*range(0x21, 0xD800), *range(0xE000, 0x20000), *range(0x20000, 0x32000, 97)):
        for kind, piece in words.pieces(words.fold(words.composed(chr(point)))):
            tokens.update(words.grams(piece) if kind == "run" else [words.token(piece)])
    index.execute("DELETE FROM search")
    index.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab (main, search, row)")
    index.execute("INSERT INTO search (rowid, text, cjk) VALUES (1, ?, '')", (" ".join(tokens),))
    known = {term for (term,) in index.execute("SELECT term FROM terms")}
    assert tokens == known


@given(MIXED, MIXED)
def test_a_snippet_is_a_piece_of_the_text(text: str, query: str) -> None:
    """Without its marks a snippet stands in the text (white space as one space); marks come in pairs."""
    asked = understood(query)
    found = snippet(*shown(text), [] if asked is None else asked.terms)
    plain = found.replace(MARK, "").replace(UNMARK, "").strip("\u2026")
    assert plain in " ".join(words.composed(text.translate(_MARKS)).split())
    assert found.count(MARK) == found.count(UNMARK)
    assert len(plain) <= LENGTH


def test_a_query_is_bounded() -> None:
    """A pasted book is a query like any other: what is beyond the bound is not looked for."""
    asked = understood("word " * 1_000_000)
    assert asked is not None
    assert len(asked.terms) <= 32
    assert sum(map(len, asked.tiers)) < 4 * QUERY_CHARACTERS
