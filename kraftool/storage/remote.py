"""Files behind a URL: s3, gs, abfs, hdfs, http, memory, whatever fsspec knows.

Owns what a URL is, how it is shown (never with what is in it to log in), listing, reads in ranges,
and the writing of whole files, which only backups do. It refuses to keep copies, and to treat local
paths: those are `source.py`'s. fsspec is imported when the first URL is opened, so that nobody else
needs it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import IO, Any

from kraftool.decoders.errors import KraftoolError
from kraftool.installing import install_hint
from kraftool.storage.source import CHUNK, ClosingSource

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(::|://)")
# Of these the part before the @ is a container's name and no secret.
_CONTAINER_FIRST = ("abfs", "abfss", "adl", "az", "wasb", "wasbs")
_CONTAINER = re.compile(r"[a-z0-9$][a-z0-9-]{1,62}")


def is_url(path: str) -> bool:
    """True if a PATH names something for fsspec, and not a local file."""
    return _URL.match(path) is not None


def shown_url(url: str) -> str:
    """The URL as it may be printed: without user, password, key, token or query."""
    if not is_url(url):
        return url
    chain, separator, last = url.rpartition("::")
    if separator:
        return "::".join(shown_url(word) for word in (*chain.split("::"), last))
    address, _, rest = url.partition("?")
    # A question mark is also a pattern's; a query has values.
    url = address if "=" in rest else url
    scheme, mark, place = url.partition("://")
    if not mark or "@" not in place:
        return url
    host = place.partition("/")[0]
    user, at, _ = host.rpartition("@")
    if at and scheme.lower() in _CONTAINER_FIRST and _CONTAINER.fullmatch(user):
        return url
    if at:
        return f"{scheme}://{place[len(user) + 1 :]}"
    # Secret keys may have a slash in them, so that the @ comes later: `key:sec/ret@bucket`.
    if ":" in host and not host.rpartition(":")[2].isdigit():
        return f"{scheme}://{place.rpartition('@')[2]}"
    return url


def without_secrets(text: str, url: str) -> str:
    """A message of a library about this URL, without what may not be shown."""
    shown = shown_url(url)
    text = text.replace(url, shown)
    if shown == url:
        return text
    for part in re.split(r"[/?&]|::|(?<=:)//", url):
        if part and part not in shown and len(part) > 2:
            text = text.replace(part, "…")
    user = url.partition("://")[2].rpartition("@")[0]
    _, _, query = url.partition("?")
    for part in (user, *user.split(":"), *(word.partition("=")[2] for word in query.split("&"))):
        if len(part) > 2 and part not in shown:
            text = text.replace(part, "…")
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteItem:
    """One name in a remote folder. `identity` changes with the content where the store says so."""

    name: str
    path: str
    """Below the root that was opened; empty for the root itself."""
    is_folder: bool
    size: int = 0
    mtime_ns: int = 0
    identity: str = ""


class RemoteFiles:
    """The files below a URL. Paths are relative to it, with `/`."""

    def __init__(
        self, url: str, options: Mapping[str, Any] | None = None, *, extra: str = "spark"
    ) -> None:
        """Open a URL. `extra` is the one that the caller's users install to have fsspec."""
        try:
            url_to_fs = import_module("fsspec.core").url_to_fs
        except ImportError:
            raise KraftoolError(
                f"{shown_url(url)}: URLs need fsspec", hint=install_hint(extra)
            ) from None
        self._url = url
        # Listings are not to be remembered: logs grow.
        chosen = {"use_listings_cache": False, **(options or {})}
        try:
            self._fs, root = url_to_fs(url, **chosen)
        except Exception as error:  # each store has its own
            raise self._failed(error) from None
        self._root = str(root)

    def shown(self, path: str = "") -> str:
        """The URL of a path, as it may be printed."""
        url = shown_url(self._url)
        return f"{url.rstrip('/')}/{path}" if path else url

    def item(self, path: str = "") -> RemoteItem | None:
        """The file or folder of this path; None where nothing is."""
        try:
            info = self._fs.info(self._inside(path))
        except FileNotFoundError:
            return None
        except Exception as error:
            raise self._failed(error, path) from None
        return _item(path, path.rstrip("/").rpartition("/")[2], info)

    def listed(self, path: str = "") -> list[RemoteItem]:
        """Return what lies directly in a folder, by name."""
        inside = self._inside(path)
        try:
            infos = self._fs.ls(inside, detail=True)
        except Exception as error:
            raise self._failed(error, path) from None
        items = []
        for info in infos:
            whole = str(info["name"]).rstrip("/")
            name = whole.rpartition("/")[2]
            # A store without folders lists an empty object for the folder itself.
            if name and whole != inside.rstrip("/"):
                items.append(_item(f"{path}/{name}" if path else name, name, info))
        return sorted(items, key=lambda item: item.name)

    def glob(self, pattern: str) -> list[str]:
        """The paths that match a pattern."""
        try:
            matched_paths = self._fs.glob(self._inside(pattern))
        except Exception as error:
            raise self._failed(error, pattern) from None
        start = len(self._inside("x")) - 1
        return sorted(str(matched_path)[start:] for matched_path in matched_paths)

    def open(self, path: str = "", *, name: str = "") -> RemoteSource:
        """Open one file for ranged reads."""
        item, name = self.item(path), name or self.shown(path)
        if item is None:
            raise KraftoolError(f"{name}: no such file or directory")
        if item.is_folder:
            raise KraftoolError(f"{name}: is a directory, not a file")
        return RemoteSource(self, path, name, item.size)

    def open_listed(self, item: RemoteItem) -> RemoteSource:
        """Open a file that was just listed, without asking the store for its size again."""
        return RemoteSource(self, item.path, self.shown(item.path), item.size)

    @property
    def takes_threads(self) -> bool:
        """True if several threads may ask the store at the same time."""
        return bool(getattr(self._fs, "async_impl", False))

    def read(self, path: str, position: int, size: int) -> bytes:
        """Read a range that lies in the file."""
        try:
            data: bytes = self._fs.cat_file(self._inside(path), start=position, end=position + size)
        except Exception as error:
            raise self._failed(error, path) from None
        return data

    def write(self, path: str, content: IO[bytes]) -> None:
        """Write a whole file. One that fails half-way may leave a part of it, in some stores."""
        inside = self._inside(path)
        try:
            self._fs.makedirs(inside.rpartition("/")[0], exist_ok=True)
            with self._fs.open(inside, "wb") as file:
                shutil.copyfileobj(content, file, CHUNK)
        except Exception as error:
            raise self._failed(error, path) from None

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        try:
            self._fs.rm_file(self._inside(path))
        except FileNotFoundError:
            return
        except Exception as error:
            raise self._failed(error, path) from None

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder, in a store that has folders."""
        item = self.item(path)
        if item is None or not item.is_folder:
            return
        try:
            self._fs.rmdir(self._inside(path))
        except (FileNotFoundError, NotImplementedError):
            return
        except Exception as error:
            raise self._failed(error, path) from None

    def _inside(self, path: str) -> str:
        return f"{self._root.rstrip('/')}/{path}" if path else self._root

    def _failed(self, error: Exception, path: str = "") -> KraftoolError:
        if isinstance(error, FileNotFoundError):
            words = "no such file or directory"
        elif isinstance(error, PermissionError):
            words = "permission denied"
        else:
            words = without_secrets(f"{type(error).__name__}: {error}", self._url)
        hint = "install the package that it names" if isinstance(error, ImportError) else ""
        return KraftoolError(f"{self.shown(path)}: {words}", hint=hint)


_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
"""What stores call the time of the last change."""


def _item(path: str, name: str, info: Mapping[str, Any]) -> RemoteItem:
    when = next((info[key] for key in _TIMES if info.get(key) is not None), None)
    return RemoteItem(
        name=name,
        path=path,
        is_folder=info["type"] == "directory",
        size=int(info.get("size") or 0),
        mtime_ns=_nanoseconds(when),
        identity=str(info.get("ETag") or info.get("etag") or info.get("md5Hash") or ""),
    )


def _nanoseconds(when: object) -> int:
    if isinstance(when, datetime):
        when = when.timestamp()
    return int(when * 1_000_000) * 1_000 if isinstance(when, int | float) else 0


class RemoteSource(ClosingSource):
    """One remote file as it was when it was opened: reads end where it then ended."""

    def __init__(self, files: RemoteFiles, path: str, name: str, size: int) -> None:
        self._files, self._path, self._name, self._size = files, path, name, size

    @property
    def name(self) -> str:
        return self._name

    def size(self) -> int:
        return self._size

    def read_at(self, position: int, size: int) -> bytes:
        assert position >= 0, position
        assert size >= 0, size
        # Stores answer a range beyond the end with an error.
        size = min(size, self._size - position)
        return self._files.read(self._path, position, size) if size > 0 else b""

    def close(self) -> None:
        """Nothing is held open between reads."""
