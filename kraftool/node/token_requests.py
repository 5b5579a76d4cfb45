"""The permission to send requests of delegation tokens, before the controller decides on them.

Owns Kafka's two conditions: the client has authenticated itself by something else than a token, and
it may create tokens of other owners only if it is allowed to. Everybody may have tokens of their
own.
"""

from __future__ import annotations

from kraftool.controller.delegation_tokens import not_created, owner_of
from kraftool.controller.permissions import Permissions
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.image.acls import ANONYMOUS
from kraftool.net.server import Peer

_CREATE = "CreateDelegationToken"
APIS = frozenset({_CREATE, "RenewDelegationToken", "ExpireDelegationToken"})


def refused(
    peer: Peer, api: str, body: Value, permissions: Permissions, *, is_forwarded: bool
) -> Value | None:
    """Return the answer to a client that may not ask this; None if it may. A broker that sends a
    request on has checked how its client authenticated itself."""
    is_refused = peer.has_token or not (is_forwarded or peer.is_authenticated)
    error = Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    if api != _CREATE:
        return {"errorCode": int(error), "expiryTimestampMs": -1} if is_refused else None
    if body.get("ownerPrincipalName") and body["ownerPrincipalType"] is None:
        # Kafka fails at an owner without a type, and answers as for any failure.
        return not_created(body, Error.UNKNOWN_SERVER_ERROR, ANONYMOUS, ANONYMOUS)
    owner = owner_of(body, peer.principal)
    if (
        not is_refused
        and owner != peer.principal
        and not permissions.allows("CREATE_TOKENS", "USER", owner)
    ):
        is_refused, error = True, Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    return not_created(body, error, owner, peer.principal) if is_refused else None
