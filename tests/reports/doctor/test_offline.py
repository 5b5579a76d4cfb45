"""Partitions without a leader while brokers run, after a shutdown, and in a stopped cluster."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from kraftool.storage.lock_taking import DirectoryLock
from tests.reports.doctor.cases import broker, found, one, partition, severities, state, topic

CODE = "KT-SIG-OFFLINE"
NO_LEADER = partition(leader=-1, isr=[12])


def test_a_partition_that_waits_for_a_fenced_broker_is_named(tmp_path: Path) -> None:
    diagnosis = one(
        CODE, state(tmp_path / "data", topic(), NO_LEADER, broker(11), broker(12, fenced=True))
    )
    assert diagnosis.finding.severity is Severity.ERROR
    assert (
        diagnosis.finding.text
        == "1 partition without a leader until broker 12 is back (it is fenced): foo-0"
    )
    assert diagnosis.evidence[0].found == "foo-0: leader -1, ISR [12], ELR [], replicas [11, 12]"
    assert diagnosis.commands[0].endswith(
        "--bootstrap-server b11.example:9092 --describe --topic foo"
    )


def test_a_member_of_the_elr_will_do(tmp_path: Path) -> None:
    empty = partition(leader=-1, isr=[], eligibleLeaderReplicas=[11, 12])
    path = state(
        tmp_path / "data",
        topic(),
        empty,
        broker(11, fenced=True),
        broker(12, fenced=True),
        broker(13),
    )
    assert "one of the brokers 11, 12" in one(CODE, path).finding.text


def test_without_isr_and_elr_the_last_known_leader_is_waited_for(tmp_path: Path) -> None:
    last = partition(leader=-1, isr=[], lastKnownElr=[12])
    path = state(tmp_path / "data", topic(), last, broker(11), broker(12, fenced=True))
    assert "until broker 12 is back" in one(CODE, path).finding.text


def test_a_broker_that_was_shut_down_and_a_stopped_cluster_are_notes(tmp_path: Path) -> None:
    stopped = broker(12, fenced=True, inControlledShutdown=True)
    assert severities(CODE, state(tmp_path / "a", topic(), NO_LEADER, broker(11), stopped)) == [
        Severity.INFO
    ]
    all_down = broker(11, fenced=True), broker(12, fenced=True)
    assert severities(CODE, state(tmp_path / "b", topic(), NO_LEADER, *all_down)) == [Severity.INFO]


def test_while_a_controller_runs_dead_brokers_are_an_error(tmp_path: Path) -> None:
    down = broker(11, fenced=True), broker(12, fenced=True)
    path = state(tmp_path / "data", topic(), NO_LEADER, *down)
    with DirectoryLock(str(path)):
        diagnosis = one(CODE, path)
    assert diagnosis.finding.severity is Severity.ERROR
    assert "until broker 12 is back (no broker is active)" in diagnosis.finding.text
    assert diagnosis.finding.advice


def test_while_a_controller_runs_a_shutdown_in_order_of_all_brokers_is_a_note(
    tmp_path: Path,
) -> None:
    down = [broker(id, fenced=True, inControlledShutdown=True) for id in (11, 12)]
    path = state(tmp_path / "data", topic(), NO_LEADER, *down)
    with DirectoryLock(str(path)):
        diagnosis = one(CODE, path)
    assert diagnosis.finding.severity is Severity.INFO
    assert "(all brokers were shut down)" in diagnosis.finding.text


def test_a_led_partition_is_fine(tmp_path: Path) -> None:
    assert not found(CODE, state(tmp_path / "data", topic(), partition(), broker(11), broker(12)))
