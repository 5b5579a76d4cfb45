"""Work in a process of its own, so that whoever shows pictures keeps the interpreter to itself.

Owns the way there and back: a function by its name with its arguments, then progress, then its
result or why there is none. Both ends are this file, and nobody else writes into the pipes. It is a
plain child process: no fork of a program with threads, no helpers that outlive it.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import IO, Any, TypeVar

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.logs.processes import ends_with_parent
from kraftool.storage import bundle_files
from kraftool.watching.task import StoppedError, Task

T = TypeVar("T")

_CHILD = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer) or sys.path;"
    " from kraftool.watching.child_process import child; child()"
)
_NICE = 5
"""Whoever waits for a key press, and a broker on the same machine, come first."""
_EVERY_S = 0.05
"""How often progress is told."""
_POLL_S = 0.1
"""How often it is seen whether the work is still wanted."""


def apart(function: Callable[..., T], *arguments: object, task: Task) -> T:
    """Return the result of `function(*arguments, task)`, made by another process. Its partial
    results come to `task.partial` here.

    Raises KraftoolError in the words of the one that it raised, and StoppedError once the task is
    stopped; the process is gone then, whatever it was doing. All but the task has to be picklable.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", _CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None, "stdin is a pipe"
    assert process.stdout is not None, "stdout is a pipe"
    watching = Thread(target=_end_if_stopped, args=(process, task), daemon=True)
    watching.start()
    try:
        with suppress(BrokenPipeError):  # it has ended already; what it told counts
            # The program that needs no Python unpacks itself for the child, which knows where to.
            path = [] if getattr(sys, "frozen", False) else sys.path
            for message in (path, (function, arguments, bundle_files.carried())):
                process.stdin.write(pickle.dumps(message))
            process.stdin.close()
        result: T = _listen(process.stdout, task)
        return result
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.close()
        watching.join()


def _end_if_stopped(process: subprocess.Popen[bytes], task: Task) -> None:
    """A process that reads on and on tells nothing in between."""
    while process.poll() is None:
        if task.is_stopped:
            process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)


def _listen(stream: IO[bytes], task: Task) -> Any:
    while True:
        try:
            kind, payload = pickle.load(stream)
        except (EOFError, pickle.UnpicklingError):
            if task.is_stopped:
                raise StoppedError("stopped") from None
            raise KraftoolError(
                "the process that worked on it has ended without a result"
            ) from None
        if kind == "progress":
            task.set(*payload)
        elif kind == "partial":
            task.partial(payload)
        elif kind == "failed":
            raise payload
        else:
            return payload


def child() -> None:
    """The other end."""
    ends_with_parent(signal.SIGKILL)()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICE)
    function, arguments, bundles = pickle.load(sys.stdin.buffer)
    bundle_files.carry(bundles)
    # The pipe is for results alone: nothing that a library might print gets into it.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        result = "done", function(*arguments, _Telling(out))
    except KraftoolError as error:
        result = "failed", KraftoolError(error.message, hint=error.hint)
    except OSError as error:
        result = "failed", KraftoolError(f"{error.filename or 'the system'}: {error.strerror}")
    out.write(pickle.dumps(result))
    out.flush()


class _Telling(Task):
    """A task whose progress goes to the parent, not more often than somebody can see it."""

    def __init__(self, out: IO[bytes]) -> None:
        super().__init__()
        self._out = out
        self._told_s = 0.0

    def partial(self, result: object) -> None:
        self._out.write(pickle.dumps(("partial", result)))
        self._out.flush()

    def set(self, label: str, done: int, total: int | None) -> None:
        is_new = label != self.label
        super().set(label, done, total)
        now_s = time.monotonic()
        if is_new or now_s - self._told_s >= _EVERY_S:
            self._told_s = now_s
            self._out.write(pickle.dumps(("progress", (label, done, total))))
            self._out.flush()
