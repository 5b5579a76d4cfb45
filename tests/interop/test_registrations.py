"""A registered controller that is gone: what it blocks, and how real Kafka gets rid of it.

A quorum of three begins one level below the newest of its release. A fourth controller of older
software was registered once and does not run: its registration is sent from here, as it would send
it itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from kraftool.client.asking import Access, connected
from kraftool.client.model import QuorumView
from kraftool.client.observer import observe
from kraftool.client.target import Target
from kraftool.decoders.error_codes import Error
from kraftool.image.cluster import ControllerRegistration
from kraftool.image.metadata_version import level_name, level_of
from kraftool.net.connection import Connection
from kraftool.raft.names import Endpoint
from kraftool.storage.random_ids import random_uuid
from tests.interop import kafka
from tests.interop.clusters import Cluster
from tests.interop.our_commands import document, kraftool
from tests.interop.our_nodes import start_ours
from tests.support.ports import HOST

pytestmark = pytest.mark.interop
_document = partial(document, "quorum")
GONE = 4
UNREGISTER_LEVEL = level_of("4.4-IV2") or 0
FIRST_DYNAMIC = "3.9.2"
"""Dynamic voters require its newest metadata.version, so its voters here are static."""
LEVELS = {FIRST_DYNAMIC: 21, "4.0.2": 25, "4.3.1": 30, kafka.NEWEST: UNREGISTER_LEVEL}
"""The newest metadata.version of each release."""
OURS = "kraftool"
"""Three kraftool controllers, which know the newest metadata.version too."""


@pytest.fixture(
    params=[
        pytest.param(release, marks=() if release in (kafka.NEWEST, OURS) else pytest.mark.soak)
        for release in (*LEVELS, OURS)
    ]
)
def quorum(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    are_ours = request.param == OURS
    release = kafka.NEWEST if are_ours else request.param
    if problem := kafka.available(release):
        pytest.skip(problem)
    before = level_name(LEVELS[release] - 1)
    with Cluster(release, tmp_path_factory.mktemp("registrations") / "nodes") as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        if release == FIRST_DYNAMIC:
            cluster.use_static_voters()
            cluster.format(nodes, "--release-version", before)
        else:
            cluster.use_bootstrap_servers()
            initial = cluster.initial_controllers()
            cluster.format(nodes, "--initial-controllers", initial, "--release-version", before)
        if are_ours:
            start_ours(cluster, *nodes)
        else:
            cluster.start(*nodes)
        cluster.wait_caught_up(*nodes)
        kafka.wait_for(
            "three registrations", lambda: len(_registrations(cluster)) == 3 or None, every=0.5
        )
        yield cluster


def _target(cluster: Cluster) -> Target:
    bootstrap = tuple(Endpoint(HOST, node.ports["CONTROLLER"]) for node in cluster.running())
    return Target(bootstrap=bootstrap, access=Access(timeout_s=10))


async def _view(cluster: Cluster) -> QuorumView:
    while True:
        view = await _target(cluster).survey()
        if view.leader is not None:
            return view


def _registrations(cluster: Cluster) -> dict[int, ControllerRegistration]:
    """The committed ones, by id."""

    async def read() -> dict[int, ControllerRegistration]:
        view = await _view(cluster)
        observed = await observe(view, Access(timeout_s=10))
        return dict(observed.image.cluster.controllers)

    return asyncio.run(read())


def _ask(cluster: Cluster, name: str, version: int, body: dict[str, Any]) -> Any:
    """Send a request to the leader, and return its answer."""

    async def send() -> Any:
        view = await _view(cluster)
        assert view.leader is not None
        connection: Connection
        async with connected(view, view.leader, Access(timeout_s=10)) as connection:
            return await connection.request(name, version, body, 30)

    return asyncio.run(send())


def _register(cluster: Cluster, node_id: int, newest: int) -> None:
    """Register a node of older software, as it does itself when it starts."""
    features = [{"name": "kraft.version", "minSupportedVersion": 0, "maxSupportedVersion": 1}]
    features += [
        {"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": newest}
    ]
    listener = {"name": "CONTROLLER", "host": "gone.example", "port": 9093, "securityProtocol": 0}
    body = {
        "controllerId": node_id,
        "incarnationId": random_uuid(),
        "zkMigrationReady": False,
        "listeners": [listener],
        "features": features,
    }
    assert _ask(cluster, "ControllerRegistration", 0, body)["errorCode"] == 0


def _upgrade(cluster: Cluster, level: int) -> tuple[int, str]:
    """Let Kafka upgrade metadata.version; return its error."""
    update = {"feature": "metadata.version", "maxVersionLevel": level, "upgradeType": 1}
    body = {"timeoutMs": 30000, "featureUpdates": [update], "validateOnly": False}
    answer = _ask(cluster, "UpdateFeatures", 1, body)
    failed = next((one for one in answer["results"] or () if one["errorCode"]), answer)
    return failed["errorCode"], failed["errorMessage"] or ""


def _at(cluster: Cluster) -> tuple[str, str]:
    addresses = ",".join(node.at("CONTROLLER") for node in cluster.running())
    return "--bootstrap-controller", addresses


def _severity(cluster: Cluster) -> str | None:
    """The severity of the finding on the node that is gone, as health shows it."""
    shown = kraftool("quorum", "health", *_at(cluster), "-o", "json")
    assert "Traceback" not in shown.stderr
    findings = json.loads(shown.stdout)["health"]["findings"]
    codes = [one for one in findings if one["code"] == "KT-LIVE-STALE-REGISTRATION"]
    return str(codes[0]["severity"]) if codes else None


def test_a_controller_that_is_gone_no_longer_blocks_an_upgrade(quorum: Cluster) -> None:
    level = LEVELS[quorum.version]
    _register(quorum, GONE, level - 1)
    assert _severity(quorum) == "error"
    code, reason = _upgrade(quorum, level)
    assert code == Error.INVALID_UPDATE_VERSION, reason
    assert str(GONE) in reason, "real Kafka names the controller that is gone"

    at = _at(quorum)
    refused = _document("unregister-controller", str(GONE), *at, code=5)["quorumChange"]
    assert "renew-registration" in refused["checks"][-1]["advice"]
    planned = _document("renew-registration", str(GONE), *at, "--dry-run")["quorumChange"]
    assert planned["outcome"] == "not tried"
    assert kraftool("quorum", "renew-registration", str(GONE), *at).returncode == 5, "not confirmed"
    assert _registrations(quorum)[GONE].features["metadata.version"].max == level - 1

    before = _registrations(quorum)
    renewed = _document("renew-registration", str(GONE), *at, "--yes", str(GONE))["quorumChange"]
    assert renewed["outcome"] == "done"
    after = _registrations(quorum)
    assert after[GONE].features == after[1].features, "as a node of this software registers itself"
    assert after[GONE].listeners == before[GONE].listeners
    again = _document("renew-registration", str(GONE), *at, "--yes", str(GONE))["quorumChange"]
    assert (again["isNeeded"], again["outcome"]) == (False, "not tried")
    assert _upgrade(quorum, level)[0] == Error.NONE
    assert _severity(quorum) == "info"
    for words in (("unregister-controller", "2"), ("renew-registration", "2", "--yes", "2")):
        blocked = _document(*words, *at, code=5)["quorumChange"]
        assert "node 2 is a voter" in str(blocked["checks"])
    if level >= UNREGISTER_LEVEL:
        _unregister(quorum)


def _unregister(quorum: Cluster) -> None:
    at = _at(quorum)
    done = _document("unregister-controller", str(GONE), *at)["quorumChange"]
    assert done["outcome"] == "done"
    assert sorted(_registrations(quorum)) == [1, 2, 3]
    assert _severity(quorum) is None
    again = _document("unregister-controller", str(GONE), *at)["quorumChange"]
    assert not again["isNeeded"]

    running = _document("remove-controller", "-i", "3", "--unregister", *at, code=5)
    assert "node 3 runs" in str(running["quorumChange"]["checks"])
    if quorum.wait_leader().id == 3:
        epoch = quorum.leader_epoch()
        quorum.stop(quorum.nodes[3])
        quorum.wait_leader(above_epoch=epoch)
    else:
        quorum.stop(quorum.nodes[3])
    kafka.wait_for("node 3 to be removed", lambda: _removed(quorum), every=1.0)
    assert sorted(_registrations(quorum)) == [1, 2]


def _removed(quorum: Cluster) -> bool | None:
    """True if node 3 was removed; None while the leader counts its last fetch."""
    done = kraftool("quorum", "remove-controller", "-i", "3", "--unregister", *_at(quorum))
    assert done.returncode in (0, 5), done.stdout + done.stderr
    return True if done.returncode == 0 else None
