"""What a node takes for a configuration, and what real Kafka's KafkaConfig took for one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kraftool.node.config import ConfigRefused, config_of
from tests.interop import kafka
from tests.interop.recorded import Recording, words

JUDGE = Path(__file__).parent / "java" / "ConfigJudge.java"
DYNAMIC = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
    "log.dirs": "/var/lib/kafka/a,/var/lib/kafka/b",
}
STATIC = {**DYNAMIC, "controller.quorum.voters": "1@localhost:9093,2@localhost:9094"}
BROKER = {
    **DYNAMIC,
    "process.roles": "broker",
    "node.id": "11",
    "listeners": "PLAINTEXT://127.0.0.1:9092",
}
COMBINED = {
    **DYNAMIC,
    "process.roles": "broker,controller",
    "listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093",
}
MAP = "listener.security.protocol.map"

_ABSENT = ""
CASES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "dynamic": (DYNAMIC, {}),
    "static": (STATIC, {}),
    "broker": (BROKER, {}),
    "combined": (COMBINED, {}),
    "blanks around": (STATIC, {"node.id": " 1 ", "process.roles": " controller "}),
    "no roles": (DYNAMIC, {"process.roles": _ABSENT}),
    "empty roles": (DYNAMIC, {"process.roles": " "}),
    "a role unknown": (DYNAMIC, {"process.roles": "controller,voter"}),
    "a role twice": (DYNAMIC, {"process.roles": "controller,controller"}),
    "roles in capitals": (DYNAMIC, {"process.roles": "Controller"}),
    "a comma at the end of roles": (DYNAMIC, {"process.roles": "controller,"}),
    "no id": (DYNAMIC, {"node.id": _ABSENT}),
    "a negative id": (DYNAMIC, {"node.id": "-1"}),
    "an id of words": (DYNAMIC, {"node.id": "one"}),
    "an id too large": (DYNAMIC, {"node.id": "2147483648"}),
    "an id with a plus": (DYNAMIC, {"node.id": "+1"}),
    "broker.id instead": (DYNAMIC, {"node.id": _ABSENT, "broker.id": "1"}),
    "broker.id the same": (DYNAMIC, {"broker.id": "1"}),
    "broker.id another": (DYNAMIC, {"broker.id": "2"}),
    "broker.id of -1": (DYNAMIC, {"broker.id": "-1"}),
    "no controller listener": (DYNAMIC, {"controller.listener.names": _ABSENT}),
    "an empty controller listener": (DYNAMIC, {"controller.listener.names": " "}),
    "controller listeners twice": (
        DYNAMIC,
        {"controller.listener.names": "CONTROLLER,CONTROLLER"},
    ),
    "a controller listener that is not bound": (DYNAMIC, {"controller.listener.names": "OTHER"}),
    "one of two bound": (DYNAMIC, {"controller.listener.names": "CONTROLLER,OTHER"}),
    "two listeners": (
        DYNAMIC,
        {
            "controller.listener.names": "CONTROLLER,OTHER",
            "listeners": "CONTROLLER://127.0.0.1:9093,OTHER://127.0.0.1:9094",
        },
    ),
    "names in small letters": (DYNAMIC, {"controller.listener.names": "controller"}),
    "listeners in small letters": (DYNAMIC, {"listeners": "controller://127.0.0.1:9093"}),
    "a broker's listener of a controller": (
        DYNAMIC,
        {"listeners": "CONTROLLER://127.0.0.1:9093,PLAINTEXT://127.0.0.1:9092"},
    ),
    "listeners by default": (DYNAMIC, {"listeners": _ABSENT}),
    "no port": (DYNAMIC, {"listeners": "CONTROLLER://127.0.0.1"}),
    "port 0": (DYNAMIC, {"listeners": "CONTROLLER://127.0.0.1:0"}),
    "port 65536": (DYNAMIC, {"listeners": "CONTROLLER://127.0.0.1:65536"}),
    "port -1": (DYNAMIC, {"listeners": "CONTROLLER://127.0.0.1:-1"}),
    "every interface": (DYNAMIC, {"listeners": "CONTROLLER://:9093"}),
    "0.0.0.0": (DYNAMIC, {"listeners": "CONTROLLER://0.0.0.0:9093"}),
    "every interface of a static quorum": (
        STATIC,
        {
            "listeners": "CONTROLLER://:9093",
            "controller.quorum.voters": "1@example.com:19093",
        },
    ),
    "every interface advertised by a static voter": (
        STATIC,
        {
            "advertised.listeners": "CONTROLLER://:9093",
            "controller.quorum.voters": "1@example.com:19093",
        },
    ),
    "the second listener of a static voter": (
        STATIC,
        {
            "controller.listener.names": "A,B",
            "listeners": "B://:9093,A://:9094",
            "controller.quorum.voters": "1@example.com:19093",
        },
    ),
    "0.0.0.0 of a static quorum": (STATIC, {"listeners": "CONTROLLER://0.0.0.0:9093"}),
    "0.0.0.0 advertised otherwise": (
        DYNAMIC,
        {
            "listeners": "CONTROLLER://0.0.0.0:9093",
            "advertised.listeners": "CONTROLLER://example.com:9093",
        },
    ),
    "0.0.0.0 advertised": (DYNAMIC, {"advertised.listeners": "CONTROLLER://0.0.0.0:9093"}),
    "IPv6": (DYNAMIC, {"listeners": "CONTROLLER://[::1]:9093"}),
    "IPv6's every interface": (DYNAMIC, {"listeners": "CONTROLLER://[::]:9093"}),
    "a combined node's every interface": (
        COMBINED,
        {"listeners": "CONTROLLER://0.0.0.0:9093,PLAINTEXT://0.0.0.0:9092"},
    ),
    "a combined node that advertises another name": (
        COMBINED,
        {
            "advertised.listeners": "OTHER://h:1",
            MAP: "OTHER:PLAINTEXT,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        },
    ),
    "a broker at 0.0.0.0": (BROKER, {"listeners": "PLAINTEXT://0.0.0.0:9092"}),
    "a broker that tells its controllers": (
        BROKER,
        {"advertised.listeners": "PLAINTEXT://h:9092,CONTROLLER://h:1"},
    ),
    "a broker's listener of another name": (
        BROKER,
        {"listeners": "INTERNAL://h:9092", MAP: "INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"},
    ),
    "a broker's listener by its name": (
        BROKER,
        {
            "listeners": "INTERNAL://h:9092",
            "inter.broker.listener.name": "INTERNAL",
            MAP: "INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
        },
    ),
    "a host with an underscore": (DYNAMIC, {"listeners": "CONTROLLER://a_b:9093"}),
    "one port twice": (
        DYNAMIC,
        {
            "controller.listener.names": "CONTROLLER,OTHER",
            "listeners": "CONTROLLER://localhost:9093,OTHER://localhost:9093",
        },
    ),
    "one port of both families": (
        DYNAMIC,
        {
            "controller.listener.names": "CONTROLLER,OTHER",
            "listeners": "CONTROLLER://127.0.0.1:9093,OTHER://[::1]:9093",
        },
    ),
    "one listener twice": (
        DYNAMIC,
        {"listeners": "CONTROLLER://127.0.0.1:9093,CONTROLLER://127.0.0.1:9094"},
    ),
    "advertised": (DYNAMIC, {"advertised.listeners": "CONTROLLER://example.com:19093"}),
    "advertised empty": (DYNAMIC, {"advertised.listeners": ""}),
    "advertised blank": (DYNAMIC, {"advertised.listeners": " "}),
    "advertised what is not bound": (DYNAMIC, {"advertised.listeners": "OTHER://example.com:1"}),
    "advertised a broker's": (
        DYNAMIC,
        {"advertised.listeners": "CONTROLLER://c:1,PLAINTEXT://example.com:1"},
    ),
    "advertised twice": (
        DYNAMIC,
        {"advertised.listeners": "CONTROLLER://example.com:1,CONTROLLER://example.com:2"},
    ),
    "advertised by a combined node": (
        COMBINED,
        {"advertised.listeners": "PLAINTEXT://example.com:1"},
    ),
    "combined without a broker's listener": (
        COMBINED,
        {"listeners": "CONTROLLER://127.0.0.1:9093"},
    ),
    "combined without a controller's": (COMBINED, {"listeners": "PLAINTEXT://127.0.0.1:9092"}),
    "a broker with a controller's listener": (
        BROKER,
        {"listeners": "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093"},
    ),
    "a map": (DYNAMIC, {MAP: "CONTROLLER:PLAINTEXT"}),
    "a map in small letters": (DYNAMIC, {MAP: "controller:plaintext"}),
    "a map without the controller": (DYNAMIC, {MAP: "OTHER:PLAINTEXT"}),
    "a map with an unknown protocol": (DYNAMIC, {MAP: "CONTROLLER:TLS"}),
    "a map without a colon": (DYNAMIC, {MAP: "CONTROLLER"}),
    "an empty map": (DYNAMIC, {MAP: ""}),
    "a map of a broker": (BROKER, {MAP: "PLAINTEXT:PLAINTEXT"}),
    "a map with SSL": (DYNAMIC, {MAP: "CONTROLLER:SSL"}),
    "SSL by its name": (
        DYNAMIC,
        {"controller.listener.names": "SSL", "listeners": "SSL://127.0.0.1:9093"},
    ),
    "SSL beside another": (
        DYNAMIC,
        {
            "controller.listener.names": "SSL,CONTROLLER",
            "listeners": "SSL://127.0.0.1:9093,CONTROLLER://127.0.0.1:9094",
        },
    ),
    "neither voters nor servers": (
        DYNAMIC,
        {"controller.quorum.bootstrap.servers": _ABSENT},
    ),
    "not among the voters": (STATIC, {"node.id": "3"}),
    "a broker among the voters": (
        BROKER,
        {"controller.quorum.voters": "11@localhost:9093"},
    ),
    "voters without an @": (STATIC, {"controller.quorum.voters": "1localhost:9093"}),
    "voters without a port": (STATIC, {"controller.quorum.voters": "1@localhost"}),
    "voters of 0.0.0.0": (STATIC, {"controller.quorum.voters": "1@0.0.0.0:9093"}),
    "voters of IPv6": (STATIC, {"controller.quorum.voters": "1@[::1]:9093"}),
    "voters with a protocol": (STATIC, {"controller.quorum.voters": "1@PLAINTEXT://c:9093"}),
    "voters of words": (STATIC, {"controller.quorum.voters": "one@localhost:9093"}),
    "voters with blanks": (
        STATIC,
        {"controller.quorum.voters": " 1@localhost:9093 , 2@localhost:9094"},
    ),
    "voters with a comma at the end": (STATIC, {"controller.quorum.voters": "1@localhost:9093,"}),
    "voters with port 70000": (STATIC, {"controller.quorum.voters": "1@localhost:70000"}),
    "voters with port 0": (STATIC, {"controller.quorum.voters": "1@localhost:0"}),
    "a voter twice": (
        STATIC,
        {"controller.quorum.voters": "1@localhost:9093,1@localhost:9094"},
    ),
    "a negative voter": (
        STATIC,
        {"controller.quorum.voters": "1@localhost:9093,-2@localhost:9094"},
    ),
    "servers without a port": (DYNAMIC, {"controller.quorum.bootstrap.servers": "localhost"}),
    "servers of 0.0.0.0": (DYNAMIC, {"controller.quorum.bootstrap.servers": "0.0.0.0:9093"}),
    "servers with ids": (DYNAMIC, {"controller.quorum.bootstrap.servers": "1@localhost:9093"}),
    "log.dir": (DYNAMIC, {"log.dirs": _ABSENT, "log.dir": "/var/lib/kafka/c"}),
    "no log dirs": (DYNAMIC, {"log.dirs": _ABSENT}),
    "empty log dirs": (DYNAMIC, {"log.dirs": " "}),
    "log dirs twice": (DYNAMIC, {"log.dirs": "/a,/a"}),
    "a comma at the end of log dirs": (DYNAMIC, {"log.dirs": "/a,"}),
    "metadata.log.dir": (DYNAMIC, {"metadata.log.dir": "/var/lib/kafka/m"}),
    "metadata.log.dir among log dirs": (DYNAMIC, {"metadata.log.dir": "/var/lib/kafka/b"}),
    "auto.join of yes": (DYNAMIC, {"controller.quorum.auto.join.enable": "yes"}),
    "auto.join of TRUE": (DYNAMIC, {"controller.quorum.auto.join.enable": "TRUE"}),
    "auto.join in a static quorum": (STATIC, {"controller.quorum.auto.join.enable": "true"}),
    "auto.join of a broker": (BROKER, {"controller.quorum.auto.join.enable": "true"}),
    "small segments": (DYNAMIC, {"metadata.log.segment.bytes": "8388607"}),
    "small internal segments": (DYNAMIC, {"internal.metadata.log.segment.bytes": "1024"}),
    "segment.ms of -1": (DYNAMIC, {"metadata.log.segment.ms": "-1"}),
    "retention of -1": (
        DYNAMIC,
        {"metadata.max.retention.bytes": "-1", "metadata.max.retention.ms": "-1"},
    ),
    "snapshots after 0 bytes": (
        DYNAMIC,
        {"metadata.log.max.record.bytes.between.snapshots": "0"},
    ),
    "snapshots after 0 ms": (DYNAMIC, {"metadata.log.max.snapshot.interval.ms": "0"}),
    "snapshots after -1 ms": (DYNAMIC, {"metadata.log.max.snapshot.interval.ms": "-1"}),
    "idle of -1": (DYNAMIC, {"metadata.max.idle.interval.ms": "-1"}),
    "election timeout of 0": (DYNAMIC, {"controller.quorum.election.timeout.ms": "0"}),
    "election timeout of -1": (DYNAMIC, {"controller.quorum.election.timeout.ms": "-1"}),
    "a timeout that is no number": (DYNAMIC, {"controller.quorum.fetch.timeout.ms": "2s"}),
    "a timeout that is empty": (DYNAMIC, {"controller.quorum.fetch.timeout.ms": ""}),
    "fetch.max.bytes of 0": (DYNAMIC, {"controller.quorum.fetch.max.bytes": "0"}),
    "snapshot.max.bytes of 0": (DYNAMIC, {"controller.quorum.fetch.snapshot.max.bytes": "0"}),
    "requests of 0 bytes": (DYNAMIC, {"socket.request.max.bytes": "0"}),
    "connections of -1": (DYNAMIC, {"max.connections": "-1"}),
    "overrides": (DYNAMIC, {"max.connections.per.ip.overrides": "127.0.0.1:5"}),
    "an unknown key": (DYNAMIC, {"controller.quorum.feetch.timeout.ms": "abc"}),
}  # fmt: skip

STRICTER = {
    "port 65536": "there is no such port; the server ends when it binds it",
    "voters of 0.0.0.0": "the server ends when it reads its voters",
    "voters with port 70000": "there is no such port",
    "a negative voter": "no node has a negative id",
    "voters with port 0": "nobody is reached at port 0",
}
"""What is refused here and not there, and why."""

NAMELESS = ("IPv6's every interface",)
"""Kafka advertises ::, where nobody is reached."""


def _given(name: str) -> dict[str, str]:
    base, changes = CASES[name]
    merged = {**base, **changes}
    return {
        key: value
        for key, value in merged.items()
        if not (value == _ABSENT and key in base and key in changes)
    }


def _verdicts(version: str) -> dict[str, Any]:
    lines = "".join(json.dumps(_given(name)) + "\n" for name in CASES)
    done = kafka.run_source(version, JUDGE, stdin=lines.encode(), check=True)
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return dict(zip(CASES, answers, strict=True))


RECORDINGS = [
    Recording(
        name="configs",
        release=version,
        command="java/ConfigJudge.java",
        sources=(JUDGE,),
        about=lambda: words({name: _given(name) for name in CASES}),
        ask=partial(_verdicts, version),
    )
    for version in (kafka.TOOLS_VERSION, kafka.NEWEST)
]


@pytest.fixture(scope="module", params=RECORDINGS, ids=str)
def verdicts(request: pytest.FixtureRequest) -> dict[str, Any]:
    recording: Recording = request.param
    return recording.answers()


def test_what_kafka_refuses_is_refused_and_what_it_takes_is_taken(
    verdicts: dict[str, Any],
) -> None:
    wrong = []
    for name, verdict in verdicts.items():
        try:
            config_of(_given(name))
            refused = ""
        except ConfigRefused as error:
            refused = "; ".join(error.reasons)
        if bool(refused) != (verdict["refused"] is not None) and name not in STRICTER:
            wrong.append(
                f"{name}: Kafka {verdict['refused'] or 'takes it'} | we {refused or 'take it'}"
            )
    assert not wrong, "\n".join(wrong)


def test_the_directory_and_the_endpoints_are_those_that_kafka_reads(
    verdicts: dict[str, Any],
) -> None:
    for name, verdict in verdicts.items():
        if verdict["refused"] is not None or name in STRICTER:
            continue
        config = config_of(_given(name))
        if config.is_controller:
            assert config.settings(directory_id="x", cluster_id="y").listeners, name
        assert config.metadata_directory == verdict["directory"], name
        if not config.is_controller or name in NAMELESS:
            continue
        for (listener, at), there in zip(
            config.advertised().items(), verdict["advertised"], strict=True
        ):
            # Where Kafka has no host yet, the machine's name comes in when it starts.
            host = "null" if " null " in there else at.host
            assert f"{listener} {host} {at.port}" == there, name
            assert at.host not in ("", "0.0.0.0"), name
