"""What is masked and what is shown, for every message of the catalogue and every known config."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from kraftool.decoders import codec, schema
from kraftool.decoders.redact import (
    CONFIG_PATHS,
    MASK,
    SECRET_PATHS,
    SENSITIVE_KEYS,
    config_value,
    is_harmless,
    redact,
)
from kraftool.decoders.schema.config_names import HARMLESS, MASKED

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
CANARY = "c4n4ry"

SUSPICIOUS = re.compile(
    r"secret|password|salt|hmac|auth|credential|storedKey|serverKey|token|config|^value$", re.I
)
SHOWN = {
    # Bytes without a credential in them: assignments, addresses, log positions.
    "ConsumerProtocolAssignment.userData",
    "ConsumerProtocolSubscription.userData",
    "DescribeGroupsResponse.groups.members.memberAssignment",
    "DescribeGroupsResponse.groups.members.memberMetadata",
    "EnvelopeRequest.clientHostAddress",
    "JoinGroupRequest.protocols.metadata",
    "JoinGroupResponse.members.metadata",
    "SyncGroupRequest.assignments.assignment",
    "SyncGroupResponse.assignment",
    # The id of a token and who asked for it are public.
    "CreateDelegationTokenResponse.tokenId",
    "CreateDelegationTokenResponse.tokenRequesterPrincipalName",
    "CreateDelegationTokenResponse.tokenRequesterPrincipalType",
    "DelegationTokenRecord.tokenId",
    "DescribeDelegationTokenResponse.tokens.tokenId",
    "DescribeDelegationTokenResponse.tokens.tokenRequesterPrincipalName",
    "DescribeDelegationTokenResponse.tokens.tokenRequesterPrincipalType",
    "RemoveDelegationTokenRecord.tokenId",
    # Names of configs, not their values.
    "DescribeConfigsRequest.resources.configurationKeys",
    # A client's tags say where it runs.
    "StreamsGroupDescribeResponse.groups.members.clientTags.value",
    "StreamsGroupHeartbeatRequest.clientTags.value",
}


def _filled(fields: tuple[schema.Field, ...]) -> dict[str, Any]:
    """A message in which every text and every byte string is the canary."""
    value: dict[str, Any] = {}
    for field in fields:
        inner: Any
        if field.is_struct:
            inner = _filled(field.fields)
        elif field.element in ("string", "bytes", "records"):
            inner = CANARY
        else:
            inner = 0
        value[field.name] = [inner] if field.is_array else inner
    return value


def _shown(value: Any, path: str) -> Iterator[str]:
    """Where the canary can still be seen."""
    if isinstance(value, list):
        for item in value:
            yield from _shown(item, path)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _shown(item, f"{path}.{name}")
    elif value == CANARY:
        yield path


def _suspicious(fields: tuple[schema.Field, ...], path: str) -> Iterator[str]:
    for field in fields:
        here = f"{path}.{field.name}"
        if field.is_struct:
            yield from _suspicious(field.fields, here)
        elif field.element in ("bytes", "records") or (
            field.element == "string" and SUSPICIOUS.search(field.name)
        ):
            yield here


def test_each_field_that_could_carry_a_secret_is_masked_or_known_to_carry_none() -> None:
    seen = set()
    for name in schema.names():
        fields = schema.message(name).fields
        shown = set(_shown(redact(name, _filled(fields)), name))
        seen |= shown & set(_suspicious(fields, name))
    assert seen == SHOWN


def test_each_path_of_the_tables_exists_in_the_catalogue() -> None:
    for name, paths in SECRET_PATHS.items():
        filled = _filled(schema.message(name).fields)
        before = set(_shown(filled, name))
        after = set(_shown(redact(name, filled), name))
        assert before - after == {f"{name}.{path}" for path in paths}
    for name, lists in CONFIG_PATHS.items():
        filled = _filled(schema.message(name).fields)
        before = set(_shown(filled, name))
        after = set(_shown(redact(name, filled), name))
        assert before - after == {
            ".".join(filter(None, (name, config_list.owner, config_list.entries, "value")))
            for config_list in lists
        }


def test_a_scram_credential_keeps_its_user_and_iterations_only() -> None:
    record = {
        "name": "alice",
        "mechanism": 1,
        "salt": "c2FsdA==",
        "storedKey": "a2V5",
        "serverKey": "a2V5",
        "iterations": 8192,
    }
    before = dict(record)

    assert redact("UserScramCredentialRecord", record) == {
        "name": "alice",
        "mechanism": 1,
        "salt": MASK,
        "storedKey": MASK,
        "serverKey": MASK,
        "iterations": 8192,
    }
    assert record == before, "the argument is left alone"


@pytest.mark.parametrize(
    ("resource_type", "name", "value", "shown"),
    [
        (TOPIC, "retention.ms", "1000", "1000"),
        (TOPIC, "no.such.config", "1000", MASK),
        (BROKER, "ssl.keystore.password", "pw", MASK),
        (BROKER, "ssl.keystore.password", None, None),
        (BROKER, "ssl.keystore.password", "", MASK),
        (BROKER, "log.cleaner.threads", "2", "2"),
    ],
)
def test_a_config_value_is_shown_only_when_it_is_known_to_be_harmless(
    resource_type: int, name: str, value: str | None, shown: str | None
) -> None:
    record = {"resourceType": resource_type, "resourceName": "1", "name": name, "value": value}

    assert redact("ConfigRecord", record) == {**record, "value": shown}
    assert config_value(resource_type, name, value) == shown


def test_configs_of_one_request_are_judged_by_their_own_resource() -> None:
    def resource(kind: int, name: str) -> dict[str, Any]:
        entry = {"name": name, "configOperation": 0, "value": "1"}
        return {"resourceType": kind, "resourceName": "x", "configs": [entry]}

    request = {
        "resources": [resource(TOPIC, "retention.ms"), resource(BROKER, "retention.ms")],
        "validateOnly": False,
    }

    masked = redact("IncrementalAlterConfigsRequest", request)

    assert [r["configs"][0]["value"] for r in masked["resources"]] == ["1", MASK]


def test_the_broker_default_of_a_topic_config_is_shown() -> None:
    synonyms = [
        {"name": "retention.ms", "value": "1", "source": 1},
        {"name": "log.retention.hours", "value": "168", "source": 5},
        {"name": "ssl.key.password", "value": "pw", "source": 4},
    ]
    config = {"name": "retention.ms", "value": "1", "synonyms": synonyms}
    response = {"results": [{"resourceType": TOPIC, "resourceName": "t", "configs": [config]}]}

    masked = redact("DescribeConfigsResponse", response)["results"][0]["configs"][0]

    assert masked["value"] == "1"
    assert [synonym["value"] for synonym in masked["synonyms"]] == ["1", "168", MASK]


def test_a_tagged_field_of_a_newer_kafka_is_masked_in_a_sensitive_record() -> None:
    record = {"name": "alice", "unknownTaggedFields": [[0, b"secret"]]}

    masked = redact("UserScramCredentialRecord", record)

    assert masked == {"name": "alice", "unknownTaggedFields": MASK}


def test_other_records_are_returned_as_they_are() -> None:
    record = {"name": "t", "topicId": "AAAAAAAAAAAAAAAAAAAAAQ"}

    assert redact("TopicRecord", record) is record


@pytest.mark.parametrize(
    ("name", "harmless"),
    [
        ("listener.name.internal.ssl.keystore.location", True),
        ("listener.name.internal.ssl.keystore.password", False),
        ("listener.name.internal.ssl.keystore.key", False),
        ("listener.name.internal.max.connections", True),
        ("listener.name.internal.plain.sasl.jaas.config", False),
        ("listener.name.internal.sasl.jaas.config", False),
        ("listener.name.internal.scram-sha-256.connections.max.reauth.ms", True),
        ("listener.name.internal.scram-sha-256.sasl.server.callback.handler.class", True),
        ("listener.name.internal.oauthbearer.sasl.oauthbearer.jwks.endpoint.url", False),
        # Only SASL's configs have a mechanism in front.
        ("listener.name.internal.plain.log.cleaner.threads", False),
        ("listener.name.internal.a.b.sasl.server.callback.handler.class", False),
        ("listener.name.internal", False),
        ("listener.name.", False),
        ("config.providers.vault.param.token", False),
        ("rsm.config.secret", False),
        ("LOG.CLEANER.THREADS", False),
        ("", False),
    ],
)
def test_a_listener_prefix_leaves_the_judgement_to_the_config_behind_it(
    name: str, harmless: bool
) -> None:
    assert is_harmless(BROKER, name) is harmless


def test_a_listener_prefix_means_nothing_outside_of_brokers() -> None:
    assert is_harmless(TOPIC, "retention.ms")
    assert not is_harmless(TOPIC, "listener.name.internal.retention.ms")


def test_unknown_resource_types_show_nothing() -> None:
    for kind in (0, BROKER_LOGGER, 64, -1):
        assert not is_harmless(kind, "retention.ms")


@pytest.mark.parametrize(
    "name",
    [
        "sasl.jaas.config",
        "ssl.key.password",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.password",
        "ssl.truststore.certificates",
        "ssl.truststore.password",
        "delegation.token.secret.key",
        "delegation.token.master.key",
        "password.encoder.secret",
        "password.encoder.old.secret",
        "sasl.oauthbearer.token.endpoint.url",
        "sasl.oauthbearer.jwks.endpoint.url",
        "sasl.oauthbearer.client.credentials.client.secret",
        "zookeeper.ssl.keystore.password",
    ],
)
def test_known_secrets_of_brokers_are_known_and_masked(name: str) -> None:
    assert name in MASKED[BROKER]
    assert not is_harmless(BROKER, name)


@pytest.mark.parametrize(
    ("resource_type", "name"),
    [
        (BROKER, "controller.quorum.voters"),
        (BROKER, "listeners"),
        (BROKER, "advertised.listeners"),
        (BROKER, "log.dirs"),
        (BROKER, "node.id"),
        (BROKER, "process.roles"),
        (BROKER, "principal.builder.class"),
        (BROKER, "metric.reporters"),
        (BROKER, "sasl.server.callback.handler.class"),
        (BROKER, "leader.replication.throttled.rate"),
        (BROKER, "zookeeper.connect"),
        (TOPIC, "cleanup.policy"),
        (TOPIC, "message.format.version"),
        (TOPIC, "leader.replication.throttled.replicas"),
        (CLIENT_METRICS, "match"),
        (GROUP, "consumer.session.timeout.ms"),
    ],
)
def test_what_operators_look_for_is_shown(resource_type: int, name: str) -> None:
    assert is_harmless(resource_type, name)


def test_no_config_is_both_shown_and_masked() -> None:
    assert HARMLESS.keys() == MASKED.keys()
    for kind, names in HARMLESS.items():
        assert not names & MASKED[kind]
        assert not [n for n in names if re.search(r"password$|secret$|passphrase|jaas", n)]


def test_records_that_stay_hidden_when_undecodable_are_those_with_secrets_and_tokens() -> None:
    names = {message.name for key in SENSITIVE_KEYS if (message := schema.metadata_record(key))}

    assert names == {"ConfigRecord", "DelegationTokenRecord", "UserScramCredentialRecord"}
    assert {n for n in schema.names("metadata") if n in {*SECRET_PATHS, *CONFIG_PATHS}} <= names


def test_masking_takes_the_json_form_of_the_codec() -> None:
    fields = {"name": "bob", "mechanism": 2, "salt": b"s", "storedKey": b"k", "serverKey": b"v"}
    data = codec.encode("UserScramCredentialRecord", 0, {**fields, "iterations": 4096})
    decoded, _ = codec.json_decoder("UserScramCredentialRecord", 0)(data, 0)

    masked = redact("UserScramCredentialRecord", decoded)

    assert [masked[name] for name in ("salt", "storedKey", "serverKey")] == [MASK] * 3
    assert masked["iterations"] == 4096
