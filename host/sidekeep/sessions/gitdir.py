"""Opens and makes the `.git` of a session with nothing of the user's configuration, hooks, filters or templates.

libgit2 runs no hooks for a commit made from a tree, and no filter for a blob made from bytes. Its own lock files are
never taken: the one reference is written in place, the index beside and renamed, so that a death leaves no lock.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

BRANCH = "refs/heads/main"
_CONFIG = """[core]
\trepositoryformatversion = 0
\tfilemode = false
\tbare = false
\tlogallrefupdates = false
\tautocrlf = false
\tsafecrlf = false
\tsymlinks = false
\tlongpaths = true
\thooksPath = /dev/null
[gc]
\tauto = 0
[commit]
\tgpgSign = false
"""
#: Where a repository is put that cannot be read.
UNREADABLE = ".git.unreadable"
#: Files are bytes, whatever the user's attributes say.
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding\n"
_SCRATCH = "sidekeep"
_PLAIN, _FOLDER = 0o100644, 0o040000
#: What lies in a session's work tree.
_OURS = frozenset(("history", "context", "workdir", "meta.json", "purged.json"))


@cache
def git() -> Any:
    """pygit2, set up once: no configuration but a repository's own is ever read."""
    import pygit2  # 30 ms and 10 MiB that a runner without ended turns does not need
    from pygit2.enums import ConfigLevel

    for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL, ConfigLevel.PROGRAMDATA):
        pygit2.settings.search_path[level] = ""
    pygit2.settings.owner_validation = False
    # Every object that a tree names was written by this process or read from the tree before.
    pygit2.settings.enable_strict_object_creation(False)
    pygit2.settings.enable_strict_hash_verification(False)
    pygit2.settings.cache_max_size(4 * 1024 * 1024)
    return pygit2


def is_repository(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, ".git", "HEAD"))


def make(folder: str) -> None:
    """A repository without commits; made beside and renamed, so that there is a whole one or none."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    fresh = os.path.join(folder, ".git.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for below in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", _SCRATCH):
        os.makedirs(os.path.join(fresh, *below.split("/")), mode=0o700)
    for name, text in (
        ("HEAD", f"ref: {BRANCH}\n"),
        ("config", _CONFIG),
        ("description", "A conversation of Sidekeep\n"),
        ("info/attributes", _ATTRIBUTES),
        ("info/exclude", f"/{UNREADABLE}/\n"),
    ):
        with open(os.path.join(fresh, *name.split("/")), "w", encoding="utf-8") as file:
            file.write(text)
    os.rename(fresh, os.path.join(folder, ".git"))


def opened(folder: str) -> Any:
    """The repository of a folder."""
    from pygit2.enums import RepositoryOpenFlag

    return git().Repository(os.path.join(folder, ".git"), RepositoryOpenFlag.NO_SEARCH)


def head(folder: str) -> str | None:
    """The newest commit, None before the first."""
    try:
        with open(os.path.join(folder, ".git", *BRANCH.split("/")), encoding="ascii") as file:
            found = file.read().strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return found if len(found) == 40 else None


def move_head(folder: str, commit: str) -> None:
    """The branch leads to this commit: at once, or not at all."""
    overwrite(os.path.join(folder, ".git", *BRANCH.split("/")), f"{commit}\n".encode())


def overwrite(path: str, content: bytes) -> None:
    """A small file's content in one write call, which a death does not halve.

    No rename: over a file that is there, ext4 allocates and flushes first (10 ms on a busy disk). The content must be
    as long as what is there, or longer.
    """
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        os.write(fd, content)
    finally:
        os.close(fd)


def sweep(folder: str) -> None:
    """Remove what a death left in our own corner of the repository; its session's lock is held."""
    scratch = os.path.join(folder, ".git", _SCRATCH)
    os.makedirs(scratch, mode=0o700, exist_ok=True)
    for name in os.listdir(scratch):
        path = os.path.join(scratch, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def check_out(folder: str, commit: str, since: str | None) -> None:
    """Make the files of the work tree those of a commit; `since` is the one that they are of now, None where that is
    not known. Only plain files with names of ours are written: what is in a tree may come from a remote."""
    repository = opened(folder)
    tree = repository[commit].tree
    if since is not None and since in repository:
        for delta in repository[since].tree.diff_to_tree(tree).deltas:
            path = delta.new_file.path
            if path not in tree:
                _remove(folder, path)
            elif delta.new_file.mode == _PLAIN and _is_ours(path):
                _place(folder, path, repository[delta.new_file.id].data)
        return
    for path, blob in _blobs(repository, tree, ""):
        if _is_ours(path):
            _place(folder, path, blob.data)


def _blobs(repository: Any, tree: Any, above: str) -> Iterator[tuple[str, Any]]:
    for entry in tree:
        if entry.filemode == _FOLDER:
            yield from _blobs(repository, repository[entry.id], f"{above}{entry.name}/")
        elif entry.filemode == _PLAIN:
            yield f"{above}{entry.name}", repository[entry.id]


def _is_ours(path: str) -> bool:
    parts = path.split("/")
    return parts[0] in _OURS and not any(part in ("", ".", "..") or part.lower() == ".git" for part in parts)


def _place(folder: str, path: str, content: bytes) -> None:
    """Through no link: what lies in the way of a folder or a file is replaced."""
    at = folder
    *above, name = path.split("/")
    for part in above:
        at = os.path.join(at, part)
        if os.path.islink(at) or (os.path.exists(at) and not os.path.isdir(at)):
            os.unlink(at)
        os.makedirs(at, mode=0o700, exist_ok=True)
    target = os.path.join(at, name)
    try:
        with open(target, "rb") as file:
            if not os.path.islink(target) and file.read(len(content) + 1) == content:
                return
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        shutil.rmtree(target)
    temporary = os.path.join(folder, ".git", _SCRATCH, "file")
    with open(temporary, "wb") as file:
        file.write(content)
    os.replace(temporary, target)


def _remove(folder: str, path: str) -> None:
    if _is_ours(path):
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            os.unlink(os.path.join(folder, *path.split("/")))


def refresh_index(folder: str, commit: str) -> None:
    """Make the index that of a commit, so that `git status` finds nothing changed."""
    repository = opened(folder)
    temporary = os.path.join(folder, ".git", _SCRATCH, "index")
    index = git().Index(temporary)
    index.read_tree(repository[commit].tree)
    index.write()
    os.replace(temporary, os.path.join(folder, ".git", "index"))
