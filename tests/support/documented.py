"""The command lines of README and docs, and a machine on which they run as they are written.

Owns finding the lines and the names that they use; the tests say which exit code is right.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from textwrap import dedent
from threading import Timer

from tests.support.places import ROOT

_SESSION = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
_PLAN_ID = re.compile(r"\b[0-9a-f]{12}\b")
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
_EXAMPLE = re.compile(r"^(?:([\w-]*)\$ +)?((?:kraftool|kubectl exec) .*)")
_ABSOLUTE = re.compile(r"(?<![\w./*-])/(?=(?:var|etc|backup|archive|mnt|data|tmp|opt|srv)\b)")
PATIENCE_S = 120

Steps = Sequence[tuple[str, Callable[[str], str]]]


@dataclass(frozen=True, slots=True)
class Example:
    document: str
    host: str
    """The name before the prompt, if there is one: `node-1$ kraftool …`."""
    line: str

    def __str__(self) -> str:
        return f"{self.document}: {self.line}"

    @property
    def is_live(self) -> bool:
        return "--bootstrap-controller" in self.line


def _blocks(text: str) -> list[str]:
    fenced = [body for language, body in _FENCED.findall(text) if language in ("", "sh")]
    indented = _INDENTED.findall(_FENCED.sub("", text))
    return fenced + [dedent(block) for block in indented]


def examples(document: Path) -> list[Example]:
    """Return every command line that a document shows, once."""
    shown: dict[Example, None] = {}
    for block in _blocks(document.read_text()):
        # A line that ends with a backslash, && or | continues on the next one.
        joined = re.sub(r"(?:\\|(&&|\|))\n\s*", r"\1 ", block)
        for line in joined.splitlines():
            # Output of a command is indented or boxed, and may name the next command.
            if example := _EXAMPLE.match(line):
                host, command = example.groups()
                shown_example = Example(document.name, host or "", " ".join(command.split()))
                shown[shown_example] = None
    return list(shown)


@dataclass(frozen=True, slots=True)
class SessionStep:
    """A line that the reader types, and the stretches of its output that the document shows."""

    line: str
    stretches: tuple[str, ...]


def session(text: str) -> list[SessionStep]:
    """Return what a reader of a document types, in order; … stands for output that it leaves out.

    A line that begins with # is for the reader.
    """
    found = []
    for block in _SESSION.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, printed = part.partition("\n")
            printed = re.sub(r"^# .*\n", "", printed, flags=re.MULTILINE)
            stretches = tuple(words for cut in printed.split("…") if (words := cut.strip("\n ")))
            found.append(SessionStep(line, stretches))
    return found


@dataclass
class Machine:
    """A folder that stands for an operator's machine.

    Absolute paths of an example are below `root`; relative ones below `home`, which several
    machines may share, since the documents carry files from one to another.
    """

    root: Path
    home: Path
    names: dict[str, str] = field(default_factory=dict)
    """What stands in an example for a name that differs everywhere: POD, ctl-1:9093."""

    def __post_init__(self) -> None:
        for folder in (self.home, self.root / "bin"):
            folder.mkdir(parents=True, exist_ok=True)
        self.program("kraftool", f'exec "{sys.executable}" -m kraftool "$@"')
        if shutil.which("jq") is None:
            # Without jq the filter is not tried, but its input must be JSON.
            check = "import json, sys; [json.loads(line) for line in sys.stdin]"
            self.program("jq", f"exec '{sys.executable}' -c '{check}'")

    def program(self, name: str, *lines: str) -> None:
        path = self.root / "bin" / name
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)

    def place(self, path: str) -> Path:
        """Return where a path of an example is, and make its folder."""
        place = Path(self.written(path)) if path.startswith("/") else self.home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def written(self, line: str) -> str:
        """Return the line with this machine's paths and names."""
        line = _ABSOLUTE.sub(f"{self.root}/", line)
        for name, meant in self.names.items():
            line = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", meant, line)
        return line

    def start(self, line: str, terminal: int | None = None) -> subprocess.Popen[str]:
        """Start the line in a shell; with a terminal, that is its stdin, stdout and stderr."""
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        settings = {"PATH": path, "PYTHONPATH": str(ROOT), "HOME": str(self.home)}
        return subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", self.written(line)],
            cwd=self.home,
            env={**os.environ, **settings, "TERM": "xterm-256color"},
            stdin=subprocess.DEVNULL if terminal is None else terminal,
            stdout=subprocess.PIPE if terminal is None else terminal,
            stderr=subprocess.STDOUT if terminal is None else terminal,
            text=True,
            start_new_session=True,
        )

    def run(self, line: str) -> tuple[int, str]:
        """Run the line, and return its exit code and what it printed."""
        process = self.start(line)
        with killed_at_the_end(process):
            printed, _ = process.communicate(timeout=PATIENCE_S)
        return process.returncode, printed

    def follow(self, step: SessionStep, typed: Steps = ()) -> int:
        """Take a step of a session, and return its exit code. What the document shows is printed.

        With `typed` it runs on a terminal.
        """
        if step.line.startswith("cd "):
            self.home = self.place(step.line.removeprefix("cd "))
            return 0
        code, printed = self.type(step.line, typed) if typed else self.run(step.line)
        printed = rest = _alike(printed.replace(str(self.root), ""))
        for stretch in step.stretches:
            _, matched, rest = rest.partition(_alike(stretch))
            assert matched, f"{step.line} does not print:\n{stretch}\n\nbut:\n{printed}"
        return code

    def interrupt(self, line: str, once: str) -> tuple[int, str]:
        """Run the line, and press Ctrl-C once it has printed what the expression matches."""
        process = self.start(line)
        assert process.stdout is not None
        printed = ""
        with killed_at_the_end(process):
            for part in process.stdout:
                printed += part
                if once and re.search(once, printed):
                    once = ""
                    os.killpg(process.pid, signal.SIGINT)
            process.wait(PATIENCE_S)
        assert not once, f"it never printed {once}: {printed}"
        return process.returncode, printed

    def type(self, line: str, steps: Steps) -> tuple[int, str]:
        """Run the line on a terminal, and type what each step says once the screen matches it."""
        ours, its = pty.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        process = self.start(line, its)
        os.close(its)
        left, printed = list(steps), ""
        with killed_at_the_end(process), open(ours, "r+b", buffering=0) as terminal:
            while part := _read(terminal):
                printed += part
                while left and re.search(left[0][0], printed):
                    _, keys = left.pop(0)
                    terminal.write(keys(printed).encode())
            process.wait(PATIENCE_S)
        assert not left, f"it never showed {left[0][0]}: {printed[-2000:]}"
        return process.returncode, printed


def _alike(text: str) -> str:
    """Without colours, the ends of a terminal's lines, and the id that each plan has of its own."""
    return _PLAN_ID.sub("PLAN", _COLOUR.sub("", text).replace("\r", ""))


def _read(terminal: FileIO) -> str:
    try:
        return terminal.read(4096).decode(errors="replace")
    except OSError:  # the other end was closed
        return ""


@contextmanager
def killed_at_the_end(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill what still runs of a line, and its children, also when it hangs."""
    timer = Timer(PATIENCE_S, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
