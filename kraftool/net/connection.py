"""A connection to a node: several requests may be on their way, answers come in their order.

Owns what stands at its beginning (TLS, ApiVersions, SASL), the pairing of answers with requests,
and its end: after a request that timed out, or an answer that fits none, a connection is closed, as
nothing on it can be relied on. Whoever wants another one connects again.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import ssl
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kraftool.decoders import codec
from kraftool.decoders.codec import Value
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.rpc_frames import (
    API_VERSIONS,
    RequestFrame,
    decode_response,
    encode_request,
    header_versions,
)
from kraftool.net import api_versions, sasl
from kraftool.net.api_versions import Offered, Range
from kraftool.net.errors import (
    AuthenticationError,
    ConnectError,
    DisconnectedError,
    Failure,
    NetError,
    ProtocolViolation,
    RequestTimeoutError,
)
from kraftool.net.framing import read_frame
from kraftool.net.security import ClientSecurity
from kraftool.raft.names import Endpoint

MAX_RESPONSE_BYTES = 100 << 20
"""Of an answer; a whole batch of metadata may have 8 MiB, and a fetch asks for one at least."""
CONNECT_S = 10.0
_PATIENCE_S = 30.0
_FAILURES = {
    errno.ECONNREFUSED: Failure.REFUSED,
    errno.ETIMEDOUT: Failure.TIMED_OUT,
    errno.EHOSTUNREACH: Failure.NO_ROUTE,
    errno.ENETUNREACH: Failure.NO_ROUTE,
}
_CERTIFICATE_FAILURES = {
    9: Failure.EXPIRED_CERTIFICATE,
    10: Failure.EXPIRED_CERTIFICATE,
    62: Failure.CERTIFICATE_NAME,
    64: Failure.CERTIFICATE_NAME,
}
"""By OpenSSL's X509_V_ERR codes: not valid yet, expired, another host name, another address."""

Body = Value | Callable[[int], Value]
"""Of a request; a function where it depends on the version that is spoken."""


@dataclass(slots=True)
class _Waiting:
    correlation_id: int
    name: str
    version: int
    answer: asyncio.Future[Value]


async def connect(
    endpoint: Endpoint,
    security: ClientSecurity | None = None,
    client_id: str = "kraftool",
    *,
    timeout_s: float = CONNECT_S,
    max_response_bytes: int = MAX_RESPONSE_BYTES,
    server_name: str | None = None,
) -> Connection:
    """Reach a node, agree on versions, and say who is asking.

    `server_name`: the name to be found in its certificate, if it is not the endpoint's host.
    Raises ConnectError, AuthenticationError, or what a request can.
    """
    secured = security or ClientSecurity()
    connection: Connection | None = None
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await _open(endpoint, secured, server_name)
            connection = Connection(endpoint, reader, writer, client_id, max_response_bytes)
            connection.has_login = secured.sasl is not None
            await _first_answer(connection, secured)
            if secured.sasl is not None:
                await sasl.authenticate(secured.sasl, connection.request)
            return connection
    except AuthenticationError as error:
        await _give_up(connection)
        reason = error.message.removeprefix(f"{endpoint}: ")
        failure = Failure.LOGIN if error.failure is Failure.OTHER else error.failure
        raise AuthenticationError(
            f"{endpoint}: {reason}", hint=error.hint, failure=failure
        ) from None
    except TimeoutError:
        await _give_up(connection)
        raise ConnectError(
            f"{endpoint} did not answer within {timeout_s:g} s", failure=Failure.TIMED_OUT
        ) from None
    except BaseException:
        await _give_up(connection)
        raise


async def _give_up(connection: Connection | None) -> None:
    if connection is not None:
        await connection.close()


async def _first_answer(connection: Connection, security: ClientSecurity) -> None:
    """Agree on versions. In plaintext, a close at this point is what a TLS listener may do."""
    try:
        await connection.agree()
    except DisconnectedError as error:
        if error.failure not in (Failure.CLOSED, Failure.NO_LOGIN):
            raise
        failure = Failure.NO_TLS if security.tls is None else Failure.CLOSED
        raise DisconnectedError(
            f"{connection.endpoint} closed the connection before any answer",
            failure=failure,
        ) from None


