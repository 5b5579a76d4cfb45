"""Envelopes: a client's request as a broker sends it on, with the name of the client.

Owns the form, and what makes a broker look for the controller again instead of telling its client.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from kraftool.controller.acl_hosts import host_of
from kraftool.decoders import codec
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.rpc_frames import (
    RequestFrame,
    ResponseFrame,
    decode_request,
    encode_response,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The content of an envelope."""

    principal: str
    """As super.users names it."""
    has_token: bool
    """True if the client logged in with a delegation token."""
    host: str
    """The address of the client, as ACLs have it."""
    request: RequestFrame


def opened(body: Value) -> Opened | Error:
    """The request in an envelope, or why it cannot be had: checked in Kafka's order."""
    try:
        principal, has_token = _principal(body["requestPrincipal"])
    except KraftoolError:
        return Error.PRINCIPAL_DESERIALIZATION_FAILURE
    try:
        ipaddress.ip_address(body["clientHostAddress"])
    except ValueError:
        return Error.INVALID_REQUEST
    try:
        request = decode_request(body["requestData"])
    except KraftoolError:
        return Error.UNSUPPORTED_VERSION
    return Opened(
        principal=principal,
        has_token=has_token,
        host=host_of(body["clientHostAddress"]),
        request=request,
    )


def _principal(data: bytes | None) -> tuple[str, bool]:
    """Return a principal and whether it has a token, as Kafka's default principal builder writes
    it: a version, and the message."""
    if data is None or len(data) < 2:
        raise codec.EncodeError("no principal")
    version = int.from_bytes(data[:2], "big", signed=True)
    value, _ = codec.decode("DefaultPrincipalData", version, data, 2)
    return f"{value['type']}:{value['name']}", value["tokenAuthenticated"]


def sealed(request: RequestFrame, body: Value) -> bytes:
    """The answer with its header, as the broker hands it to its client."""
    return encode_response(
        ResponseFrame(
            name=request.name,
            version=request.version,
            correlation_id=request.correlation_id,
            body=body,
        )
    )


def says_not_controller(name: str, body: Any) -> bool:
    """True if another node is the one to ask, which may stand at any place of an answer."""
    error = Error.NOT_LEADER_OR_FOLLOWER if name == "DescribeQuorum" else Error.NOT_CONTROLLER
    if isinstance(body, list):
        return any(says_not_controller(name, item) for item in body)
    if isinstance(body, dict):
        if body.get("errorCode") == error:
            return True
        return any(says_not_controller(name, item) for item in body.values())
    return False
