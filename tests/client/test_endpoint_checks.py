"""Recorded endpoints, dialed: who answers, whose certificate it is, and what is a finding of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from kraftool.client.asking import Access
from kraftool.client.endpoint_checks import (
    BROKER,
    CONTROLLER,
    EndpointCheck,
    RecordedEndpoint,
    check_endpoints,
    endpoint_findings,
    recorded_endpoints,
)
from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.image.cluster import BrokerRegistration, ClusterImage, RegisteredEndpoint
from kraftool.image.image import MetadataImage
from kraftool.net.security import SecurityProtocol
from kraftool.net.server import Peer
from kraftool.net.settings import listener_security
from kraftool.raft.names import Endpoint
from tests.client.views import endpoint, gone, node, view, well
from tests.net.certificates import authority
from tests.net.certificates import node as certified
from tests.net.serving import API_KEYS, KNOWN, serving
from tests.support.ports import free_ports

HOST = "127.0.0.1"
_DAY = 86_400.0


def _recorded(
    where: Endpoint,
    *,
    id: int = 1,
    role: str = CONTROLLER,
    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT,
) -> RecordedEndpoint:
    return RecordedEndpoint(
        node_id=id, role=role, listener="CONTROLLER", endpoint=where, protocol=protocol
    )


def _checked(*recorded: RecordedEndpoint) -> tuple[EndpointCheck, ...]:
    return asyncio.run(check_endpoints(recorded, Access(timeout_s=10)))


def test_every_address_of_voters_and_registrations_is_recorded_once() -> None:
    broker = BrokerRegistration(
        id=4, epoch=1, incarnation_id="x", listeners=(RegisteredEndpoint("SSL", "b", 9092, 1),)
    )
    image = MetadataImage(cluster=ClusterImage(brokers={4: broker}))
    shown = [(one.role, one.node_id, one.endpoint) for one in recorded_endpoints(well(), image)]
    assert shown == [
        (BROKER, 4, Endpoint("b", 9092)),
        *((CONTROLLER, number, endpoint(number)) for number in (1, 2, 3)),
    ]
    assert recorded_endpoints(well(), image)[0].protocol is SecurityProtocol.SSL


def test_a_port_where_nobody_listens_is_not_reached() -> None:
    (port,) = free_ports(1)
    (check,) = _checked(_recorded(Endpoint(HOST, port)))
    assert not check.is_reached
    assert "refused" in check.problem


@pytest.mark.parametrize(
    ("days", "code"),
    [(-2, "KT-LIVE-CERTIFICATE-EXPIRED"), (13, "KT-LIVE-CERTIFICATE-EXPIRES"), (15, None)],
)
def test_a_certificate_that_nobody_here_trusts_is_read_all_the_same(
    days: int, code: str | None
) -> None:
    own = certified(authority(), days=days)
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": own.key_pem(),
        "ssl.keystore.certificate.chain": own.pem,
    }

    async def run() -> EndpointCheck:
        security = listener_security(settings, "CONTROLLER", "SSL")
        async with serving(security=security) as (_, where):
            recorded = _recorded(where, protocol=SecurityProtocol.SSL)
            (check,) = await check_endpoints([recorded], Access(timeout_s=30))
            return check

    check = asyncio.run(run())
    assert check.is_reached
    expires_s = own.certificate.not_valid_after_utc.timestamp()
    assert check.expires_s == expires_s
    findings = endpoint_findings([check], well(), expires_s - days * _DAY)
    assert [finding.code for finding in findings] == ([code] if code else [])


@pytest.mark.parametrize(("error", "is_other"), [(0, False), (42, True), (31, False)])
def test_a_node_that_refuses_the_config_of_the_recorded_id_is_another_one(
    error: int, is_other: bool
) -> None:
    """Digest, 3.2: DescribeConfigs of another node's id is INVALID_REQUEST (42)."""
    asked: list[Value] = []

    async def handler(peer: Peer, request: RequestFrame) -> Value | None:
        if request.name == "ApiVersions":
            known = {**API_KEYS, "DescribeConfigs": 32}
            return {
                "errorCode": 0,
                "apiKeys": [
                    {"apiKey": key, "minVersion": 1, "maxVersion": KNOWN.get(name, (1, 4))[1]}
                    for name, key in known.items()
                ],
            }
        asked.append(request.body)
        result: Value = {
            "errorCode": error, "errorMessage": None, "resourceType": 4, "resourceName": "1",
            "configs": [],
        }  # fmt: skip
        return {"throttleTimeMs": 0, "results": [result]}

    async def run() -> EndpointCheck:
        KNOWN["DescribeConfigs"] = (1, 4)
        try:
            async with serving(handler) as (_, where):
                (check,) = await check_endpoints([_recorded(where)], Access(timeout_s=30))
                return check
        finally:
            del KNOWN["DescribeConfigs"]

    check = asyncio.run(run())
    assert [one["resourceName"] for one in asked[0]["resources"]] == ["1"]
    assert (bool(check.other_node), check.is_identified) == (is_other, error == 0)
    codes = [finding.code for finding in endpoint_findings([check], well(), 0)]
    assert codes == (["KT-LIVE-ENDPOINT-OTHER"] if is_other else [])


def _answer(role: str, id: int, *, is_reached: bool) -> EndpointCheck:
    recorded = _recorded(endpoint(id), id=id, role=role)
    return EndpointCheck(recorded=recorded, is_reached=is_reached, problem="connection refused")


def test_a_broker_that_runs_and_cannot_be_dialed_is_a_warning_beside_others_that_can() -> None:
    checks = [_answer(BROKER, 4, is_reached=False), _answer(BROKER, 5, is_reached=True)]
    (finding,) = endpoint_findings(checks, well(), 0)
    assert (finding.code, finding.severity.value) == ("KT-LIVE-ENDPOINT-NOBODY", "warning")
    assert finding.file == "broker 4 (CONTROLLER ctl-4:9093)"


def test_a_listener_of_another_network_is_a_note() -> None:
    checks = [_answer(BROKER, id, is_reached=False) for id in (4, 5)]
    findings = endpoint_findings(checks, well(), 0)
    assert {finding.severity.value for finding in findings} == {"info"}


def test_what_is_known_to_be_down_is_no_second_finding() -> None:
    assert not endpoint_findings([_answer(BROKER, 4, is_reached=False)], well(), 0, absent=(4,))
    quorum = well().quorum
    assert quorum is not None
    without_3 = view(quorum, node(2), gone(3))
    assert not endpoint_findings([_answer(CONTROLLER, 3, is_reached=False)], without_3, 0)


def test_a_node_of_another_cluster_at_a_recorded_address_is_an_error() -> None:
    check = replace(_answer(BROKER, 4, is_reached=True), cluster_id="another")
    (finding,) = endpoint_findings([check], well(), 0)
    assert (finding.code, finding.severity.value) == ("KT-LIVE-ENDPOINT-OTHER", "error")
    assert "cluster another" in finding.text