async def _open(
    endpoint: Endpoint, security: ClientSecurity, server_name: str | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    where = str(endpoint)
    extra: dict[str, Any] = {}
    if security.tls is not None:
        extra = {"ssl": security.tls, "server_hostname": server_name or endpoint.host}
    try:
        return await asyncio.open_connection(endpoint.host, endpoint.port, **extra)
    except ssl.SSLCertVerificationError as error:
        raise AuthenticationError(
            f"{where}: its certificate is not accepted: {error.verify_message.rstrip('.')}",
            failure=_CERTIFICATE_FAILURES.get(error.verify_code, Failure.SERVER_CERTIFICATE),
        ) from None
    except ssl.SSLError as error:
        raise AuthenticationError(
            f"{where}: no TLS: {_tls_reason(error)}", failure=Failure.NO_PLAINTEXT
        ) from None
    except socket.gaierror as error:
        raise ConnectError(
            f"{where}: {error.strerror or error}", failure=Failure.UNKNOWN_NAME
        ) from None
    except OSError as error:
        number = _errno(error)
        if security.tls is not None and not number:
            raise AuthenticationError(
                f"{where}: the peer stopped the TLS handshake", failure=Failure.NO_PLAINTEXT
            ) from None
        reason = os.strerror(number).lower() if number else error.strerror or str(error)
        failure = _FAILURES.get(number, Failure.OTHER)
        raise ConnectError(f"{where}: {reason}", failure=failure) from None
    except (ValueError, OverflowError):  # what a lying node names may be neither host nor port
        raise ConnectError(f"{where}: not an address of a host") from None


def _errno(error: OSError) -> int:
    """The system's number; 0 if there is none. Of a name with several addresses, asyncio puts each
    address's error into one text: the last one counts."""
    numbers = re.findall(r"\[Errno (\d+)\]", str(error))
    return error.errno or (int(numbers[-1]) if numbers else 0)


def _tls_reason(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).lower().replace("_", " ")


class Connection:
    """Requests and their answers. Made by `connect`."""

    def __init__(
        self,
        endpoint: Endpoint,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        client_id: str,
        max_response_bytes: int,
    ) -> None:
        self.endpoint = endpoint
        self.has_login = False
        self.offered = Offered(apis={API_VERSIONS: (0, api_versions.FIRST_ASKED)})
        self._reader, self._writer = reader, writer
        self._client_id = client_id
        self._max_bytes = max_response_bytes
        self._next_id = 0
        self._waiting: deque[_Waiting] = deque()
        self._ended: NetError | None = None
        self._receiving = asyncio.get_running_loop().create_task(self._receive())

    async def agree(self, timeout_s: float | None = None) -> None:
        """Ask which versions there are, in an older one where the first is not known.

        `timeout_s`: for each of the two. Raises RequestTimeoutError.
        """
        version = api_versions.FIRST_ASKED
        question = api_versions.question(version)
        body = await self._exchange(API_VERSIONS, version, question, timeout_s)
        if body["errorCode"] == api_versions.UNSUPPORTED_VERSION:
            version = min(api_versions.own_range(body)[1], version - 1)
            question = api_versions.question(version)
            body = await self._exchange(API_VERSIONS, version, question, timeout_s)
        if body["errorCode"]:
            raise ProtocolViolation(
                f"{self.endpoint} refuses ApiVersions with error {body['errorCode']}"
            )
        self.offered = api_versions.offered(body)

    @property
    def is_open(self) -> bool:
        return self._ended is None

    @property
    def certificate(self) -> bytes | None:
        """The node's own certificate, as DER; None without TLS."""
        tls = self._writer.get_extra_info("ssl_object")
        return None if tls is None else tls.getpeercert(binary_form=True)

    async def request(
        self,
        name: str,
        versions: int | Range | None,
        body: Body,
        timeout_s: float | None = None,
    ) -> Value:
        """The body of the answer, whatever errors that holds.

        `versions`: the one to speak, or the range to choose the newest from that both sides have;
        None for any. Raises UnsupportedError before anything is sent; DisconnectedError,
        RequestTimeoutError and ProtocolViolation afterwards.
        """
        wanted = (versions, versions) if isinstance(versions, int) else versions
        version = self.offered.version(name, wanted)
        request_body = body(version) if callable(body) else body
        return await self._exchange(name, version, request_body, timeout_s)

    async def _exchange(
        self, name: str, version: int, body: Value, timeout_s: float | None = None
    ) -> Value:
        if self._ended is not None:
            raise self._ended
        self._next_id = (self._next_id + 1) & 0x7FFFFFFF
        frame = encode_request(
            RequestFrame(
                name=name,
                version=version,
                correlation_id=self._next_id,
                client_id=self._client_id,
                body=body,
            )
        )
        answer: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(self._next_id, name, version, answer))
        self._writer.writelines((len(frame).to_bytes(4, "big"), frame))
        try:
            async with asyncio.timeout(timeout_s):
                return await answer
        except TimeoutError:
            error = RequestTimeoutError(
                f"{self.endpoint}: no answer to {name} within {timeout_s:g} s",
                failure=Failure.TIMED_OUT,
            )
            self._end(error)
            raise error from None

    async def close(self) -> None:
        """End it; whoever still waits for an answer is told."""
        self._end(DisconnectedError(f"the connection to {self.endpoint} was closed"))
        self._receiving.cancel()
        await asyncio.gather(self._receiving, return_exceptions=True)

    def _end(self, error: NetError) -> None:
        if self._ended is None:
            self._ended = error
            # Waiting for a goodbye (TLS has one) would be waiting for the other side.
            self._writer.transport.abort()
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.answer.done():
                waiting.answer.set_exception(error)

    async def _receive(self) -> None:
        where = str(self.endpoint)
        closed = Failure.CLOSED if self.has_login else Failure.NO_LOGIN
        error: NetError = DisconnectedError(f"{where} closed the connection", failure=closed)
        try:
            while True:
                frame = await read_frame(
                    self._reader, self._max_bytes, idle_s=None, patience_s=_PATIENCE_S
                )
                if frame is None:
                    break
                self._take(frame)
        except asyncio.CancelledError:
            raise
        except TimeoutError:
            error = DisconnectedError(f"{where} stopped in the middle of an answer")
        except NetError as problem:
            error = ProtocolViolation(f"{where}: {problem.message}", failure=problem.failure)
        except DecodeError as problem:
            error = ProtocolViolation(
                f"{where}: kraftool cannot read the answer: {problem.message}"
            )
        except asyncio.IncompleteReadError:
            error = DisconnectedError(f"{where} closed the connection in the middle of an answer")
        except ssl.SSLError as problem:
            reason = _tls_reason(problem)
            # With TLS 1.3 a node refuses a client's certificate after the handshake.
            failure = Failure.CLIENT_CERTIFICATE if "certificate" in reason else Failure.OTHER
            error = DisconnectedError(f"{where} ended TLS: {reason}", failure=failure)
        except ConnectionError:
            # A node that closes while requests are on their way: a reset, or a broken pipe.
            error = DisconnectedError(f"{where} reset the connection", failure=closed)
        except OSError as problem:
            error = DisconnectedError(f"{where}: {problem.strerror or problem}")
        self._end(error)

    def _take(self, frame: bytes) -> None:
        """Pair an answer with what was asked first: Kafka answers in order."""
        if not self._waiting:
            raise ProtocolViolation("an answer without a request")
        asked = self._waiting[0]
        if frame[:4] != asked.correlation_id.to_bytes(4, "big"):
            raise ProtocolViolation("an answer to another request than the first in line")
        body = _body(frame, asked.name, asked.version)
        self._waiting.popleft()
        if not asked.answer.done():
            asked.answer.set_result(body)


def _body(frame: bytes, name: str, version: int) -> Value:
    if name == API_VERSIONS and version > 0 and len(frame) >= 6:
        _, start = codec.decode("ResponseHeader", header_versions(name, version)[1], frame)
        if frame[start : start + 2] == api_versions.UNSUPPORTED_VERSION.to_bytes(2, "big"):
            # The one answer that is not in the version of its question.
            return decode_response(frame, name, 0).body
    return decode_response(frame, name, version).body
