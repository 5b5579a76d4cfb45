"""Connections with TLS and SASL between Kafka and ours, in both directions, over real sockets.

Kafka's controllers are reached with every kind of store and every mechanism; Kafka's own admin
client reaches our server. Java makes the stores, so that none is read only as we would write it.
"""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftool.client.asking import Access, question
from kraftool.client.checking import check
from kraftool.client.survey import survey
from kraftool.client.target import target_of
from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.net import scram
from kraftool.net.guests import Limits, Listener
from kraftool.net.principals import distinguished_name
from kraftool.net.server import Peer, Server
from kraftool.net.settings import client_security, listener_security
from kraftool.net.stores import open_store
from kraftool.raft.names import Endpoint
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import kraftool
from tests.interop.shared_jvms import ToolOutput, tool_session
from tests.support.ports import HOST, free_ports

pytestmark = pytest.mark.interop
SECRET = "CANARY-store"
PASSWORD = "CANARY-password"
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
_SUBJECT = r"CN=node 1\, \"first\", OU=Ops, O=Example \<Inc\> #1, C=SE, EMAILADDRESS=x@example.com"


@dataclass(frozen=True, slots=True)
class Stores:
    """A node's keystore and the truststore that believes it, in each of Kafka's types."""

    folder: Path

    def settings(self, kind: str, *, key: bool = True) -> dict[str, str]:
        """The ssl.* keys: whom to believe, and with `key` who one is."""
        ending = {"JKS": "jks", "PKCS12": "p12", "PEM": "pem"}[kind]
        properties = {
            "ssl.truststore.type": kind,
            "ssl.truststore.location": str(self.folder / f"trust.{ending}"),
        }
        if key:
            properties |= {
                "ssl.keystore.type": kind,
                "ssl.keystore.location": str(self.folder / f"node.{ending}"),
            }
        if kind != "PEM":
            properties["ssl.truststore.password"] = SECRET
        if kind != "PEM" and key:
            properties |= {"ssl.keystore.password": SECRET, "ssl.key.password": SECRET}
        return properties


def _keytool(*arguments: str | Path) -> bytes:
    done = subprocess.run(
        ["keytool", *map(str, arguments), "-storepass", SECRET],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    folder = tmp_path_factory.mktemp("stores")
    _keytool(
        *("-genkeypair", "-alias", "node", "-keyalg", "RSA", "-keysize", "2048"),
        *("-dname", _SUBJECT, "-ext", f"SAN=IP:{HOST}", "-validity", "30"),
        *("-storetype", "PKCS12", "-keystore", folder / "node.p12", "-keypass", SECRET),
    )
    certificate = _keytool(
        "-exportcert", "-rfc", "-alias", "node", "-keystore", folder / "node.p12"
    )
    (folder / "trust.pem").write_bytes(certificate)
    _keytool(
        *("-importkeystore", "-srckeystore", folder / "node.p12", "-srcstorepass", SECRET),
        *("-destkeystore", folder / "node.jks", "-deststoretype", "JKS", "-deststorepass", SECRET),
    )
    for kind, ending in (("PKCS12", "p12"), ("JKS", "jks")):
        _keytool(
            *("-importcert", "-noprompt", "-alias", "ca", "-file", folder / "trust.pem"),
            *("-storetype", kind, "-keystore", folder / f"trust.{ending}"),
        )
    key = subprocess.run(
        ["openssl", "pkcs12", "-in", folder / "node.p12", "-nodes", "-passin", f"pass:{SECRET}"],
        capture_output=True,
        check=True,
    )
    (folder / "node.pem").write_bytes(key.stdout)
    return Stores(folder)


@pytest.mark.parametrize("kind", ["JKS", "PKCS12", "PEM"])
def test_the_stores_that_java_writes_are_read(stores: Stores, kind: str) -> None:
    given = stores.settings(kind)
    password = given.get("ssl.keystore.password")
    own = open_store(given["ssl.keystore.location"], kind, password)
    trust = open_store(given["ssl.truststore.location"], kind, password)
    pem = open_store(str(stores.folder / "node.pem"), "PEM", None)
    assert own.key is not None
    assert pem.key is not None
    assert own.key.public_key() == pem.key.public_key()
    assert own.chain[0] == pem.chain[0]
    assert list(trust.trusted) == [pem.chain[0]]


def _jaas(module: str, mechanism_users: Mapping[str, str]) -> str:
    users = "".join(f' user_{name}="{password}"' for name, password in mechanism_users.items())
    return f'{module} username="admin" password="{PASSWORD}"{users};'


PROTOCOLS = ["SSL", "SASL_PLAINTEXT", "SASL_SSL"]


@pytest.fixture(scope="module", params=PROTOCOLS)
def secured(
    request: pytest.FixtureRequest, stores: Stores, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, list[Node]]]:
    """Two real controllers whose listener is secured so."""
    protocol: str = request.param
    settings = {
        "listener.security.protocol.map": f"CONTROLLER:{protocol}",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:admin;User:" + _java_name(stores).replace("\\", "\\\\"),
        **stores.settings("PKCS12"),
        "ssl.client.auth": "required" if protocol == "SSL" else "none",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": _jaas(_PLAIN, {"admin": PASSWORD}),
        "listener.name.controller.scram-sha-256.sasl.jaas.config": _jaas(_SCRAM, {}),
        "listener.name.controller.scram-sha-512.sasl.jaas.config": _jaas(_SCRAM, {}),
    }
    root = tmp_path_factory.mktemp("secured") / "nodes"
    with Cluster(kafka.TOOLS_VERSION, root, common=settings) as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2)]
        for node in nodes:
            node.settings |= settings
        cluster.use_bootstrap_servers()
        scram_users = [
            part
            for mechanism in scram.DIGESTS
            for part in ("--add-scram", f"{mechanism}=[name=admin,password={PASSWORD}]")
        ]
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers(), *scram_users)
        cluster.start(*nodes)
        yield protocol, nodes


