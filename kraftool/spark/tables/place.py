"""The place of the tables' files: a folder of this machine, or a prefix of an object store.

Owns reading, writing, listing and removing files there, for the driver and for workers, and that
an error names no credential. A local file is for its owner only. It refuses to know what the files
are for: see `sink.py` and `commit.py`.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from kraftool.arrow.untyped import pa
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.errors import UnusableError
from kraftool.storage.remote import is_url, shown_url

FOLDER_MODE, FILE_MODE = 0o700, 0o600

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|[↳]")
_SECRET = re.compile(r"key|secret|token|password|sas|credential", re.IGNORECASE)
_LONGEST = 400


class CannotWriteError(KraftoolError):
    """The place of the tables failed. All in one line: Spark hands on no more."""

    reason = ""


@dataclass(frozen=True)
class TablePlace:
    """The root of the tables. Paths are relative to it, with `/`."""

    root: str
    """A whole path, or a URL without credentials."""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The settings of the object store, by delta-rs's names. They may be secrets."""

    @property
    def is_remote(self) -> bool:
        return is_url(self.root)

    @cached_property
    def _remote(self) -> Any:
        handler = import_module("deltalake.fs").DeltaStorageHandler
        with self.explained():
            return import_module("pyarrow.fs").PyFileSystem(handler(self.root, dict(self.options)))

    def path(self, relative: str) -> str:
        """Return the whole path, or the URL."""
        return f"{self.root.rstrip('/')}/{relative}" if relative else self.root

    def create(self, path: str) -> Any:
        """Open a new file for writing. In an object store it appears when it is closed."""
        with self.explained():
            if self.is_remote:
                return self._remote.open_output_stream(path)
            self.make_folder(path.rpartition("/")[0])
            # pyarrow would make it for everybody; what is there it leaves as it is.
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            os.close(os.open(self.path(path), flags, FILE_MODE))
            return pa.OSFile(self.path(path), "wb")

    def open(self, path: str) -> Any:
        """Open a file for reading at any position."""
        with self.explained():
            if self.is_remote:
                return self._remote.open_input_file(path)
            return pa.OSFile(self.path(path), "rb")

    def size(self, path: str) -> int:
        with self.explained():
            if self.is_remote:
                return int(self._remote.get_file_info(path).size)
            return os.stat(self.path(path)).st_size

    def listed(self, folder: str) -> list[str]:
        """Return the names in a folder; none if there is no such folder."""
        with self.explained():
            if self.is_remote:
                selector = import_module("pyarrow.fs").FileSelector
                infos = self._remote.get_file_info(selector(folder, allow_not_found=True))
                return sorted(info.base_name for info in infos)
            with suppress(FileNotFoundError, NotADirectoryError):
                return sorted(os.listdir(self.path(folder) if folder else self.root))
            return []

    def delete(self, path: str) -> None:
        """Remove a file, if it is there."""
        with self.explained(), suppress(FileNotFoundError):
            if self.is_remote:
                self._remote.delete_file(path)
            else:
                os.unlink(self.path(path))

    def delete_folder(self, folder: str) -> None:
        """Remove an empty folder. Object stores have none."""
        if not self.is_remote:
            with suppress(OSError):
                os.rmdir(self.path(folder))

    def make_folder(self, folder: str) -> None:
        """Make a folder below the root and those above it, for their owner only."""
        if self.is_remote:
            return
        whole = self.root
        for name in folder.split("/") if folder else ():
            whole = os.path.join(whole, name)
            with suppress(FileExistsError):
                os.mkdir(whole, FOLDER_MODE)

    def synchronized(self) -> None:
        """Wait until what this machine wrote is on its disk."""
        if not self.is_remote:
            os.sync()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn a failure of the file system, or of the store, into one line without secrets."""
        try:
            yield
        except OSError as error:
            reason = self._reason(error)
            failed = CannotWriteError(f"{self.root} cannot be read or written: {reason}")
            failed.reason = reason
            raise failed from None

    def _reason(self, error: OSError) -> str:
        if self.is_remote:
            return self.without_secrets(str(error))
        number = error.errno
        if number is None:
            # pyarrow keeps the number of the system in its words only.
            match = re.search(r"errno (\d+)\]", str(error), re.IGNORECASE)
            number = int(match[1]) if match else None
        reason = os.strerror(number) if number is not None else str(error)
        if number == errno.ENOENT and not os.path.isdir(self.root):
            return "all Spark workers must see --out under the same name"
        return reason

    def without_secrets(self, text: str) -> str:
        """Return a message of a library in one line, without the values that may be secrets."""
        for name, value in self.options.items():
            if _SECRET.search(name) and len(value) > 2:
                text = text.replace(value, "…")
        text = " ".join(_ESCAPES.sub(" ", text).split())
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def place_of(out: str, options: Mapping[str, Any], option: str = "--out") -> TablePlace:
    """Return the place that an option names."""
    if is_url(out):
        if shown_url(out) != out:
            raise UnusableError(
                f"{shown_url(out)}: the URL of {option} contains credentials or a query",
                hint="put them into the file of --out-options",
            )
        if "::" in out or not out.partition("://")[2].strip("/"):
            raise UnusableError(
                f"{out} is no place for tables", hint="name a bucket and a prefix, as s3://B/tables"
            )
        return TablePlace(out.rstrip("/"), {name: str(value) for name, value in options.items()})
    if options:
        raise UnusableError(
            f"--out-options is for object stores, but {option} is a folder", hint="leave it out"
        )
    root = os.path.abspath(out)
    if re.search(r"[%#?]", root):
        raise UnusableError(
            f"{root} contains %, # or ?, which delta-rs takes for parts of a URL",
            hint="name another folder",
        )
    return TablePlace(root)
