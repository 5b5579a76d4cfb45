"""A server.properties as a node takes it. What Kafka takes and refuses is asked of Kafka itself in
tests/interop/test_node_config.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.node.config import STANDARD_AUTHORIZER, ConfigRefused, config_of, read_config
from kraftool.node.config_keys import is_known, is_of_security
from kraftool.raft.names import Endpoint, ReplicaKey
from kraftool.raft.settings import Timing
from kraftool.storage.log_config import LogConfig

GIVEN = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:0",
    "controller.quorum.bootstrap.servers": "c1:9093, c2:9093",
    "log.dirs": "/a,/b",
}


def test_what_is_not_given_has_the_defaults_of_the_core_and_of_the_log() -> None:
    config = config_of(GIVEN)
    assert config.timing == Timing()
    assert config.log == LogConfig()
    assert config.metadata_directory == "/a"
    assert config.directories() == ("/a", "/b")
    assert config.limits.request_max_bytes == 100 << 20
    assert config.notes == ()


def test_every_key_of_the_quorum_and_of_the_log_arrives() -> None:
    config = config_of(
        {
            **GIVEN,
            "controller.quorum.election.timeout.ms": "1",
            "controller.quorum.fetch.timeout.ms": "2",
            "controller.quorum.election.backoff.max.ms": "3",
            "controller.quorum.append.linger.ms": "4",
            "controller.quorum.request.timeout.ms": "5",
            "controller.quorum.retry.backoff.ms": "6",
            "controller.quorum.fetch.max.bytes": "7",
            "controller.quorum.fetch.snapshot.max.bytes": "8",
            "controller.quorum.auto.join.enable": "true",
            "metadata.log.segment.bytes": "9000000",
            "metadata.log.segment.ms": "10",
            "metadata.max.retention.bytes": "-1",
            "metadata.max.retention.ms": "12",
            "metadata.log.max.record.bytes.between.snapshots": "13",
            "metadata.log.max.snapshot.interval.ms": "0",
            "metadata.max.idle.interval.ms": "15",
            "metadata.log.dir": "/m",
            "super.users": "User:admin;User:CN=a,O=b",
            "authorizer.class.name": "a.b.C",
        }
    )
    assert config.timing == Timing(
        election_timeout_ms=1,
        fetch_timeout_ms=2,
        election_backoff_max_ms=3,
        append_linger_ms=4,
        request_timeout_ms=5,
        retry_backoff_ms=6,
    )
    assert config.log == LogConfig(
        segment_bytes=9_000_000,
        segment_ms=10,
        retention_bytes=-1,
        retention_ms=12,
        snapshot_after_bytes=13,
        snapshot_after_ms=0,
    )
    assert config.directories() == ("/m", "/a", "/b")
    assert config.max_idle_interval_ms == 15
    assert config.super_users == {"User:admin", "User:CN=a,O=b"}
    settings = config.settings(directory_id="x", cluster_id="y", ports={"CONTROLLER": 4711})
    assert settings.listeners == {"CONTROLLER": Endpoint("127.0.0.1", 4711)}
    assert (settings.fetch_max_bytes, settings.fetch_snapshot_max_bytes) == (7, 8)
    assert settings.auto_join
    assert settings.bootstrap_servers == (Endpoint("c1", 9093), Endpoint("c2", 9093))


def test_static_voters_are_reached_by_the_first_controller_listener() -> None:
    config = config_of({**GIVEN, "controller.quorum.voters": "1@h:1,2@[::1]:2"})
    voter = config.static_voters.voters[2]
    assert (voter.key, voter.endpoints) == (ReplicaKey(2), {"CONTROLLER": Endpoint("::1", 2)})


def test_all_contradictions_are_told_at_once() -> None:
    with pytest.raises(ConfigRefused) as refused:
        config_of({**GIVEN, "node.id": "x", "controller.listener.names": "A,B", "log.dirs": " "})
    text = str(refused.value)
    for word in ("node.id: 'x'", "A is not in listeners", "B is not in listeners", "log.dirs"):
        assert word in text


def test_a_misspelt_key_is_noted_and_one_of_kafka_is_not() -> None:
    config = config_of(
        {
            **GIVEN,
            "controller.quorum.fetch.timeuot.ms": "1",
            "num.io.threads": "2",
            "listener.name.controller.ssl.keystore.location": "/k",
            "listener.name.sasl.scram-sha-256.sasl.jaas.config": "…",
            "listener.name.controller.ssl.keystroe.location": "/k",
        }
    )
    noted = [note.partition(" ")[0] for note in config.notes]
    assert noted == [
        "controller.quorum.fetch.timeuot.ms",
        "listener.name.controller.ssl.keystroe.location",
    ]


def test_security_is_collected_and_never_shown() -> None:
    config = config_of({**GIVEN, "ssl.key.password": "canary", "sasl.jaas.config": "canary"})
    assert set(config.security) == {"ssl.key.password", "sasl.jaas.config"}
    assert "canary" not in repr(config)


@pytest.mark.parametrize(
    ("key", "known", "security"),
    [
        ("ssl.keystore.type", True, True),
        ("listener.name.x.connections.max.reauth.ms", True, True),
        ("listener.name.x.plain.connections.max.reauth.ms", True, True),
        ("config.providers.file.class", True, False),
        ("broker.id", True, False),
        ("log.dirz", False, False),
    ],
)
def test_keys_are_known_or_not(key: str, known: bool, security: bool) -> None:
    assert (is_known(key), is_of_security(key)) == (known, security)


def test_a_file_is_read_with_what_its_providers_fill_in(tmp_path: Path) -> None:
    (tmp_path / "more").write_text("id=7\n")
    path = tmp_path / "server.properties"
    lines = {
        **GIVEN,
        "config.providers": "file",
        "config.providers.file.class": (
            "org.apache.kafka.common.config.provider.FileConfigProvider"
        ),
        "node.id": f"${{file:{tmp_path / 'more'}:id}}",
    }
    path.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    config = read_config(str(path), overrides={"log.dirs": "/c"})
    assert (config.node_id, config.metadata_directory) == (7, "/c")
    assert config.notes == ()


@pytest.mark.parametrize(
    ("given", "allows", "notes"),
    [
        ({}, False, 0),
        ({"authorizer.class.name": STANDARD_AUTHORIZER}, False, 0),
        ({"allow.everyone.if.no.acl.found": " TRUE "}, True, 0),
        ({"allow.everyone.if.no.acl.found": "yes"}, False, 0),
        ({"authorizer.class.name": "a.b.C"}, False, 1),
    ],
)
def test_an_authorizer_that_kraftool_cannot_run_is_noted_and_kafkas_is_configured(
    given: dict[str, str], allows: bool, notes: int
) -> None:
    config = config_of(GIVEN | given)
    assert config.allows_without_acls is allows
    assert len(config.notes) == notes
    assert all("kraftool cannot run a.b.C" in note for note in config.notes)
