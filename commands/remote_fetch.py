"""One node's command, run to its end: its head, its tar stream in a file, or the reason why not.

Owns the process, its time limit and its end. A node that sends nothing for too long fails; one that
is slow does not. Everything that a node sends is data: it is bounded, and checked by whoever reads.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import IO

from kraftool.commands.remote_nodes import RemoteNode
from kraftool.commands.remote_script import CHANGED, MAGIC, OWN_CODES, RemoteHead, read_head

_SSH_FAILED = 255
"""Every other code is the remote command's."""
_KUBECTL_CODE = "command terminated with exit code"
"""kubectl's last line, below the command's own."""
_GREW = "file changed as we read it"
_MOST_NOISE = 1 << 16
_MOST_HEAD = 1 << 20
_MOST_REASONS = 1 << 16
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
    node: RemoteNode, file: Path, *, seconds: float, stop: Event, progress: Progress
) -> FetchedNode:
    """Run a node's command. Ends it where it is silent for so many seconds, or `stop` is set."""
    try:
        return _fetched(node, file, seconds, stop, progress)
    except OSError as error:
        return FetchedNode(
            node=node,
            file=file,
            reached=True,
            problem=f"{file.parent} cannot be written: {error.strerror or error}",
            hint="set TMPDIR to a folder with room for the metadata logs",
        )


def _fetched(
    node: RemoteNode, file: Path, seconds: float, stop: Event, progress: Progress
) -> FetchedNode:
    with file.open("wb") as out, file.with_suffix(".stderr").open("w+b") as err:
        try:
            process = subprocess.Popen(
                node.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=err,
                start_new_session=True,  # without a terminal, it cannot ask
            )
        except OSError as error:
            problem = f"{node.command[0]} cannot be run: {error.strerror or error}"
            return FetchedNode(node=node, file=file, problem=problem)
        stream = _Stream(process, out, seconds=seconds, stop=stop, progress=progress)
        try:
            stream.read()
            code = process.wait()
        except _Broken as why:
            return FetchedNode(
                node=node, file=file, reached=stream.has_head, problem=why.problem, hint=why.hint
            )
        finally:
            _end(process)
        err.seek(0)
        stderr = err.read(_MOST_REASONS).decode("utf-8", "replace")
    return _judged(node, file, stream, code, [line for line in stderr.splitlines() if line.strip()])


class _Stream:
    """The output of one process: noise, the head, the tar stream."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        out: IO[bytes],
        *,
        seconds: float,
        stop: Event,
        progress: Progress,
    ) -> None:
        assert process.stdout is not None, "it was made with a pipe"
        self._pipe, self._out = process.stdout, out
        self._seconds, self._stop, self._progress = seconds, stop, progress
        self.has_head = False
        self.head = RemoteHead()
        self._begun = b""
        self._came = 0

    def read(self) -> None:
        """Read to the end."""
        while data := self._next():
            if self.has_head:
                self._keep(data)
                continue
            self._begun += data
            self._look_for_head()

    def _next(self) -> bytes:
        until = time.monotonic() + self._seconds
        while not select.select([self._pipe], [], [], 0.1)[0]:
            self._check_stop()
            if time.monotonic() > until:
                raise _Broken(
                    f"nothing came for {self._seconds:g} s", "check the host, or raise --timeout"
                )
        self._check_stop()
        return os.read(self._pipe.fileno(), 1 << 20)

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise _Broken("interrupted")

    def _look_for_head(self) -> None:
        _, magic, rest = self._begun.partition(MAGIC)
        head, end, tar = rest.partition(b"\n\n")
        if magic and end:
            self.has_head, self.head, self._begun = True, read_head(head), b""
            self._keep(tar)
        elif len(self._begun) > (_MOST_HEAD if magic else _MOST_NOISE):
            raise _Broken("something else came than the files", "log in there, and see why")

    def _keep(self, data: bytes) -> None:
        self._out.write(data)
        self._came += len(data)
        self._progress(self._came, self.head.total)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and its helpers, as ssh's ProxyCommand."""
    if process.stdout is not None:
        process.stdout.close()
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
