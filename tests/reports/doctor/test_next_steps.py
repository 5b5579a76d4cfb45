"""What dump and diff-voters find, found by doctor too, with the command that goes with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftool.decoders import quorum_state
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import scan
from kraftool.reports.doctor import next_steps
from kraftool.reports.doctor.report import DoctorReport
from kraftool.reports.findings.finding import Remedy
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.text import shell_text
from tests.reports.doctor.cases import (
    PARTITION,
    Log,
    begun,
    doctor,
    found,
    leader,
    node,
    one,
    partition,
    snapshot,
    topic,
)
from tests.reports.voter_cases import server
from tests.support.placeholders import inline_placeholders, placeholders
from tests.support.places import LOG

Real = Callable[..., Path]
STATIC = "1@c1.example:9090,2@c2.example:9090,3@c3.example:9090"


def commands(code: str, *paths: Path) -> tuple[str, ...]:
    return one(code, *paths).commands


def settings(path: Path, log: Log, id: int = 1, **lines: str) -> Path:
    node(path / "data", log, id)
    properties = {key.replace("__", "."): value for key, value in lines.items()}
    return server(path / "server.properties", id, **{"log.dirs": str(path / "data"), **properties})


def static_log() -> Log:
    return Log().control(1, leader(1, (1, 2, 3))).noops(1, 3)


def test_each_remedy_is_that_of_a_kind_and_has_commands() -> None:
    taken = {kind.remedy for kind in KINDS.values()} - {None}
    assert taken == set(Remedy) == set(next_steps.COMMANDS)


def test_advice_names_no_command_with_a_placeholder() -> None:
    for kind in KINDS.values():
        assert not inline_placeholders(f"{kind.meaning} {kind.advice}"), kind.code


def test_a_placeholder_is_recognized() -> None:
    """The check of all printed commands fails on each of these."""
    for word in ("DATA_DIRECTORY_OF_2", "HOST:PORT", "FILE...", "<host>", "--set lost=ID"):
        assert placeholders(f"kraftool recover plan /data {word}"), word
    for word in ("/A/B", "CONTROLLER://c1:9093", "--explain KT-LOG-CRC", "plan.yaml", "-d 2ZJ8Q"):
        assert not placeholders(f"kraftool recover plan {word}"), word


def test_a_command_with_an_unknown_word_is_a_comment() -> None:
    assert shell_text.line("kraftool", "doctor", shell_text.ANYWHERE) == (
        "# replace host:port: kraftool doctor host:port"
    )


def test_a_changed_disk_is_answered_with_remove_and_add(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun(), 2, directory="New-directory-of-nodeA")
    steps = commands("KT-DIR-STALE-VOTER", path)
    assert steps[0] == (
        "kafka-metadata-quorum.sh --bootstrap-controller c1.example:9090 remove-controller"
        " --controller-id 2 --controller-directory-id Directory-of-node-002A"
    )
    assert steps[1].endswith("add-controller")


def test_static_voters_on_a_dynamic_quorum_are_answered_with_its_endpoints(tmp_path: Path) -> None:
    path = settings(tmp_path, begun(), controller__quorum__voters=STATIC)
    steps = commands("KT-DIR-STATIC-IGNORED", path)
    everyone = "c1.example:9090,c2.example:9090,c3.example:9090"
    assert steps[0].endswith(f": controller.quorum.bootstrap.servers={everyone}")


def test_a_dynamic_quorum_without_bootstrap_servers_is_found(tmp_path: Path) -> None:
    path = settings(
        tmp_path,
        begun(),
        controller__quorum__voters=STATIC,
        controller__quorum__bootstrap__servers="",
    )
    assert "bootstrap.servers=c1.example:9090," in commands("KT-DIR-NO-BOOTSTRAP", path)[0]
    assert not found("KT-SIG-MIGRATION-ORDER", path)


def test_current_voters_that_differ_from_the_settings_are_found(tmp_path: Path) -> None:
    path = settings(tmp_path, static_log(), controller__quorum__voters=STATIC)
    state = quorum_state.QuorumState(
        data_version=0, leader_id=1, leader_epoch=1, current_voters=(1, 2)
    )
    (tmp_path / "data" / PARTITION / "quorum-state").write_bytes(quorum_state.encode(state))
    assert one("KT-DIR-CURRENT-VOTERS", path).finding.found == "1, 2"
    state = quorum_state.QuorumState(
        data_version=0, leader_id=1, leader_epoch=1, current_voters=(1, 2, 3)
    )
    (tmp_path / "data" / PARTITION / "quorum-state").write_bytes(quorum_state.encode(state))
    assert not found("KT-DIR-CURRENT-VOTERS", path)


def test_static_settings_that_differ_are_answered_with_those_of_the_first(tmp_path: Path) -> None:
    first = settings(tmp_path / "a", static_log(), 1, controller__quorum__voters=STATIC)
    other = STATIC.replace("c3", "c4")
    second = settings(tmp_path / "b", static_log(), 2, controller__quorum__voters=other)
    steps = commands("KT-DIR-STATIC-DIFFER", first, second)
    assert steps[0].endswith(f": controller.quorum.voters={STATIC}")


def test_another_cluster_id_is_found(tmp_path: Path) -> None:
    paths = (
        node(tmp_path / "a", begun(1)),
        node(tmp_path / "b", begun(2), 2, cluster="Another-clusterAAAAAAA"),
    )
    assert commands("KT-DIR-CLUSTER-ID", *paths)[0].startswith("kafka-storage.sh info")
    assert not found("KT-SIG-TWO-FORMATS", *paths)


def test_the_cluster_of_most_directories_is_the_one_that_others_differ_from(
    tmp_path: Path,
) -> None:
    foreign = node(tmp_path / "a", begun(), 1, cluster="Another-clusterAAAAAAA")
    others = [node(tmp_path / str(id), begun(), id) for id in (2, 3)]
    finding = one("KT-DIR-CLUSTER-ID", foreign, *others).finding
    assert finding.file == str(foreign)
    assert (
        finding.text
        == f"it belongs to another cluster than {others[0]}, so its voters are not compared"
    )


def test_an_empty_cluster_id_is_found_in_one_directory_too(tmp_path: Path) -> None:
    path = node(tmp_path / "a", begun(), 1, cluster="")
    diagnosis = one("KT-DIR-CLUSTER-ID-EMPTY", path)
    assert diagnosis.finding.file == str(path / "meta.properties")
    assert "cluster.id=unknown" in diagnosis.commands[0]
    other = node(tmp_path / "b", begun(), 2)
    assert (
        "cluster.id=xxuyFdGYSvOPfcYJRNjaMA" in one(diagnosis.finding.code, path, other).commands[0]
    )
    assert not found("KT-DIR-CLUSTER-ID", path, other)


@pytest.mark.parametrize(
    "entry", ["c1.example", "c1.example:", "c1 example:9090", "c1:99999999999"]
)
def test_a_bootstrap_server_that_kafka_cannot_read_is_found(tmp_path: Path, entry: str) -> None:
    servers = f"c2.example:9090,{entry}"
    path = settings(tmp_path, begun(), controller__quorum__bootstrap__servers=servers)
    finding = one("KT-DIR-BOOTSTRAP-FORM", path).finding
    assert (finding.file, finding.found) == (str(path), entry.strip())


def test_every_form_of_a_bootstrap_server_that_kafka_takes_is_taken(tmp_path: Path) -> None:
    servers = "c1:9090,[::1]:9091,PLAIN://c_2.example:9092,:9093"
    path = settings(tmp_path, begun(), controller__quorum__bootstrap__servers=servers)
    assert not found("KT-DIR-BOOTSTRAP-FORM", path)


def test_a_torn_tail_says_who_has_what_it_may_have_lost(tmp_path: Path) -> None:
    log = begun().noops(1, 3)
    torn = node(tmp_path / "a", log, 1)
    file = torn / PARTITION / LOG
    file.write_bytes(log.data[:-5])
    whole = node(tmp_path / "b", log, 2)
    diagnosis = one("KT-LOG-TORN-TAIL", torn, whole)
    assert (diagnosis.evidence[-1].file, diagnosis.evidence[-1].offset) == (str(whole), 5)
    assert diagnosis.evidence[-1].found == "this log has the records from here to 5"
    short = node(tmp_path / "c", begun(), 3)
    diagnosis = one("KT-LOG-TORN-TAIL", torn, short)
    assert diagnosis.evidence[-1].found == "no other directory has a record from here on"
    assert len(one("KT-LOG-TORN-TAIL", torn).evidence) == len(diagnosis.evidence) - 1


def test_of_a_running_node_no_file_is_moved_before_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = node(tmp_path / "a", begun(), 1)
    file = path / PARTITION / "leader-epoch-checkpoint"
    file.write_bytes(b"garbage\n")
    assert commands("KT-DIR-EPOCHS", path)[0].startswith(f"mv {file} ")
    monkeypatch.setattr("kraftool.reports.doctor.model.ExaminedDirectory.is_live", True)
    steps = commands("KT-DIR-EPOCHS", path)
    assert steps[0].startswith("# stop Kafka on this node first: another process holds the lock")
    assert steps[1].startswith(f"mv {file} ")


def test_a_foreign_node_id_is_found(tmp_path: Path) -> None:
    node(tmp_path / "data", begun(), 1)
    path = server(tmp_path / "server.properties", 2, **{"log.dirs": str(tmp_path / "data")})
    assert commands("KT-DIR-NODE-ID", path) == (f"kafka-storage.sh info --config {path}",)


def test_another_advertised_endpoint_than_the_voters_record_is_found(tmp_path: Path) -> None:
    path = settings(tmp_path, begun(), listeners="CONTROLLER://new.example:9090")
    assert one("KT-DIR-ENDPOINT-DIFFERS", path).finding.found == "CONTROLLER://new.example:9090"


@pytest.mark.parametrize("data", [b"", b"garbage", b'{"leaderId":1', b"{}"])
def test_a_broken_quorum_state_is_never_to_be_deleted(tmp_path: Path, data: bytes) -> None:
    path = node(tmp_path / "data", begun().noops(7, 1))
    (path / PARTITION / "quorum-state").write_bytes(data)
    diagnosis = found("KT-DIR-QUORUM-STATE", path)[0]
    assert diagnosis.finding.advice.startswith("never delete it")
    assert "highest epoch in these directories is 7" in diagnosis.commands[0]
    assert not any(re.match(r"(rm|mv) ", command) for command in diagnosis.commands)


def test_a_missing_quorum_state_is_found(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun())
    (path / PARTITION / "quorum-state").unlink()
    assert "Write 2, or" in commands("KT-DIR-QUORUM-STATE-MISSING", path)[0]


def test_a_wrong_leader_epoch_checkpoint_is_to_be_moved_away(real: Real) -> None:
    path = real(2)
    file = path / PARTITION / "leader-epoch-checkpoint"
    file.write_text("0\n1\n9 3\n")
    assert commands("KT-DIR-EPOCHS-DIFFER", path) == (f"mv {file} {path}.{file.name}",)


def test_another_topic_id_in_partition_metadata_is_to_be_moved_away(real: Real) -> None:
    path = real(2)
    file = path / PARTITION / "partition.metadata"
    file.write_text("version: 0\ntopic_id: RlGsKpAMTTKnsaRtAXfYRg")
    assert commands("KT-DIR-TOPIC-ID", path) == (f"mv {file} {path}.{file.name}",)


@pytest.mark.parametrize(
    ("name", "code"), [("backup.checkpoint", "KT-SNAP-NAME"), ("backup.log", "KT-LOG-NAME")]
)
def test_a_name_that_kafka_dies_on_is_to_be_moved_away(
    tmp_path: Path, name: str, code: str
) -> None:
    path = node(tmp_path / "data", begun())
    file = path / PARTITION / name
    file.write_bytes(b"")
    assert commands(code, path) == (f"mv {file} {path}.{name}",)


def test_a_flipped_bit_says_how_much_kafka_would_drop(real: Real) -> None:
    path = real(1, "kafka-3.3.2/static-single")
    log = path / PARTITION / LOG
    data = bytearray(log.read_bytes())
    batches = [
        part for part in scan(lambda at, size: bytes(data[at : at + size]))
        if isinstance(part, RecordBatch)
    ]  # fmt: skip
    hit = batches[len(batches) // 2]
    data[hit.position + 70] ^= 1
    log.write_bytes(data)
    for checkpoint in (path / PARTITION).glob("*.checkpoint"):
        checkpoint.unlink()
    diagnosis = found("KT-LOG-CRC", path)[0]
    lost = batches[-1].last_offset + 1 - hit.base_offset
    assert f"{lost} offsets are lost with it" in diagnosis.finding.advice
    assert diagnosis.commands[0] == f"cp -a {path} {path}.copy"


def test_a_poison_record_is_found_with_its_offset(real: Real) -> None:
    path = real(1, "kafka-4.3.0/static-single")
    log = path / PARTITION / LOG
    data = log.read_bytes()
    last = [
        part
        for part in scan(lambda at, size: data[at : at + size])
        if isinstance(part, RecordBatch)
    ][-1]
    poison = encode_batch(
        [(None, encode_record(*partition()))],
        base_offset=last.last_offset + 1,
        epoch=last.epoch,
        timestamp=last.header.max_timestamp,
    )
    log.write_bytes(data + poison)
    diagnosis = one("KT-LOG-REPLAY", path)
    assert diagnosis.finding.offset == last.last_offset + 1
    assert diagnosis.commands[0] == f"kraftool explain {log} --offset {last.last_offset + 1}"
    assert "NoOps" in diagnosis.finding.advice


def test_an_open_transaction_is_found(tmp_path: Path) -> None:
    path = node(
        tmp_path / "data", begun(1).data_batch(("BeginTransactionRecord", 0, {"name": "x"}))
    )
    assert commands("KT-LOG-TXN-OPEN", path) == (f"kraftool dump-log {path} --offsets 3..",)


def test_a_log_start_without_its_snapshot_is_mended_from_another_node(
    real: Real, tmp_path: Path
) -> None:
    path = real(1, "kafka-4.3.0/log-cleaning")
    whole = tmp_path / "whole"
    (path.parent).rename(whole)
    lost = real(1, "kafka-4.3.0/log-cleaning")
    snapshots = sorted((lost / PARTITION).glob("*.checkpoint"))
    starts = int(min((lost / PARTITION).glob("*.log")).stem)
    assert starts > 0
    for checkpoint in (lost / PARTITION).glob("*.checkpoint*"):
        checkpoint.unlink()
    steps = commands("KT-SNAP-MISSING", lost, whole / "data")
    assert (
        steps[-1] == f"cp -p {whole / 'data' / PARTITION / snapshots[-1].name} {lost}/{PARTITION}/"
    )


def test_a_removed_log_beside_a_snapshot_is_found(real: Real) -> None:
    path = real(4)
    (path / PARTITION / LOG).unlink()
    assert commands("KT-LOG-MISSING", path)[0].startswith("kraftool verify-snapshot ")


def test_no_command_moves_a_bad_newest_snapshot_away_which_the_advice_does_where_it_is_right(
    real: Real,
) -> None:
    path = real(2)
    newest = sorted((path / PARTITION).glob("*.checkpoint"))[-1]
    newest.write_bytes(newest.read_bytes()[:-300])
    diagnoses = found("KT-SNAP-FORM", path) + found("KT-SNAP-DAMAGE", path)
    assert diagnoses
    assert not any(line.startswith("mv ") for diagnosis in diagnoses for line in diagnosis.commands)
    assert any("the log is whole from 0" in diagnosis.finding.advice for diagnosis in diagnoses)


def test_a_copy_is_never_made_inside_a_data_directory(tmp_path: Path) -> None:
    """A broker refuses to start where a folder of log.dirs has no partition's name."""
    log = begun().noops(1, 3)
    path = node(tmp_path / "data", log)
    file = path / PARTITION / LOG
    file.write_bytes(log.data[:-10] + b"\x01" + log.data[-9:])
    for given in (path, path / PARTITION, f"{path}/"):
        diagnosis = found("KT-LOG-CRC", Path(given))[0]
        assert diagnosis.commands[0].endswith(f" {path}.copy"), diagnosis.commands


