"""What a conversation has read of its project's folder, told by the results of its tools."""

from sidekeep.store.tx import Tx


def known(tx: Tx, thread: int) -> dict[str, str]:
    """Path → digest as it was read or written last in this conversation."""
    rows = tx.all(
        "SELECT json_extract(payload, '$.details.file.path'), json_extract(payload, '$.details.file.sha256') "
        "FROM nodes WHERE k > ?1 << 32 AND k < (?1 + 1) << 32 AND type = 'tool_result' AND json_valid(payload) "
        "ORDER BY k",
        (thread,),
    )
    return {str(path): str(digest) for path, digest in rows if path is not None and digest is not None}
