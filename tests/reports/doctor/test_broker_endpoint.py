"""A broker on localhost among others, two at one endpoint, and a cluster on one machine."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import Record, broker, endpoint, found, one, state


def at(id: int, host: str, port: int = 9092, **fields: bool) -> Record:
    return broker(id, endPoints=[endpoint(host, port)], **fields)


def test_a_local_broker_among_others_is_named(tmp_path: Path) -> None:
    diagnosis = one(
        "KT-SIG-BROKER-ENDPOINT", state(tmp_path / "data", at(11, "localhost"), at(12, "b12"))
    )
    assert "broker 11 advertises an address of its own machine" in diagnosis.finding.text
    assert diagnosis.evidence[0].offset == 5
    assert diagnosis.commands[0].endswith(": advertised.listeners=PLAIN://host:port")


def test_two_brokers_at_one_endpoint_are_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-BROKER-ENDPOINT", state(tmp_path / "data", at(11, "b1"), at(12, "b1")))
    assert diagnosis.finding.text == "brokers 11 and 12 advertise the same endpoint"


def test_a_wildcard_is_named(tmp_path: Path) -> None:
    diagnosis = one("KT-SIG-BROKER-ENDPOINT", state(tmp_path / "data", at(11, "0.0.0.0")))
    assert diagnosis.finding.text == "broker 11 cannot be reached: it is the wildcard address"


def test_a_second_listener_for_the_machine_itself_is_fine(tmp_path: Path) -> None:
    both = [
        broker(id, endPoints=[endpoint(f"b{id}"), {**endpoint("localhost", 9999), "name": "HERE"}])
        for id in (11, 12)
    ]
    path = state(tmp_path / "data", *both, broker(13))
    assert not found("KT-SIG-BROKER-ENDPOINT", path)


def test_one_machine_and_a_fenced_predecessor_are_fine(tmp_path: Path) -> None:
    code = "KT-SIG-BROKER-ENDPOINT"
    assert not found(code, state(tmp_path / "a", at(11, "localhost"), at(12, "localhost", 9093)))
    assert not found(code, state(tmp_path / "b", at(11, "b1"), at(12, "b1", fenced=True)))
