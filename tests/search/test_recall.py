"""Every search finds what a plain scan finds, in every script, whatever is typed (D3, E60)."""
# ruff: noqa: RUF001 - the letters of many scripts are what is tested

import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from support.hostclient import HostClient
from support.stores import temporary_store, text

#: One message each. What is searched for below is looked for in these by a plain scan of folded text.
MESSAGES = [
    "The quick brown fox jumps over the lazy dog",
    "Naïve café crème brûlée, DÉJÀ VU and a piñata",
    "Straße, Ärger, Übung, GROẞ und groß",
    "Łódź, Gdańsk, Żółw; Đorđe; Ørsted; İstanbul, Iğdır, Diyarbakır",
    "Съешь ещё этих мягких французских булок",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία; Οδυσσεύς",
    "שָׁלוֹם עולם, ספר טוב",
    "السَّلامُ عَلَيْكُمْ ورحمة الله، كتاب",
    "中文維基百科是一個自由的百科全書",
    "人工智能正在改变世界，机器学习很重要",
    "東京都は日本の首都である。ひらがなとカタカナ",
    "ｶﾞﾗｽの靴とパイプ、１２３ＡＢＣ",
    "대한민국의 수도는 서울이다. 한국어 문장",
    "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
    "ພາສາລາວ ງາມ",
    "ភាសាខ្មែរ ពិរោះ",
    "မြန်မာဘာသာစကား",
    "हिन्दी में लिखा हुआ एक वाक्य",
    "தமிழ் மொழி இனிமையானது",
    "বাংলা ভাষায় লেখা",
    "𠮷野家で牛丼を食べる",
    "Great 😀 work 👩‍👩‍👧 with ❤️ and 🇩🇪 → done ≤ 5 €",
    "C++ and C# and F# are languages, g++ is a compiler, so is C",
    "call getUserName() then parseHTTPResponse, set user_name = foo_bar",
    "std::vector<int> a->b->c; if (x != y && z >= 3) { return &x; }",
    "path/to/file.py:42 and https://example.org/a?b=c#frag",
    "it's the user's \"quoted text\" — don’t 'panic'",
    "#hashtag @mention $variable 100% a&b a|b x^2 ~tilde `code`",
    "e\u0301tude with a combining accent",
    "Python入門とJava言語、Rust编程",
    "line one\nline two\u2028line three\u0000after nul",
]

QUERIES = [
    "quick brown", "FOX", "cafe", "Café", "CREME BRULEE", "deja", "pinata",
    "strasse", "Straße", "groß", "gross", "uebung", "Übung", "arger",
    "lodz", "Łódź", "gdansk", "zolw", "dorde", "orsted", "istanbul", "ISTANBUL", "igdir", "diyarbakir",
    "съешь", "ЕЩЁ", "еще", "булок", "οδυσσευς", "ΨΥΧΟΦΘΌΡΑ",
    "שלום", "שָׁלוֹם", "ספר", "السلام", "عَلَيْكُمْ", "كتاب",
    "中", "百科", "維基百科", "百科全書", "自由的百", "人", "智能", "机器学习", "世界，机器",
    "東", "京都", "東京都", "ひ", "らが", "カタカナ", "である。ひ", "ガラス", "ｶﾞﾗｽ", "パイプ", "123abc",
    "한", "한국", "서울", "대한민국의", "수도는 서울",
    "ภ", "ไทย", "ช่องว่าง", "ພາສາ", "ខ្មែរ", "မြန်မာ", "हिन्दी", "वाक्य", "தமிழ்", "বাংলা",
    "𠮷", "𠮷野", "野家", "牛丼", "😀", "👩‍👩‍👧", "❤️", "❤", "🇩🇪", "→", "≤", "€",
    "C++", "c#", "F#", "g++", "getUserName", "getusername", "UserName", "HTTPResponse", "user_name", "foo_bar",
    "std::vector", "vector<int>", "a->b", "->b->c", "x != y", "&& z", "path/to/file.py", "file.py:42",
    "https://example.org/a?b=c", "example.org", "it's", "don't", "user's", '"quoted text"', "“quoted text”",
    "#hashtag", "@mention", "$variable", "hashtag", "a&b", "x^2", "étude", "etude",
    "Python入門", "入門", "Java言語", "Rust编程", "python java", "line two", "after", "line 中",
    "nowhere", "百科人工", "無", "C#++",
]  # fmt: skip


