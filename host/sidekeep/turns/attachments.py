"""What a model gets of the attachments that a message names: text between fences, images, or one line."""

from collections.abc import Iterable

from sidekeep.model import mimes
from sidekeep.model.limits import PAGE_TEXT_CHARACTERS
from sidekeep.providers.base import Block, ImageBlock, TextBlock
from sidekeep.store import attached, texts
from sidekeep.store.attached import Attached
from sidekeep.store.tx import Tx
from sidekeep.turns.fences import Nonce, attribute, fenced

GONE = "[An attachment that stood here was removed to save space; its content is no longer available.]"
_TEXT_MIMES = frozenset(("application/json", "application/xml", "application/javascript", "application/x-yaml"))


class AttachmentReader:
    """Reads, for one model call, what messages name. `vision` says whether the model takes images."""

    def __init__(self, tx: Tx, vision: bool, nonce: Nonce) -> None:
        self._tx = tx
        self._vision = vision
        self._nonce = nonce
        self._known: dict[str, Attached] = {}

    def learn(self, ids: Iterable[str]) -> None:
        """Look all of them up at once."""
        self._known.update(attached.look_up(self._tx, ids))

    def block(self, attachment_id: str) -> Block:
        """One attachment as a block of its message."""
        found = self._known.get(attachment_id)
        if found is None or not found.stored or found.blob is None:
            return TextBlock(GONE) if found is None else _tombstone(found)
        if found.mime.startswith("image/"):
            if self._vision:
                return ImageBlock(found.mime, attached.content(self._tx, found.blob))
            return TextBlock("[An image is attached here, which this model cannot see.]")
        if found.kind == "page_text" or found.mime.startswith("text/") or found.mime in _TEXT_MIMES:
            return self._text(found, found.blob)
        if found.mime == mimes.PDF:
            text = texts.blob_of(self._tx, found.id)
            return _unreadable(found) if text is None else self._text(found, text)
        return _unreadable(found)

    def _text(self, found: Attached, blob: int) -> Block:
        data = attached.content(self._tx, blob)
        if not mimes.is_text(data):
            return _unreadable(found)
        text = data.decode("utf-8", "replace")
        return fenced(
            text[:PAGE_TEXT_CHARACTERS],
            kind="page" if found.kind in ("page_text", "page_snapshot") else "file",
            trust=found.trust,
            provenance=found.provenance,
            title=str(found.meta.get("title") or ""),
            url=str(found.meta.get("url") or ""),
            nonce=self._nonce,
        )


def _named(found: Attached) -> str:
    name = attribute(str(found.meta.get("title") or found.kind), 200)
    source = attribute(str(found.meta.get("url") or ""), 500)
    return f"{name}, {found.mime}, {found.size} bytes" + (f", from {source}" if source else "")


def _unreadable(found: Attached) -> TextBlock:
    return TextBlock(f"[A file is attached here: {_named(found)}; it cannot be read.]")


def _tombstone(found: Attached) -> TextBlock:
    """What stood here, so that neither model nor person takes it for something that never was."""
    return TextBlock(f"[An attachment that stood here was removed to save space: {_named(found)}.]")
