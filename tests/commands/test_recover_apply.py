"""`recover apply`, `undo` and `verify` as people and scripts run them."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.commands.recover_run import read_plan, steps_after
from kraftool.raft.names import VoterSet
from kraftool.repair.backup import FOLDER
from kraftool.repair.plan import (
    Action,
    HostPlan,
    HostRole,
    Method,
    Plan,
    PlanStep,
    RequiredSetting,
    Risk,
)
from tests.commands.conftest import Run
from tests.commands.recover_files import fitting, signalled, written
from tests.commands.test_secrets import assert_no_secret
from tests.repair.directories import Quorum
from tests.repair.repair_cases import VOTER, contents, jump_directory, jump_plan, plan_of
from tests.support.places import PARTITION, ROOT

pytestmark = pytest.mark.slow

SCENARIO = "kafka-4.3.0/dynamic-quorum"


@pytest.fixture
def directory(fixtures_dir: Path, tmp_path: Path) -> Path:
    return jump_directory(fixtures_dir, tmp_path / "data")


@pytest.fixture
def made(directory: Path) -> Plan:
    plan = jump_plan(directory)
    steps = (
        PlanStep(action=Action.APPLY, hosts=("node-3",), text="Apply it."),
        PlanStep(
            action=Action.CHECK,
            text="Look at it.",
            commands=("kraftool recover verify plan.yaml --dir data",),
        ),
    )
    setting = RequiredSetting(key="controller.quorum.bootstrap.servers", value="127.0.0.1:43523")
    host = replace(plan.hosts[0], settings=(setting,))
    return replace(plan, steps=steps, hosts=(host,))


@pytest.fixture
def file(made: Plan, tmp_path: Path) -> Path:
    return written(made, tmp_path)


def test_apply_verify_undo_as_scripts_run_them(
    kraftool: Run, directory: Path, made: Plan, file: Path
) -> None:
    before = contents(directory)
    short = made.id[:12]
    ran = kraftool("recover", "apply", file, "--dir", directory, "--dry-run")
    assert ran.code == 0
    assert "It can be applied now. Nothing was changed." in ran.text
    assert contents(directory) == before
    ran = kraftool("recover", "verify", file, "--dir", directory)
    assert ran.code == 1
    assert "KT-REC-NOT-APPLIED" in ran.text
    ran = kraftool("recover", "apply", file, "--dir", directory, "--yes", short)
    assert ran.code == 0, ran.err
    assert f"Plan {short} is applied to" in ran.words
    assert "controller.quorum.bootstrap.servers=127.0.0.1:43523" in ran.text
    assert "kraftool recover verify night.yaml" in ran.text.replace(f"{file.parent}/", "")
    ran = kraftool("recover", "apply", file, "--dir", directory, "--yes", short)
    assert ran.code == 0
    assert "already applied" in ran.words
    ran = kraftool("recover", "verify", file, "--dir", directory)
    assert ran.code == 0
    assert f"voters by its log: 3 ({VOTER.directory_id})" in ran.words
    ran = kraftool("recover", "undo", file, "--dir", directory, "--yes", short)
    assert ran.code == 0, ran.err
    assert contents(directory) == before
    ran = kraftool("recover", "undo", file, "--dir", directory, "--yes", short)
    assert (ran.code, "already undone" in ran.words) == (0, True)
    ran = kraftool("recover", "verify", file, "--dir", directory)
    assert (ran.code, "KT-REC-UNDONE" in ran.text) == (1, True)


def test_documents_fit_the_schema(kraftool: Run, directory: Path, made: Plan, file: Path) -> None:
    common = ("--dir", directory, "-o", "json")
    seen = []
    for words in (
        ("apply", file, *common, "--dry-run"),
        ("apply", file, *common, "--yes", made.id),
        ("apply", file, *common, "--yes", made.id),
        ("verify", file, *common),
        ("undo", file, *common, "--yes", made.id),
        ("verify", file, *common),
    ):
        ran = kraftool("recover", *words)
        document = fitting(ran.text)
        assert document["planId"] == made.id
        seen.append((ran.code, document.get("isAlreadyDone"), document.get("isFine")))
    assert seen == [
        (0, False, None),
        (0, False, None),
        (0, True, None),
        (0, None, True),
        (0, False, None),
        (1, None, False),
    ]


def test_a_plan_that_was_edited_is_refused_by_its_id(
    kraftool: Run, directory: Path, made: Plan, file: Path
) -> None:
    before = contents(directory)
    text = file.read_text()
    for edited in (
        text.replace("nodeId: 3", "nodeId: 4"),
        text.replace("offset: 5224", "offset: 5225"),
        text.replace(made.id, "0" * 64),
        text.replace("action: apply", "action: stop"),
        text[: len(text) // 2],
        "id: [",
    ):
        assert edited != text
        file.write_text(edited)
        for command in ("apply", "undo", "verify"):
            options = () if command == "verify" else ("--yes", made.id)
            ran = kraftool("recover", command, file, "--dir", directory, *options)
            assert ran.code == 5, (command, edited[:200])
            assert "again" in ran.err, "what to do about it"
    assert contents(directory) == before
    file.write_text(text + "# a comment says nothing to a machine\n")
    assert kraftool("recover", "apply", file, "--dir", directory, "--dry-run").code == 0


def test_a_wrong_id_a_missing_word_and_no_terminal_are_refused(
    kraftool: Run, directory: Path, made: Plan, tmp_path: Path
) -> None:
    risky = replace(made, risks=(Risk(word="ahead", text="node 11 is ahead"),))
    file = written(risky, tmp_path)
    before = contents(directory)
    apply = ("recover", "apply", file, "--dir", directory)
    assert kraftool(*apply).code == 5
    assert kraftool(*apply, "--yes", made.id).code == 5, "another plan's"
    assert kraftool(*apply, "--yes", risky.id[:8]).code == 5, "too short"
    ran = kraftool(*apply, "--yes", risky.id[:12])
    assert ran.code == 5
    assert "--accept ahead" in ran.err
    assert kraftool(*apply, "-o", "json").code == 2
    assert contents(directory) == before
    for word in ("banana", "Ahead"):
        ran = kraftool(*apply, "--yes", risky.id[:12], "--accept", "ahead", "--accept", word)
        assert (ran.code, f"--accept {word} is not a word for a risk" in ran.err) == (2, True)
    assert contents(directory) == before
    assert kraftool(*apply, "--yes", risky.id[:12], "--accept", "ahead").code == 0
    for again in (apply, (*apply, "--dry-run")):
        ran = kraftool(*again, "--yes", made.id)
        assert (ran.code, "is not the id of this plan" in ran.err) == (5, True), "applied already"
    assert kraftool("recover", "undo", file, "--dir", directory).code == 5
    assert kraftool("recover", "undo", file, "--dir", directory, "--yes", risky.id).code == 0


def test_after_an_error_a_start_is_not_the_next_step(
    kraftool: Run, directory: Path, made: Plan, tmp_path: Path
) -> None:
    start = PlanStep(action=Action.START, hosts=("node-3",), text="It leads within seconds.")
    other = replace(VOTER, key=VOTER.key._replace(id=4))
    wrong = replace(made, voters_after=VoterSet.of(other), steps=(*made.steps, start))
    file = written(wrong, tmp_path)
    apply = ("recover", "apply", file, "--dir", directory, "--yes", wrong.id)
    for is_first in (True, False):
        ran = kraftool(*apply)
        assert (ran.code, "KT-REC-VOTERS" in ran.text) == (1, True)
        assert ("already applied" in ran.words) != is_first
        assert "Do not start the node" in ran.text
        assert "It leads within seconds." not in ran.text
    assert fitting(kraftool(*apply, "-o", "json").text)["nextSteps"] == []


def test_what_is_the_matter_with_a_file_that_the_plan_relies_on_hinders_no_start(
    kraftool: Run, tmp_path: Path
) -> None:
    """Kafka's own error, in a snapshot of node 4: its users are made anew when a node runs."""
    quorum = Quorum(tmp_path / "quorum", SCENARIO, [4, 11])
    file = tmp_path / "plan.yaml"
    lost = ("--set", "lost=2,3", "--method", "append", "--out", file)
    assert kraftool("recover", "plan", quorum[4], quorum[11], *lost).code == 0
    plan = read_plan(str(file))
    ran = kraftool("recover", "apply", file, "--dir", quorum[4], "--yes", plan.id)
    assert (ran.code, "KT-SNAP-SCRAM-LOST" in ran.text) == (1, True), ran.text + ran.err
    assert "Do not start" not in ran.text
    assert "\nNext  " in ran.text
    ran = kraftool("recover", "verify", file, "--dir", quorum[4])
    assert ran.code == 1, "the error counts"
    assert "Something is not as planned" not in ran.text, "the plan has no part in it"
    assert "Everything is as planned. The findings above are not about the plan." in ran.text


