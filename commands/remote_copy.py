"""A node's tar stream as files below a folder, and the surveys of them.

Owns where the files go: each at its own path below the folder, so that a survey reads them as it
reads a directory of this host. The folder's name is then removed from the surveys. A tar stream may
be hostile: only the files that the script asked for are written, only below the folder, and no more
of them than the head announced. What a node says never leads to a file of this host.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftool.commands.remote_fetch import FetchedNode
from kraftool.commands.remote_head import RemoteHead, normalized
from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from kraftool.repair.collect_file import Collected
from kraftool.repair.planner import read_quorum
from kraftool.reports.text.printable import file_text
from kraftool.reports.text.words import many
from kraftool.storage.entry import EntryProblem, Severity
from kraftool.storage.inflate import SourceFeed
from kraftool.storage.node_copy import complete, copy_below, locked_as_there
from kraftool.storage.paths import directories_of
from kraftool.storage.source import FileSource, chunks_of
from kraftool.storage.tarmember import PassingSource
from kraftool.storage.tarstream import TarStream


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
    root = os.path.realpath(folder)
    with node_copy(fetched, folder) as path:
        read = read_quorum([path], now_ms=now_ms, at=at)
    return collect_file.without_prefix(Collected.of(read.directories.values()), root)


@contextmanager
def node_copy(fetched: FetchedNode, folder: Path) -> Iterator[str]:
    """Write the node's files below the folder, and yield the PATH to read there. While it is read,
    the locks are held that were held on the node."""
    root, head = os.path.realpath(folder), fetched.head
    _unpack(fetched.file, head, root)
    for unsent in (*head.folders, *head.pipes, *head.dangling):
        _copy_of(unsent, head, root)
    for other in head.others:
        _write_empty(_copy_of(other, head, root))
    path = complete(head, root, directories_of)
    with locked_as_there(head, root):
        yield path


def _write_empty(target: str) -> None:
    """Make a file of which only the name is known."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "xb"):
        pass


def _unpack(file: Path, head: RemoteHead, root: str) -> None:
    """Write the files of the stream. Only regular files are made, and second names of them."""
    left, came = head.most_content, 0
    with FileSource(str(file)) as source:
        feed = SourceFeed(source)
        feed.skip(head.log_bytes)
        for member in TarStream(feed, "-").members():
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
            os.utime(target, ns=(member.mtime_ns, member.mtime_ns))
    if came < head.files:
        raise KraftoolError(f"it announced {many(head.files, 'file')}, and sent {came}")


def _write(source: PassingSource, target: str) -> None:
    with open(target, "wb") as out:
        for chunk in chunks_of(source):
            out.write(chunk)


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
    return copy_below(root, path)
