"""`recover guide` where directories are on other hosts: over ssh, or by carried files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from kraftool.repair.plan_yaml import plan_from_yaml
from tests.commands.ssh_server import Hosts, ssh_hosts
from tests.commands.test_recover_guide import Answer, Operator, contents
from tests.repair.directories import APART, Quorum, cut_log

pytestmark = pytest.mark.slow

Run = Callable[..., Any]


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosts]:
    (tmp_path / "ssh").mkdir()
    with ssh_hosts(tmp_path / "ssh") as hosts:
        path = f"{hosts.program()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        monkeypatch.setenv("PATH", path)
        yield hosts


def shown(operator: Operator) -> list[str]:
    """The commands below the last "Run these commands"."""
    last = operator.listen().rpartition("Run these commands in another shell:")[2]
    # What the guide ran itself follows after a question, which is not in the output.
    lines = takewhile(
        lambda line: "  $ " in line and "collect --ssh" not in line, last.strip("\n").splitlines()
    )
    return [line.removeprefix("  $ ").partition("    #")[0] for line in lines]


def run_shown(operator: Operator, at: Path) -> None:
    """Run them as they are, in another shell."""
    plan = plan_from_yaml((operator.folder / "plan.yaml").read_bytes())
    for line in shown(operator):
        command = line.replace("recover apply", f"recover apply --yes {plan.id}")
        done = subprocess.run(
            ["sh", "-c", command], cwd=at, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), (command, done.stdout, done.stderr)


def test_a_directory_behind_ssh_is_collected_rehearsed_and_checked_after_apply(
    kraftool: Run, ssh: Hosts, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The guide itself changes nothing there: the commands that it shows do."""
    quorum = Quorum(tmp_path / "there", APART, (3,))
    before = contents(quorum[3])
    folder = tmp_path / "night"

    def run(answer: str) -> Callable[[], str]:
        def typed() -> str:
            assert contents(quorum[3]) == before, "nothing there is changed before this"
            run_shown(operator, tmp_path)
            return answer

        return typed

    answers = ["yes", f"ctl-3:{quorum[3]},down", "/x", "", "2,4"]
    answers += ["y", "n"]  # one host is missing
    operator = Operator(
        kraftool,
        folder,
        [*answers, "y", "y", run("y"), "--no-nodes --seeds 2", "y", "yes", run("yes")],
        capfd,
    )
    assert operator.guide().code == 0, operator.listen()
    assert [words for words, _ in operator.ran] == [
        "recover collect",
        "recover plan",
        "recover rehearse",
        "recover collect",
        "recover collect",
    ]
    for part in (
        "These hosts are missing: down.",
        "There is no __cluster_metadata-0 in",
        "and 8 more",
        "node-3 is not as the plan makes it. Do not start it.",
        "node-3 is as the plan makes it.",
        "Start the nodes in the order of these steps.",
    ):
        assert part in operator.listen()
    assert contents(quorum[3]) != before
    again = Operator(kraftool, folder, ["yes"])
    assert again.guide().code == 0
    assert not again.ran


def test_a_carried_collect_file_comes_back_after_apply(
    kraftool: Run,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its directory's path may be there on this host too: it is not that one."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    quorum = Quorum(tmp_path / "there", APART, (3,))
    carried = tmp_path / "node-3.collect"
    assert kraftool("recover", "collect", quorum[3], "--out", carried).code == 0
    folder = tmp_path / "night"

    def run() -> str:
        run_shown(operator, tmp_path)
        return "yes"

    answers: list[Answer] = ["yes", "", str(carried), "2,4", "y", "s", "yes", run]
    operator = Operator(kraftool, folder, answers, capfd)
    assert operator.guide().code == 0, operator.listen()
    assert operator.ran == [("recover plan", 0)]
    assert f"{folder}/node-3-after.collect is not there" in operator.listen()
    assert "node-3 is as the plan makes it." in operator.listen()


@pytest.mark.parametrize(("far", "near"), [((3, 11), ()), ((11,), (3,))])
def test_apply_reads_a_directory_of_another_host(
    kraftool: Run,
    ssh: Hosts,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    far: tuple[int, ...],
    near: tuple[int, ...],
) -> None:
    """The state is broker 11's, and node 3 leads: either may be here or behind ssh."""
    quorum = Quorum(tmp_path / "there", APART, (3, 11))
    cut_log(quorum, 3, 5)
    folder = tmp_path / "night"

    def run(answer: str) -> Callable[[], str]:
        def typed() -> str:
            run_shown(operator, tmp_path)
            return answer

        return typed

    hosts = ",".join(f"host-{node}:{quorum[node]}" for node in far)
    answers: list[Answer] = ["yes", hosts, " ".join(str(quorum[node]) for node in near), "2,4"]
    answers += ["--sudo", "y", *("ys" if near else ""), "y"]  # collect, doctor, plan
    answers += [run("y") for _ in far]
    answers += ["s"]
    answers += ["--yes PLAN_ID", "yes"] if 3 in near else [run("yes")]
    operator = Operator(kraftool, folder, answers, capfd)
    assert operator.guide().code == 0, operator.listen()
    assert not operator.answers
    text = operator.listen()
    assert ("node-3 is as the plan makes it." in text) is (3 in far)
    assert ("'sudo kraftool recover apply" in text) is (3 in far)
    assert "'sudo tar -C" in text
    plan = plan_from_yaml((folder / "plan.yaml").read_bytes())
    words = ("recover", "verify", folder / "plan.yaml", "--dir", quorum[3])
    assert plan.seed == "node-3"
    assert kraftool(*words).code == 0


def test_ctrl_c_before_apply_shows_the_commands_for_the_other_host(
    kraftool: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    quorum = Quorum(tmp_path / "there", APART, (3,))
    carried = tmp_path / "node-3.collect"
    assert kraftool("recover", "collect", quorum[3], "--out", carried).code == 0
    operator = Operator(kraftool, tmp_path / "night", ["yes", "", str(carried), "2,4", "y", "s"])
    with pytest.raises(KeyboardInterrupt):
        operator.guide()
    rest = capfd.readouterr().out.partition("by hand:")[2]
    assert "kraftool recover apply kraftool-plan-" in rest
    assert f"--dir {quorum[3]}" in rest


@pytest.mark.parametrize("typed", ["-oProxyCommand=x:/x", "a b:/x", ":/x"])
def test_what_is_no_host_is_asked_for_again(
    kraftool: Run, tmp_path: Path, capfd: pytest.CaptureFixture[str], typed: str
) -> None:
    operator = Operator(kraftool, tmp_path / "night", ["yes", typed])
    with pytest.raises(KeyboardInterrupt):
        operator.guide()
    assert "is not a host" in capfd.readouterr().out
