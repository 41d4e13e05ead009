"""Every refusal and fault that the product names, one leaf for each code of the wire contract.

SidekeepError
├── WireError                what belongs to no command
│   ├── InvalidFrame             invalid_frame
│   ├── MessageTooLarge          message_too_large
│   ├── ForbiddenOrigin          forbidden_origin
│   └── PeerGone                 no code: nobody is left to tell
├── Refusal                  a command's own refusal: nothing changed, the others of its group go on
│   ├── InvalidCommand           invalid_command
│   ├── NotInitialized           not_initialized
│   ├── NotFound                 not_found
│   ├── Conflict                 conflict
│   ├── TurnMismatch             turn_mismatch
│   ├── RunActive                run_active            (retryable)
│   ├── QueueFull                queue_full            (retryable)
│   ├── Overloaded               overloaded            (retryable)
│   ├── VaultLocked              vault_locked          (retryable)
│   ├── QuotaExceeded            quota_exceeded
│   ├── DigestMismatch           digest_mismatch
│   ├── TooLarge                 too_large
│   ├── ForbiddenPath            forbidden_path
│   ├── ProjectFrozen            project_frozen
│   ├── NeedsPermission          needs_permission
│   ├── SnapshotInvalid          snapshot_invalid
│   └── SnapshotUnsupported      snapshot_unsupported
├── StoreError               the store as a whole cannot do it
│   ├── StoreBusy                store_busy            (retryable)
│   ├── StorageFull              storage_full          (retryable)
│   ├── StorageCorrupt           storage_corrupt
│   └── StoreNewer               store_newer
├── ProviderError            a model endpoint did not do it
│   ├── ProviderAuth             provider_auth
│   ├── ProviderRateLimit        provider_rate_limit   (retryable)
│   ├── ProviderOverloaded       provider_overloaded   (retryable)
│   ├── ProviderNetwork          provider_network      (retryable)
│   ├── ProviderContextTooLong   provider_context_too_long
│   ├── ProviderContentFilter    provider_content_filter
│   └── ProviderProtocol         provider_protocol
└── Internal                     internal              (retryable)

The module imports nothing: the first answer of the host needs it.
"""

_LONGEST = 1000


class SidekeepError(Exception):
    """A fault with a wire code; `extra` holds further members of the rejection (camelCase)."""

    code: str = ""
    retryable: bool = False
    # Whether a rejection with this code is a terminal answer that its command keeps as a receipt.
    keeps_receipt: bool = True

    def __init__(self, message: str, **extra: object) -> None:
        # It may quote names that came in, whatever their length, and is kept with the receipt.
        if len(message) > _LONGEST:
            message = message[:_LONGEST] + "…"
        super().__init__(message)
        self.message = message
        self.extra = extra
        # Set by the decoder when the op named itself before it was found wrong.
        self.submission_id: str | None = None
        self.client_id: str | None = None
        # The op itself, as plain data: a command of the wrong shape has its receipt, too.
        self.op: dict[str, object] | None = None
        # What the refusal itself writes, given the transaction of its receipt.
        self.also: object = None

    def __init_subclass__(cls) -> None:
        # A command that may succeed later is decided anew, so it keeps no receipt.
        if cls.retryable:
            cls.keeps_receipt = False


class WireError(SidekeepError):
    """What belongs to no command: a bad frame, a stranger at the port."""


class InvalidFrame(WireError):
    """Length 0, invalid UTF-8, or anything but one JSON object."""

    code = "invalid_frame"


class MessageTooLarge(WireError):
    """A frame above the limit of the port; its bytes were skipped."""

    code = "message_too_large"


class ForbiddenOrigin(WireError):
    """No argument of the process is an accepted origin."""

    code = "forbidden_origin"


class PeerGone(WireError):
    """The other end of the port is closed; nobody is left to tell."""


class Refusal(SidekeepError):
    """A command's own refusal: it changed nothing and rolls back to its savepoint alone."""


class InvalidCommand(Refusal):
    """The op is not of its shape; the message names the member."""

    code = "invalid_command"


class NotInitialized(Refusal):
    """An op before `initialize`."""

    code = "not_initialized"
    keeps_receipt = False


