"""The JSON Schema of the contract as a judge of values and as a source of them: the keywords that it uses."""

import base64
import binascii
import re
from typing import Any

from hypothesis import strategies as st

KNOWN = frozenset(
    ("$ref", "additionalProperties", "anyOf", "contentEncoding", "default", "discriminator", "enum", "items",
     "maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum", "oneOf", "pattern", "prefixItems",
     "properties", "required", "type")
)  # fmt: skip
TEXT = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)
SAFE = 2**53 - 1
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.floats(-1e6, 1e6) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


class Shapes:
    """One document's definitions."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.defs: dict[str, Any] = document["$defs"]

    def accepts(self, shape: Any, value: Any) -> bool:
        """Whether the value is of this shape (JSON Schema 2020-12)."""
        if shape is True or shape == {}:
            return True
        unknown = set(shape) - KNOWN
        assert not unknown, f"the judge does not know {unknown}"
        if "$ref" in shape:
            return self.accepts(self.defs[shape["$ref"].rsplit("/", 1)[-1]], value)
        if "enum" in shape and not any(type(value) is type(one) and value == one for one in shape["enum"]):
            return False
        if "anyOf" in shape and not any(self.accepts(one, value) for one in shape["anyOf"]):
            return False
        if "oneOf" in shape and sum(self.accepts(one, value) for one in shape["oneOf"]) != 1:
            return False
        if "type" in shape and not _is(shape["type"], value):
            return False
        if isinstance(value, str):
            return _text(shape, value)
        if isinstance(value, dict):
            return self._object(shape, value)
        if isinstance(value, list):
            return self._array(shape, value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return bool(shape.get("minimum", value) <= value <= shape.get("maximum", value))
        return True

    def _object(self, shape: dict[str, Any], value: dict[str, Any]) -> bool:
        members = shape.get("properties", {})
        rest = shape.get("additionalProperties", True)
        return all(name in value for name in shape.get("required", [])) and all(
            self.accepts(members[name], item) if name in members else rest is not False and self.accepts(rest, item)
            for name, item in value.items()
        )

    def _array(self, shape: dict[str, Any], value: list[Any]) -> bool:
        first = shape.get("prefixItems", [])
        rest = shape.get("items", True)
        if not shape.get("minItems", 0) <= len(value) <= shape.get("maxItems", len(value)):
            return False
        if rest is False and len(value) > len(first):
            return False
        return all(self.accepts(first[at] if at < len(first) else rest, item) for at, item in enumerate(value))

    def values(self, shape: Any) -> st.SearchStrategy[Any]:
        """Values of this shape; not all that there are, but of every kind."""
        if shape is True or shape == {}:
            return ANY
        if "$ref" in shape:
            name = shape["$ref"].rsplit("/", 1)[-1]
            return st.deferred(lambda: self.values(self.defs[name]))
        for union in ("anyOf", "oneOf"):
            if union in shape:
                return st.one_of([self.values(one) for one in shape[union]])
        if "enum" in shape:
            return st.sampled_from(shape["enum"])
        match shape.get("type"):
            case "string":
                return _texts(shape)
            case "integer":
                return st.integers(shape.get("minimum", -SAFE), shape.get("maximum", SAFE))
            case "number":
                return st.floats(shape.get("minimum", -1e6), 1e6)
            case "boolean":
                return st.booleans()
            case "null":
                return st.none()
            case "array":
                if "prefixItems" in shape:
                    return st.tuples(*map(self.values, shape["prefixItems"])).map(list)
                return st.lists(self.values(shape.get("items", True)), min_size=shape.get("minItems", 0), max_size=3)
            case "object":
                return self._objects(shape)
        return ANY

    def _objects(self, shape: dict[str, Any]) -> st.SearchStrategy[Any]:
        if "properties" not in shape:
            return st.dictionaries(TEXT, self.values(shape.get("additionalProperties", True)), max_size=3)
        required = shape.get("required", [])
        members = {name: self.values(inner) for name, inner in shape["properties"].items()}
        return st.fixed_dictionaries(
            {name: members[name] for name in required},
            optional={name: inner for name, inner in members.items() if name not in required},
        )


def _is(kind: str, value: Any) -> bool:
    match kind:
        case "integer":
            return type(value) is int or (type(value) is float and value.is_integer())
        case "number":
            return type(value) in (int, float)
        case "null":
            return value is None
    return type(value) is {"string": str, "boolean": bool, "array": list, "object": dict}[kind]


def _text(shape: dict[str, Any], value: str) -> bool:
    if not shape.get("minLength", 0) <= len(value) <= shape.get("maxLength", len(value)):
        return False
    if "pattern" in shape and re.search(shape["pattern"], value) is None:
        return False
    if shape.get("contentEncoding") == "base64":
        try:
            base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return False
    return True


def _texts(shape: dict[str, Any]) -> st.SearchStrategy[str]:
    if shape.get("contentEncoding") == "base64":
        return st.binary(max_size=20).map(lambda raw: base64.b64encode(raw).decode())
    if shape.get("maxLength") == 36:
        return st.uuids().map(str)
    if "pattern" in shape:
        return st.from_regex(shape["pattern"].replace("$", r"\Z"))
    return st.text(
        st.characters(blacklist_categories=["Cs"]),
        min_size=shape.get("minLength", 0),
        max_size=min(20, shape.get("maxLength", 20)),
    )