def _java_name(stores: Stores) -> str:
    from cryptography.hazmat.primitives.serialization import Encoding

    store = open_store(str(stores.folder / "node.pem"), "PEM", None)
    return distinguished_name(store.chain[0].public_bytes(Encoding.DER))


def _leader(nodes: list[Node], client: Mapping[str, str]) -> int:
    """Who leads, as all nodes say that can be reached so."""
    access = Access(security=client_security(client))
    bootstrap = [Endpoint(HOST, node.ports["CONTROLLER"]) for node in nodes[:1]]

    def probe() -> int | None:
        view = asyncio.run(survey(bootstrap, access))
        # Until it has read its metadata a controller does not describe the cluster.
        is_whole = len(view.reached) == 2 and not any(answer.problem for answer in view.nodes)
        return view.leader.node_id if is_whole and view.agrees and view.leader else None

    return kafka.wait_for("two secured nodes that agree", probe, every=0.3)


def _asker(protocol: str, stores: Stores, kind: str, mechanism: str) -> dict[str, str]:
    client = {"security.protocol": protocol}
    if "SSL" in protocol:
        client |= stores.settings(kind, key=protocol == "SSL")
    if "SASL" in protocol:
        module = _PLAIN if mechanism == "PLAIN" else _SCRAM
        client |= {"sasl.mechanism": mechanism, "sasl.jaas.config": _jaas(module, {})}
    return client


_WRONG = {
    # The listener's protocol and kraftool's: the beginning of the advice.
    ("SSL", "PLAINTEXT"): "is this a TLS port?",
    ("SASL_SSL", "PLAINTEXT"): "is this a TLS port?",
    ("SASL_PLAINTEXT", "PLAINTEXT"): "check that the process is running. If this listener requires"
    " SASL",
    ("SASL_PLAINTEXT", "SSL"): "is this a plaintext port?",
    ("SASL_SSL", "SSL"): "check that the process is running. If this listener requires SASL",
}


def test_a_wrong_security_protocol_is_named(
    secured: tuple[str, list[Node]], stores: Stores
) -> None:
    protocol, nodes = secured
    wrong = {ours: advice for (theirs, ours), advice in _WRONG.items() if theirs == protocol}
    assert wrong
    for ours, advice in wrong.items():
        client = {"security.protocol": ours}
        if ours == "SSL":
            client |= stores.settings("PEM", key=False)
        access = Access(security=client_security(client))
        answer = asyncio.run(question(Endpoint(HOST, nodes[0].ports["CONTROLLER"]), access))
        assert not answer.is_reached
        assert answer.advice.startswith(advice), answer


def test_real_controllers_are_reached(secured: tuple[str, list[Node]], stores: Stores) -> None:
    """As a super user: of a mutual certificate's name, exactly as Java writes it, or of a login."""
    protocol, nodes = secured
    ways = [("PKCS12", "PLAIN"), ("JKS", "SCRAM-SHA-256"), ("PEM", "SCRAM-SHA-512")]
    leaders = {_leader(nodes, _asker(protocol, stores, *way)) for way in ways}
    assert len(leaders) == 1


def test_a_secured_leader_tells_its_metadata(
    secured: tuple[str, list[Node]], stores: Stores, tmp_path: Path
) -> None:
    """As quorum health reads it, with the options that lead there."""
    protocol, nodes = secured
    client = _asker(protocol, stores, "PKCS12", "PLAIN")
    _leader(nodes, client)
    config = tmp_path / "client.properties"
    config.write_text("".join(f"{key}={value}\n" for key, value in client.items()))
    checked = asyncio.run(check(target_of(nodes[0].at("CONTROLLER"), (), str(config), 10)))
    assert checked.unobserved_reason == ""
    assert checked.cluster_health is not None
    assert checked.cluster_health.observation.image.features.metadata_version


def test_metrics_of_a_secured_quorum_have_no_secret(
    secured: tuple[str, list[Node]], stores: Stores, tmp_path: Path
) -> None:
    protocol, nodes = secured
    config, metrics = tmp_path / "client.properties", tmp_path / "kraftool.prom"
    client = _asker(protocol, stores, "PKCS12", "PLAIN")
    config.write_text("".join(f"{key}={value}\n" for key, value in client.items()))
    at = ("--bootstrap-controller", nodes[0].at("CONTROLLER"), "--command-config", config)
    done = kraftool("exporter", *at, "--once", "--textfile", metrics)
    assert done.returncode == 0, done.stderr
    written = metrics.read_text()
    assert 'kraftool_node_reachable{cluster="default",node_id="1"} 1.0' in written
    assert "CANARY" not in written + done.stdout + done.stderr


