"""Which ops this version answers, and where each is decided; imported before anything heavy.

`capabilities` of the handshake is made of these names.
"""

#: op → (module of this package, function). Each is one transaction with its receipt.
COMMANDS: dict[str, tuple[str, str]] = {
    "thread.create": ("threads", "create"),
    "thread.update": ("threads", "update"),
    "thread.delete": ("trash", "delete"),
    "thread.restore": ("trash", "restore"),
    "thread.fork": ("forks", "fork"),
    "thread.selectBranch": ("branches", "select"),
    "branch.delete": ("branches", "delete"),
    "node.append": ("nodes", "append"),
    "node.delete": ("nodes", "delete"),
    "node.restore": ("nodes", "restore"),
    "turn.submit": ("submit", "submit"),
    "turn.fork": ("turn_fork", "fork"),
    "turn.steer": ("steer", "steer"),
    "turn.enqueue": ("queue", "enqueue"),
    "queue.update": ("queue", "update"),
    "queue.remove": ("queue", "remove"),
    "turn.interrupt": ("interrupt", "interrupt"),
    "run.resume": ("resume", "resume"),
    "settings.set": ("settings", "put"),
    "connection.save": ("connections", "save"),
    "connection.delete": ("connections", "delete"),
    "connection.models": ("connections", "models"),
    "connection.verify": ("connections", "verify"),
    "secret.set": ("secrets", "put"),
    "secret.delete": ("secrets", "delete"),
    "vault.unlock": ("vault", "unlock"),
    "vault.lock": ("vault", "lock"),
    "vault.rekey": ("vault", "rekey"),
    "rule.save": ("rules", "save"),
    "rule.delete": ("rules", "delete"),
    "folder.save": ("named", "save_folder"),
    "folder.delete": ("named", "delete_folder"),
    "preset.save": ("named", "save_preset"),
    "preset.delete": ("named", "delete_preset"),
    "memory.set": ("memories", "put"),
    "memory.delete": ("memories", "delete"),
    "job.cancel": ("jobs", "cancel"),
    "attachment.begin": ("attachments", "begin"),
    "attachment.chunk": ("attachments", "chunk"),
    "attachment.commit": ("attachments", "commit"),
    "attachment.abort": ("attachments", "abort"),
    "attachment.delete": ("attachments", "delete"),
    "attachment.pin": ("attachments", "pin"),
    "page.capture": ("pages", "capture"),
    "page.delete": ("pages", "delete"),
}

QUERIES: dict[str, tuple[str, str]] = {
    "thread.list": ("threads", "listing"),
    "thread.page": ("threads", "page"),
    "thread.search": ("search", "search_all"),
    "branch.list": ("branches", "listing"),
    "run.get": ("runs", "get"),
    "receipt.get": ("receipts", "get"),
    "storage.status": ("storage", "status"),
    "settings.get": ("settings", "get"),
    "connection.list": ("connections", "listing"),
    "secret.list": ("secrets", "listing"),
    "vault.status": ("vault", "status"),
    "rule.list": ("rules", "listing"),
    "folder.list": ("named", "list_folders"),
    "preset.list": ("named", "list_presets"),
    "memory.list": ("memories", "listing"),
    "job.list": ("jobs", "listing"),
    "attachment.status": ("attachments", "status"),
    "attachment.read": ("attachments", "read"),
    "attachment.list": ("attachments", "listing"),
    "page.list": ("pages", "listing"),
    "page.get": ("pages", "get"),
}

#: Answered by the host itself: they concern the port, not the store.
PORT = ("client.visibility", "initialize", "ping", "thread.subscribe", "thread.unsubscribe")

CAPABILITIES: tuple[str, ...] = tuple(sorted((*COMMANDS, *QUERIES, *PORT)))
