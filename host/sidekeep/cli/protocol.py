"""`sidekeep protocol`: the wire contract between extension and host, its digest or its whole schema."""

from typing import Annotated

from sidekeep.cli.options import Flag, Json, State
from sidekeep.cli.outcome import Status, emit, say
from sidekeep.model import contract
from sidekeep.model.errors import InvalidCommand


def protocol(
    *,
    hash: Annotated[bool, Flag] = False,
    schema: Annotated[bool, Flag] = False,
    state: State = None,
    json: Json = False,
) -> int:
    """Print the wire contract: its name, its digest and its ops.

    Parameters
    ----------
    hash
        Only the digest: SHA-256 of the canonical JSON of the schema.
    schema
        The whole JSON Schema of all ops and events.
    """
    del state  # every command takes it; the contract is the same for every store
    if hash and schema:
        raise InvalidCommand("Ask for --hash or for --schema, not for both.")
    if schema:
        from sidekeep.model.schema import build

        emit(build())
    elif json:
        short = {"protocol": contract.PROTOCOL, "schemaHash": contract.SCHEMA_HASH}
        emit(short if hash else {**short, "ops": contract.OPS})
    elif hash:
        say(contract.SCHEMA_HASH)
    else:
        say(f"{contract.PROTOCOL}  {contract.SCHEMA_HASH}")
        for name in contract.OPS:
            say(f"  {name}")
    return Status.DONE
