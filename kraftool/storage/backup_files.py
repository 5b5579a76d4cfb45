"""A folder or URL with backups: its files, and the checkpoint of one backup as a file to read.

Owns the names. A backup is a folder with the manifest backup.json. The manifest names a checkpoint,
which is in the same folder, or in that of an earlier backup of the same state. Files are written
whole, for their owner only, the manifest last: without one there is no backup.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, Any

import orjson

from kraftool.decoders.errors import KraftoolError
from kraftool.storage import age
from kraftool.storage.backup_names import BACKUP_NAME, NAME_PATTERN
from kraftool.storage.backup_names import MANIFEST as MANIFEST
from kraftool.storage.backup_names import is_backup as is_backup
from kraftool.storage.entry import Entry, EntryPlace
from kraftool.storage.files import Files, give_to_owner
from kraftool.storage.remote import RemoteFiles, is_url, shown_url
from kraftool.storage.source import CHUNK, ByteSource, FileSource, HeldFile

KIND = "kraftool backup"
MOST_MANIFEST = 1 << 20
_LOCAL_URL = "file://"
_CHECKPOINT = re.compile(rf"{NAME_PATTERN}/\d{{20}}-\d{{10}}\.checkpoint(?:\.age)?", re.ASCII)


class BackupFiles:
    """The files of a folder or URL in which backups lie. Paths are relative, with `/`."""

    def __init__(self, place: str) -> None:
        # Only what is written here itself is durable, and for its owner only.
        place = place.removeprefix(_LOCAL_URL)
        self._place = place.rstrip("/") if len(place) > 1 else place
        self._remote = RemoteFiles(place, extra="backup") if is_url(place) else None

    @property
    def shown(self) -> str:
        """The place as it may be printed."""
        return shown_url(self._place)

    def shown_path(self, path: str) -> str:
        return f"{self.shown}/{path}"

    def names(self) -> list[str]:
        """The names of all folders that are a backup's, whole or not, the oldest first."""
        names = (name for name, is_folder in self._listed() if is_folder)
        return sorted(filter(BACKUP_NAME.fullmatch, names), key=_age)

    def files_of(self, name: str) -> list[str]:
        """The files in one of these folders."""
        return [file for file, is_folder in self._listed(name) if not is_folder]

    def _listed(self, folder: str = "") -> list[tuple[str, bool]]:
        """The names in a folder; True with those of folders."""
        if self._remote is not None:
            # In a store without folders, one without files is not there.
            there = self._remote.item(folder) is not None
            items = self._remote.listed(folder) if there else []
            return [(item.name, item.is_folder) for item in items]
        try:
            with os.scandir(os.path.join(self._place, folder)) as entries:
                return sorted((entry.name, entry.is_dir()) for entry in entries)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise self._failed(folder, error) from None

    def open(self, path: str) -> ByteSource:
        """Open a file to read it. Raises KraftoolError."""
        if self._remote is not None:
            return self._remote.open(path)
        return FileSource(os.path.join(self._place, path))

    def has(self, path: str) -> bool:
        if self._remote is not None:
            return self._remote.item(path) is not None
        return os.path.isfile(os.path.join(self._place, path))

    def begin(self, name: str) -> bool:
        """Make the folder of a new backup. False if there is one: another process made it. At a URL
        nothing is made before the first file."""
        if self._remote is not None:
            return True
        folder = os.path.join(self._place, name)
        try:
            self._make_store()
            os.mkdir(folder, 0o700)
            give_to_owner(self._place, folder)
            Files().sync_folder(self._place)
        except FileExistsError:
            return False
        except OSError as error:
            with suppress(OSError):
                Files().remove_folder(folder)
            raise self._failed(name, error) from None
        return True

    def _make_store(self) -> None:
        os.makedirs(os.path.dirname(self._place) or ".", exist_ok=True)
        if not os.path.isdir(self._place):
            Files().make_folder(self._place, 0o700)

    def write(self, path: str, content: IO[bytes]) -> None:
        """Write a new file, whole and durable. Raises KraftoolError, and leaves nothing of it."""
        if self._remote is not None:
            try:
                self._remote.write(path, content)
            except KraftoolError:
                with suppress(KraftoolError):  # what a store keeps of an upload that failed
                    self._remote.remove(path)
                    self.remove_if_empty(os.path.dirname(path))
                raise
            return
        whole = os.path.join(self._place, path)
        try:
            self._write_here(whole, content)
        except OSError as error:
            raise self._failed(path, error) from None

    def _write_here(self, whole: str, content: IO[bytes]) -> None:
        files, folder, passing = Files(), os.path.dirname(whole), f"{whole}.part"
        self._make_store()
        files.make_folder(folder, 0o700)
        try:
            file = files.create(passing, 0o600)
            try:
                position = 0
                while chunk := content.read(CHUNK):
                    file.write_at(position, chunk)
                    position += len(chunk)
                file.sync()
            finally:
                file.close()
            files.rename(passing, whole)
            files.sync_folder(folder)
        except OSError:
            with suppress(OSError):
                files.unlink(passing)
                files.unlink(whole)
                files.remove_folder(folder)  # unless it has another file
            raise

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        if self._remote is not None:
            self._remote.remove(path)
            return
        try:
            Files().unlink(os.path.join(self._place, path))
        except OSError as error:
            raise self._failed(path, error) from None

    def remove_if_empty(self, name: str) -> None:
        """Remove the folder of a backup that has no files. Some stores have no folders."""
        if self._listed(name):
            return
        if self._remote is not None:
            self._remote.remove_folder(name)
            return
        try:
            Files().remove_folder(os.path.join(self._place, name))
        except OSError as error:
            raise self._failed(name, error) from None

    def manifest(self, name: str) -> dict[str, Any]:
        """The manifest of a backup as JSON has it. Raises KraftoolError where it is none."""
        path = f"{name}/{MANIFEST}"
        with self.open(path) as source:
            data = source.read_at(0, MOST_MANIFEST)
        try:
            document = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise self._no_manifest(path, f"it is not JSON: {error}") from None
        if not isinstance(document, dict) or document.get("kind") != KIND:
            raise self._no_manifest(path, f"its kind is not {KIND!r}")
        return document

    def checkpoint_of(self, manifest: Mapping[str, Any], name: str) -> str:
        """The path of a backup's checkpoint; a manifest may come from anybody."""
        checkpoint = manifest.get("checkpoint")
        path = checkpoint.get("path") if isinstance(checkpoint, dict) else None
        if not isinstance(path, str) or not _CHECKPOINT.fullmatch(path):
            raise self._no_manifest(f"{name}/{MANIFEST}", "it names no checkpoint")
        return path

    def path_here(self, path: str) -> str:
        """The local path of a checkpoint; empty if it is at a URL, or encrypted."""
        if self._remote is not None or path.endswith(age.SUFFIX):
            return ""
        return os.path.join(self._place, path)

    def copied(self, path: str) -> Entry:
        """A checkpoint from elsewhere or encrypted, in a file without a name that lasts as long as
        the process. Raises KraftoolError."""
        name = self.shown_path(path).removesuffix(age.SUFFIX)
        with self.open(path) as source, temporary_file() as copy:
            content = _Reading(source)
            if path.endswith(age.SUFFIX):
                age.decrypt(content, copy, self.shown_path(path))
            else:
                while chunk := content.read(CHUNK):
                    copy.write(chunk)
            copy.flush()
            held = HeldFile(copy.fileno(), name)
            size = held.size()
        return Entry(
            directory=os.path.dirname(name),
            path=os.path.basename(name),
            name=name,
            place=EntryPlace.PARTITION,
            size=size,
            mtime_ns=0,
            opener=partial(HeldFile, held.fileno(), name),
        )

    def _no_manifest(self, path: str, why: str) -> KraftoolError:
        return KraftoolError(f"{self.shown_path(path)} is no manifest of a backup: {why}")

    def _failed(self, path: str, error: OSError) -> KraftoolError:
        return KraftoolError(f"{self.shown_path(path)}: {error.strerror or error}")


