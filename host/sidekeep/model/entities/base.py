"""The base of what goes out, and JSON that is already text in the store and goes out as it is."""

from typing import Annotated

from msgspec import Meta, Raw, Struct


class Out(Struct, rename="camel", kw_only=True):
    """Something that answers and events carry; members that are UNSET are left out."""


# Stored as JSON text: spliced into the answer, not decoded and encoded again. The schema shows
# what the text is, by the names of schema.py.
PayloadJson = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/$defs/NodePayload"})]
UserInputJson = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/$defs/UserInput"})]
OverridesJson = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/$defs/TurnOverrides"})]
EnvironmentJson = Annotated[Raw, Meta(extra_json_schema={"$ref": "#/$defs/RunEnvironmentSnapshot"})]
AnyJson = Raw
"""Any JSON value, as text."""
