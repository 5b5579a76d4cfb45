"""Plans as files, the schema of the documents, and commands that are cut short, for the tests of
`recover`."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kraftool.repair.plan import Plan
from kraftool.repair.plan_yaml import plan_to_yaml
from tests.commands.conftest import Ran
from tests.support.json_contract import hold_document
from tests.support.places import ROOT

_DEADLY = """
import os, sys
from kraftool.storage.repair_journal import Journal
note, left, number = Journal.note, [int(sys.argv[1])], int(sys.argv[2])
def deadly(self, kind, **facts):
    note(self, kind, **facts)
    left[0] -= 1
    if left[0] == -1: os.kill(os.getpid(), number)
Journal.note = deadly
sys.argv = ['kraftool', *sys.argv[3:]]
from kraftool.commands import main
main()
"""


def written(plan: Plan, folder: Path) -> Path:
    path = folder / "night.yaml"
    path.write_bytes(plan_to_yaml(plan))
    return path


def fitting(text: str) -> Any:
    """A document that is what its schema says."""
    document = json.loads(text)
    hold_document("recover", document)
    return document


def signalled(words: Sequence[object], after: int, number: signal.Signals) -> Ran:
    """kraftool, which gets a signal right after so many entries of a journal, and one more, became
    durable."""
    done = subprocess.run(
        [sys.executable, "-c", _DEADLY, str(after), str(int(number)), *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


Answer = str | Callable[[str], str]


def on_terminal(
    words: Sequence[object], answers: Sequence[tuple[str, Answer]] = (), *, columns: int = 80
) -> tuple[int, str]:
    """Run kraftool on a terminal of its own. Type each answer when the terminal shows its question:
    the end of the last line. An answer may be made of all that was shown."""
    child, terminal = pty.fork()
    if child == 0:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
        for variable in ("COLUMNS", "LINES", "NO_COLOR"):
            environment.pop(variable, None)
        command = [sys.executable, "-m", "kraftool", *map(str, words)]
        os.execve(sys.executable, command, environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    output, left, asked_at = b"", list(answers), 0
    while True:
        ready, _, _ = select.select([terminal], [], [], 120)
        assert ready, output.decode()
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        output += data
        new = output[asked_at:].decode(errors="replace")
        if left and new.rstrip().endswith(left[0][0]):
            _, answer = left.pop(0)
            asked_at = len(output)
            os.write(
                terminal, (answer if isinstance(answer, str) else answer(output.decode())).encode()
            )
    assert not left, output.decode()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), output.decode().replace("\r\n", "\n")
