"""Kafka's keys: which one counts, what providers put in, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.net import jaas
from kraftool.net.providers import SettingsError, expand
from kraftool.net.security import SaslClient
from kraftool.net.settings import client_security, listener_security, peer_security, read_settings

_CLASSES = "org.apache.kafka.common.config.provider"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


def test_the_key_of_the_mechanism_counts_before_the_listeners_and_that_before_all() -> None:
    settings = {
        "sasl.enabled.mechanisms": "GSSAPI",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "sasl.jaas.config": f'{PLAIN} user_all="1";',
        "listener.name.controller.sasl.jaas.config": f'{PLAIN} user_listener="2";',
        "listener.name.controller.plain.sasl.jaas.config": f'{PLAIN} user_mechanism="3";',
    }
    for user in ("mechanism", "listener", "all"):
        server = listener_security(settings, "CONTROLLER", "SASL_PLAINTEXT").sasl
        assert server is not None
        assert server.plain is not None
        assert set(server.plain) == {user}
        last = list(settings)[-1]
        del settings[last]


def test_between_nodes_the_controllers_mechanism_counts() -> None:
    settings = {
        "sasl.mechanism.controller.protocol": "SCRAM-SHA-512",
        "listener.name.controller.scram-sha-512.sasl.jaas.config": (
            f'{SCRAM} username="node" password="secret";'
        ),
    }
    client = peer_security(settings, "CONTROLLER", "SASL_PLAINTEXT").sasl
    assert client == SaslClient(mechanism="SCRAM-SHA-512", user="node", password="secret")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"security.protocol": "KERBEROS"}, "KERBEROS"),
        ({"security.protocol": "SASL_PLAINTEXT"}, "GSSAPI"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}, "OAUTHBEARER"),
        ({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}, "sasl.jaas.config"),
        (
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": f'{SCRAM} username="a" password="b";',
            },
            "ScramLoginModule",
        ),
        (
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": f"{PLAIN};",
            },
            "username",
        ),
        ({"sasl.login.callback.handler.class": "com.example.Handler"}, "com.example.Handler"),
        ({"security.protocol": "SSL", "ssl.truststore.location": "/no/such"}, "/no/such"),
    ],
)
def test_what_is_not_supported_is_refused_and_named(settings: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        client_security(settings)


def test_a_jaas_entry_with_quotes_and_escapes() -> None:
    entry = jaas.parse(
        'a.b.PlainLoginModule  required\n username="x" password="a\\"b;c=d" debug=true;'
    )
    assert entry.name == "PlainLoginModule"
    assert entry.options == {"username": "x", "password": 'a"b;c=d', "debug": "true"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PlainLoginModule",
        "PlainLoginModule required",
        'PlainLoginModule required username="CANARY',
        'PlainLoginModule required username "CANARY";',
        'PlainLoginModule required a="b"; Other required;',
        'PlainLoginModule sometimes a="CANARY";',
    ],
)
def test_what_is_no_jaas_entry_is_refused_without_its_secrets(text: str) -> None:
    with pytest.raises(SettingsError) as raised:
        jaas.parse(text)
    assert "CANARY" not in raised.value.message + raised.value.hint


def test_providers_of_files_directories_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secrets.properties").write_text("keystore=from a file\n")
    (tmp_path / "token").write_text("from a directory")
    monkeypatch.setenv("KRAFTOOL_TEST", "from the environment")
    settings = {
        "config.providers": "file,dir,env",
        "config.providers.file.class": f"{_CLASSES}.FileConfigProvider",
        "config.providers.dir.class": f"{_CLASSES}.DirectoryConfigProvider",
        "config.providers.env.class": f"{_CLASSES}.EnvVarConfigProvider",
        "a": f"${{file:{tmp_path}/secrets.properties:keystore}}!",
        "b": f"${{dir:{tmp_path}:token}}",
        "c": "${env:KRAFTOOL_TEST}",
        "d": "${env:KRAFTOOL_NOT_THERE} ${other:x}",
    }
    expanded = expand(settings)
    assert expanded["a"] == "from a file!"
    assert expanded["b"] == "from a directory"
    assert expanded["c"] == "from the environment"
    assert expanded["d"] == settings["d"], "as Kafka leaves what it does not have"


def test_providers_keep_to_what_they_are_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KRAFTOOL_TEST", "x")
    (tmp_path / "in").mkdir()
    (tmp_path / "out").write_text("secret")
    settings = {
        "config.providers": "dir,env",
        "config.providers.dir.class": f"{_CLASSES}.DirectoryConfigProvider",
        "config.providers.dir.param.allowed.paths": str(tmp_path / "in"),
        "config.providers.env.class": f"{_CLASSES}.EnvVarConfigProvider",
        "config.providers.env.param.allowlist.pattern": "OTHER_.*",
        "a": f"${{dir:{tmp_path}:out}}",
        "b": f"${{dir:{tmp_path}/in/..:out}}",
        "c": "${env:KRAFTOOL_TEST}",
        "d": f"${{dir:{tmp_path}/in:../out}}",
    }
    assert expand(settings) == settings


def test_any_other_provider_is_refused_by_name() -> None:
    with pytest.raises(SettingsError, match=r"vault has class com\.example\.Vault"):
        expand({"config.providers": "vault", "config.providers.vault.class": "com.example.Vault"})


def test_a_command_config_that_is_not_there_is_told() -> None:
    with pytest.raises(SettingsError, match="/no/such/file"):
        read_settings("/no/such/file")
