"""The endpoints that a quorum's metadata records, dialed from here: who answers at each of them.

Owns which endpoints are recorded (the voter set, and the registrations of controllers and brokers),
the questions that are asked there, and the findings. It refuses to judge a node that is known to be
down: other findings say that.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kraftool.client.asking import CLIENT_ID, Access
from kraftool.client.failures import ANSWERED
from kraftool.client.model import QuorumView, is_broker
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.image.image import MetadataImage
from kraftool.net.connection import Connection, connect
from kraftool.net.errors import Failure, NetError
from kraftool.net.security import ClientSecurity, SecurityProtocol
from kraftool.raft.names import Endpoint
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import live as kinds

CONTROLLER, BROKER = "controller", "broker"
SHORT_DAYS = 14
"""A certificate that is valid for fewer days is a finding."""
_DAY_S = 86_400
_AT_ONCE = 16
_BROKER_RESOURCE = 4
"""DescribeConfigs' type of a node's own configs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEndpoint:
    """An address at which metadata says that a node listens."""

    node_id: int
    role: str
    """controller or broker."""
    listener: str
    endpoint: Endpoint
    protocol: SecurityProtocol | None = None
    """None for a voter that has not registered."""

    @property
    def name(self) -> str:
        return f"{self.role} {self.node_id} ({self.listener} {self.endpoint})"


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointCheck:
    """The answer at a recorded endpoint."""

    recorded: RecordedEndpoint
    is_reached: bool
    problem: str = ""
    """Why it was not reached."""
    cluster_id: str | None = None
    other_node: str = ""
    """Words for a node that is not the recorded one; empty if it is, or if that is not known."""
    is_identified: bool = False
    """True if the node confirmed its id."""
    expires_s: float | None = None
    """When the certificate ends, in epoch seconds; None without TLS."""

    def days_left(self, now_s: float) -> float | None:
        """Return for how many days the certificate is still valid."""
        return None if self.expires_s is None else (self.expires_s - now_s) / _DAY_S


def recorded_endpoints(
    view: QuorumView, image: MetadataImage | None
) -> tuple[RecordedEndpoint, ...]:
    """Return every endpoint that the leader's voter set and the registrations name, each once."""
    every: dict[tuple[int, Endpoint], RecordedEndpoint] = {}
    cluster = None if image is None else image.cluster
    for role, registrations in (
        (CONTROLLER, {} if cluster is None else cluster.controllers),
        (BROKER, {} if cluster is None else cluster.brokers),
    ):
        for node_id, registration in registrations.items():
            for listener in registration.listeners:
                endpoint = Endpoint(listener.host, listener.port)
                every.setdefault(
                    (node_id, endpoint),
                    RecordedEndpoint(
                        node_id=node_id,
                        role=role,
                        listener=listener.name,
                        endpoint=endpoint,
                        protocol=_protocol(listener.security_protocol),
                    ),
                )
    for node_id, endpoints in view.voter_endpoints.items():
        for name, endpoint in endpoints.items():
            every.setdefault(
                (node_id, endpoint),
                RecordedEndpoint(
                    node_id=node_id, role=CONTROLLER, listener=name, endpoint=endpoint
                ),
            )
    return tuple(sorted(every.values(), key=lambda one: (one.role, one.node_id, one.listener)))


def _protocol(number: int) -> SecurityProtocol | None:
    known = tuple(SecurityProtocol)
    return known[number] if 0 <= number < len(known) else None


async def check_endpoints(
    recorded: Sequence[RecordedEndpoint], access: Access
) -> tuple[EndpointCheck, ...]:
    """Dial every endpoint, some at a time. Nothing is raised for one that does not answer."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def checked(one: RecordedEndpoint) -> EndpointCheck:
        async with gate:
            return await _check(one, access)

    return tuple(await asyncio.gather(*map(checked, recorded)))


async def _check(recorded: RecordedEndpoint, access: Access) -> EndpointCheck:
    security, is_own = _security(recorded, access.security)
    check = EndpointCheck(recorded=recorded, is_reached=False)
    try:
        connection = await connect(
            recorded.endpoint, security, CLIENT_ID, timeout_s=access.timeout_s
        )
    except NetError as error:
        if security.tls is not None and error.failure in ANSWERED:
            # The certificate is not accepted, or the login: a process answers all the same.
            check = await _without_trust(check, access)
        is_there = error.failure in ANSWERED and error.failure is not Failure.NO_LOGIN
        return replace(check, is_reached=check.is_reached or is_there, problem=error.message)
    try:
        check = replace(check, is_reached=True, expires_s=_expiry(connection))
        if recorded.role == CONTROLLER and is_broker(connection.offered):
            return replace(check, other_node="a broker's listener")
        if not is_own:
            return check
        return await _identified(check, connection, access.timeout_s)
    except NetError as error:
        return replace(check, problem=error.message)
    finally:
        await connection.close()


def _security(recorded: RecordedEndpoint, own: ClientSecurity) -> tuple[ClientSecurity, bool]:
    """Return how to reach an endpoint, and if that is as --command-config says: then its owner also
    answers questions. Without a login ApiVersions is answered all the same."""
    protocol = recorded.protocol
    own_protocol = (
        (SecurityProtocol.SASL_SSL if own.sasl else SecurityProtocol.SSL)
        if own.tls is not None
        else (SecurityProtocol.SASL_PLAINTEXT if own.sasl else SecurityProtocol.PLAINTEXT)
    )
    if protocol in (None, own_protocol):
        return own, True
    if not protocol.has_tls:
        return ClientSecurity(), not protocol.has_sasl
    return ClientSecurity(tls=own.tls or _untrusting()), False


def _untrusting() -> ssl.SSLContext:
    """TLS with whoever answers: only its certificate is looked at."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def _without_trust(check: EndpointCheck, access: Access) -> EndpointCheck:
    """Read the certificate that was not accepted."""
    security = ClientSecurity(tls=_untrusting())
    try:
        connection = await connect(
            check.recorded.endpoint, security, CLIENT_ID, timeout_s=access.timeout_s
        )
    except NetError:
        return check
    try:
        return replace(check, is_reached=True, expires_s=_expiry(connection))
    finally:
        await connection.close()


