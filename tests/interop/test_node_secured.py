"""A node of ours among controllers that only talk over TLS, or TLS with SASL.

The quorum's own listener is secured; a second, plain one is for looking at it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop import kafka
from tests.interop.clusters import Cluster, Node, random_uuid
from tests.interop.our_nodes import (
    assert_same_log,
    high_watermark,
    metric,
    start_ours,
    wait_committed,
)
from tests.interop.test_net_secured import Stores, stores
from tests.support.ports import HOST, free_ports

pytestmark = pytest.mark.interop
__all__ = ["stores"]
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_JAAS = f'{_PLAIN} username="node" password="CANARY-node" user_node="CANARY-node";'


def secured(cluster: Cluster, stores: Stores, protocol: str) -> list[Node]:
    """Three controllers whose first listener is SECURE; formatted."""
    nodes = []
    for number in (1, 2, 3):
        node = cluster.add_node(number, ("controller",))
        node.ports["SECURE"] = free_ports(1)[0]
        names = ("SECURE", "CONTROLLER")
        node.settings |= {
            "listeners": ",".join(f"{name}://{node.at(name)}" for name in names),
            "controller.listener.names": ",".join(names),
            "listener.security.protocol.map": f"SECURE:{protocol},CONTROLLER:PLAINTEXT",
            "super.users": "User:ANONYMOUS;User:node",
            "ssl.client.auth": "required" if protocol == "SSL" else "none",
            "ssl.principal.mapping.rules": "RULE:^CN=.*$/node/",
            "sasl.enabled.mechanisms": "PLAIN",
            "sasl.mechanism.controller.protocol": "PLAIN",
            "listener.name.secure.plain.sasl.jaas.config": _JAAS,
            **stores.settings("PKCS12"),
        }
        if protocol == "SSL":
            for key in [setting for setting in node.settings if "sasl" in setting]:
                del node.settings[key]
        nodes.append(node)
    servers = ",".join(member.at("SECURE") for member in nodes)
    for node in nodes:
        node.settings["controller.quorum.bootstrap.servers"] = servers
        node.write_properties()
    initial = ",".join(f"{member.id}@{member.at('SECURE')}:{random_uuid()}" for member in nodes)
    cluster.format(nodes, "--initial-controllers", initial)
    return nodes


@pytest.mark.parametrize("protocol", ["SASL_SSL", pytest.param("SSL", marks=pytest.mark.soak)])
def test_ours_is_a_voter_over_secured_listeners(
    tmp_path: Path, stores: Stores, protocol: str
) -> None:
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes") as cluster:
        nodes = secured(cluster, stores, protocol)
        cluster.start(*nodes[:2])
        start_ours(cluster, nodes[2], options=("--role", "voter", "--witness"))
        leader = cluster.wait_leader()
        cluster.wait_caught_up(nodes[2])
        dying = next(node for node in nodes[:2] if node is not leader)
        cluster.kill(dying)
        # Ours is the other half of the majority: over the secured listener it fetches and is asked.
        at = wait_committed(cluster, high_watermark(cluster) + 3)
        kafka.wait_for(
            "ours to know that", lambda: metric(nodes[2], "high_watermark") >= at, every=0.2
        )
        assert assert_same_log(nodes[2], leader, below=at) > 3
        output = nodes[2].process.output() if nodes[2].process is not None else ""
        assert "CANARY" not in output
        assert HOST in output