def test_real_controllers_refuse_a_wrong_password_or_no_certificate(
    secured: tuple[str, list[Node]], stores: Stores
) -> None:
    protocol, nodes = secured
    if "SASL" not in protocol:
        nobody = {"security.protocol": "SSL", **stores.settings("PEM", key=False)}
        access = Access(security=client_security(nobody))
        view = asyncio.run(survey([Endpoint(HOST, nodes[0].ports["CONTROLLER"])], access))
        assert not view.reached
        return
    for mechanism in ("PLAIN", *scram.DIGESTS):
        client = _asker(protocol, stores, "PEM", mechanism)
        client["sasl.jaas.config"] = client["sasl.jaas.config"].replace(PASSWORD, "wrong")
        access = Access(security=client_security(client))
        view = asyncio.run(survey([Endpoint(HOST, nodes[0].ports["CONTROLLER"])], access))
        assert not view.reached
        assert (
            "Invalid username or password" in view.nodes[0].problem
            if mechanism == "PLAIN"
            else f"invalid credentials with SASL mechanism {mechanism}" in view.nodes[0].problem
        )


async def _quorum_of_one(peer: Peer, request: RequestFrame) -> Value | None:
    """What kafka-metadata-quorum asks of a controller; the answer names the asker."""
    if request.name == "ApiVersions":
        keys = [(18, 0, 4), (55, 0, 2), (60, 0, 2)]
        return {
            "errorCode": 0,
            "apiKeys": [{"apiKey": k, "minVersion": a, "maxVersion": b} for k, a, b in keys],
        }
    if request.name == "DescribeCluster":
        node = {"brokerId": 1, "host": HOST, "port": int(peer.listener), "rack": None}
        return {
            "errorCode": 0,
            "endpointType": 2,
            "clusterId": peer.principal,
            "controllerId": 1,
            "brokers": [node],
            "clusterAuthorizedOperations": -(1 << 31),
        }
    part = {
        "partitionIndex": 0,
        "errorCode": 0,
        "leaderId": 1,
        "leaderEpoch": 5,
        "highWatermark": 7,
        "currentVoters": [{"replicaId": 1, "logEndOffset": 7}],
        "observers": [],
    }
    return {
        "errorCode": 0,
        "topics": [{"topicName": "__cluster_metadata", "partitions": [part]}],
    }


@pytest.mark.parametrize(
    ("protocol", "mechanism"),
    [
        ("PLAINTEXT", ""),
        ("SSL", ""),
        *((protocol, name) for protocol in PROTOCOLS[1:] for name in ("PLAIN", *scram.DIGESTS)),
    ],
)
def test_kafkas_admin_client_reaches_our_server(
    protocol: str, mechanism: str, stores: Stores, tmp_path: Path
) -> None:
    known = scram.credential("SCRAM-SHA-256", PASSWORD), scram.credential("SCRAM-SHA-512", PASSWORD)
    credentials = dict(zip(scram.DIGESTS, known, strict=True))
    server_settings = {
        **stores.settings("JKS"),
        "ssl.client.auth": "required" if protocol == "SSL" else "none",
        "sasl.enabled.mechanisms": mechanism,
        "sasl.jaas.config": _jaas(_PLAIN if mechanism == "PLAIN" else _SCRAM, {"admin": PASSWORD}),
    }
    security = listener_security(
        server_settings,
        "CONTROLLER",
        protocol,
        scram_lookup=lambda name, user: credentials[name] if user == "admin" else None,
    )
    client = tmp_path / "client.properties"
    asker = _asker(protocol, stores, "PKCS12", mechanism)
    client.write_text("".join(f"{key}={value}\n" for key, value in asker.items()))

    tools = tool_session(kafka.TOOLS_VERSION)  # its JVM would end with another thread

    async def run() -> ToolOutput:
        [port] = free_ports(1)
        listener = Listener(name=str(port), host=HOST, port=port, security=security)
        served = {"ApiVersions": (0, 4), "DescribeQuorum": (0, 2), "DescribeCluster": (0, 2)}
        server = Server([listener], _quorum_of_one, served, Limits())
        await server.start()
        try:
            return await asyncio.to_thread(
                tools.run,
                "org.apache.kafka.tools.MetadataQuorumCommand",
                *("--bootstrap-controller", f"{HOST}:{port}"),
                *("--command-config", str(client), "describe", "--status"),
            )
        finally:
            await server.close()

    done = asyncio.run(run())
    assert done.code == 0, done.err
    shown = done.out
    who = "admin" if "SASL" in protocol else _java_name(stores)
    expected = "User:ANONYMOUS" if protocol == "PLAINTEXT" else f"User:{who}"
    assert f"ClusterId:              {expected}\n" in shown
    assert "LeaderEpoch:            5\n" in shown
