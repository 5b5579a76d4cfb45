"""A data directory that is to be mended: its files by target, and what they are right now.

Owns how a target is reached: below the directory, never over a link, and as a regular file only.
It hashes, and refuses to change anything.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from kraftool.decoders import meta_properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import CHECKPOINT_SUFFIX, META_PROPERTIES, METADATA_FOLDER
from kraftool.repair.document import DocumentError
from kraftool.repair.fingerprints import fingerprint_of
from kraftool.repair.plan import DirectoryIdentity, Fingerprint
from kraftool.repair.plan_file import PlanFile, PlanFileKind, target_of
from kraftool.storage.files import Files, OpenFile, read_whole
from kraftool.storage.lock_taking import LOCK

_TELLING = (PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT, PlanFileKind.QUORUM_STATE)
"""What a running node changes of its metadata partition as the quorum moves on."""
_META = PlanFile(kind=PlanFileKind.META_PROPERTIES, name=META_PROPERTIES)
_MOST_META = 64 << 10


class RepairRefused(KraftoolError):
    """A refusal because something could be lost. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a file, and who may do what with it."""

    uid: int
    gid: int
    mode: int


class DataDirectory:
    """A data directory; the folder that the user named may be behind a link, nothing below it."""

    def __init__(self, files: Files, path: str) -> None:
        self.files = files
        self.name = path
        self.path = os.path.realpath(path)
        self.partition = os.path.join(self.path, METADATA_FOLDER)
        if os.path.basename(self.path) == METADATA_FOLDER:
            above = os.path.dirname(path.rstrip("/")) or "."
            raise KraftoolError(f"{path} is the metadata partition", hint=f"name {above} instead")
        with reading(path):
            is_directory = stat.S_ISDIR(os.stat(self.path).st_mode)
        if not is_directory:
            raise KraftoolError(f"{path} is not a directory")
        if os.path.islink(self.partition):
            raise RepairRefused(
                f"{self.partition} is a link, and kraftool writes nothing behind links",
                hint="name the directory that contains the folder itself, as in metadata.log.dir",
            )

    def at(self, target: PlanFile) -> str:
        """Return where a target is."""
        return os.path.join(self.path, target.path)

    def folder(self, target: PlanFile) -> str:
        return os.path.dirname(self.at(target))

    def open(self, target: PlanFile) -> OpenFile | None:
        """Open it to read; None where there is none. Raises RepairRefused for what is no file."""
        path = self.at(target)
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise RepairRefused(
                f"{path} is {_word(status)}: kraftool neither reads nor replaces it"
            )
        try:
            return self.files.open_itself(path)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise RepairRefused(f"{path} is a link: kraftool does not follow it") from None
            raise KraftoolError(
                f"{path} cannot be read: {error.strerror}", hint=hint_for(error)
            ) from error

    def fingerprint(self, target: PlanFile) -> Fingerprint | None:
        """Return what it is, byte for byte; None where there is none."""
        file = self.open(target)
        if file is None:
            return None
        try:
            return fingerprint_of(file)
        finally:
            file.close()

    def owner(self, target: PlanFile) -> Owner | None:
        try:
            status = os.lstat(self.at(target))
        except FileNotFoundError:
            return None
        return Owner(status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode))

    def owner_of_partition(self) -> Owner:
        """Return whose the metadata partition is, and so what is new in it."""
        status = os.stat(self.partition)
        return Owner(status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode))

    def identity(self) -> DirectoryIdentity:
        """Return whose it is, as far as meta.properties tells."""
        data = None
        if os.path.lexists(self.at(_META)) and not os.path.islink(self.at(_META)):
            data = read_whole(self.files, self.at(_META), _MOST_META)
        properties = meta_properties.decode(data)[0] if data is not None else None
        if properties is None:
            return DirectoryIdentity()
        return DirectoryIdentity(
            node_id=properties.node_id,
            directory_id=properties.directory_id or "",
            cluster_id=properties.cluster_id or "",
        )

    def inventory(self) -> dict[str, Fingerprint]:
        """The files that tell whether a node ran on it, by their path."""
        fingerprints = {}
        for target in (_META, *self._targets()):
            fingerprint = self.fingerprint(target)
            if fingerprint is not None:
                fingerprints[target.path] = fingerprint
        return fingerprints

    def _targets(self) -> Iterator[PlanFile]:
        try:
            names = self.files.names(self.partition)
        except FileNotFoundError:
            return
        for name in names:
            try:
                target = target_of(name)
            except DocumentError:
                continue
            if target.kind in _TELLING:
                yield target

    def names_in_partition(self) -> list[str]:
        """Whatever is in the metadata partition's folder and is no folder itself, unless it has a
        checkpoint's name: Kafka does not ask those what they are."""
        try:
            with os.scandir(self.partition) as entries:
                return sorted(
                    entry.name
                    for entry in entries
                    if not entry.is_dir(follow_symlinks=False)
                    or entry.name.endswith(CHECKPOINT_SUFFIX)
                )
        except FileNotFoundError:
            return []

    def check_lock_file(self) -> None:
        """Raise RepairRefused where `.lock` is there and no file: to lock it is to write it."""
        path = os.path.join(self.path, LOCK)
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise RepairRefused(
                f"{path} is {_word(os.lstat(path))}: kraftool does not use it as a lock"
            )

    def check_writable(self) -> None:
        """Raise KraftoolError where no file can be made: a dry run shall not promise it."""
        folders = [folder for folder in (self.path, self.partition) if os.path.isdir(folder)]
        for folder in folders:
            if os.statvfs(folder).f_flag & os.ST_RDONLY:
                raise refused_by_system(
                    OSError(errno.EROFS, os.strerror(errno.EROFS), folder), folder
                )
            if not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
                denied = PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
                raise refused_by_system(denied, folder)

    def is_one_file_system(self) -> bool:
        """True if a file can be renamed from the metadata partition's folder to the directory."""
        if not os.path.isdir(self.partition):
            return True
        return os.stat(self.path).st_dev == os.stat(self.partition).st_dev

    def free_bytes(self) -> int:
        status = os.statvfs(self.path)
        return status.f_bavail * status.f_frsize


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Yield what the system does not let us read, in words. Nothing is written meanwhile."""
    try:
        yield
    except OSError as error:
        raise refused_by_system(error, path) from error


def refused_by_system(error: OSError, path: str) -> KraftoolError:
    """An error of the system before anything was changed. Where it denies, the folder counts."""
    where = error.filename or path
    if isinstance(error, PermissionError):
        where = _denying(str(where))
    return KraftoolError(
        f"{where}: {error.strerror or error}; nothing was changed", hint=hint_for(error)
    )


def _denying(path: str) -> str:
    """The first folder on the way to a path that we may not use; the path where there is none."""
    folders = [path]
    while os.path.dirname(folders[-1]) not in (folders[-1], ""):
        folders.append(os.path.dirname(folders[-1]))
    for folder in reversed(folders):
        is_denied = not os.access(folder, os.R_OK | os.X_OK, effective_ids=True)
        if is_denied and os.path.isdir(folder):
            return folder
    return path


def hint_for(error: BaseException | None) -> str:
    """Return what helps where the system refuses; nothing where that is not known."""
    if isinstance(error, PermissionError):
        return f"run as the user that Kafka runs as{_owner_of(error.filename)}, or as root"
    if isinstance(error, OSError) and error.errno == errno.EROFS:
        return (
            "the file system is read-only: mount it for writing. If it became read-only by"
            " itself, look for disk errors first (dmesg)"
        )
    return ""


def _owner_of(path: str | None) -> str:
    """The user that the folder of a path, or the nearest that can be seen, belongs to."""
    if not path:
        return ""
    where = _denying(os.path.realpath(path))
    try:
        uid = os.stat(where).st_uid
    except OSError:
        return ""
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        name = f"user id {uid}"
    return f" ({where} belongs to {name})"


def _word(status: os.stat_result) -> str:
    return "a link" if stat.S_ISLNK(status.st_mode) else "not a regular file"


def differences(
    was: Mapping[str, Fingerprint], now: Mapping[str, Fingerprint]
) -> Iterator[tuple[str, str]]:
    """Paths whose files are not what they were, each with the word for it."""
    for path in sorted({*was, *now}):
        if path not in now:
            yield path, "is gone"
        elif path not in was:
            yield path, "is new"
        elif was[path] != now[path]:
            yield path, "has changed"
