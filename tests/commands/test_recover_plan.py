"""`recover collect` and `recover plan` as people and scripts run them."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import stat
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.repair import collect_file
from kraftool.repair.plan import Method
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.commands.test_secrets import assert_no_secret
from tests.repair.directories import EQUAL, Quorum, flip_in_batch
from tests.repair.repair_cases import copied

Run = Callable[..., Any]
SCENARIO = "kafka-4.3.0/dynamic-quorum"


@pytest.fixture
def nodes(fixtures_dir: Path) -> dict[int, Path]:
    """Voters 2, 3 and 4, the old voter 1, and brokers."""
    root = fixtures_dir / SCENARIO
    return {number: min((root / f"node-{number}").glob("data*")) for number in (1, 2, 3, 4, 11)}


def two_damaged(root: Path) -> Quorum:
    """Voters 1 and 3, each with a damaged batch that the other one has."""
    quorum = Quorum(root, EQUAL, (1, 3))
    for node, number in ((1, -30), (3, -20)):
        for snapshot in quorum.snapshots(node):
            if snapshot.name.startswith(f"{144:020}"):
                snapshot.unlink()
        flip_in_batch(quorum.segment(node), number)
    return quorum


def listing(directory: Path) -> list[tuple[str, int, int]]:
    paths = sorted(directory.rglob("*"))
    return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]


def test_a_directory_is_left_as_it_is(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path
) -> None:
    shutil.copytree(nodes[2], tmp_path / "data")
    before = listing(tmp_path / "data")
    file = tmp_path / "a.collect"
    assert kraftool("recover", "collect", tmp_path / "data", "--out", file).code == 0
    options = ("--set", "lost=3,4", "--out", tmp_path / "p.yaml")
    assert kraftool("recover", "plan", tmp_path / "data", *options).code == 0
    assert listing(tmp_path / "data") == before


def test_a_collect_file_is_its_owners_alone_and_never_over_another(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path
) -> None:
    file = tmp_path / "a.collect"
    ran = kraftool("recover", "collect", nodes[2], "--out", file)
    assert ran.code == 0
    assert "readable up to offset 224 of epoch 3" in ran.narration
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.stat().st_size < 64 << 10
    data = file.read_bytes()
    assert kraftool("recover", "collect", nodes[3], "--out", file).code == 5
    assert file.read_bytes() == data


def test_a_plan_is_the_same_from_files_and_from_directories(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path
) -> None:
    """But for the moment at which it is made."""
    files = []
    for node in (3, 11):
        files.append(tmp_path / f"{node}.collect")
        assert kraftool("recover", "collect", nodes[node], "--out", files[-1]).code == 0
    options = [*("--set", "lost=2,4", "--set", "offset=5000", "--set", "epoch=50")]
    options += ["--method", "snapshot-jump"]
    carried = kraftool("recover", "plan", *files, *options)
    here = kraftool("recover", "plan", nodes[3], nodes[11], *options)
    assert (carried.code, here.code) == (0, 0)
    one, other = plan_from_yaml(carried.out), plan_from_yaml(here.out)
    edits = [host.edits[1:-1] for host in (*one.hosts, *other.hosts)]
    assert edits[: len(one.hosts)] == edits[len(one.hosts) :]
    assert one.steps == other.steps
    assert one.ranking == other.ranking
    assert one.hosts[0].edits[0].snapshot is not None


def test_nothing_but_the_id_is_needed_to_know_that_a_plan_is_whole(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path
) -> None:
    file = tmp_path / "plan.yaml"
    ran = kraftool("recover", "plan", nodes[3], "--set", "lost=2,4", "--out", file)
    assert ran.code == 0
    plan = plan_from_yaml(file.read_bytes())
    assert file.read_text().startswith(f"id: {plan.id}\n")
    assert plan.id[:12] in ran.err
    assert f"kraftool recover apply {file} --dir" in ran.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_steps_in_the_file_name_the_file_itself(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path
) -> None:
    """Also where it is read under another path, and with a name that a shell would split."""
    file = tmp_path / "the night.yaml"
    directory = copied(nodes[3], tmp_path / "data")
    assert kraftool("recover", "plan", directory, "--set", "lost=2,4", "--out", file).code == 0
    plan = plan_from_yaml(file.read_bytes())
    commands = [command for step in plan.steps for command in step.commands]
    apply = "kraftool recover apply 'the night.yaml' --dir "
    assert any(command.startswith(apply) for command in commands)
    assert not any("plan.yaml" in command for command in commands)
    other = tmp_path / "other.yaml"
    file.rename(other)
    ran = kraftool("recover", "apply", other, "--dir", directory, "--yes", plan.id, "-o", "json")
    all_commands = [
        command for step in json.loads(ran.out)["nextSteps"] for command in step["commands"]
    ]
    assert any(
        command.startswith(f"kraftool recover verify {other} --dir ") for command in all_commands
    )
    assert any(
        command.startswith("kraftool quorum add-controller --bootstrap-controller ")
        for command in all_commands
    )


def test_no_action_needed(kraftool: Run, nodes: dict[int, Path]) -> None:
    ran = kraftool("recover", "plan", nodes[2], nodes[3], nodes[4])
    assert ran.code == 0
    assert "No action needed" in ran.narration
    assert plan_from_yaml(ran.out).method is Method.NONE


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), 5, "voters 2 and 4 were not given"),
        (("--set", "lost=2,4", "--accept", "everything"), 2, "is not a word for a risk"),
        (("--set", "lost=2", "--set", "lost=4"), 2, "--set lost is given twice"),
        (("--set", "lost=2,4", "--method", "append"), 5, ""),
        (("--set", "lost=2,4", "--method", "static-properties"), 5, "cannot restore"),
        (("--set", "lost=2,4", "--kafka-version", "3.9.0"), 5, "--accept old-kafka"),
        (("--set", "lost=2,4", "--kafka-version", "new"), 5, "is not a release"),
        (("--set", "lost=x"), 2, "lost does not take this value"),
        (("--set", "lost=2,4", "--set", "rebuild=3"), 5, "one voter is to lead alone"),
    ],
)
def test_what_is_refused_says_what_to_do(
    kraftool: Run, nodes: dict[int, Path], options: tuple[str, ...], code: int, words: str
) -> None:
    given = [nodes[3], nodes[1]]
    ran = kraftool("recover", "plan", *given, *options)
    if "append" in options:
        assert ran.code == 0, "no node is ahead of node 3"
        return
    assert ran.code == code, ran.err
    assert words in ran.narration
    assert not ran.out


def test_damage_is_a_finding_and_is_collected(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path
) -> None:
    shutil.copytree(nodes[3], tmp_path / "data")
    log = next((tmp_path / "data").rglob("*.log"))
    data = bytearray(log.read_bytes())
    data[9000] ^= 1
    log.write_bytes(bytes(data))
    (tmp_path / "data/__cluster_metadata-0/quorum-state").write_bytes(b"?")
    file = tmp_path / "a.collect"
    ran = kraftool("recover", "collect", tmp_path / "data", "--out", file)
    assert ran.code == 1
    assert "the log is damaged from offset" in ran.narration
    assert "quorum-state: " in ran.err
    (survey,) = collect_file.read(str(file)).surveys
    assert survey.log is not None
    assert survey.log.broken is not None


def test_a_plan_that_loses_for_want_of_bytes_asks_for_copies_with_commands(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each log has what the other one lacks. The commands of the refusal lead to the plan that
    loses nothing."""
    monkeypatch.chdir(tmp_path)
    quorum = two_damaged(tmp_path)
    for node in (1, 3):
        ran = kraftool("recover", "collect", quorum[node], "--out", f"node-{node}.collect")
        assert ran.code == 1
    asked = ("node-1.collect", "node-3.collect", "--set", "lost=2", "--out", "plan.yaml")
    ran = kraftool("recover", "plan", *asked)
    assert ran.code == 5
    assert "collect files have no bytes of a log" in ran.err
    assert "(node-3 has the batches that are damaged there)" in ran.err
    commands = re.findall(r"^ +\$ (.*)$", ran.err, re.MULTILINE)
    for command in commands[:-1]:
        subprocess.run(["bash", "-c", command], check=True)
    ran = kraftool(*shlex.split(commands[-1])[1:])
    assert ran.code == 0, ran.err
    assert "No loss" in ran.narration
    plan = plan_from_yaml(Path("plan.yaml").read_bytes())
    assert [host.path for host in plan.hosts if host.edits] == [str(quorum[1]), str(quorum[3])]


