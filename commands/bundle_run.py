"""The work of `kraftool bundle`: nodes are fetched, judged, and written without their secrets.

Owns the order of work, and that what cannot be had is written into the bundle and costs nothing
else. Judged is what the nodes have; what is masked is masked on the way into the file.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from kraftool import __version__
from kraftool.bundle.contents import BundleContents, BundledFile, NodeInBundle, NotHad
from kraftool.bundle.masking import Masks
from kraftool.bundle.node_files import CopiedFile, files_below, fitting, has_log, mask
from kraftool.bundle.text_masking import is_text, masked_lines, masked_settings
from kraftool.commands.output import Output
from kraftool.commands.remote_copy import node_copy
from kraftool.commands.remote_fetch import FetchedNode, why_failed
from kraftool.commands.remote_nodes import RemoteNode
from kraftool.commands.remote_transfers import fetched_nodes
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.shown_names import show_as, shown
from kraftool.repair import collect_file
from kraftool.repair.collect_file import Collected
from kraftool.repair.planner import read_quorum
from kraftool.reports.text.json_document import json_document
from kraftool.reports.text.printable import file_text
from kraftool.reports.text.words import many
from kraftool.storage.bundle_files import COLLECT, FILES, FORMAT_VERSION, KIND, MANIFEST
from kraftool.storage.source import FileSource

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleLimits:
    """The most that is taken of each node, in bytes."""

    metadata: int
    server_logs: int


@dataclass(frozen=True, slots=True)
class _ServerLog:
    """The newest part of a server's log."""

    name: str
    text: bytes
    is_cut: bool


@dataclass(slots=True)
class _Copied:
    """A node whose files lie here, and its part of the bundle."""

    part: NodeInBundle
    root: str = ""
    path: str = ""
    """The PATH to read."""
    listing: bytes = b""
    collected: bytes = b""
    server_logs: list[_ServerLog] = field(default_factory=list)
    files: list[CopiedFile] = field(default_factory=list)
    not_had: list[NotHad] = field(default_factory=list)


Reports = Callable[[Sequence[str]], Iterator[tuple[str, bytes | NotHad]]]
"""Makes the reports of the PATHs that were copied: names and contents, or why one is not there."""


def make_bundle(
    to: Output,
    nodes: Sequence[RemoteNode],
    file: ZipFile,
    limits: BundleLimits,
    reports: Reports,
    *,
    name: str,
    seconds: float,
    with_secrets: bool,
) -> BundleContents:
    """Write the bundle of this name. Raises KraftoolError and OSError where it cannot be written;
    what cannot be had of a node is in its part."""
    with (
        TemporaryDirectory(prefix="kraftool-", ignore_cleanup_errors=True) as scratch,
        ExitStack() as copies,
    ):
        order = {node.name: number for number, node in enumerate(nodes)}
        copied: dict[str, _Copied] = {}
        shown_as = os.path.basename(name)
        with closing(fetched_nodes(to, nodes, Path(scratch), seconds=seconds)) as arriving:
            for fetched in arriving:
                source = fetched.node.name
                root = os.path.join(os.path.realpath(scratch), str(order[source]), FILES)
                copied[source] = _copied(fetched, Path(root), copies, limits, seconds)
        parts = _named([copied[node.name] for node in nodes])
        masks = None if with_secrets else Masks(os.urandom(32))
        for part in parts:
            if part.root:
                show_as(part.root, f"{shown_as}:{part.part.name}")
                _prepare(part, limits, masks)
        written = _Writing(file, masks)
        readable = [part for part in parts if part.path and not part.part.is_log_left_out]
        made = list(reports([part.path for part in readable]))
        contents = BundleContents(
            kind=KIND,
            format_version=FORMAT_VERSION,
            created=int(time.time() * 1000),
            kraftool_version=__version__,
            host=socket.gethostname(),
            has_secrets=with_secrets,
            nodes=tuple(written.node(part) for part in parts),
            files=tuple(
                written.whole(report, shown(content.decode()).encode())
                for report, content in made
                if isinstance(content, bytes)
            ),
            not_had=tuple(content for _, content in made if isinstance(content, NotHad)),
        )
        written.whole(MANIFEST, b"".join(json_document(contents)))
        return contents