def test_every_command_of_a_report_is_one_line_for_a_shell(real: Real) -> None:
    path = real(4)
    strange = path.parent / "a path; with $(things)"
    path.rename(strange)
    (strange / PARTITION / "quorum-state").unlink()
    report: DoctorReport = doctor(strange)
    for section in report.sections:
        for diagnosis in section.diagnoses:
            for command in diagnosis.commands:
                assert "\n" not in command
                assert "things" not in command or "'" in command, command


def test_a_record_that_does_not_fit_a_wrong_snapshot_is_not_to_be_replaced(tmp_path: Path) -> None:
    """The log fits by itself: NoOps in the record's place would be a divergence made by hand."""
    log = begun(1).data_batch(topic()).data_batch(partition()).data_batch(partition(1))
    path = node(tmp_path / "data", log)
    assert not found("KT-LOG-REPLAY", path)
    snapshot(path, log.end - 2)  # without the topic
    diagnosis = one("KT-LOG-REPLAY", path)
    assert diagnosis.finding.text.endswith(". More records that do not fit: 1")
    assert diagnosis.finding.advice.startswith("this state began with a snapshot")
    assert "leave the log alone" in diagnosis.finding.advice


def test_no_line_for_a_plan_names_a_directory_of_another_cluster(real: Real) -> None:
    """recover plan refuses two clusters."""
    paths = [real(id) for id in (2, 3)]
    (paths[0] / PARTITION / LOG).unlink()
    other = real(1, "kafka-4.3.0/upgrade")
    lines = [command for _, command in doctor(*paths, other).commands]
    plans = [line for line in lines if line.startswith("kraftool recover plan ")]
    assert plans
    assert all(str(paths[0]) in line and str(other) not in line for line in plans)
    assert any("it belongs to another cluster" in why for why, _ in doctor(*paths, other).commands)


def test_a_voter_without_its_disk_is_collected_by_its_own_settings(tmp_path: Path) -> None:
    path = node(tmp_path / "1", begun())
    properties = server(tmp_path / "2.properties", 2, log_dirs=str(tmp_path / "gone"))
    lines = [command for _, command in doctor(path, properties).commands]
    (collect,) = (line for line in lines if "recover collect" in line)
    assert f"--ssh c2.example:{properties},c3.example {path} --out" in collect
    lines = [command for _, command in doctor(path).commands]
    (collect,) = (line for line in lines if "recover collect" in line)
    assert f"--ssh c2.example,c3.example {path} --out" in collect