def test_a_plan_that_loses_for_want_of_bytes_says_so_first(kraftool: Run, tmp_path: Path) -> None:
    quorum = two_damaged(tmp_path)
    for node in (1, 3):
        file = tmp_path / f"node-{node}.collect"
        kraftool("recover", "collect", quorum[node], "--out", file)
    files = (tmp_path / "node-1.collect", tmp_path / "node-3.collect")
    settings = ("--set", "lost=2", "--set", "seed=1", "--kafka-version", "4.3.0")
    asked = ("recover", "plan", *files, *settings)
    ran = kraftool(*asked, "--accept", "ahead")
    assert ran.code == 5, "the risk has a word of its own"
    assert "--accept collect-files" in ran.err
    document = kraftool(*asked, "--accept", "ahead", "-o", "json")
    assert len(json.loads(document.out)["refusal"]["commands"]) == 2
    ran = kraftool(*asked, "--accept", "ahead", "--accept", "collect-files")
    assert ran.code == 0, ran.err
    plan = plan_from_yaml(ran.out)
    assert plan.loss.text.startswith("bounded: collect files have no bytes of a log. With the")
    assert {risk.word for risk in plan.risks} == {"ahead", "collect-files"}


def test_a_tar_of_a_pod_is_collected(kraftool: Run, nodes: dict[int, Path], tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "pod.tar.gz", "w:gz") as tar:
        tar.add(nodes[3], "data")
    file = tmp_path / "a.collect"
    ran = kraftool("recover", "collect", tmp_path / "pod.tar.gz", "--out", file)
    assert ran.code == 0, ran.err
    kraftool("recover", "collect", nodes[3], "--out", tmp_path / "b.collect")
    (carried,) = collect_file.read(str(file)).surveys
    (here,) = collect_file.read(str(tmp_path / "b.collect")).surveys
    assert (carried.files, carried.log, carried.state) == (here.files, here.log, here.state)