def folded(words: str) -> str:
    """Case, accents and compatibility forms away: what the contract calls folded, by other means than the product's."""
    words = words.translate(str.maketrans("łŁđĐøØıİ“”’", 'lLdDoOiI""\''))
    apart = unicodedata.normalize("NFKD", words.casefold())
    kept = [
        c for c in apart if not (unicodedata.combining(c) and not "\u0900" <= c <= "\u1fff" and c not in "\u3099\u309a")
    ]
    return unicodedata.normalize("NFC", "".join(kept).replace("\ufe0f", "").replace("\u200d", ""))


def scanned(query: str) -> set[int]:
    """The messages that hold each part of the query (quotes make one part), by a plain scan."""
    plain = folded(query)
    parts = [plain.strip('"')] if plain.startswith('"') else plain.split()
    return {n for n, message in enumerate(MESSAGES) if all(part in folded(message) for part in parts)}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HostClient, dict[str, int]]]:
    """A host with one node for each message."""
    with temporary_store(tmp_path_factory.mktemp("scripts") / "state") as store:
        host = store.open()
        thread = host.ack("thread.create", title="~")["threadId"]
        nodes = {}
        for number, message in enumerate(MESSAGES):
            appended = host.ack("node.append", threadId=thread, nodeType="user_message", payload=text(message))
            nodes[appended["nodeId"]] = number
        yield host, nodes


def found(host: HostClient, query: str, **members: Any) -> list[dict[str, Any]]:
    """All hits, page after page."""
    hits: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = host.query("thread.search", query=query, **members, **cursor)
        hits += page["hits"]
        if page["cursor"] is None:
            return hits
        cursor = {"cursor": page["cursor"]}


@pytest.mark.parametrize("query", QUERIES)
def test_every_query_finds_what_a_scan_finds(filled: tuple[HostClient, dict[str, int]], query: str) -> None:
    """E60: recall is 100 % against a scan for words from their beginning on, and nothing is found twice."""
    host, nodes = filled
    hits = found(host, query, **{"in": ["messages"]})
    numbers = [nodes[hit["nodeId"]] for hit in hits]
    assert len(numbers) == len(set(numbers))
    assert scanned(query) <= set(numbers), [MESSAGES[n] for n in scanned(query) - set(numbers)]


@pytest.mark.parametrize(
    "query", ["C++", "百科人工", "foo_bar", "a->b", "東京", "Python入門", "😀", '"quick fox"', "c#"]
)
def test_what_a_scan_does_not_find_is_not_found(filled: tuple[HostClient, dict[str, int]], query: str) -> None:
    """Symbols, phrases and runs of ideographs are found as they stand, and not something near."""
    host, nodes = filled
    assert {nodes[hit["nodeId"]] for hit in found(host, query)} == scanned(query)


@pytest.mark.parametrize("query", ["", " ", "...", '"', '""', "-", "*", "()", "\u0000", "\u200d", "++", "。、"])
def test_nothing_to_search_for_gives_no_hits(filled: tuple[HostClient, dict[str, int]], query: str) -> None:
    """A query without a searchable character is valid and empty."""
    host, _ = filled
    hits = found(host, query)
    assert hits == []


@pytest.mark.parametrize(
    "query",
    [
        'fox" OR "dog', "NEAR(fox dog)", "text:fox", "fox*", "^fox", "fox AND", "NOT", "AND OR NOT", "a" * 20_000,
        "{text}:", "fox -dog", "'; DROP TABLE search; --", "漢" * 5000, '"' * 999, "(((((", "fox)",
        " ".join("a" * 900),
    ],
)  # fmt: skip
def test_no_input_is_a_syntax_error(filled: tuple[HostClient, dict[str, int]], query: str) -> None:
    """Any text is a valid query: operators of the index are words like others."""
    host, _ = filled
    assert host.query("thread.search", query=query)["cursor"] is None


def test_small_pages_lose_nothing(filled: tuple[HostClient, dict[str, int]]) -> None:
    """Hits read one by one by the cursor are the hits read at once, in the same order where they fit one window."""
    host, _ = filled
    at_once = host.query("thread.search", query="a", limit=200)["hits"]
    one_by_one = found(host, "a", limit=1)
    assert [hit["nodeId"] for hit in one_by_one] == [hit["nodeId"] for hit in at_once]
    assert host.refused("thread.search", query="a", cursor="1.2")["code"] == "invalid_command"
    assert host.refused("thread.search", query="a", cursor="7.2.0")["code"] == "invalid_command"


def test_the_scan_finds_what_it_should() -> None:
    """The yardstick itself: only queries that are meant to be found nowhere are."""
    nowhere = {query for query in QUERIES if not scanned(query)}
    assert nowhere == {"uebung", "nowhere", "百科人工", "無", "C#++", "line 中"}
