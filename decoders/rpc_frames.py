"""Frames of a connection: the header before a request or a response, and the body behind it.

Owns which header belongs to which api and version. It refuses the four bytes of the frame's size,
which whoever reads the connection strips, and any api that the catalogue lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from kraftool.decoders import codec, schema
from kraftool.decoders.codec import Value
from kraftool.decoders.errors import DecodeError

API_VERSIONS = "ApiVersions"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFrame:
    """A request as it came, or as it shall go."""

    name: str
    """Of the api, without Request."""
    version: int
    correlation_id: int
    client_id: str | None
    body: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseFrame:
    """A response: what it answers has to be known to read it."""

    name: str
    version: int
    correlation_id: int
    body: Value


@cache
def apis() -> dict[int, str]:
    """The name of each api by its key."""
    api_names = {}
    for name in schema.names():
        message = schema.message(name)
        if message.kind == "request" and message.api_key is not None:
            api_names[message.api_key] = name.removesuffix("Request")
    return api_names


def header_versions(name: str, version: int) -> tuple[int, int]:
    """Of the request's header and of the response's."""
    flexible = schema.message(f"{name}Request").flexible
    if flexible is None or version not in flexible:
        return 1, 0
    # Whoever asks for versions does not know yet which header to expect.
    return 2, 0 if name == API_VERSIONS else 1


def peek(frame: bytes) -> tuple[int, int, int]:
    """Api key, version and correlation id, which stand first in any request."""
    if len(frame) < 8:
        raise DecodeError(
            "a request without its header", position=0, expected="8 bytes", found=str(len(frame))
        )
    key, version = (int.from_bytes(frame[at : at + 2], "big", signed=True) for at in (0, 2))
    return key, version, int.from_bytes(frame[4:8], "big", signed=True)


def decode_request(frame: bytes) -> RequestFrame:
    """A whole request. An api or a version that the catalogue lacks is an error."""
    key, version, correlation_id = peek(frame)
    name = apis().get(key)
    if name is None:
        raise DecodeError("an unknown api", position=0, path="requestApiKey", found=str(key))
    header, position = codec.decode("RequestHeader", header_versions(name, version)[0], frame)
    body, end = codec.decode(f"{name}Request", version, frame, position)
    _refuse_rest(frame, end)
    return RequestFrame(
        name=name,
        version=version,
        correlation_id=correlation_id,
        client_id=header["clientId"],
        body=body,
    )


def encode_request(request: RequestFrame) -> bytes:
    header: Value = {
        "requestApiKey": schema.message(f"{request.name}Request").api_key,
        "requestApiVersion": request.version,
        "correlationId": request.correlation_id,
        "clientId": request.client_id,
    }
    version, _ = header_versions(request.name, request.version)
    head = codec.encode("RequestHeader", version, header)
    return head + codec.encode(f"{request.name}Request", request.version, request.body)


def decode_response(frame: bytes, name: str, version: int) -> ResponseFrame:
    """A whole response to a request of this api and version."""
    header, position = codec.decode("ResponseHeader", header_versions(name, version)[1], frame)
    body, end = codec.decode(f"{name}Response", version, frame, position)
    _refuse_rest(frame, end)
    return ResponseFrame(
        name=name, version=version, correlation_id=header["correlationId"], body=body
    )


def encode_response(response: ResponseFrame) -> bytes:
    _, version = header_versions(response.name, response.version)
    head = codec.encode("ResponseHeader", version, {"correlationId": response.correlation_id})
    return head + codec.encode(f"{response.name}Response", response.version, response.body)


def _refuse_rest(frame: bytes, end: int) -> None:
    if end != len(frame):
        raise DecodeError(
            "bytes left after the message",
            position=end,
            expected=f"{end} bytes",
            found=str(len(frame)),
        )