def _expiry(connection: Connection) -> float | None:
    certificate = connection.certificate
    if certificate is None:
        return None
    from cryptography import x509

    return x509.load_der_x509_certificate(certificate).not_valid_after_utc.timestamp()


async def _identified(
    check: EndpointCheck, connection: Connection, timeout_s: float
) -> EndpointCheck:
    """Ask a node for its cluster, and for a config of the node that it should be. Any other node
    refuses that. Raises NetError."""
    node_id = check.recorded.node_id
    if "DescribeConfigs" in connection.offered.apis:
        answer = await connection.request("DescribeConfigs", None, _config_of(node_id), timeout_s)
        (result,) = answer["results"]
        if result["errorCode"] == Error.NONE:
            check = replace(check, is_identified=True)
        elif result["errorCode"] == Error.INVALID_REQUEST:
            check = replace(check, other_node=f"a node that is not node {node_id}")
    if check.recorded.role == BROKER and "DescribeCluster" in connection.offered.apis:
        cluster = await connection.request(
            "DescribeCluster", None, {"includeClusterAuthorizedOperations": False}, timeout_s
        )
        check = replace(check, cluster_id=cluster["clusterId"] or None)
    return check


def _config_of(node_id: int) -> Value:
    return {
        "resources": [
            {
                "resourceType": _BROKER_RESOURCE,
                "resourceName": str(node_id),
                "configurationKeys": ["node.id"],
            }
        ],
        "includeSynonyms": False,
        "includeDocumentation": False,
    }


# --- findings -------------------------------------------------------------------------------------


def endpoint_findings(
    checks: Iterable[EndpointCheck],
    view: QuorumView,
    now_s: float,
    absent: Collection[int] = (),
) -> tuple[Finding, ...]:
    """Judge what answered. `absent`: brokers that are known not to run."""
    every = tuple(checks)
    findings: list[Finding] = []
    for check in every:
        findings += _certificate(check, now_s)
        findings += _owner(check, view)
    findings += _nobody(every, view, absent)
    return tuple(in_order(findings))


def _certificate(check: EndpointCheck, now_s: float) -> Iterator[Finding]:
    left = check.days_left(now_s)
    if left is None or left >= SHORT_DAYS:
        return
    if left <= 0:
        yield kinds.CERTIFICATE_EXPIRED.at(
            check.recorded.name, f"its certificate expired {_days(-left)} ago"
        )
    else:
        yield kinds.CERTIFICATE_EXPIRES.at(
            check.recorded.name, f"its certificate is valid for {_days(left)} more"
        )


def _days(days: float) -> str:
    if days < 1:
        return f"{days * 24:.0f} hours"
    return "1 day" if days < 2 else f"{int(days)} days"


def _owner(check: EndpointCheck, view: QuorumView) -> Iterator[Finding]:
    words = check.other_node
    if check.cluster_id is not None and view.cluster_id not in (None, check.cluster_id):
        words = f"a node of cluster {check.cluster_id}"
    if words:
        yield kinds.ENDPOINT_OTHER.at(check.recorded.name, f"{words} answers there")


def _nobody(
    checks: Sequence[EndpointCheck], view: QuorumView, absent: Collection[int]
) -> Iterator[Finding]:
    """Yield the endpoints at which nobody answers, of nodes that are not known to be down."""
    reached = {(one.recorded.role, one.recorded.listener) for one in checks if one.is_reached}
    for check in checks:
        recorded = check.recorded
        if check.is_reached or (recorded.role == BROKER and recorded.node_id in absent):
            continue
        node = view.node(recorded.node_id) if recorded.role == CONTROLLER else None
        if node is not None and not node.is_reached:
            continue
        is_elsewhere = (recorded.role, recorded.listener) not in reached
        yield kinds.ENDPOINT_NOBODY.at(
            recorded.name,
            check.problem.removeprefix(f"{recorded.endpoint}: "),
            severity=Severity.INFO if is_elsewhere else None,
            advice=_ELSEWHERE if is_elsewhere else None,
        )


_ELSEWHERE = (
    "nothing to do if this listener is only for another network: no endpoint of this listener is"
    " reachable from here"
)