def _copied(
    fetched: FetchedNode, folder: Path, copies: ExitStack, limits: BundleLimits, seconds: float
) -> _Copied:
    """The node's files below the folder, and what else came."""
    node, head = fetched.node, fetched.head
    of_node = _Copied(NodeInBundle(name="", source=node.name))
    if fetched.problem:
        of_node.not_had.append(NotHad(subject="files", reason=fetched.problem))
        return of_node
    folder.mkdir(parents=True)
    root = os.path.realpath(folder)
    try:
        path = copies.enter_context(node_copy(fetched, folder))
    except (KraftoolError, OSError) as error:
        reason, _ = why_failed(error, root)
        of_node.not_had.append(NotHad(subject="files", reason=reason))
        return of_node
    of_node.root, of_node.path = root, path
    of_node.listing = b"\n".join(head.listing) + b"\n"
    of_node.server_logs = list(_server_logs(fetched, limits.server_logs))
    fetched.file.unlink()
    if node.log_command:
        logged = _pod_log(node, seconds, limits.server_logs, of_node.not_had)
        of_node.server_logs += logged
    elif not of_node.server_logs:
        reason = "none was found. Name their folder on the node with --server-logs"
        of_node.not_had.append(NotHad(subject="server logs", reason=reason))
    of_node.part = replace(
        of_node.part,
        directory=head.directory,
        properties=head.properties,
        log_dirs=head.log_dirs,
        setting_lines=tuple(line.decode("latin-1") for line in head.settings),
        other_folders=head.folders,
        pipes=head.pipes,
        dangling=head.dangling,
        running=head.running,
        is_changed_meanwhile=fetched.changed,
    )
    _collect(of_node, node)
    return of_node


def _collect(of_node: _Copied, node: RemoteNode) -> None:
    """Survey the node, as recover collect does."""
    try:
        read = read_quorum([of_node.path], now_ms=int(time.time() * 1000))
        surveyed = Collected.of(read.directories.values())
        collected = collect_file.without_prefix(surveyed, of_node.root)
    except (KraftoolError, OSError) as error:
        reason, _ = why_failed(error, of_node.root)
        of_node.not_had.append(NotHad(subject=COLLECT, reason=reason))
        return
    identity = collected.surveys[0].identity
    of_node.part = replace(
        of_node.part, node_id=identity.node_id, cluster_id=identity.cluster_id or None
    )
    of_node.collected = collect_file.encode(collect_file.with_origin(collected, node.origin))


def _server_logs(fetched: FetchedNode, most: int) -> Iterator[_ServerLog]:
    """Yield the ends of the server's logs, which came before the tar stream."""
    position = 0
    with FileSource(str(fetched.file)) as source:
        for path, size in fetched.head.logs:
            text = source.read_at(position, size).rstrip(b"\0")
            position += size
            yield _ServerLog(os.path.basename(path), text, is_cut=position >= most)


