"""`recover guide`: the order of the commands, the operator's answers, and the journal."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

from kraftool.commands.exit_code import UsageError
from kraftool.commands.output import Output
from kraftool.commands.recover_guide_steps import Guide
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.commands.recover_files import on_terminal
from tests.commands.test_secrets import assert_no_secret
from tests.repair.directories import APART, EQUAL, Quorum, flip_in_batch

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
Answer = str | Callable[[], str]
"""What is typed, or a function that does something in another shell first."""
RUN = "--options to add:"
REHEARSAL = "--no-nodes --seeds 2"


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, APART, (3,))


def contents(directory: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


class Operator:
    """Answers in turn; afterwards presses Ctrl-C. Runs commands as the command line does. With
    `capfd`, keeps what the guide says."""

    def __init__(
        self,
        kraftool: Run,
        folder: Path,
        answers: Sequence[Answer],
        capfd: pytest.CaptureFixture[str] | None = None,
    ) -> None:
        self.kraftool, self.folder, self.answers = kraftool, folder, list(answers)
        self.capfd, self.said = capfd, ""
        self.ran: list[tuple[str, int]] = []

    def listen(self) -> str:
        """All that the guide said."""
        if self.capfd is not None:
            self.said += self.capfd.readouterr().out
        return self.said

    def ask(self, question: str) -> str:
        self.listen()
        if not self.answers:
            raise typer.Abort
        answer = self.answers.pop(0)
        if not isinstance(answer, str):
            answer = answer()
        if "PLAN_ID" in answer:
            plan = plan_from_yaml((self.folder / "plan.yaml").read_bytes())
            answer = answer.replace("PLAN_ID", plan.id)
        return answer

    def run(self, words: Sequence[str]) -> int:
        self.listen()
        code = self.kraftool(*words).code
        self.ran.append((" ".join(words[:2]) if words[0] == "recover" else words[0], code))
        return int(code)

    def guide(self) -> Output:
        assert sys.__stdout__ is not None
        sys.stdout = sys.__stdout__  # a command that ran before has put its own there
        to = Output()
        Guide(to, str(self.folder), self.ask, self.run).run()
        return to

    @property
    def journal(self) -> str:
        return (self.folder / "journal.md").read_text()


def test_from_a_lost_majority_to_an_applied_plan_on_a_terminal(
    quorum: Quorum, tmp_path: Path
) -> None:
    folder, before = tmp_path / "night", contents(quorum[3])
    answers: list[tuple[str, str | Callable[[str], str]]] = [
        ("Type yes:", "yes\n"),
        ("(empty: none):", "\n"),
        ("Paths:", f"{quorum[3]}\n"),
        ("(empty: none):", "2,4\n"),
        *((RUN, "y\n") for _ in range(3)),
        (RUN, f"{REHEARSAL}\n"),
        (RUN, "y\n"),
        (RUN, "y\n"),  # too little for apply
        (RUN, "yes\n"),
        ("Type yes:", "yes\n"),
        (":", lambda text: f"{re.findall(r'type ([0-9a-f]{12})', text)[-1]}\n"),
    ]
    code, output = on_terminal(("recover", "guide", "--folder", folder), answers)
    assert code == 0, output
    assert contents(quorum[3]) != before
    journal = (folder / "journal.md").read_text()
    ran = re.findall(r"ran: `kraftool ([a-z]+(?: [a-z]+)?) .*`\n  - exit code (\d)", journal)
    assert [(words, int(code)) for words, code in ran] == [
        ("recover collect", 0),
        ("doctor", 1),
        ("recover plan", 0),
        ("recover rehearse", 0),
        ("recover apply", 0),
    ]
    for command in re.findall(r"ran: `(.*)`", journal):
        assert f"$ {command}" in re.sub(r"\x1b\[[0-9;]*m", "", output), "shown before it runs"


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ([], []),
        (["yes"], []),
        (["yes", "", "NODE", "2,4"], ["recover collect", "doctor", "recover plan"]),
        (["yes", "", "NODE", "2,4", "y"], ["doctor", "recover plan"]),
        (["yes", "", "NODE", "2,4", "y", "s", "y"], ["recover rehearse", "recover apply"]),
        (["yes", "", "NODE", "2,4", "y", "s", "y", "s"], ["recover apply"]),
    ],
)
def test_ctrl_c_at_a_question_changes_nothing_and_shows_what_is_left(
    kraftool: Run,
    quorum: Quorum,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    typed: list[str],
    left: list[str],
) -> None:
    before = contents(quorum[3])
    answers = [str(quorum[3]) if word == "NODE" else word for word in typed]
    operator = Operator(kraftool, tmp_path / "night", answers)
    with pytest.raises(KeyboardInterrupt):
        operator.guide()
    assert contents(quorum[3]) == before
    output = capfd.readouterr().out
    on, _, rest = output.partition("To go on where it stopped, run:")[2].partition("by hand:")
    assert f"kraftool recover guide --folder {tmp_path}/night" in on
    shown = re.findall(r"\$ kraftool (.*)", rest)
    assert re.findall(r"\$ kraftool (recover \w+|\w+)", rest) == left
    for command in shown:
        if "rehearse" not in command:
            code = kraftool(
                *shlex.split(command), *(("--dry-run",) if "apply" in command else ())
            ).code
            assert code in (0, 1), command
    assert "interrupted" in operator.journal


def test_a_refused_plan_is_asked_about_again_and_takes_options(
    kraftool: Run, quorum: Quorum, tmp_path: Path
) -> None:
    answers = ["yes", "", str(quorum[3]), "", "y", "s", "y", "--set lost=2,4", "y", "s"]
    answers += ["--yes PLAN_ID", "yes"]
    operator = Operator(kraftool, tmp_path / "night", answers)
    assert operator.guide().code == 0
    assert operator.ran == [
        ("recover collect", 0),
        ("recover plan", 5),
        ("recover plan", 0),
        ("recover apply", 0),
    ]
    assert "- skipped: `kraftool doctor" in operator.journal


def test_the_guide_goes_on_after_damage_that_doctor_reports(
    kraftool: Run, quorum: Quorum, tmp_path: Path
) -> None:
    """Exit 3 of doctor is what damage leads to, and damage is what the guide is for."""
    flip_in_batch(quorum.segment(3), -1)
    answers = ["yes", "", str(quorum[3]), "2,4", "y", "y", "--accept ahead", "y", "q"]
    operator = Operator(kraftool, tmp_path / "night", answers)
    operator.guide()
    assert operator.ran == [("recover collect", 1), ("doctor", 3), ("recover plan", 0)]


def test_the_guide_asks_for_copies_if_the_plan_keeps_more_with_them(
    kraftool: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two damaged logs of other hosts, of which each has what the other one lacks."""
    folder, damaged = tmp_path / "night", Quorum(tmp_path, EQUAL, (1, 3))
    files = []
    for node, number in ((1, -30), (3, -20)):
        for snapshot in damaged.snapshots(node):
            if snapshot.name.startswith(f"{144:020}"):
                snapshot.unlink()
        flip_in_batch(damaged.segment(node), number)
        files.append(tmp_path / f"{node}.collect")
        assert kraftool("recover", "collect", damaged[node], "--out", files[-1]).code == 1

    def copied(node: int) -> Callable[[], str]:
        def copy() -> str:
            shutil.copytree(damaged[node], folder / "copies" / f"node-{node}")
            return "y"

        return copy

    given = " ".join(map(str, files))
    answers: list[Answer] = ["yes", "", given, "2", copied(1), copied(3), "y", "y", "q"]
    operator = Operator(kraftool, folder, answers, capfd)
    operator.guide()
    assert operator.ran == [("doctor", 3), ("recover plan", 0)], "doctor reads the copies"
    assert "another log has the records" in operator.listen()
    plan = plan_from_yaml((folder / "plan.yaml").read_bytes())
    assert plan.cases == ("restored-runs",)
    assert not plan.loss.records


