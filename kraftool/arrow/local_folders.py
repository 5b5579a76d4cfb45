"""Local folders in the form in which `storage/remote.py` has those behind a URL.

Owns listing and opening by a path below a root, so that a fleet is found in one way wherever it
lies. It refuses to decide what is worth reading; that is `search_steps.py`.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.remote import RemoteFiles, RemoteItem, is_url
from kraftool.storage.source import ByteSource, FileSource, cannot_open


class LocalFiles:
    """The files below a local folder, or one local file. Paths are relative, with `/`."""

    takes_threads = True

    def __init__(self, root: str) -> None:
        self._root = root

    def shown(self, path: str = "") -> str:
        """The path as the user would write it."""
        return os.path.join(self._root, path) if path else self._root

    def item(self, path: str = "") -> RemoteItem | None:
        whole = self.shown(path)
        try:
            status = os.stat(whole)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        except OSError as error:
            raise cannot_open(whole, error) from error
        return _item(path, os.path.basename(whole.rstrip("/")), status)

    def listed(self, path: str = "") -> list[RemoteItem]:
        whole = self.shown(path)
        items = []
        try:
            with os.scandir(whole) as dir_entries:
                for dir_entry in dir_entries:
                    below = f"{path}/{dir_entry.name}" if path else dir_entry.name
                    try:
                        status = dir_entry.stat()
                    except OSError:
                        continue  # gone meanwhile, or a link that leads nowhere
                    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                        items.append(_item(below, dir_entry.name, status))
        except OSError as error:
            raise cannot_open(whole, error) from error
        return sorted(items, key=lambda item: item.name)

    def glob(self, pattern: str) -> list[str]:
        return sorted(glob.glob(pattern, root_dir=self._root or ".", recursive=True))

    def open(self, path: str = "", *, name: str = "") -> ByteSource:
        return FileSource(self.shown(path), name=name)

    def open_listed(self, item: RemoteItem) -> ByteSource:
        return self.open(item.path)


Files = LocalFiles | RemoteFiles


def files_at(root: str, options: Mapping[str, Any] | None = None) -> Files:
    """The files below a local path or a URL; `options` are fsspec's storage options."""
    return RemoteFiles(root, options) if is_url(root) else LocalFiles(root)


def _item(path: str, name: str, status: os.stat_result) -> RemoteItem:
    return RemoteItem(
        name=name,
        path=path,
        is_folder=stat.S_ISDIR(status.st_mode),
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
    )


class NowhereError(KraftoolError):
    """A PATH leads nowhere."""


def missing(shown: str) -> NowhereError:
    """Return what is said of a PATH that leads nowhere."""
    return NowhereError(f"{shown}: no such file or directory", hint=_near(shown))


def _near(shown: str) -> str:
    """Return how far a path of this machine leads, and what is called alike there."""
    if is_url(shown):
        return "is the bucket right, and the prefix?"
    path = os.path.abspath(shown)
    while True:
        above, name = os.path.split(path)
        if not name:
            return ""
        if os.path.isdir(above):
            break
        path = above
    try:
        near = get_close_matches(name, os.listdir(above), 1, 0.6)
    except OSError:
        return ""
    if near:
        return f"did you mean {os.path.join(above, near[0])}?"
    return f"{above} exists, but has no {name}"
