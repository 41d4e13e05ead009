"""Canonical JSON: the vectors of RFC 8785, and what must not have a canonical form."""

import json
import random
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidekeep.model.canonical import canonical, number
from sidekeep.model.errors import InvalidCommand

# RFC 8785, appendix B: the double's bits, and its text.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), NUMBERS.items(), ids=NUMBERS.values())
def test_a_number_is_written_as_the_rfc_writes_it(bits: str, text: str) -> None:
    """RFC 8785, appendix B: the shortest digits that read back as the same double, as ECMAScript prints them."""
    (double,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(double) == text.encode()
    assert canonical([double, {"n": double}]) == f'[{text},{{"n":{text}}}]'.encode()


@pytest.mark.parametrize(
    ("whole", "text"),
    [
        (2**53 - 1, "9007199254740991"),
        (2**53, "9007199254740992"),
        (2**53 + 1, "9007199254740992"),
        (-(2**53) - 1, "-9007199254740992"),
        (10**20, "100000000000000000000"),
        (10**21, "1e+21"),
        (2**68, "295147905179352830000"),
        (0, "0"),
    ],
)
def test_a_large_integer_has_the_digits_of_the_nearest_double(whole: int, text: str) -> None:
    """From 2^53 an integer is the double nearest to it: `str(int)` was wrong in one of twelve."""
    assert canonical(whole) == text.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400])
def test_a_number_that_is_not_finite_has_no_form(value: float) -> None:
    """RFC 8785, section 3.2.2.3: NaN and Infinity are an error."""
    with pytest.raises(InvalidCommand):
        canonical({"n": value})


def test_numbers_agree_with_a_javascript_engine() -> None:
    """The same 20,000 doubles of every size, written by us and by the engine that the RFC describes."""
    dice = random.Random(8785)
    bits = [dice.getrandbits(64) for _ in range(10_000)]
    doubles = [struct.unpack(">d", value.to_bytes(8, "big"))[0] for value in bits]
    doubles += [float(dice.randrange(-(2**60), 2**60)) / 10 ** dice.randrange(0, 12) for _ in range(10_000)]
    finite = [double for double in doubles if double == double and abs(double) != float("inf")]
    script = (
        "const chunks=[];process.stdin.on('data',c=>chunks.push(c)).on('end',()=>{"
        "const b=Buffer.concat(chunks);let out='';"
        "for(let i=0;i<b.length;i+=8)out+=JSON.stringify(b.readDoubleBE(i))+'\\n';process.stdout.write(out)})"
    )
    packed = b"".join(struct.pack(">d", double) for double in finite)
    done = subprocess.run(["node", "-e", script], input=packed, capture_output=True, check=True, timeout=60)
    assert [number(double) for double in finite] == done.stdout.decode().split()


def test_the_example_of_the_rfc() -> None:
    """RFC 8785, section 3.2.2: literals, numbers and escapes of the example, sorted as in 3.2.3."""
    example = r"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical(json.loads(example)) == expected.encode()


def test_members_are_sorted_by_utf16_code_units() -> None:
    """RFC 8785, section 3.2.3: the example with a key beyond the BMP, whose halves come before U+FB33."""
    keys = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    found = list(json.loads(canonical(keys)))
    assert found == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


def test_control_characters_have_their_short_escapes() -> None:
    """RFC 8785, section 3.2.2.2: \\b \\t \\n \\f \\r short, other controls as \\u00xx, all else as it is."""
    text = "".join(map(chr, range(0x20))) + '"\\/\x7f\u2028'
    written = "".join(
        {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}.get(code, f"\\u{code:04x}") for code in range(0x20)
    )
    assert canonical(text) == f'"{written}\\"\\\\/\x7f\u2028"'.encode()


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, [["a\ud83d"]], {"k": {"\ud83d": 1.5}}])
def test_a_lone_surrogate_has_no_form(value: object) -> None:
    """RFC 8785, section 3.2.2.2: such text is an error, and it is ours."""
    with pytest.raises(InvalidCommand):
        canonical(value)


@pytest.mark.parametrize("value", [b"x", {1: 2}, {"s": {1, 2}}, (1, 2), object()])
def test_what_is_no_json_has_no_form(value: object) -> None:
    """Only dicts with text keys, lists, texts, numbers, booleans and None."""
    with pytest.raises(InvalidCommand):
        canonical(value)


def test_nesting_beyond_the_stack_is_an_error_of_ours() -> None:
    """No RecursionError crosses the wall of the room."""
    value: object = 1
    for _ in range(200_000):
        value = [value]
    with pytest.raises(InvalidCommand):
        canonical(value)
    while isinstance(value, list):  # freed step by step: the destructor would recurse as well
        value = value.pop()


TEXT = st.text(st.characters(blacklist_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


@given(VALUES)
def test_the_fast_way_and_the_slow_way_agree(value: object) -> None:
    """Whatever shortcut was taken, the form is the one of a plain writer made from the RFC's rules."""
    assert canonical(value).decode() == _plain(value)


@given(VALUES)
def test_reading_the_form_and_writing_it_again_changes_nothing(value: object) -> None:
    """Canonical means that there is one form."""
    once = canonical(value)
    assert canonical(json.loads(once)) == once


def _plain(value: object) -> str:
    if isinstance(value, dict):
        ordered = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return "{" + ",".join(f"{_plain(key)}:{_plain(item)}" for key, item in ordered) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_plain, value)) + "]"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return number(value)
    return json.dumps(value, ensure_ascii=False)
