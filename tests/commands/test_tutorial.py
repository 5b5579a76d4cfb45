"""The sessions of the README and the tutorial, done as a reader does them.

Each line runs as it is written, in order, in one folder. What the document shows after it must be
what it prints.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.documented import Machine, SessionStep, Steps, session
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

CONFIRMED: Steps = [
    ("Type yes: ", lambda _: "yes\n"),
    (r"here type \w+: ", lambda shown: re.findall(r"here type (\w+): ", shown)[0] + "\n"),
]
FAILED = "✖"
"""The mark of an error, for which a command exits with 1."""


def test_each_step_does_what_the_tutorial_shows(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine", tmp_path / "home")
    steps = session((ROOT / "docs/tutorial.md").read_text())
    assert len(steps) > 15
    for step in steps:
        asks = " apply " in step.line or " undo " in step.line
        code = machine.follow(step, CONFIRMED if asks else ())
        assert code == int(FAILED in "".join(step.stretches)), step.line


def test_the_readme_shows_six_answers(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine", tmp_path / "home")
    text = (ROOT / "README.md").read_text()
    codes = {step.line.split()[1]: machine.follow(step) for step in session(text)}
    answers = ("dump", "timeline", "simulate-election", "features", "doctor", "recover")
    assert [codes[command] for command in answers] == [0, 0, 0, 1, 3, 0]
    assert len(text.splitlines()) <= 110


def test_a_step_is_a_line_with_what_it_shows() -> None:
    text = "```\n$ kraftool dump x\na …\nb\n# c\n$ ls\n```\n\n    $ kraftool no step\n"
    assert session(text) == [SessionStep("kraftool dump x", ("a", "b")), SessionStep("ls", ())]