class NotFound(Refusal):
    """A thread, node, run, attachment … that is not there (or lies in the trash)."""

    code = "not_found"


class Conflict(Refusal):
    """Something else stands already; `extra["current"]` may hold what."""

    code = "conflict"


class TurnMismatch(Refusal):
    """A steer for a turn that is not the active one."""

    code = "turn_mismatch"


class RunActive(Refusal):
    """The branch may not move while a run of the thread is active or waiting."""

    code = "run_active"
    retryable = True


class QueueFull(Refusal):
    """As many turns wait for this thread as may."""

    code = "queue_full"
    retryable = True


class Overloaded(Refusal):
    """As many ops wait for this thread as may."""

    code = "overloaded"
    retryable = True


class VaultLocked(Refusal):
    """The vault's key is out of reach until somebody unlocks it."""

    code = "vault_locked"
    retryable = True


class QuotaExceeded(Refusal):
    """No room may be made for it under the quota."""

    code = "quota_exceeded"


class DigestMismatch(Refusal):
    """The bytes are not those that were announced."""

    code = "digest_mismatch"


class TooLarge(Refusal):
    """Over a limit of its kind."""

    code = "too_large"


class ForbiddenPath(Refusal):
    """A path outside the roots that are allowed."""

    code = "forbidden_path"


class ProjectFrozen(Refusal):
    """The project of a thread is fixed after its first turn."""

    code = "project_frozen"


class NeedsPermission(Refusal):
    """The browser has not granted what the tool needs."""

    code = "needs_permission"


class SnapshotInvalid(Refusal):
    """A run's environment is missing, altered, moved or over the limits."""

    code = "snapshot_invalid"


class SnapshotUnsupported(Refusal):
    """A run's environment was written by a version that is not understood."""

    code = "snapshot_unsupported"


class StoreError(SidekeepError):
    """The store as a whole cannot do it."""


class StoreBusy(StoreError):
    """Another process holds the store; `extra` may name its `pid` and `version`."""

    code = "store_busy"
    retryable = True


class StoreReplaced(StoreBusy):
    """Another store lies in the place of the one that this process opened."""


class StorageFull(StoreError):
    """No room on the disk."""

    code = "storage_full"
    retryable = True


class StorageCorrupt(StoreError):
    """The store is damaged: nothing more is written."""

    code = "storage_corrupt"
    keeps_receipt = False


class StoreNewer(StoreError):
    """The store was written by a newer version and stays untouched."""

    code = "store_newer"
    keeps_receipt = False


class ProviderError(SidekeepError):
    """A model endpoint did not do it."""


class ProviderAuth(ProviderError):
    """The endpoint refused the key."""

    code = "provider_auth"


class ProviderRateLimit(ProviderError):
    """Too many requests for the endpoint; `extra["retryAfterMs"]` when it said how long."""

    code = "provider_rate_limit"
    retryable = True


class ProviderOverloaded(ProviderError):
    """The endpoint has no capacity now."""

    code = "provider_overloaded"
    retryable = True


class ProviderNetwork(ProviderError):
    """The endpoint was not reached, or the connection broke."""

    code = "provider_network"
    retryable = True


class ProviderContextTooLong(ProviderError):
    """More tokens than the model takes."""

    code = "provider_context_too_long"


class ProviderContentFilter(ProviderError):
    """The endpoint refused the content."""

    code = "provider_content_filter"


class ProviderProtocol(ProviderError):
    """The endpoint did not speak its protocol."""

    code = "provider_protocol"


class Internal(SidekeepError):
    """A fault of our own."""

    code = "internal"
    retryable = True


def _leaves(base: type[SidekeepError]) -> list[type[SidekeepError]]:
    found = [base] if base.code else []
    for child in base.__subclasses__():
        found += _leaves(child)
    return found


# Of two with one code the more general one, which comes first, is what a code alone means.
BY_CODE: dict[str, type[SidekeepError]] = {leaf.code: leaf for leaf in reversed(_leaves(SidekeepError))}
CODES: tuple[str, ...] = tuple(sorted(BY_CODE))