def test_a_plan_without_a_change_says_so(kraftool: Run, directory: Path, tmp_path: Path) -> None:
    file = written(plan_of(method=Method.NONE), tmp_path)
    ran = kraftool("recover", "apply", file, "--dir", directory, "-o", "json", "--dry-run")
    assert ran.code == 0
    fitting(ran.text)
    for command in ("apply", "rehearse", "verify", "undo"):
        words = ("recover", command, file, "--dir", directory)
        ran = kraftool(*words)
        assert ran.code == 0
        assert ran.text.endswith(": no action is needed, on no host.\n")
        yes = ("--yes", plan_of(method=Method.NONE).id) if command in ("apply", "undo") else ()
        ran = kraftool(*words, *yes, "-o", "json")
        assert (ran.code, fitting(ran.text)["command"]) == (0, command)


def test_a_directory_of_another_plan_and_no_directory_end_as_the_contract_says(
    kraftool: Run, fixtures_dir: Path, directory: Path, file: Path, tmp_path: Path
) -> None:
    other = fixtures_dir / SCENARIO / "node-2" / "data"
    ran = kraftool("recover", "apply", file, "--dir", other, "--dry-run")
    assert ran.code == 5
    assert "node-3 is node 3" in ran.err
    assert kraftool("recover", "apply", file, "--dir", tmp_path / "no", "--dry-run").code == 3
    assert kraftool("recover", "apply", tmp_path / "no", "--dir", directory).code == 3
    assert kraftool("recover", "verify", file).code == 2
    ran = kraftool("recover", "verify", file, "--bootstrap-controller", "127.0.0.1:1")
    assert ran.code == 4


