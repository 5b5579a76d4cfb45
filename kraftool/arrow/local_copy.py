"""One directory of a fleet as a path on this machine, for what reads whole directories.

Owns the private copy of what lies behind a URL, which takes as much room in the temporary folder as
the directory has, and the way back from its path to the shown name. Local directories are read in
place, and nothing in them is written. It refuses to judge what it copies: what cannot be read is
left out and told; what cannot be written ends it.
"""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kraftool.arrow.fleet import FleetFile, Unread
from kraftool.arrow.private_folder import private_folder
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import METADATA_FOLDER

_CHUNK = 8 << 20
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Here:
    """The local place of a directory, or of a file that was named by itself."""

    path: str
    shown: str
    """What `path` is called; with no credentials in it."""
    problems: tuple[Unread, ...] = ()
    """What could not be copied."""

    def shown_text(self, text: str) -> str:
        """A text of a report about `path`, with names in place of temporary paths."""
        return text if self.path == self.shown else text.replace(self.path, self.shown)


@contextmanager
def on_disk(files: Sequence[FleetFile]) -> Iterator[Here]:
    """Yield one directory's files as a local path, which is valid inside the block.

    Where all of them were named by themselves it is these files and not the directory around them.
    """
    assert files, "a directory is known by its files"
    alone = all(fleet_file.is_named for fleet_file in files)
    if not files[0].is_remote and not (alone and len(files) > 1):
        name = files[0].name if alone else files[0].directory.name
        yield Here(path=name, shown=name)
        return
    shown = files[0].name.rpartition("/")[0] if alone else files[0].directory.name
    with private_folder("kraftool-copy-") as temporary:
        below = temporary / _basename(shown, alone=alone)
        below.mkdir(mode=0o700)
        problems = [
            unread for unread in (_bring(file, below, alone=alone) for file in files) if unread
        ]
        path, called = below, shown
        if alone and len(files) == 1:
            path, called = below / files[0].basename, files[0].name
        yield Here(path=str(path), shown=called, problems=tuple(problems))


def _basename(shown: str, *, alone: bool) -> str:
    """The folder's own name, by which a partition's folder and a topic's are known."""
    last = shown.rstrip("/").rpartition("/")[2]
    if last in ("", ".", "..") or "\0" in last:
        return METADATA_FOLDER if alone else "data"
    return last


def _bring(file: FleetFile, below: Path, *, alone: bool) -> Unread | None:
    """Put a file where it belongs below a folder; return why it cannot be."""
    parts = [file.basename] if alone else file.relative.split("/")
    if any(part in ("", ".", "..") or "\0" in part or os.sep in part for part in parts):
        return Unread(name=file.name, reason="its name is no file's name")
    path = below.joinpath(*parts)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not file.is_remote:
            path.symlink_to(os.path.abspath(file.name))
            return None
        try:
            _copy(file, path)
        except KraftoolError as error:
            path.unlink(missing_ok=True)
            return Unread(name=file.name, reason=error.message, hint=error.hint)
        if file.mtime_ns:
            os.utime(path, ns=(file.mtime_ns, file.mtime_ns))
    except OSError as error:
        # Without this file the copy would say what is not true of the directory.
        raise KraftoolError(
            f"{file.name} cannot be copied to {below.parent.parent}: {error.strerror}",
            hint="set TMPDIR to a folder with more space",
        ) from error
    return None


def _copy(file: FleetFile, path: Path) -> None:
    """Copy what is there: a file of a running node may be longer by now, and may be gone."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as out, file.open() as source:
        position = 0
        while position < file.size:
            data = source.read_at(position, min(_CHUNK, file.size - position))
            if not data:
                return
            out.write(data)
            position += len(data)


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, renaming: Callable[[str], str]) -> None:
        super().__init__(file)
        self._renaming = renaming

    def persistent_id(self, value: Any) -> str | None:
        return self._renaming(value) if type(value) is str else None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, text: str) -> str:
        return text


def renamed(value: Value, renaming: Callable[[str], str]) -> Value:
    """The value with every text in it as `renaming` gives it. Each passes through `pickle`, which
    knows the way into every value that travels to the driver."""
    file = io.BytesIO()
    _Pickler(file, renaming).dump(value)
    file.seek(0)
    renamed_value: Value = _Unpickler(file).load()
    return renamed_value
