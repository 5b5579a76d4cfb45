"""`kraftool simulate-election` as an operator and as programs see it."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from tests.repair.directories import EQUAL, Quorum, flip, flip_in_batch
from tests.support.copies import writable
from tests.support.locks import held_by_another_process
from tests.support.places import PARTITION

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
FEW = ("--runs", 6, "-v")


@pytest.fixture
def quorum(fixtures_dir: Path) -> Path:
    return fixtures_dir / "kafka-4.3.0/dynamic-quorum"


@pytest.fixture
def voters(quorum: Path) -> list[Path]:
    """The directories of the three voters."""
    return [quorum / f"node-{id_}/data" for id_ in (2, 3, 4)]


def words(text: str) -> str:
    """The text as one line, however it was broken."""
    return " ".join(text.split())


def shortened(source: Path, target: Path, offset: int) -> Path:
    """A copy of a directory whose log ends at a batch that holds an offset, without snapshots."""
    writable(source, target)
    log = target / PARTITION / f"{0:020}.log"
    data = log.read_bytes()
    for batch in scan(lambda at, size: data[at : at + size]):
        assert isinstance(batch, RecordBatch)
        if batch.last_offset >= offset:
            log.write_bytes(data[: batch.position])
            break
    for snapshot in (target / PARTITION).glob("*.checkpoint"):
        if not snapshot.name.startswith(f"{0:020}-"):
            snapshot.unlink()
    return target


def test_the_verdict_comes_first_and_everything_fits_80_columns(
    voters: list[Path], kraftool: Run
) -> None:
    ran = kraftool("simulate-election", *FEW, *voters)
    assert (ran.code, ran.err) == (0, "")
    assert words(ran.text).startswith(
        "✓ A leader is elected: 2, 3 or 4; if all start together, within "
    )
    assert "The quorum tolerates 1 more failure." in ran.text
    assert "→ Nothing has to be done." in ran.text
    assert max(map(len, ran.text.splitlines())) <= 80
    for title in (
        "Nodes", "Restarting one node",
        "Who leads first", "By 6 runs from seed 0.",
        "Time until that leader could commit, if all start together",
        "One run, message by message (seed 0)", "Assumed",
    ):  # fmt: skip
        assert title in ran.text.splitlines() or any(
            line.startswith(title) for line in ran.text.splitlines()
        )
    assert "█" in ran.text
    chances = ran.text.partition("Who leads first")[2].partition("By 6 runs")[0]
    assert chances.count("possible") == 3
    assert "0 (0%)" not in chances, "a node that can lead has a chance"


@pytest.mark.parametrize("is_damaged", [False, True])
def test_without_v_verdict_advice_nodes_and_one_proof_fit_a_screen(
    tmp_path: Path, kraftool: Run, is_damaged: bool
) -> None:
    """40 lines of 80 columns. What is wrong is named, and JSON stays whole."""
    quorum = Quorum(tmp_path, EQUAL, (1, 2, 3))
    for node, number in ((1, -4), (2, -8), (3, -12)) if is_damaged else ():
        flip_in_batch(quorum.segment(node), number)
    paths = [quorum[node] for node in (1, 2, 3)]
    ran = kraftool("simulate-election", "--runs", 6, *paths)
    assert len(ran.text.splitlines()) <= 40
    assert ran.text.count("KT-LOG-CRC") == (3 if is_damaged else 0)
    assert ran.text.startswith("✖" if is_damaged else "✓ A leader is elected")
    assert "\nNodes\n" in ran.text
    assert "\nWho leads first\n" in ran.text
    assert "One run, message by message" not in ran.text
    whole = kraftool("simulate-election", "--runs", 6, "-v", *paths)
    assert whole.code == ran.code
    assert "One run, message by message" in whole.text
    brief, full = (
        kraftool("simulate-election", "--runs", 6, "-o", "json", *more, *paths).out
        for more in ((), ("-v",))
    )
    assert brief == full


def test_without_v_an_order_of_starts_is_not_left_out(tmp_path: Path, kraftool: Run) -> None:
    """Voter 3 was not given, and may be empty: with it, voter 1 wins and cuts 2's records."""
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("voters: [1, 2, 3]\nnodes: {1: {end: 84}, 2: {end: 95}}\n")
    for more in ((), ("-v",)):
        ran = kraftool("simulate-election", "--runs", 2, *more, "--scenario", scenario)
        assert ran.code == 0
        assert ran.text.count("Start 1 and 2 first") == 1