def test_a_server_properties_is_compared_and_its_secrets_stay(
    kraftool: Run, directory: Path, made: Plan, tmp_path: Path
) -> None:
    settings = (
        RequiredSetting(key="controller.quorum.voters", value="3@127.0.0.1:43523"),
        RequiredSetting(key="sasl.jaas.config", value=""),
        RequiredSetting(key="node.id", value="3"),
    )
    plan = replace(made, hosts=(replace(made.hosts[0], settings=settings),))
    file = written(plan, tmp_path)
    config = tmp_path / "server.properties"
    config.write_text(
        "node.id=3\ncontroller.quorum.voters=1@a:1,2@b:2\nsasl.jaas.config=CANARY-secret\n"
    )
    ran = kraftool(
        "recover", "apply", file, "--dir", directory, "--yes", plan.id, "--config", config
    )
    assert ran.code == 1
    assert ran.text.count("KT-REC-SETTING") == 2
    assert "found 1@a:1,2@b:2" in ran.words
    assert "CANARY" not in ran.text + ran.err


def test_nothing_that_they_print_has_a_secret(
    kraftool: Run, directory: Path, made: Plan, file: Path
) -> None:
    assert any(b"CANARY" in data for data, _ in contents(directory).values())
    for words in (
        ("apply", "--dry-run"),
        ("apply", "--yes", made.id),
        ("verify",),
        ("verify", "-o", "json"),
        ("undo", "--yes", made.id),
        ("undo", "--yes", made.id, "-o", "json"),
    ):
        ran = kraftool("recover", words[0], file, "--dir", directory, *words[1:])
        assert_no_secret(SCENARIO, ran, words)


