"""The tutorial, done as a reader does it: each line as it is written, in order, in one folder.

What the page shows after a command must be what it prints, stretch by stretch; … stands for
what the page leaves out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftool.commands.exit_code import ExitCode
from tests.support.documented import Machine, Steps
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

TUTORIAL = ROOT / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")
_ID = re.compile(r"\b[0-9a-f]{12}\b")
CONFIRMED: Steps = [
    ("Type yes: ", lambda _: "yes\n"),
    (r"here type \w+: ", lambda shown: re.findall(r"here type (\w+): ", shown)[0] + "\n"),
]
FAILED = "✖"
"""The mark of an error, for which a command exits with 1."""


@dataclass(frozen=True, slots=True)
class TutorialStep:
    """A line that the reader types, and the stretches of its output that the page shows."""

    line: str
    stretches: tuple[str, ...]


def steps(text: str) -> list[TutorialStep]:
    found = []
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, printed = part.partition("\n")
            stretches = tuple(words for cut in printed.split("…") if (words := cut.strip("\n ")))
            found.append(TutorialStep(line, stretches))
    return found


def _normal(text: str) -> str:
    """Without colours, the ends of a terminal's lines, and the id that each plan has of its own."""
    return _ID.sub("PLAN", _COLOUR.sub("", text).replace("\r", ""))


def test_each_step_does_what_the_tutorial_shows(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine", tmp_path / "home")
    done = steps(TUTORIAL.read_text())
    assert len(done) > 15
    for step in done:
        if step.line.startswith("cd "):
            machine.home = machine.place(step.line.removeprefix("cd "))
            continue
        asks = " apply " in step.line or " undo " in step.line
        code, printed = machine.type(step.line, CONFIRMED) if asks else machine.run(step.line)
        rest = _normal(printed.replace(str(machine.root), ""))
        expected = ExitCode.FINDING if FAILED in "".join(step.stretches) else ExitCode.FINE
        assert code == expected, f"{step.line}\n{rest}"
        for stretch in step.stretches:
            _, matched, rest = rest.partition(_normal(stretch))
            assert matched, f"{step.line} does not print:\n{stretch}\n\nbut:\n{_normal(printed)}"


def test_a_step_is_a_line_with_what_it_shows() -> None:
    text = "```\n$ kraftool dump x\na …\nb\n$ ls\n```\n\n    $ kraftool no step\n"
    assert steps(text) == [TutorialStep("kraftool dump x", ("a", "b")), TutorialStep("ls", ())]