def _pod_log(
    node: RemoteNode, seconds: float, most: int, not_had: list[NotHad]
) -> Iterator[_ServerLog]:
    """Yield what the container of a pod logged, and the one before it, if there was one."""
    for name, words in (("container.log", ()), ("previous-container.log", ("--previous",))):
        try:
            ran = subprocess.run(
                (*node.log_command, *words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            not_had.append(NotHad(subject=name, reason=f"kubectl logs: {error}"))
            return
        if ran.returncode == 0:
            # It prints the last lines, whole or not.
            yield _ServerLog(name, ran.stdout[-most:], is_cut=len(ran.stdout) > most)
        elif not words:
            lines = ran.stderr.decode("utf-8", "replace").strip().splitlines() or ["it failed"]
            not_had.append(NotHad(subject=name, reason=f"kubectl logs: {lines[-1]}"))


def _named(copied: Sequence[_Copied]) -> list[_Copied]:
    """Give each node the name of its folder: by its id where that is its own."""
    names: set[str] = set()
    for of_node in copied:
        part = of_node.part
        is_known = part.node_id is not None and part.node_id >= 0
        wanted = f"node-{part.node_id}" if is_known else _file_name(part.source)
        name = next(name for name in _numbered(wanted) if name not in names)
        names.add(name)
        of_node.part = replace(part, name=name)
    return list(copied)


def _file_name(text: str) -> str:
    """A name for a file in the bundle."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in text)
    return plain.strip("._")[-60:] or "unnamed"


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}.{number}" for number in itertools.count(2))


def _prepare(of_node: _Copied, limits: BundleLimits, masks: Masks | None) -> None:
    """Leave out of a copy what does not fit, and mask the rest of it."""
    every = [file for file in files_below(of_node.root) if file.path != of_node.part.properties]
    chosen, left_out = fitting(every, limits.metadata)
    for file in left_out:
        os.unlink(file.here)
        reason = f"it has {many(file.size, 'byte')}, which --most has no room for"
        of_node.not_had.append(NotHad(subject=file_text(file.path), reason=reason))
    is_lost = has_log(left_out) and not has_log(chosen)
    of_node.part = replace(of_node.part, is_log_left_out=is_lost)
    of_node.files = [
        replace(file, masked_bytes=mask(file, masks) if masks is not None else 0) for file in chosen
    ]


@dataclass(slots=True)
class _Writing:
    """The file as far as it is written."""

    file: ZipFile
    masks: Masks | None

    def whole(self, name: str, content: bytes) -> BundledFile:
        self.file.writestr(_info(name), content, ZIP_DEFLATED)
        return BundledFile(path=name, size=len(content), masked_bytes=0)

    def node(self, of_node: _Copied) -> NodeInBundle:
        """Write a node's folder, and return its part with what was written."""
        part = of_node.part
        if not of_node.root:
            return replace(part, not_had=tuple(of_node.not_had))
        folder = f"{part.name}/"
        files: list[BundledFile] = []
        settings = tuple(self._settings(part))
        if part.properties:
            content = "".join(f"{line}\n" for line in settings).encode("latin-1")
            files.append(self.whole(f"{folder}server.properties", content))
        files.append(self.whole(f"{folder}listing.txt", of_node.listing))
        if of_node.collected:
            files.append(self.whole(f"{folder}{COLLECT}", of_node.collected))
        files += self._logs(of_node)
        files += [self._copy(folder, file) for file in of_node.files]
        not_had = tuple(of_node.not_had)
        return replace(part, setting_lines=settings, files=tuple(files), not_had=not_had)

    def _logs(self, of_node: _Copied) -> Iterator[BundledFile]:
        names: set[str] = set()
        for log in of_node.server_logs:
            name = next(name for name in _numbered(_file_name(log.name)) if name not in names)
            names.add(name)
            if not is_text(log.text):
                reason = "it is no text, or it is packed"
                of_node.not_had.append(NotHad(subject=f"server-logs/{name}", reason=reason))
                continue
            text = log.text
            content = masked_lines(text, is_cut=log.is_cut) if self.masks is not None else text
            yield self.whole(f"{of_node.part.name}/server-logs/{name}", content)

    def _copy(self, folder: str, file: CopiedFile) -> BundledFile:
        # Bytes of a name that are no text are written as in the listing of the bundle.
        name = f"{folder}{FILES}{file_text(file.path)}"
        modified = os.stat(file.here).st_mtime_ns // 10**6
        with (
            open(file.here, "rb") as copy,
            self.file.open(_info(name), "w", force_zip64=file.size > 1 << 30) as out,
        ):
            shutil.copyfileobj(copy, out, _CHUNK)
        return BundledFile(
            path=name, size=file.size, masked_bytes=file.masked_bytes, modified=modified
        )

    def _settings(self, part: NodeInBundle) -> Iterator[str]:
        """Settings are masked in any case: some have no values when they come."""
        lines = [line.encode("latin-1") for line in part.setting_lines]
        for line in masked_settings(lines):
            yield line.decode("latin-1")


def _info(name: str) -> ZipInfo:
    info = ZipInfo(name, time.gmtime()[:6])
    info.compress_type = ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info
