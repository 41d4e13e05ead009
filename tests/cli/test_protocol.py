"""`sidekeep protocol`: the contract that the host speaks and the schema that is shipped are one."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from support.stores import Store

TOP = Path(__file__).resolve().parents[2]


def test_the_digest_is_the_one_that_the_host_answers(store: Store, sidekeep: Callable) -> None:
    """`--hash`, `--json` and the handshake say the same; what a host can do is in the contract."""
    host = store.start()
    answer = host.initialize()
    told = sidekeep("protocol", "--hash").out.strip()
    assert told == answer["schemaHash"]
    document = sidekeep("protocol", "--json").document
    assert (document["protocol"], document["schemaHash"]) == (answer["protocol"], told)
    assert {"thread.list", "turn.submit"} <= set(answer["capabilities"]) <= set(document["ops"])


def test_the_schema_is_the_shipped_one(sidekeep: Callable) -> None:
    """`--schema` is docs/schema.json, and its canonical JSON has the digest: sorted, no spaces, 0.0 as 0."""
    schema = sidekeep("protocol", "--schema").document
    assert schema == json.loads((TOP / "docs" / "schema.json").read_text())
    schema = json.loads(json.dumps(schema), parse_float=lambda text: int(float(text)))
    canonical = json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert hashlib.sha256(canonical).hexdigest() == sidekeep("protocol", "--hash").out.strip()


def test_hash_and_schema_together_are_wrong_usage(sidekeep: Callable) -> None:
    refused = sidekeep("protocol", "--hash", "--schema", "--json")
    assert (refused.status, refused.document["error"]["code"]) == (2, "invalid_command")
