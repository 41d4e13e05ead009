"""The envelope that every op has, and the members that many ops share."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from sidekeep.model.limits import LIST_MAX
from sidekeep.model.payloads import Id, Name

Limit = Annotated[int, Meta(ge=1, le=LIST_MAX)]
Cursor = Annotated[str, Meta(max_length=1000)]


class Op(Struct, tag_field="type", forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A message from a client. `client_id` only where one port serves several panels."""

    submission_id: Id
    client_id: Name | UnsetType = UNSET
