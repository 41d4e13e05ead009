"""What the runner and the local model's worker say to each other: one JSON object a line, over pipes."""

from msgspec import Struct, field
from msgspec.json import Decoder, Encoder


class Part(Struct, omit_defaults=True):
    """A piece of a message; of a `fenced` one the worker may keep only some sentences, never a fence's part."""

    text: str
    before: str = ""
    after: str = ""
    fenced: bool = False


class Said(Struct):
    """A message of the conversation as the worker needs it; `role` is `user` or `assistant`."""

    role: str
    parts: list[Part]


class Generate(Struct, tag="generate", kw_only=True):
    """Answer this. Ids grow, so that what comes late from an older one is told apart."""

    id: int
    system: str
    messages: list[Said]
    max_tokens: int | None = None
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 1
    stop: list[str] = field(default_factory=list)


class Cancel(Struct, tag="cancel"):
    """Stop the generation with this id, within one token; it is answered by `Done` with `cancelled`."""

    id: int


class Progressed(Struct, tag="progress"):
    """`loading` the weights or `reading` the prompt: `done` of `total`."""

    id: int
    note: str
    done: int
    total: int


class Cut(Struct, tag="cut"):
    """The request was shortened before it was read."""

    id: int
    note: str
    kept: int
    total: int


class Text(Struct, tag="text"):
    """The next whole characters of the answer."""

    id: int
    text: str


class Done(Struct, tag="done"):
    """The end of a generation; `reason` is `end`, `max_tokens` or `cancelled`."""

    id: int
    reason: str
    native: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int


class Failed(Struct, tag="failed"):
    """The worker could not do it, and lives on; `code` is a code of the wire contract."""

    id: int
    code: str
    message: str


Request = Generate | Cancel
Report = Progressed | Cut | Text | Done | Failed

encode = Encoder().encode
read_request = Decoder(Request).decode
read_report = Decoder(Report).decode
