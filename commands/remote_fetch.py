"""One node's command, run to its end: its head, its tar stream in a file, or the reason why not.

Owns the process, its time limit and its end, and the reason why a node's files are missing. A node
that sends nothing for too long fails; one that is slow does not. Everything that a node sends is
data: it is bounded by what its head announced, and checked by whoever reads.
"""

from __future__ import annotations

import errno
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import IO

from kraftool.commands.remote_head import RemoteHead, read_head
from kraftool.commands.remote_nodes import RemoteNode
from kraftool.commands.remote_script import BUNDLE_SCRIPT, CHANGED, MAGIC, OWN_CODES
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.text.printable import file_text, printable

_SSH_FAILED = 255
"""Every other code is the remote command's."""
_KUBECTL_CODE = "command terminated with exit code"
"""kubectl's last line, below the command's own."""
_GREW = "file changed as we read it"
_MOST_NOISE = 1 << 16
_MOST_HEAD = 1 << 20
_MOST_HEAD_OF_BUNDLE = 1 << 26
"""It lists all folders of topics."""
_MOST_REASONS = 1 << 16
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
_HINTS = (
    (
        "Host key verification failed",
        "the host's key is unknown here, or it changed: log in once with ssh, and compare it",
    ),
    ("Permission denied (", "ssh needs a key that the host accepts: try ssh-add, or USER@HOST"),
    ("permission denied", "collect as the user that Kafka runs as, or with --sudo"),
    ("Permission denied", "collect as the user that Kafka runs as, or with --sudo"),
    ("password is required", "sudo must not ask there: allow sh for this user, or log in as root"),
    ("there is no tar", "install tar there, or run recover collect on that host"),
    ("container not found", "the container does not run: start a pod with the same volume"),
    ("completed pod", "the container does not run: start a pod with the same volume"),
)

Progress = Callable[[int, int], None]
"""Receives the bytes that came, and the bytes in all (0 if unknown)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedNode:
    """The result of one node's command."""

    node: RemoteNode
    file: Path
    """The tar stream. Incomplete if there is a problem."""
    head: RemoteHead = field(default_factory=RemoteHead)
    reached: bool = False
    problem: str = ""
    hint: str = ""
    changed: bool = False
    """True if Kafka wrote while tar read."""