def test_no_command_of_a_plan_names_an_archive(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path
) -> None:
    """Where the pod has the directory is not known."""
    for node in (3, 11):
        with tarfile.open(tmp_path / f"{node}.tar", "w") as archive:
            archive.add(nodes[node], "var/lib/kafka/data")
    ran = kraftool("recover", "plan", tmp_path / "3.tar", tmp_path / "11.tar", "--set", "lost=2,4")
    assert ran.code == 0, ran.err
    lines = [one for step in plan_from_yaml(ran.out).steps for one in (*step.commands, step.text)]
    assert not [line for line in lines if "tar" in line.split()]
    assert not [line for line in lines if str(tmp_path) in line]
    named = [line for line in lines if "--dir data-directory" in line]
    assert [command.split()[5] for command in named] == ["apply", "verify"]
    assert all(command.startswith("# replace data-directory: ") for command in named)


def test_collect_says_that_there_is_no_state_at_an_offset(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path
) -> None:
    ran = kraftool("recover", "collect", nodes[2], "--at", 500, "--out", tmp_path / "a.collect")
    assert ran.code == 0, "it may be another node that has it"
    assert "it does not have the state at offset 500" in ran.narration
    assert "the log ends at 224" in ran.narration
    ran = kraftool("recover", "collect", nodes[2], "--at", 197, "--out", tmp_path / "b.collect")
    assert ran.code == 0
    assert "does not have the state" not in ran.narration


@pytest.mark.parametrize("cut", [5, 100, 2000])
def test_a_collect_file_that_is_cut_off_is_no_plan(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path, cut: int
) -> None:
    file = tmp_path / "a.collect"
    kraftool("recover", "collect", nodes[3], "--out", file)
    file.write_bytes(file.read_bytes()[:-cut])
    ran = kraftool("recover", "plan", file, "--set", "lost=2,4")
    assert ran.code == 3
    assert not ran.out


def test_a_collect_file_with_an_unknown_key_is_refused(
    kraftool: Run, nodes: dict[int, Path], tmp_path: Path
) -> None:
    file = tmp_path / "a.collect"
    kraftool("recover", "collect", nodes[3], "--out", file)
    document = json.loads(gzip.decompress(file.read_bytes()))
    document["surveys"][0]["more"] = 1
    changed = tmp_path / "b.collect"
    changed.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode()))
    ran = kraftool("recover", "plan", changed, "--set", "lost=2,4")
    assert ran.code == 3
    assert "unknown key 'more'" in ran.err


@pytest.mark.parametrize(
    "scenario",
    ["kafka-4.3.0/static-single", "kafka-3.3.2/static-single", "kafka-4.4.0/dynamic-quorum"],
)
def test_no_secret_gets_into_either_file(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path, scenario: str
) -> None:
    """CANARY is in users, tokens and configs of these directories."""
    directory = min((fixtures_dir / scenario).glob("node-*/data*"))
    file = tmp_path / "a.collect"
    ran = kraftool("recover", "collect", directory, "--out", file)
    assert_no_secret(scenario, ran, "collect")
    plain = type(ran)(0, gzip.decompress(file.read_bytes()), "")
    assert_no_secret(scenario, plain, "the collect file")
    planned = kraftool("recover", "plan", file, "--set", "lost=3,4,2")
    assert_no_secret(scenario, planned, "plan")
