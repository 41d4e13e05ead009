"""save_artifact: something that the model made, kept as a file of the conversation."""

from typing import Annotated

from msgspec import Meta

from sidekeep.model.limits import ARTIFACT_BYTES, CHUNK_BYTES
from sidekeep.store import blobs, uploads
from sidekeep.store.tx import Tx
from sidekeep.turns.tools.descriptor import Acting, Args, Outcome, StoreTool


class SaveArtifact(Args):
    """Arguments of save_artifact."""

    name: Annotated[str, Meta(min_length=1, max_length=200, description="A file name, such as summary.md.")]
    content: Annotated[str, Meta(min_length=1, max_length=ARTIFACT_BYTES, description="The whole text of the file.")]
    mime: Annotated[str, Meta(pattern=r"^text/[a-z0-9.+-]+$|^application/[a-z0-9.+-]+$", max_length=100)] = (
        "text/markdown"
    )


def _save(tx: Tx, acting: Acting, args: SaveArtifact) -> Outcome:
    data = args.content.encode("utf-8", "replace")
    if len(data) > ARTIFACT_BYTES:
        return Outcome(False, f"A file may have {ARTIFACT_BYTES} bytes; this one has {len(data)}.")
    members = {
        "kind": "file",
        "mime": args.mime,
        "size": len(data),
        "trust": "untrusted",
        "provenance": "tool",
        "sourceRef": acting.item_id,
        "meta": {"title": args.name},
    }
    attachment_id, _have = uploads.begin(tx, acting.thread, members)
    for index in range(blobs.chunks_of(len(data))):
        uploads.receive(tx, attachment_id, index, data[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES])
    digest, size = uploads.keep(tx, attachment_id)
    # The user asked for it: it does not go by itself when room is wanted.
    tx.run("UPDATE attachments SET pinned = 1 WHERE id = ?", (attachment_id,))
    details = {"attachmentId": attachment_id, "name": args.name, "mime": args.mime, "size": size, "sha256": digest}
    return Outcome(True, f"Saved as {args.name} ({size} bytes).", details)


TOOLS = (
    StoreTool(
        name="save_artifact",
        description="Saves a text that you made as a file in this conversation, for the user to download.",
        args=SaveArtifact,
        level="builtin",
        risk="write",
        repeat="inspect-first",
        asks=lambda args: f"Save the file \u201c{args.name}\u201d in this conversation",
        act=_save,
    ),
)