class _Broken(Exception):
    """Why the stream is not read any further: a problem, and a hint."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.problem, self.hint = problem, hint


def fetch(
    node: RemoteNode, file: Path, *, seconds: float, stop: Event, room: int, progress: Progress
) -> FetchedNode:
    """Run a node's command. Ends it where it is silent for so many seconds, `stop` is set, or more
    comes than the node announced. `room` is the number of bytes that the stream may take here."""
    if node.problem:
        return FetchedNode(node=node, file=file, problem=node.problem)
    try:
        return _fetched(node, file, seconds, stop, room, progress)
    except Exception as error:  # of one node, which must not cost the others
        problem, hint = why_failed(error, "")
        return FetchedNode(node=node, file=file, reached=True, problem=problem, hint=hint)


def why_failed(error: Exception, root: str) -> tuple[str, str]:
    """The problem and the hint of a node whose files could not be kept or read. Paths of the copies
    below `root` are shown as they are on the node."""
    hint = "run recover collect on that host, and carry the file"
    if isinstance(error, KraftoolError):
        problem, hint = error.message, error.hint
    elif isinstance(error, OSError) and error.errno in _FULL:
        problem = f"its files cannot be kept here: {error.strerror}"
        hint = "set TMPDIR to a folder with room for the metadata logs"
    elif isinstance(error, OSError):
        path = str(error.filename or "")
        problem = f"it sent what no directory can hold: {path[:200]}: {error.strerror or error}"
    else:
        problem = f"its files cannot be read: {type(error).__name__}: {error}"
    if root:
        problem, hint = problem.replace(root, ""), hint.replace(root, "")
    return printable(file_text(problem)), printable(file_text(hint))


def _fetched(
    node: RemoteNode, file: Path, seconds: float, stop: Event, room: int, progress: Progress
) -> FetchedNode:
    with file.open("wb") as out:
        try:
            process = subprocess.Popen(
                node.command,
                stdin=subprocess.PIPE if node.is_for_bundle else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # without a terminal, it cannot ask
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            problem = f"{node.command[0]} cannot be run: {reason or error}"
            return FetchedNode(node=node, file=file, problem=problem)
        if process.stdin is not None:
            with suppress(OSError), process.stdin:  # one that cannot be reached says why
                process.stdin.write(BUNDLE_SCRIPT)
        stream = _Stream(
            process,
            out,
            seconds=seconds,
            stop=stop,
            room=room,
            progress=progress,
            is_for_bundle=node.is_for_bundle,
        )
        try:
            code = stream.read()
        except _Broken as why:
            return FetchedNode(
                node=node, file=file, reached=stream.has_head, problem=why.problem, hint=why.hint
            )
        finally:
            _end(process)
    lines = stream.reasons.decode("utf-8", "replace").splitlines()
    return _judged(node, file, stream, code, [printable(line) for line in lines if line.strip()])


class _Stream:
    """The output of one process: noise, the head, the tar stream; and its reasons on stderr."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        out: IO[bytes],
        *,
        seconds: float,
        stop: Event,
        room: int,
        progress: Progress,
        is_for_bundle: bool,
    ) -> None:
        self._process, self._out, self._room = process, out, room
        self._is_for_bundle = is_for_bundle
        self._most_head = _MOST_HEAD_OF_BUNDLE if is_for_bundle else _MOST_HEAD
        self._seconds, self._stop, self._progress = seconds, stop, progress
        self.has_head = False
        self.head = RemoteHead()
        self.reasons = b""
        self._begun = b""
        self._came = 0

    def read(self) -> int:
        """Read to the end, and return the exit code.

        The process may leave a helper behind that keeps stderr open, as ssh does that shares its
        connections: once it has exited, only what is there is read.
        """
        process = self._process
        assert process.stdout is not None, "it was made with pipes"
        assert process.stderr is not None, "it was made with pipes"
        with selectors.DefaultSelector() as ready:
            ready.register(process.stdout, selectors.EVENT_READ, self._take)
            ready.register(process.stderr, selectors.EVENT_READ, self._take_reason)
            until = time.monotonic() + self._seconds
            while True:
                if not ready.get_map():  # both pipes have ended
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(0.1)
                code = process.poll()
                events = ready.select(0.1 if code is None else 0)
                if not events and code is not None:
                    return code
                for key, _ in events:
                    data = os.read(key.fd, 1 << 20)
                    if not data:
                        ready.unregister(key.fileobj)
                        continue
                    key.data(data)
                    if key.fileobj is process.stdout:
                        until = time.monotonic() + self._seconds
                if self._stop.is_set():
                    raise _Broken("interrupted")
                if time.monotonic() > until:
                    raise _Broken(
                        f"nothing came for {self._seconds:g} s",
                        "check the host, or raise --timeout",
                    )

    def _take_reason(self, data: bytes) -> None:
        """Keep the first and the last lines: tar gives its reason first, other programs last."""
        self.reasons += data
        if len(self.reasons) > _MOST_REASONS:
            half = _MOST_REASONS // 2
            self.reasons = self.reasons[:half] + b"\n" + self.reasons[1 - half :]

    def _take(self, data: bytes) -> None:
        if self.has_head:
            self._keep(data)
            return
        self._begun += data
        _, magic, rest = self._begun.partition(MAGIC)
        head, end, tar = rest.partition(b"\n\n")
        if magic and end:
            self.has_head, self._begun = True, b""
            self.head = read_head(head, is_for_bundle=self._is_for_bundle)
            if self.head.most_stream > self._room:
                raise _Broken(
                    f"it announced {self.head.total} bytes; {self._room} bytes are free for each"
                    " node",
                    "set TMPDIR to a folder with room for the metadata logs",
                )
            self._keep(tar)
        elif len(self._begun) > (self._most_head if magic else _MOST_NOISE):
            raise _Broken("something else came than the files", "log in there, and see why")

    def _keep(self, data: bytes) -> None:
        if self._came + len(data) > self.head.most_stream:
            raise _Broken(
                f"more came than the {self.head.total} bytes that it announced",
                "stop Kafka there, and collect it again",
            )
        self._out.write(data)
        self._came += len(data)
        self._progress(self._came, self.head.total)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its helpers, as ssh's ProxyCommand."""
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _judged(
    node: RemoteNode, file: Path, stream: _Stream, code: int, lines: list[str]
) -> FetchedNode:
    of_tar = [line for line in lines if line.startswith(("tar:", "tar :"))]
    of_tar = [line for line in of_tar if "emoving leading" not in line]
    grew = code == 1 and bool(of_tar) and all(_GREW in line for line in of_tar)
    if stream.has_head and (code in (0, CHANGED) or grew):
        return FetchedNode(
            node=node, file=file, head=stream.head, reached=True, changed=grew or code == CHANGED
        )
    # The reason comes last, below banners; but tar gives its own first.
    reasons = of_tar[:1] or [line for line in lines if not line.startswith(_KUBECTL_CODE)][-1:]
    problem = reasons[0] if reasons else ""
    problem = problem or f"{node.command[0]} exited with {code}, and sent no files"
    hint = next((words for part, words in _HINTS if part in problem), "")
    is_ssh = node.command[0] == "ssh"
    reached = stream.has_head or (code != _SSH_FAILED if is_ssh else code in OWN_CODES)
    return FetchedNode(node=node, file=file, reached=reached, problem=problem, hint=hint)
