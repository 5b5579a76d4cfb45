"""Controllers that log in to each other with SCRAM only, after all of them were stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import kraftool

pytestmark = [pytest.mark.interop, pytest.mark.soak]
_LOGIN = 'username="admin" password="CANARY-password"'
_MODULE = "org.apache.kafka.common.security.{}LoginModule required {};"
_PLAIN = _MODULE.format("plain.Plain", f'{_LOGIN} user_admin="CANARY-password"')
_SCRAM = _MODULE.format("scram.Scram", _LOGIN)


def _settings(mechanism: str) -> dict[str, str]:
    enabled = "PLAIN,SCRAM-SHA-512" if mechanism == "PLAIN" else mechanism
    return {
        "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": enabled,
        "sasl.mechanism.controller.protocol": mechanism,
        "listener.name.controller.scram-sha-512.sasl.jaas.config": _SCRAM,
        "listener.name.controller.plain.sasl.jaas.config": _PLAIN,
    }


def _start(cluster: Cluster, mechanism: str) -> None:
    for node in cluster.controllers:
        node.settings |= _settings(mechanism)
        node.write_properties()
    cluster.start(*cluster.controllers)


def _leader(cluster: Cluster, config: Path) -> int | None:
    bootstrap = ",".join(node.at("CONTROLLER") for node in cluster.controllers)
    at = ("--bootstrap-controller", bootstrap, "--command-config", config)
    done = kraftool("quorum", "describe", *at, "-o", "json")
    return json.loads(done.stdout)["leaderId"] if done.returncode == 0 else None


def _is_refused(node: Node) -> bool:
    refused = "Authentication failed during authentication due to invalid credentials"
    return node.process is not None and refused in node.process.output()


@pytest.mark.parametrize("version", ["4.3.1", "3.9.1"])
def test_controllers_with_scram_alone_cannot_form_again_and_doctor_says_so(
    version: str, tmp_path: Path
) -> None:
    """With PLAIN on all of them they form at once, as the finding advises."""
    if problem := kafka.available(version):
        pytest.skip(problem)
    plain = tmp_path / "plain.properties"
    plain.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        f"sasl.jaas.config={_MODULE.format('plain.Plain', _LOGIN)}\n"
    )
    with Cluster(version, tmp_path / "nodes", common=_settings("PLAIN")) as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        cluster.use_bootstrap_servers()
        scram = "SCRAM-SHA-512=[name=admin,password=CANARY-password]"
        initial = cluster.initial_controllers()
        cluster.format(nodes, "--initial-controllers", initial, "--add-scram", scram)
        _start(cluster, "PLAIN")
        kafka.wait_for("a leader", lambda: _leader(cluster, plain), every=1)
        for node in nodes:
            cluster.stop(node)
        _start(cluster, "SCRAM-SHA-512")
        kafka.wait_for("refused logins", lambda: all(map(_is_refused, nodes)), every=1)
        for node in nodes:
            assert node.process is not None
            assert "Completed transition to Leader" not in node.process.output()
        found = kraftool("doctor", nodes[0].directory / "server.properties")
        assert "KT-SIG-SCRAM-CONTROLLERS" in found.stdout
        for node in nodes:
            cluster.kill(node)
        _start(cluster, "PLAIN")
        kafka.wait_for("a leader again", lambda: _leader(cluster, plain), every=1)
