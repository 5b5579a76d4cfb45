"""SCRAM (RFC 5802) as Kafka speaks it, both sides, without channel binding.

Owns the exchange of messages, a generator a side: what is yielded goes out, what is sent in came
back. It refuses passwords to be compared in any other way than by proof.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Callable, Generator

from kraftool.image.scram import ScramCredential
from kraftool.image.scram_keys import DIGESTS as DIGESTS
from kraftool.image.scram_keys import ITERATIONS, keys_of
from kraftool.net.errors import AuthenticationError

MIN_ITERATIONS = ITERATIONS[0]
"""Kafka's, of both mechanisms."""
_MAX_ITERATIONS = 1 << 24
"""A server that asks for more wants to keep the client busy."""
_HEADER = "n,,"

Exchange = Generator[bytes, bytes, str]
"""Ends with the user's name."""


Lookup = Callable[[str, str], ScramCredential | None]
"""The credential of a mechanism and a user."""


def credential(mechanism: str, password: str, iterations: int = MIN_ITERATIONS) -> ScramCredential:
    """A new credential, with a salt of its own."""
    salt = secrets.token_bytes(24)
    salted = hashlib.pbkdf2_hmac(DIGESTS[mechanism], password.encode(), salt, iterations)
    keys = keys_of(mechanism, salted)
    return ScramCredential(
        salt=salt,
        stored_key=keys.stored_key,
        server_key=keys.server_key,
        iterations=iterations,
    )


def client(mechanism: str, user: str, password: str) -> Exchange:
    """The client's side."""
    digest = DIGESTS[mechanism]
    nonce = secrets.token_hex(16)
    first = f"n={_escaped(user)},r={nonce}"
    server_first = (yield (_HEADER + first).encode()).decode("utf-8", "replace")
    attributes = _attributes(server_first)
    if "r" not in attributes or not attributes["r"].startswith(nonce) or attributes["r"] == nonce:
        raise AuthenticationError("the server answers SCRAM with a nonce that is not of this login")
    iterations, salt = _iterations(attributes.get("i", "")), _decoded(attributes.get("s", ""))
    if not MIN_ITERATIONS <= iterations <= _MAX_ITERATIONS or not salt:
        raise AuthenticationError(f"the server asks for {iterations} iterations of SCRAM")
    salted = hashlib.pbkdf2_hmac(digest, password.encode(), salt, iterations)
    client_key = hmac.digest(salted, b"Client Key", digest)
    stored_key = hashlib.new(digest, client_key).digest()
    binding = base64.b64encode(_HEADER.encode()).decode()
    without_proof = f"c={binding},r={attributes['r']}"
    message = f"{first},{server_first},{without_proof}".encode()
    proof = _xor(client_key, hmac.digest(stored_key, message, digest))
    last = yield f"{without_proof},p={base64.b64encode(proof).decode()}".encode()
    final = _attributes(last.decode("utf-8", "replace"))
    if "e" in final:
        raise AuthenticationError(f"the server refuses the login: {final['e']}")
    own = hmac.digest(hmac.digest(salted, b"Server Key", digest), message, digest)
    if not hmac.compare_digest(own, _decoded(final.get("v", ""))):
        raise AuthenticationError("the server does not know the password that it checks")
    return user


def server(mechanism: str, lookup: Lookup) -> Generator[bytes, bytes, str]:
    """The server's side. The first answer comes of nothing: send the client's message in."""
    digest = DIGESTS[mechanism]
    message = (yield b"").decode("utf-8", "replace")
    header, bare = _without_header(message)
    asked = _attributes(bare)
    user, nonce = _unescaped(asked.get("n", "")), asked.get("r", "")
    if not user or not nonce:
        raise AuthenticationError("a SCRAM message without a name or a nonce")
    scram_credential = lookup(mechanism, user)
    # Whoever guesses names is to see no difference before the end.
    known = scram_credential or credential(mechanism, secrets.token_hex(16))
    nonce += secrets.token_hex(16)
    salt = base64.b64encode(known.salt).decode()
    server_first = f"r={nonce},s={salt},i={known.iterations}"
    last = (yield server_first.encode()).decode("utf-8", "replace")
    final = _attributes(last)
    without_proof = last.rpartition(",p=")[0]
    if _decoded(final.get("c", "")).decode("utf-8", "replace") != header:
        raise AuthenticationError("a SCRAM message with another channel binding than at first")
    proof = _decoded(final.get("p", ""))
    text = f"{bare},{server_first},{without_proof}".encode()
    signature = hmac.digest(known.stored_key, text, digest)
    is_known = len(proof) == len(signature) and hmac.compare_digest(
        hashlib.new(digest, _xor(proof, signature)).digest(), known.stored_key
    )
    if scram_credential is None or not is_known or final.get("r") != nonce:
        raise AuthenticationError(f"invalid credentials with SASL mechanism {mechanism}")
    verified = base64.b64encode(hmac.digest(known.server_key, text, digest)).decode()
    yield f"v={verified}".encode()
    return user


def claimed_user(token: bytes) -> str:
    """The user that a client's first message names; empty if it is no such message."""
    parts = token.decode("utf-8", "replace").split(",", 2)
    return _unescaped(_attributes(parts[2]).get("n", "")) if len(parts) == 3 else ""


def _without_header(message: str) -> tuple[str, str]:
    """The GS2 header, and what follows it."""
    parts = message.split(",", 2)
    if len(parts) != 3 or parts[0] not in ("n", "y"):
        raise AuthenticationError("a SCRAM message without its header")
    authorization = _unescaped(parts[1].removeprefix("a="))
    user = _unescaped(_attributes(parts[2]).get("n", ""))
    if authorization and authorization != user:
        raise AuthenticationError("a SCRAM login as somebody else")
    return f"{parts[0]},{parts[1]},", parts[2]


def _attributes(message: str) -> dict[str, str]:
    attributes = {}
    for part in message.split(","):
        key, mark, value = part.partition("=")
        if mark and len(key) == 1:
            attributes[key] = value
    return attributes


def _iterations(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def _escaped(user: str) -> str:
    return user.replace("=", "=3D").replace(",", "=2C")


def _unescaped(user: str) -> str:
    return user.replace("=2C", ",").replace("=3D", "=")