def test_without_v_a_directory_that_is_left_out_is_named(
    tmp_path: Path, voters: list[Path], kraftool: Run
) -> None:
    """Its voter counts as one whose directory was not given."""
    foreign = writable(voters[0], tmp_path / "foreign")
    meta = foreign / "meta.properties"
    meta.write_text(meta.read_text().replace("cluster.id=", "cluster.id=A", 1))
    ran = kraftool("simulate-election", "--runs", 2, foreign, *voters[1:])
    assert "belongs to another cluster, so it is left out" in words(ran.text)


def test_two_of_three_down_ends_with_1_and_says_what_to_start(
    voters: list[Path], kraftool: Run
) -> None:
    ran = kraftool("simulate-election", *FEW, "--down", 2, "--down", 3, *voters)
    assert ran.code == 1
    text = words(ran.text)
    assert text.startswith(
        "✖ No leader is possible: only voter 4 is available, and a majority is 2 of 3 voters"
        " (2 and 3 are down)."
    )
    assert "→ Start 2 or 3: with either a leader can be elected." in text
    assert "2 does not answer 4: it is down" in ran.text


def test_a_voter_without_a_directory_counts_as_down_unless_assumed_up(
    voters: list[Path], kraftool: Run
) -> None:
    ran = kraftool("simulate-election", *FEW, *voters[:1])
    assert ran.code == 1
    assert "--assume-up 3 --assume-up 4" in words(ran.text)
    ran = kraftool("simulate-election", *FEW, "--assume-up", 3, voters[0])
    text = words(ran.text)
    assert text.startswith("✖ Records may be lost. Possible leader: 2 or 3")
    assert ran.code == 1, "an assumed log was not looked at"
    assert "3 is assumed to be up, with a log equal to 2's" in text
    assert "no directory shows them: voters 3 and 4 were not given." in text
    ran = kraftool("simulate-election", *FEW, "--assume-up", "3=empty", voters[0])
    assert ran.code == 1
    assert "3 is assumed to be up, with an empty log" in words(ran.text)
    assert ran.text.startswith("✖ Records may be lost. Possible leader: 2, the only one")
    ran = kraftool("simulate-election", *FEW, "--assume-up", 3, voters[0], voters[2])
    assert ran.code == 0, "a majority was looked at"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        (f"{PARTITION}/quorum-state", "KT-DIR-QUORUM-STATE"),
        (f"{PARTITION}/leader-epoch-checkpoint", "KT-DIR-EPOCHS"),
        (f"{PARTITION}/partition.metadata", "KT-DIR-TOPIC-ID"),
    ],
)
def test_a_node_on_which_kafka_exits_counts_as_down(
    name: str, code: str, voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    """Each of these keeps Kafka from starting (tests/interop/start_claims_files.py)."""
    bad = writable(voters[0], tmp_path / "data")
    (bad / name).write_text("what is this")
    ran = kraftool("simulate-election", bad, *voters[1:], *FEW)
    text = words(ran.text)
    assert "Leader possible, but no failure is tolerated: 3 or 4" in text
    assert "Kafka exits when it starts on 2, which counts as down" in text
    assert f"Kafka exits when it starts on 2: {code} in" in text
    wiped = kraftool("simulate-election", bad, *voters[1:], "--wipe", 2, *FEW)
    assert "Kafka exits" not in wiped.text


def test_the_winner_of_an_emptied_log_and_a_missing_directory_may_lack_commits(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    """Voter 2 is not given and voter 3 was emptied: both may have had what 4 lacks."""
    emptied = writable(voters[1], tmp_path / "3")
    shutil.rmtree(emptied / PARTITION)
    laggard = shortened(voters[2], tmp_path / "4", 200)
    ran = kraftool("simulate-election", *FEW, emptied, laggard)
    text = words(ran.text)
    assert ran.code == 1
    assert text.startswith("✖ Records may be lost. Possible leader: 4, the only one")
    assert "DATA LOSS if 4 leads: records from offset 197 on may be committed" in text
    assert "voter 2 was not given and voter 3 has an empty log." in text
    assert "→ If there is no leader, and the directory of voter 2 cannot be read any more:" in text
    assert f"    $ kraftool recover collect {emptied} --out voter-2.collect\n" in ran.text
    plan = f"    $ kraftool recover plan {emptied} {laggard} voter-2.collect --out plan.yaml\n"
    assert plan in ran.text, "a loopback address names no host to log in to"
    command = f"    $ kraftool recover plan {emptied} {laggard} --set lost=2 --out plan.yaml\n"
    assert command in ran.text
    document = run_json(kraftool, emptied, laggard)
    block = document["assessment"]
    assert document["hasDataLoss"]
    assert (block["state"], block["loss"]) == ("at risk", "unbounded and undetectable")
    assert block["lostRange"] == {"firstOffset": 197, "lastOffset": None}
    assert (block["notGivenIds"], block["canLeadIds"]) == ([2], [4])
    reason = {
        "firstOffset": 0,
        "reason": "has an empty log",
        "isGone": True,
        "isDamage": False,
        "isDoubt": False,
    }
    assert block["forgetful"] == [{"id": 3, **reason}]
    ran = kraftool("simulate-election", *FEW, emptied, laggard, "--down", 4)
    assert "DATA LOSS" not in ran.text, "no leader is possible, so nothing is lost"


def test_a_vote_that_cannot_be_read_is_not_called_missing(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    broken = shortened(voters[0], tmp_path / "2", 200)
    (broken / "__cluster_metadata-0/quorum-state").write_bytes(b"{")
    ran = kraftool("simulate-election", *FEW, broken, *voters[1:], "-v")
    assert "the quorum-state of 2 cannot be read" in ran.text
    assert "has no quorum-state" not in ran.text
    assert [line.split()[-2] for line in ran.text.splitlines() if line.startswith("   2  ")] == [
        "unreadable"
    ]


def test_what_a_possible_leader_cuts_off_comes_first(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    nodes = [shortened(voters[0], tmp_path / "2", 100), shortened(voters[1], tmp_path / "3", 200)]
    ran = kraftool("simulate-election", *FEW, *nodes, voters[2], "--down", 4)
    section = ran.text[ran.text.index("What is cut off") :]
    assert section.index("3 leads: ") < section.index("2 leads (it cannot win): ")


def test_a_shorter_log_is_refused_by_name_and_offset(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    short = shortened(voters[1], tmp_path / "3", 200)
    document = run_json(kraftool, voters[0], short, voters[2], "--down", 4)
    (three,) = (node for node in document["nodes"] if node["id"] == 3)
    assert not three["isElectable"]
    assert document["leaderIds"] == [2]
    end = three["logEndOffset"]
    assert end < 201
    assert {"voterId": 2, "kind": "log",
            "reason": "2 refuses 3: its log ends at 224 of epoch 3,"
                        f" beyond 3's {end} of epoch 3"} in three["refusals"]  # fmt: skip
    lost = [loss for loss in document["losses"] if loss["leaderId"] == 3]
    assert (lost[0]["firstOffset"], lost[-1]["lastOffset"]) == (end, 223)
    assert {loss["commitStatus"] for loss in lost} <= {"committed", "on a majority"}


def test_a_voter_that_lost_its_log_votes_for_whoever_asks(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    wiped = writable(voters[1], tmp_path / "3")
    shutil.rmtree(wiped / PARTITION)
    short = shortened(voters[2], tmp_path / "4", 200)
    ran = kraftool("simulate-election", *FEW, voters[0], wiped, short, "--down", 2)
    text = words(ran.text)
    assert ran.code == 1, "DATA LOSS is no quorum to start"
    assert text.startswith("✖ Records are lost. Possible leader: 4, the only one that can win")
    assert "DATA LOSS if 4 leads" in text
    assert "The quorum tolerates" not in text, "what it would stand is no comfort"
    assert "→ Bring back 2 before any other node starts" in text
    assert "which were committed" in text
    assert "3 is a voter with an empty log: it votes for the first candidate that asks." in text
    assert "→ Then start 2 and 4 alone: each possible leader of these has all of it." in text
    assert "Start 3 once there is a leader." in text
    document = run_json(kraftool, voters[0], wiped, short, "--down", 2)
    assert (document["isElected"], document["hasDataLoss"], document["startAloneIds"]) == (
        True, True, [2, 4],
    )  # fmt: skip
    ran = kraftool("simulate-election", *FEW, voters[0], wiped, short, "--down", 3)
    assert ran.code == 0, "as was advised"


def test_a_wiped_disk_is_another_replica(voters: list[Path], kraftool: Run) -> None:
    ran = kraftool("simulate-election", *FEW, "--wipe", 3, "--down", 2, *voters)
    text = words(ran.text)
    assert ran.code == 1
    assert "3 was formatted again" in text
    assert "3 refuses 4: 4 asks replica 3@2Z8JApBiRl-Vj1-Gz3rfbg" in text


def test_one_wiped_node_of_three_is_replaced_by_commands_on_one_line(
    voters: list[Path], kraftool: Run
) -> None:
    ran = kraftool("simulate-election", *FEW, "--wipe", 3, "--wipe", 3, *voters)
    assert ran.code == 0
    text = words(ran.text)
    assert "→ Do not restart voter 2 or 4 now: the quorum could lose its leader." in text
    assert "→ Start 3 only once there is a leader." in text
    assert (
        "    $ kafka-metadata-quorum.sh --bootstrap-controller 127.0.0.1:41733 remove-controller"
        " --controller-id 3 --controller-directory-id 2Z8JApBiRl-Vj1-Gz3rfbg"
    ) in ran.text.splitlines()
    assert text.count("3 is wiped: formatted again") == 1
    ran = kraftool("simulate-election", *FEW, "--wipe", 3, "--wipe", 4, *voters)
    assert ran.code == 1
    assert "remove-controller" not in ran.text, "nobody could carry that out"
    assert "Find the old disk of 3 (2Z8JApBiRl-Vj1-Gz3rfbg) or 4" in words(ran.text)


def controller(file: Path, node_id: int, data: Path) -> Path:
    """The server.properties of a controller whose data directory may not be there."""
    file.write_text(
        f"process.roles=controller\nnode.id={node_id}\ncontroller.listener.names=CONTROLLER\n"
        f"listeners=CONTROLLER://localhost:{9090 + node_id}\n"
        f"controller.quorum.bootstrap.servers=localhost:9092\nlog.dirs={data}\n"
    )
    return file


def formatted(file: Path, beside: Path, how: str, kraftool: Run) -> None:
    """A node made ready for the cluster of another one."""
    lines = (beside / "meta.properties").read_text().splitlines()
    (cluster,) = (line.partition("=")[2] for line in lines if line.startswith("cluster.id="))
    assert kraftool("storage", "format", "-c", file, "-t", cluster, how, "-r", "4.4").code == 0


def test_a_directory_that_is_not_there_is_told_as_that(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    """As where a disk is not mounted: it was given, and it is not there."""
    gone = tmp_path / "unmounted"
    file = controller(tmp_path / "3.properties", 3, gone)
    ran = kraftool("simulate-election", *FEW, voters[0], file, voters[2])
    text = words(ran.text)
    assert "The directory of 3 does not exist: its server.properties leads to" in text
    assert f"leads to {gone}.".replace(" ", "") in text.replace(" ", "")  # a long path is broken
    assert "No directory was given" not in text
    assert "3 does not answer 2: its directory does not exist" in text
    alone = kraftool("simulate-election", *FEW, file)
    assert alone.code == 1
    assert f"leads to {gone}.".replace(" ", "") in words(alone.text).replace(" ", "")
    settings = controller(tmp_path / "9.properties", 9, tmp_path / "nine")
    ran = kraftool("simulate-election", *FEW, *voters, settings)
    absent = f"{tmp_path / 'nine'}, the directory of node 9, does not exist"
    assert absent.replace(" ", "") in words(ran.text).replace(" ", "")


def test_a_voter_formatted_as_a_quorum_of_its_own_is_no_good_news(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    file = controller(tmp_path / "3.properties", 3, tmp_path / "3")
    formatted(file, voters[0], "--standalone", kraftool)
    ran = kraftool("simulate-election", *FEW, voters[0], file, voters[2])
    text = words(ran.text)
    assert ran.code == 1
    assert text.startswith("✖ Records may be lost. Possible leader: ")
    assert "DATA LOSS if 3 leads" in text
    assert "The quorum tolerates" not in text
    assert "another replica, and by its own log it is the only one" in text
    assert "→ Once the copy is safe, format 3 again with --no-initial-controllers" in text
    assert "→ Then start 2 and 4 alone" in text
    assert "Bring back" not in text
    ran = kraftool("simulate-election", *FEW, voters[0], file, voters[2], "--down", 2)
    text = words(ran.text)
    assert text.startswith("✖ Records are lost. Possible leader: 3")
    assert "→ Bring back 2 before any other node starts" in text


def test_a_directory_that_was_formatted_anew_forgot_no_vote(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    file = controller(tmp_path / "3.properties", 3, tmp_path / "3")
    formatted(file, voters[0], "--no-initial-controllers", kraftool)
    ran = kraftool("simulate-election", *FEW, voters[0], file, voters[2])
    assert ran.code == 0
    assert "KT-LOG-NONE" in ran.text
    assert "write quorum-state" not in words(ran.text), "it is another replica, and observes"
    assert "→ Start 3 only once there is a leader." in words(ran.text)


def test_no_run_with_a_leader_ends_with_1(voters: list[Path], kraftool: Run) -> None:
    ran = kraftool("simulate-election", "--runs", 1, "--delay", 1990, *voters)
    assert ran.code == 1
    assert ran.text.startswith("✖ No leader could commit in 1 run: ")
    assert "Nothing has to be done" not in ran.text


def test_a_partition_leaves_the_side_with_a_majority(voters: list[Path], kraftool: Run) -> None:
    document = run_json(kraftool, *voters, "--partition", "2|3,4")
    assert document["leaderIds"] == [3, 4]
    assert [(link["fromId"], link["toId"]) for link in document["conditions"]["cut"]] == [
        (2, 3),
        (2, 4),
        (3, 2),
        (4, 2),
    ]
    ran = kraftool("simulate-election", *FEW, "--partition", "2|3|4", *voters)
    assert ran.code == 1
    assert "Repair the network" in ran.text


def test_voters_are_added_and_removed(voters: list[Path], kraftool: Run) -> None:
    document = run_json(kraftool, *voters, "--add-voter", 9, "--remove-voter", 2)
    assert [
        (change["nodeId"], change["kind"], change["isDone"]) for change in document["changes"]
    ] == [
        (2, "remove", True),
        (9, "add", True),
    ]
    assert document["laterVoterIds"] == [3, 4, 9]
    assert document["laterToleratedFailures"] == {"failureCount": 1, "isExact": True}


def run_json(kraftool: Run, *arguments: object) -> Any:
    ran = kraftool("simulate-election", "-o", "json", *FEW, *arguments)
    assert ran.err == ""
    return json.loads(ran.out)


def test_the_documents_of_other_questions(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    """Each is what its schema says, as every document of a run is."""
    wiped = writable(voters[1], tmp_path / "3")
    shutil.rmtree(wiped / PARTITION)
    for arguments in (
        (*voters, "--down", 2, "--add-voter", 7),
        (voters[0], "--down", 2),
        (voters[0], wiped, voters[2], "--partition", "2>4"),
        (voters[2], tmp_path / "nothing"),
    ):
        document = run_json(kraftool, *arguments)
        assert document["schemaVersion"] == 3
    rows = csv.DictReader(
        kraftool("simulate-election", "-o", "csv", *FEW, *voters).text.splitlines()
    )
    assert [row["id"] for row in rows] == ["2", "3", "4"]


def test_the_same_seed_gives_the_same_bytes(voters: list[Path], kraftool: Run) -> None:
    for form in ("table", "json"):
        runs = [
            kraftool("simulate-election", "-o", form, *FEW, "--seed", seed, *voters).out
            for seed in (3, 3, 4)
        ]
        assert runs[0] == runs[1]
        assert runs[0] != runs[2]


def test_a_path_that_cannot_be_read_ends_with_3(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    ran = kraftool("simulate-election", *FEW, *voters, tmp_path / "nothing")
    assert ran.code == 3
    text = " ".join(ran.text.split())  # lines end where the length of the path has it
    assert "A leader is elected: " in text
    assert "no such file or directory" in text


def test_a_damaged_log_counts_as_far_as_kafka_would_keep_it(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    damaged = writable(voters[1], tmp_path / "3")
    log = damaged / PARTITION / f"{0:020}.log"
    log.write_bytes(log.read_bytes()[:-30])
    document = run_json(kraftool, voters[0], damaged, voters[2])
    (three,) = (node for node in document["nodes"] if node["id"] == 3)
    assert three["logEndOffset"] < 224
    assert document["findings"], "the torn tail"
    assert document["leaderIds"] == [2, 4] or 3 not in document["leaderIds"]


def test_directories_of_running_nodes_are_moments_apart(
    voters: list[Path], tmp_path: Path, kraftool: Run
) -> None:
    running = writable(voters[0], tmp_path / "running")
    lock = running / ".lock"
    lock.touch()
    with held_by_another_process(lock):
        text = words(kraftool("simulate-election", *FEW, running, *voters[1:]).text)
    assert "Voter 2 is running and needs 1 more voter for a majority. Start 3 or 4." in text
    assert "→ Leave voter 2 running. Start 3 or 4." in text
    assert text.count("is running") == 1, text


def test_directories_of_another_cluster_take_no_part(
    fixtures_dir: Path, voters: list[Path], kraftool: Run
) -> None:
    other = fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    document = run_json(kraftool, *voters, other)
    assert [node["id"] for node in document["nodes"]] == [2, 3, 4]
    assert any("another cluster" in assumption for assumption in document["assumptions"])


def test_a_scenario_is_run(tmp_path: Path, kraftool: Run) -> None:
    path = tmp_path / "three.yaml"
    path.write_text("nodes: {1: {end: 9}, 2: {end: 8}, 3: {end: 9, down: true}}\n")
    ran = kraftool("simulate-election", *FEW, "--scenario", path)
    assert ran.code == 0
    assert ran.text.startswith(
        "▲ Leader possible, but no failure is tolerated: 1, the only one that can win"
    )
    ran = kraftool("simulate-election", *FEW, "--scenario", path, "--down", 1)
    assert ran.code == 1


def test_a_node_on_which_kafka_exits_is_to_be_repaired_before_it_starts(
    tmp_path: Path, kraftool: Run
) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    for node in (2, 3):
        snapshot = quorum.snapshots(node)[-1]
        flip(snapshot, snapshot.stat().st_size // 2)
    ran = kraftool("simulate-election", *FEW, *(quorum[node] for node in (1, 2, 3)))
    assert ran.code == 3, "part of the snapshots could not be decoded"
    assert "Kafka exits when it starts on 2 and 3, which count as down" in ran.words
    assert "→ Plan a recovery with kraftool recover plan before you start any node" in ran.words


def test_no_node_is_to_be_repaired_by_itself_if_another_has_more(
    tmp_path: Path, kraftool: Run
) -> None:
    """With node 2 repaired alone, nodes 2 and 3 would elect 3, and cut off what only 1 shows."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    for node, part in ((2, 0.6), (3, 0.9)):
        log = quorum.segment(node)
        flip(log, int(log.stat().st_size * part))
    (quorum.partition(2) / "quorum-state").write_bytes(b"{")
    (quorum[1] / "bootstrap.checkpoint").write_bytes(b"")
    paths = [quorum[node] for node in (1, 2, 3)]
    of_doctor = kraftool("doctor", *paths).words
    ran = kraftool("simulate-election", *FEW, *paths)
    for text in (of_doctor, ran.words):
        assert "Plan a recovery with kraftool recover plan before you start any node" in text
    assert "with either a leader" not in ran.words


def test_a_node_on_which_kafka_exits_is_repaired_before_another_one_restarts(
    tmp_path: Path, kraftool: Run
) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    (quorum[2] / "bootstrap.checkpoint").write_bytes(b"")
    ran = kraftool("simulate-election", *FEW, *(quorum[node] for node in (1, 2, 3)))
    assert "Do not restart voter 1 or 3 now: the quorum could lose its leader." in ran.words
    assert "Repair node 2 and bring it back first." in ran.words


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("simulate-election", *FEW), "The only voter: 1."),
        (("simulate-election", *FEW, "--down", "1"), "no voter is available (1 is down)"),
        (("recover", "plan"), "kraftool read the directory of the only voter, and nothing there"),
    ],
)
def test_a_quorum_of_one_is_told_in_the_singular(
    command: tuple[str, ...], said: str, fixtures_dir: Path, kraftool: Run
) -> None:
    ran = kraftool(*command, fixtures_dir / "kafka-4.3.0/static-single/node-1/data")
    assert said in words(ran.text)
    assert "1 of 1" not in words(ran.text)
