"""The next step of an operator for a node that was not asked, or that refused an answer.

Owns the advice for each cause. `asking.py` and the pool attach it to a node's answer, so that every
report gives the same advice.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.client.model import NodeAnswer
from kraftool.decoders.error_codes import Error
from kraftool.net.errors import Failure, NetError

NAME_A_CONTROLLER = (
    "name a controller's address with --bootstrap-controller: controller.quorum.voters or"
    " controller.quorum.bootstrap.servers in a node's server.properties has them"
)
AUTHORIZE = (
    "an authorizer requires ClusterAction, Describe and Alter on the cluster: connect as one of"
    " super.users, with the login in --command-config"
)
OLD_METADATA_VERSION = (
    "the metadata.version is older than 3.7-IV0, so that a controller does not name the others:"
    " name all of them with --bootstrap-controller"
)
NO_METADATA_YET = (
    "it has just started, or no node leads. Until then name all controllers with"
    " --bootstrap-controller"
)
ANSWERED = frozenset(
    {
        Failure.NO_TLS,
        Failure.NO_PLAINTEXT,
        Failure.SERVER_CERTIFICATE,
        Failure.EXPIRED_CERTIFICATE,
        Failure.CERTIFICATE_NAME,
        Failure.CLIENT_CERTIFICATE,
        Failure.LOGIN,
        Failure.NO_LOGIN,
    }
)
"""Failures of a connection that a process accepted: it runs, so that no other address is needed."""
_ADVICE = {
    Failure.REFUSED: "check that the process is running, and that it listens on this address and"
    " port",
    Failure.TIMED_OUT: "check that the process is running and not paused. Then check the network"
    " and the firewalls on the way. --timeout gives a slow node more time",
    Failure.NO_ROUTE: "check that the host is up, and the network on the way. If the address is"
    " reachable only from inside its network, name a port-forward with --resolve ID=HOST:PORT",
    Failure.UNKNOWN_NAME: "check the name. If it resolves only inside its network, name a"
    " port-forward with --resolve ID=HOST:PORT",
    Failure.NO_TLS: "is this a TLS port? Then set security.protocol=SSL (or SASL_SSL) in"
    " --command-config, with ssl.truststore.location",
    Failure.NO_PLAINTEXT: "is this a plaintext port? Then set security.protocol=PLAINTEXT (or"
    " SASL_PLAINTEXT) in --command-config. If not, compare the TLS versions of both sides",
    Failure.SERVER_CERTIFICATE: "name a truststore that has the node's certificate authority:"
    " ssl.truststore.location in --command-config",
    Failure.EXPIRED_CERTIFICATE: "renew the node's certificate, and restart the node or reload its"
    " keystore. If the certificate is valid, correct the clock of this machine",
    Failure.CERTIFICATE_NAME: "connect by a name in the node's certificate, or issue a certificate"
    " with this name. Through a port-forward --resolve ID=HOST:PORT checks the advertised name",
    Failure.CLIENT_CERTIFICATE: "the node requires a client certificate that it trusts:"
    " ssl.keystore.location in --command-config",
    Failure.LOGIN: "check security.protocol, sasl.mechanism and sasl.jaas.config in"
    " --command-config",
    Failure.NO_LOGIN: "check that the process is running. If this listener requires SASL, set"
    " security.protocol to SASL_PLAINTEXT or SASL_SSL in --command-config, with sasl.mechanism and"
    " sasl.jaas.config",
    Failure.CLOSED: "check that the process is running, and its log for why it closed the"
    " connection",
}
"""A cause that is not listed has the advice of the finding's kind."""


def unasked(answer: NodeAnswer, error: NetError) -> NodeAnswer:
    """The answer of a node that did not say anything, with the reason."""
    advice = _ADVICE.get(error.failure, "")
    if error.hint:
        advice = f"{error.hint}. {advice}".rstrip()
    return replace(
        answer, is_reached=False, problem=error.message, advice=advice, failure=error.failure
    )


def advice_on_refusal(code: int) -> str:
    """Return what to do about an error code in an answer; empty if there is nothing special to
    do.
    """
    return AUTHORIZE if code == Error.CLUSTER_AUTHORIZATION_FAILED else ""