def test_a_step_that_is_skipped_was_taken_by_hand(
    kraftool: Run, quorum: Quorum, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without the plan's file the guide does not go on; without a collect file it plans from the
    directory."""
    folder = tmp_path / "night"
    answers = [
        "yes",
        "",
        f"{tmp_path}/nothing",
        str(quorum[3]),
        "two",
        "2,4",
        "s",
        "s",
        "s",
        "y",
        "q",
    ]
    operator = Operator(kraftool, folder, answers)
    assert operator.guide().code == 0
    assert operator.ran == [("recover plan", 0)]
    output = capfd.readouterr().out
    assert f"{tmp_path}/nothing does not exist." in output
    assert "two is not a list of node ids." in output
    assert f"The next steps require {folder}/plan.yaml" in output
    assert f"kraftool recover plan {quorum[3]} --set lost=2,4" in output


def test_the_guide_stops_while_nodes_run(kraftool: Run, tmp_path: Path) -> None:
    operator = Operator(kraftool, tmp_path / "night", ["no"])
    assert operator.guide().code == 0
    assert not operator.ran


def test_the_guide_goes_on_where_it_stopped(
    kraftool: Run, quorum: Quorum, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It asks again only whether all nodes are stopped, and runs no command again."""
    folder = tmp_path / "night"
    first = Operator(kraftool, folder, ["yes", "", str(quorum[3]), "2,4", "y", "s", "y"])
    with pytest.raises(KeyboardInterrupt):
        first.guide()
    answers = ["yes", REHEARSAL, "y", "--yes PLAN_ID", "yes"]
    again = Operator(kraftool, folder, answers, capfd)
    assert again.guide().code == 0
    assert first.ran == [("recover collect", 0), ("recover plan", 0)]
    assert again.ran == [("recover rehearse", 0), ("recover apply", 0)]
    text = again.listen()
    assert "Lost voters: 2,4" in text
    assert re.search(r"Done at \S+, exit code 0: kraftool recover plan", text)
    assert re.search(r"Done at \S+, taken by hand: kraftool doctor", text)
    last = Operator(kraftool, folder, ["yes"])
    assert last.guide().code == 0
    assert not last.ran


def test_the_end_names_the_settings_that_static_voters_require(
    kraftool: Run, tmp_path: Path, fixtures_dir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(fixtures_dir / "kafka-3.9.1/upgrade/node-1", tmp_path / "node-1")
    given = str(tmp_path / "node-1/server.properties")
    answers = ["yes", "", given, "2,3", "y", "s", "y", "s", "--yes PLAN_ID", "yes"]
    operator = Operator(kraftool, tmp_path / "night", answers, capfd)
    assert operator.guide().code == 0, operator.listen()
    end = operator.listen().partition("The plan is applied.")[2]
    assert re.search(r"node-1\n.*\n +controller\.quorum\.voters=1@\S+\n", end)


def test_a_step_whose_file_is_gone_is_taken_again(
    kraftool: Run, quorum: Quorum, tmp_path: Path
) -> None:
    folder = tmp_path / "night"
    answers = ["yes", "", str(quorum[3]), "2,4", "y", "s", "y", "q"]
    Operator(kraftool, folder, answers).guide()
    (folder / "plan.yaml").unlink()
    again = Operator(kraftool, folder, ["yes", "y", "q"])
    again.guide()
    assert again.ran == [("recover plan", 0)]


@pytest.mark.parametrize("content", [None, "", "{", '{"kind": "other"}'])
def test_a_folder_of_something_else_is_refused(
    kraftool: Run, tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "guide.json").write_text(content)
    with pytest.raises(UsageError, match="no guide can go on"):
        Operator(kraftool, tmp_path, []).guide()


def test_options_that_a_command_refuses_are_dropped(
    kraftool: Run, quorum: Quorum, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    answers = ["yes", "", str(quorum[3]), "2,4", "--nonsense", "y", "y", "q"]
    operator = Operator(kraftool, tmp_path / "night", answers)
    assert operator.guide().code == 0
    assert operator.ran == [("recover collect", 2), ("recover collect", 0)]


def test_a_quit_after_a_failure_exits_with_its_code(
    kraftool: Run, quorum: Quorum, tmp_path: Path
) -> None:
    answers = ["yes", "", str(quorum[3]), "", "s", "s", "y", "q"]
    assert Operator(kraftool, tmp_path / "night", answers).guide().code == 5


@pytest.mark.parametrize("words", [("recover",), ("recover", "guide")])
def test_without_a_terminal_it_prints_the_commands(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = kraftool(*words)
    assert ran.code == 2
    lines = [line.split()[:4] for line in ran.err.splitlines() if "    $ kraftool " in line]
    assert [line[2:] for line in lines] == [
        ["recover", "collect"],
        ["doctor", "/var/lib/kafka/data"],
        ["recover", "plan"],
        ["recover", "rehearse"],
        ["recover", "apply"],
    ]
    assert not list(tmp_path.iterdir())


def test_recover_alone_on_a_terminal_is_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = on_terminal(("recover",), [("Type yes:", "\x04")])
    assert code == 130, output
    assert "kraftool recover guide" in output


def test_the_journal_has_no_secret(kraftool: Run, quorum: Quorum, tmp_path: Path) -> None:
    operator = Operator(
        kraftool, tmp_path / "night", ["yes", "", str(quorum[3]), "2,4", "y", "y", "q"]
    )
    operator.guide()
    ran = kraftool("recover", "collect", quorum[3], "--out", tmp_path / "x.collect")
    assert_no_secret(APART, type(ran)(0, operator.journal.encode(), ""), "journal")
    assert (tmp_path / "night/journal.md").stat().st_mode & 0o777 == 0o600
