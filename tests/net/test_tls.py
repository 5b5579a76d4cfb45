"""TLS between both sides, by Kafka's ssl.* keys: who is believed, and who one is then."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

from kraftool.image.acls import ANONYMOUS
from kraftool.net.connection import connect
from kraftool.net.errors import AuthenticationError, NetError
from kraftool.net.guests import Limits
from kraftool.net.principals import distinguished_name, mapping
from kraftool.net.providers import SettingsError
from kraftool.net.settings import client_security, listener_security
from kraftool.net.tls import openssl_name
from tests.net.certificates import Certified, authority, node
from tests.net.serving import answer_to, serving, until

Settings = dict[str, str]


@pytest.fixture(scope="module")
def trusted() -> Certified:
    return authority()


def _inline(own: Certified) -> Settings:
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": own.key_pem(),
        "ssl.keystore.certificate.chain": own.pem,
    }


def _trusting(one: Certified) -> Settings:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": one.pem}


def _principal(server: Settings, client: Settings) -> str:
    """Who the server takes the client for."""

    async def run() -> str:
        security = listener_security(server, "CONTROLLER", "SSL")
        async with serving(security=security) as (_, where):
            connection = await connect(
                where, client_security({"security.protocol": "SSL", **client}), timeout_s=30
            )
            body = await connection.request("DescribeQuorum", None, {"topics": []}, 30)
            await connection.close()
            return str(body["errorMessage"])

    return asyncio.run(run())


def test_a_client_that_shows_nothing_is_anonymous(trusted: Certified) -> None:
    assert _principal(_inline(node(trusted)), _trusting(trusted)) == ANONYMOUS


def test_a_client_that_shows_a_certificate_is_its_subject(trusted: Certified) -> None:
    server = {**_inline(node(trusted)), **_trusting(trusted), "ssl.client.auth": "required"}
    client = {**_inline(node(trusted, "node-2")), **_trusting(trusted)}
    assert _principal(server, client) == "User:CN=node-2"
    server["ssl.principal.mapping.rules"] = "RULE:^CN=(.*?)$/$1/U,DEFAULT"
    assert _principal(server, client) == "User:NODE-2"


def test_a_client_without_the_certificate_that_is_required_gets_nothing(
    trusted: Certified,
) -> None:
    server = {**_inline(node(trusted)), **_trusting(trusted), "ssl.client.auth": "required"}
    with pytest.raises(NetError):
        _principal(server, _trusting(trusted))
    stranger = authority("Stranger")
    with pytest.raises(NetError):
        _principal(server, {**_inline(node(stranger)), **_trusting(trusted)})


def test_a_server_that_is_not_trusted_is_refused(trusted: Certified) -> None:
    with pytest.raises(AuthenticationError, match="certificate is not accepted"):
        _principal(_inline(node(trusted)), _trusting(authority("Another")))


def test_a_server_of_another_name_is_refused_unless_names_are_not_looked_at(
    trusted: Certified,
) -> None:
    server = _inline(node(trusted, host="elsewhere.example"))
    with pytest.raises(AuthenticationError, match="certificate is not accepted"):
        _principal(server, _trusting(trusted))
    client = {**_trusting(trusted), "ssl.endpoint.identification.algorithm": ""}
    assert _principal(server, client) == ANONYMOUS


def test_a_port_forward_is_checked_against_the_name_behind_it(trusted: Certified) -> None:
    async def run() -> None:
        own = node(trusted, host="ctl-1.example")
        security = listener_security(_inline(own), "CONTROLLER", "SSL")
        asker = client_security({"security.protocol": "SSL", **_trusting(trusted)})
        async with serving(security=security) as (_, where):
            with pytest.raises(AuthenticationError):
                await connect(where, asker)
            connection = await connect(where, asker, server_name="ctl-1.example")
            await connection.close()

    asyncio.run(run())


@pytest.mark.parametrize("password", ["", "key secret"])
def test_pem_files(trusted: Certified, tmp_path: Path, password: str) -> None:
    (tmp_path / "ca.pem").write_text(trusted.pem)
    server = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(node(trusted).write(tmp_path / "node.pem", password)),
        "ssl.key.password": password,
    }
    client = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(tmp_path / "ca.pem")}
    assert _principal(server, client) == ANONYMOUS


def test_a_pkcs12_keystore(trusted: Certified, tmp_path: Path) -> None:
    own = node(trusted)
    (tmp_path / "node.p12").write_bytes(
        pkcs12.serialize_key_and_certificates(
            b"node",
            own.key,
            own.certificate,
            [trusted.certificate],
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    server = {
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.location": str(tmp_path / "node.p12"),
        "ssl.keystore.password": "secret",
    }
    assert _principal(server, _trusting(trusted)) == ANONYMOUS
    with pytest.raises(SettingsError, match=r"listener CONTROLLER: .*node\.p12.*password"):
        listener_security({**server, "ssl.keystore.password": "wrong"}, "CONTROLLER", "SSL")


def test_protocol_versions_are_limited(trusted: Certified) -> None:
    server = {**_inline(node(trusted)), "ssl.enabled.protocols": "TLSv1.2"}
    assert _principal(server, _trusting(trusted)) == ANONYMOUS
    client = {**_trusting(trusted), "ssl.enabled.protocols": "TLSv1.3"}
    with pytest.raises(AuthenticationError):
        _principal(server, client)


def test_cipher_suites_have_the_names_of_java(trusted: Certified) -> None:
    suite = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    context = listener_security(
        {**_inline(node(trusted)), "ssl.cipher.suites": suite}, "CONTROLLER", "SSL"
    ).tls
    assert context is not None
    assert context.maximum_version is ssl.TLSVersion.TLSv1_2
    older = {cipher["name"] for cipher in context.get_ciphers() if cipher["protocol"] != "TLSv1.3"}
    assert older == {"ECDHE-ECDSA-AES256-GCM-SHA384"}
    everything = ssl.create_default_context()
    everything.set_ciphers("ALL:@SECLEVEL=0")
    known = {cipher["name"] for cipher in everything.get_ciphers()}
    for java in (
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384",
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384",
        "TLS_RSA_WITH_AES_128_GCM_SHA256",
    ):
        assert openssl_name(java) in known, java


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ssl.engine.factory.class", "com.example.Factory"),
        ("ssl.provider", "BCFIPS"),
        ("ssl.keystore.type", "BCFKS"),
        ("ssl.client.auth", "perhaps"),
        ("ssl.enabled.protocols", "SSLv3"),
        ("ssl.trustmanager.algorithm", "Own"),
        ("ssl.cipher.suites", "TLS_NO_SUCH_WITH_ANYTHING"),
        ("ssl.principal.mapping.rules", "RULE:("),
        ("principal.builder.class", "com.example.Builder"),
    ],
)
def test_what_is_not_supported_is_refused_and_named(
    trusted: Certified, tmp_path: Path, key: str, value: str
) -> None:
    settings = {**_inline(node(trusted)), key: value}
    if key == "ssl.keystore.type":
        settings = {key: value, "ssl.keystore.location": str(tmp_path / "x")}
    with pytest.raises(SettingsError) as raised:
        listener_security(settings, "CONTROLLER", "SSL")
    assert "listener CONTROLLER" in raised.value.message
    assert key in raised.value.message or value in raised.value.message


def test_a_key_of_another_certificate_is_refused(trusted: Certified) -> None:
    settings = {**_inline(node(trusted)), "ssl.keystore.key": node(trusted).key_pem()}
    with pytest.raises(SettingsError, match="does not fit its certificate"):
        listener_security(settings, "CONTROLLER", "SSL")


def test_secrets_are_not_shown(trusted: Certified) -> None:
    security = listener_security(_inline(node(trusted)), "CONTROLLER", "SSL")
    assert "PRIVATE" not in repr(security)


def test_plain_text_to_a_listener_with_tls_ends_the_connection(trusted: Certified) -> None:
    async def run() -> None:
        security = listener_security(_inline(node(trusted)), "CONTROLLER", "SSL")
        async with serving(security=security) as (server, where):
            await answer_to(where, b"\x00\x00\x00\x05hello")
            await until(lambda: server.connections == 0)

    asyncio.run(run())


def test_a_handshake_that_does_not_end_is_cut_off(trusted: Certified) -> None:
    async def run() -> None:
        security = listener_security(_inline(node(trusted)), "CONTROLLER", "SSL")
        limits = Limits(authentication_s=0.3)
        async with serving(security=security, limits=limits) as (server, where):
            assert await answer_to(where, b"\x16\x03\x01") == b""
            await until(lambda: server.connections == 0)

    asyncio.run(run())


def test_names_are_as_java_writes_them(trusted: Certified) -> None:
    """What X500Principal.getName() of Java 17 says of the same subjects."""
    own = node(
        trusted,
        'a "b", c+d',
        more=(
            (NameOID.ORGANIZATIONAL_UNIT_NAME, "Ops"),
            (NameOID.ORGANIZATION_NAME, "Example <Inc>; #1"),
            (NameOID.COUNTRY_NAME, "SE"),
            (NameOID.EMAIL_ADDRESS, "x@example.com"),
        ),
    )
    assert distinguished_name(own.der) == (
        'CN=a \\"b\\"\\, c\\+d,OU=Ops,O=Example \\<Inc\\>\\; \\#1,C=SE,'
        "1.2.840.113549.1.9.1=#160d78406578616d706c652e636f6d"
    )
    own = node(
        trusted,
        " #first and last ",
        more=((NameOID.SERIAL_NUMBER, "77"), (NameOID.STREET_ADDRESS, "S=1")),
    )
    assert distinguished_name(own.der) == (
        "CN=\\ \\#first and last\\ ,2.5.4.5=#13023737,STREET=S\\=1"
    )


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("", "User:CN=Node-1,OU=Ops"),
        ("DEFAULT", "User:CN=Node-1,OU=Ops"),
        ("RULE:^CN=(.*?),OU=(.*?)$/$1@$2/", "User:Node-1@Ops"),
        ("RULE:^CN=(.*?),OU=(.*?)$/$1@$2/L", "User:node-1@ops"),
        ("RULE:^OU=.*$/x/,RULE:^CN=([^,]*).*$/$1/U, DEFAULT", "User:NODE-1"),
        ("RULE:^OU=.*$/x/", ANONYMOUS),
    ],
)
def test_mapping_rules(trusted: Certified, rules: str, expected: str) -> None:
    own = node(trusted, "Node-1", more=((NameOID.ORGANIZATIONAL_UNIT_NAME, "Ops"),))
    assert mapping(rules)(own.der) == expected
    assert mapping(rules)(None) == ANONYMOUS
