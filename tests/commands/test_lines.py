"""Every command that reports to people, at three widths, in a terminal and in a pipe.

No line is wider than the screen unless it is one word, path or command that cannot be broken; no
word is broken over two lines; escape codes are only where they are wanted.
"""

from __future__ import annotations

import io
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kraftool.commands import main
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.commands.reporting_commands import NARRATED, PLANNED, REPORTING
from tests.commands.wrapped_lines import ESCAPE, assert_wrapped, plain
from tests.repair.directories import APART, Quorum
from tests.support.places import FIXTURES

pytestmark = pytest.mark.slow

_PLAN = re.compile(r"(?<=PLAN )(\x1b\[\S*?m)*[0-9a-f]{12}")
"""Each plan has its own id."""


class _Stream(io.TextIOWrapper):
    """A stream in memory that can be a terminal."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="surrogateescape")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def written(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of a quorum that lost its majority, and a plan for them: one that was undone."""
    root = tmp_path_factory.mktemp("lines")
    quorum = Quorum(root, APART, (3, 11))
    plan = _run((*PLANNED, "--out", "{plan}"), root, 80)
    assert (root / "plan.yaml").exists(), plan
    shutil.copytree(quorum[3], root / "undone")
    made = plan_from_yaml((root / "plan.yaml").read_bytes()).id
    for verb in ("apply", "undo"):
        _run(("recover", verb, "{plan}", "--dir", "{quorum}/undone", "--yes", made), root, 80)
    return root


def _run(
    words: tuple[str, ...],
    folder: Path,
    columns: int,
    environment: Mapping[str, str] | None = None,
    *,
    is_terminal: bool = False,
) -> tuple[str, str]:
    """What kraftool writes to stdout and stderr. A bar that comes and goes is nobody's line."""
    (folder / "new.collect").unlink(missing_ok=True)
    arguments = [word.format(quorum=folder, plan=folder / "plan.yaml") for word in words]
    out, err = _Stream(is_terminal=is_terminal), _Stream(is_terminal=is_terminal)
    variables = {"COLUMNS": str(columns), "TERM": "xterm", **(environment or {})}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(FIXTURES)
        for name in ("NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["kraftool", *arguments])
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        with pytest.raises(SystemExit):
            main()
        return out.written(), err.written()


Report = Callable[..., str]
_COLOURS = {"": {}, "NO_COLOR": {"NO_COLOR": "1"}, "dumb": {"TERM": "dumb"}}


@pytest.fixture(scope="module")
def report(folder: Path) -> Report:
    """What people see of a command, each run once."""
    known: dict[object, str] = {}

    def shown(
        words: tuple[str, ...], columns: int, *, is_terminal: bool = False, colour: str = ""
    ) -> str:
        key = words, columns, is_terminal, colour
        if key not in known:
            environment = _COLOURS[colour]
            out, err = _run(words, folder, columns, environment, is_terminal=is_terminal)
            known[key] = _PLAN.sub("ID", err) if words in NARRATED else out
        return known[key]

    return shown


named = pytest.mark.parametrize("words", [*REPORTING, *NARRATED], ids=" ".join)


@named
def test_no_line_is_wider_than_the_screen_and_no_word_is_broken(
    report: Report, words: tuple[str, ...]
) -> None:
    assert_wrapped(lambda columns: report(words, columns))


@named
def test_a_terminal_shows_the_lines_of_a_pipe_in_colour(
    report: Report, words: tuple[str, ...]
) -> None:
    pipe = report(words, 80)
    assert "\x1b" not in pipe
    terminal = report(words, 80, is_terminal=True)
    assert ESCAPE.search(terminal) or words[0] == "storage", "which is Kafka's own text"
    if words[0] != "simulate-election":  # of which a terminal sees the first verdict, too
        assert plain(terminal) == pipe.splitlines()


@named
@pytest.mark.parametrize("colour", ["NO_COLOR", "dumb"])
def test_no_escape_code_where_none_is_wanted(
    report: Report, words: tuple[str, ...], colour: str
) -> None:
    assert "\x1b" not in report(words, 80, is_terminal=True, colour=colour)


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, False),
    ],
)
def test_a_pipe_is_coloured_if_that_is_forced(
    folder: Path, environment: dict[str, str], is_coloured: bool
) -> None:
    out, _ = _run(("dump", "damaged/flipped-bit-in-record"), folder, 80, environment)
    _, err = _run(PLANNED, folder, 80, environment)
    assert ("\x1b[" in out, "\x1b[" in err) == (is_coloured, is_coloured)
