"""A node's tar stream as files below a folder, and the surveys of them.

Owns where the files go: each at its own path below the folder, so that a survey reads them as it
reads a directory of this host. The folder's name is then removed from the surveys. A tar stream may
be hostile: only the files that the script asked for are written, only below the folder, and no more
of them than the head announced. What a node says never leads to a file of this host.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from kraftool.commands.remote_fetch import FetchedNode
from kraftool.commands.remote_head import RemoteHead, normalized
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.properties import ascii_value
from kraftool.repair import collect_file
from kraftool.repair.collect_file import Collected
from kraftool.repair.planner import read_quorum
from kraftool.reports.text.printable import file_text
from kraftool.reports.text.words import many
from kraftool.storage.entry import EntryProblem, Severity
from kraftool.storage.inflate import SourceFeed
from kraftool.storage.lock_taking import DirectoryLock
from kraftool.storage.paths import open_path
from kraftool.storage.source import FileSource
from kraftool.storage.tarmember import PassingSource
from kraftool.storage.tarstream import TarStream

_CHUNK = 1 << 20


def survey_copy(
    fetched: FetchedNode,
    folder: Path,
    *,
    now_ms: int,
    at: int | None,
) -> Collected:
    """The surveys of a node's directories, with the paths that they have on the node.

    Raises KraftoolError for what cannot be what the script sends, and OSError where a file cannot
    be written here; both name paths below the folder.
    """
    root, head = os.path.realpath(folder), fetched.head
    _unpack(fetched.file, head, root)
    for remote_folder in head.folders:
        os.makedirs(_copy_of(remote_folder, head, root), exist_ok=True)
    for pipe in head.pipes:
        os.mkfifo(_copy_of(pipe, head, root))
    for log_dir in head.log_dirs:
        os.makedirs(_below(root, log_dir), exist_ok=True)
    path = _with_settings(head, root) if head.properties else _below(root, head.directory)
    _check_leads_below(path, root)
    with ExitStack() as locks:
        for locked_directory in head.running:  # a survey sees that the directory is in use
            locks.enter_context(DirectoryLock(_below(root, locked_directory)))
        read = read_quorum([path], now_ms=now_ms, at=at)
    return collect_file.without_prefix(Collected.of(read.directories.values()), root)


def _unpack(file: Path, head: RemoteHead, root: str) -> None:
    """Write the files of the stream. Only regular files are made, and second names of them."""
    left, came = head.most_content, 0
    with FileSource(str(file)) as source:
        for member in TarStream(SourceFeed(source), "-").members():
            if isinstance(member, EntryProblem):
                # Half an archive has half a log. A socket, say, is passed over here as on disks.
                if member.severity is not Severity.INFO:
                    where = f"{member.name}: ".removeprefix("the tar stream: ")
                    raise KraftoolError(f"the tar stream is damaged: {where}{member.reason}")
                continue
            came += 1
            target = _copy_of(member.name, head, root)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if member.source is None:
                _link(_copy_of(member.link_name, head, root), target)
                continue
            left -= member.size
            if left < 0:
                raise KraftoolError(
                    f"its files have more than the {head.total} bytes that it announced",
                    hint="stop Kafka there, and collect it again",
                )
            _write(member.source, target)
    if came < head.files:
        raise KraftoolError(f"it announced {many(head.files, 'file')}, and sent {came}")


def _write(source: PassingSource, target: str) -> None:
    with open(target, "wb") as out:
        at = 0
        while data := source.read_at(at, _CHUNK):
            out.write(data)
            at += len(data)


def _link(existing: str, target: str) -> None:
    """Give a file another name: tar sends a file once that has two names."""
    if existing == target:  # named twice, with and without a `.`
        return
    if not os.path.isfile(existing):
        raise KraftoolError(f"{target}: the tar stream has no {existing}, whose second name it is")
    if os.path.lexists(target):
        os.unlink(target)
    os.link(existing, target)


def _copy_of(name: str, head: RemoteHead, root: str) -> str:
    """The path of a node's file below the folder, if the script asked for it."""
    path = normalized(name)
    if not head.asks_for(path):
        raise KraftoolError(f"it sent {file_text(name[:200])}, which kraftool did not ask for")
    return _below(root, path)


def _below(root: str, path: str) -> str:
    """The path of a copy. Nothing below the folder is a symbolic link."""
    copy = os.path.normpath(f"{root}/{path}")
    if not copy.startswith(f"{root}/"):
        raise KraftoolError(f"{path} is no path of a data directory")
    return copy


def _with_settings(head: RemoteHead, root: str) -> str:
    """A server.properties with the settings of the quorum, which leads to the copies."""
    path = _below(root, head.properties)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    dirs = ",".join(_below(root, log_dir) for log_dir in head.log_dirs)
    with open(path, "xb") as file:  # never in place of a file that it sent
        for setting in head.settings:
            file.write(setting + b"\n")
        for key, value in (("metadata.log.dir", _below(root, head.directory)), ("log.dirs", dirs)):
            file.write(f"{key}={ascii_value(value)}\n".encode())
    return path


def _check_leads_below(path: str, root: str) -> None:
    """Raise KraftoolError unless all directories that a survey of the path reads are copies.

    A properties file splits its values, at commas say. Only what is read back from it counts.
    """
    location = open_path(path)
    for directory in (location.directory, *location.log_dirs):
        if not os.path.normpath(directory).startswith(f"{root}/"):
            raise KraftoolError(
                f"{path} leads to {directory or 'no directory'}, which the node did not send"
            )