def on_a_terminal(arguments: list[str], answers: list[bytes]) -> tuple[int, str]:
    """Run kraftool on a terminal of its own, and answer when it asks."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["PYTHONPATH"] = str(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "kraftool", *arguments])
    output = b""
    while True:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, output
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        output += data
        if not data:
            break
        if answers and output.rstrip(b"\r\n").endswith(b": ") and b"ype " in output[-200:]:
            os.write(terminal, answers.pop(0) + b"\n")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), output.decode()


def test_what_is_typed_decides(directory: Path, made: Plan, tmp_path: Path) -> None:
    risky = replace(made, risks=(Risk(word="ahead", text="node 11 is ahead"),))
    arguments = ["recover", "apply", str(written(risky, tmp_path)), "--dir", str(directory)]
    before = contents(directory)
    right = f"{risky.id[:12]} ahead".encode()
    for answers in ([b"no"], [b"yes", b""], [b"yes", b"yes"], [b"yes", risky.id[:12].encode()]):
        code, output = on_a_terminal(arguments, answers)
        assert code == 5, output
        assert contents(directory) == before
    code, output = on_a_terminal(arguments, [b"yes", right])
    assert code == 0, output
    assert "cannot be seen from here" in output
    assert contents(directory) != before


def test_a_directory_without_edits_is_told_to_apply_the_plan_to_the_others_first(
    made: Plan,
) -> None:
    """Not to start the seed, which may not be repaired yet."""
    other = HostPlan(
        name="node-11", role=HostRole.BROKER, identity=made.hosts[0].identity, path="/b"
    )
    numbers = {step.action: number for number, step in enumerate(made.steps, 1)}
    apply, check = numbers[Action.APPLY], numbers[Action.CHECK]
    assert [number for number, _ in steps_after(made, other)] == [apply, check]
    assert [number for number, _ in steps_after(made, made.hosts[0])] == [check]


def test_what_stays_stopped_is_said_again_after_apply(made: Plan) -> None:
    """And each step has the number that it has in the plan."""
    off = PlanStep(action=Action.KEEP_STOPPED, hosts=("node-2",), text="keep it offline")
    plan = replace(made, steps=(made.steps[0], off, *made.steps[1:]))
    left = steps_after(plan, plan.hosts[0])
    assert left[0] == (2, off)
    assert all(plan.steps[number - 1] is step for number, step in left)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (0, "nothing is changed in"),
        (2, "the plan is half applied in"),
        (3, "do not start the node, and run kraftool recover apply"),
    ],
)
def test_ctrl_c_says_how_far_it_came_and_what_comes_next(
    directory: Path, made: Plan, file: Path, after: int, words: str
) -> None:
    """Also with --quiet: a directory that is half done is not to be started."""
    command = ["recover", "apply", file, "--dir", directory, "--yes", made.id, "-q"]
    done = signalled(command, after, signal.SIGINT)
    assert done.code == 130
    assert "interrupted; " in done.err
    assert words in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("after", [0, 1, 2, 3, 8, 14])
def test_killed_for_real_at_a_step_it_is_finished_or_undone_by_the_next_command(
    kraftool: Run, directory: Path, made: Plan, file: Path, after: int
) -> None:
    """SIGKILL right after a journal entry became durable."""
    before = contents(directory)
    words = ["recover", "apply", file, "--dir", directory, "--yes", made.id]
    done = signalled(words, after, signal.SIGKILL)
    assert done.code == -signal.SIGKILL, done.err
    assert (directory / PARTITION / FOLDER).exists()
    if after % 2:
        ran = kraftool("recover", "undo", *words[2:])
        assert ran.code == 0, ran.err
        assert contents(directory) == before
    else:
        if after > 1:
            ran = kraftool("recover", "verify", file, "--dir", directory)
            assert (ran.code, "KT-REC-HALF" in ran.text) == (1, True)
            assert "KT-LOG" not in ran.text, "what it is not yet is no finding"
        ran = kraftool(*words)
        assert ran.code == 0, ran.err
        assert kraftool("recover", "verify", file, "--dir", directory).code == 0