def _age(name: str) -> tuple[str, int]:
    """A key by which names are in order: of one second, the second backup has the number 2."""
    return name[:20], int(name[21:] or 1)


@contextmanager
def temporary_file() -> Iterator[IO[bytes]]:
    """A file without a name. Raises KraftoolError where there is no space for it."""
    try:
        with tempfile.TemporaryFile(prefix="kraftool-") as file:
            yield file
    except OSError as error:
        raise KraftoolError(
            f"a temporary file in {tempfile.gettempdir()}: {error.strerror or error}",
            hint="TMPDIR names the folder for temporary files",
        ) from None


class _Reading:
    """A source as a file that is read from its beginning."""

    def __init__(self, source: ByteSource) -> None:
        self._source, self._position = source, 0

    def read(self, size: int = -1, /) -> bytes:
        chunk = self._source.read_at(self._position, size if size >= 0 else CHUNK)
        self._position += len(chunk)
        return chunk


def split(path: str) -> tuple[BackupFiles, str]:
    """The place in which a backup lies, and its name."""
    place, _, name = path.rstrip("/").rpartition("/")
    if name in (".", ".."):
        place, _, name = os.path.abspath(path).rpartition("/")
    if not BACKUP_NAME.fullmatch(name):
        raise KraftoolError(
            f"{shown_url(path)} is not named as a backup is",
            hint="a backup's folder is named by a time, such as 2026-12-01T00-03-37Z",
        )
    return BackupFiles(place or ("/" if path.startswith("/") else ".")), name
