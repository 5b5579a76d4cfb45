"""Delegation tokens: created, renewed, expired, and removed once they are over.

Owns the dates of a token, its HMAC, and who may renew it. The secret never gets into the log: every
node with the key computes the HMAC of a token by its id. All times are those of the wall clock.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from itertools import islice
from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.settings import TokenSettings
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.decoders.java_text import INT64_MAX
from kraftool.image.delegation_tokens import DelegationToken
from kraftool.image.metadata_version import DELEGATION_TOKENS_LEVEL
from kraftool.image.replay import WrittenRecord

MOST_REMOVALS = 1_000
"""What one run of the periodic task removes at most."""
_USER = "User"


class DelegationTokens:
    """The tokens of one claim."""

    def __init__(self, state: ControllerState, settings: TokenSettings) -> None:
        self._state, self._settings = state, settings
        self._by_hmac: dict[bytes, str] = {}
        self._known: set[str] = set()
        """The ids in `_by_hmac`."""

    def decide(
        self,
        api: str,
        request: dict[str, Any],
        principal: str,
        now_ms: int,
        new_id: Callable[[], str],
    ) -> Decision:
        """Decide on a request of a principal. `new_id`: gives the id of a token."""
        match api:
            case "CreateDelegationToken":
                return self._create(request, principal, now_ms, new_id)
            case "RenewDelegationToken":
                return self._renew(request, principal, now_ms)
        return self._expire(request, principal, now_ms)

    def _create(
        self, request: dict[str, Any], principal: str, now_ms: int, new_id: Callable[[], str]
    ) -> Decision:
        """Give the caller, or the owner that it names, a token."""
        owner = owner_of(request, principal)
        answer = _principals(request, owner, principal)
        error = self._problem()
        if error is not Error.NONE:
            return _refused(error, answer)
        renewers = [
            f"{item['principalType']}:{item['principalName']}" for item in request["renewers"]
        ]
        if any(item["principalType"] != _USER for item in request["renewers"]):
            return _refused(Error.INVALID_PRINCIPAL_TYPE, answer)
        lifetime = self._settings.max_lifetime_ms
        if request["maxLifetimeMs"] > 0:
            lifetime = min(lifetime, request["maxLifetimeMs"])
        ends = _later(now_ms, lifetime)
        token = DelegationToken(
            id=new_id(),
            owner=owner,
            requester=principal,
            renewers=tuple(renewers),
            issue_timestamp=now_ms,
            max_timestamp=ends,
            expiration_timestamp=min(ends, _later(now_ms, self._settings.expiry_ms)),
        )
        answer |= {
            "errorCode": int(Error.NONE),
            "issueTimestampMs": token.issue_timestamp,
            "expiryTimestampMs": token.expiration_timestamp,
            "maxTimestampMs": token.max_timestamp,
            "tokenId": token.id,
            "hmac": self._hmac(token.id),
        }
        return Decision(answer=answer, records=[token.record()])

    def _renew(self, request: dict[str, Any], principal: str, now_ms: int) -> Decision:
        """Let a token be valid for longer, but not beyond its lifetime."""
        token = self._token(request["hmac"])
        if isinstance(token, Error):
            return _refused(token)
        if _is_over(token, now_ms):
            return _refused(Error.DELEGATION_TOKEN_EXPIRED)
        if not _may_renew(token, principal):
            return _refused(Error.DELEGATION_TOKEN_OWNER_MISMATCH)
        period = self._settings.expiry_ms
        if request["renewPeriodMs"] > 0:
            period = min(period, request["renewPeriodMs"])
        return _expires_at(token, min(token.max_timestamp, _later(now_ms, period)))

    def _expire(self, request: dict[str, Any], principal: str, now_ms: int) -> Decision:
        """Let a token end at another time; at once if the period is negative."""
        token = self._token(request["hmac"])
        if isinstance(token, Error):
            return _refused(token)
        if not _may_renew(token, principal):
            return _refused(Error.DELEGATION_TOKEN_OWNER_MISMATCH)
        period = request["expiryTimePeriodMs"]
        if period < 0:
            answer = {"errorCode": int(Error.NONE), "expiryTimestampMs": now_ms}
            return Decision(answer=answer, records=[_removal(token.id)])
        if _is_over(token, now_ms):
            return _refused(Error.DELEGATION_TOKEN_EXPIRED)
        return _expires_at(token, min(token.max_timestamp, _later(now_ms, period)))

    def sweep(self, now_ms: int) -> list[WrittenRecord]:
        """Return records that remove tokens which are over. A node without the key knows none."""
        if self._settings.secret_key is None:
            return []
        over = (token.id for token in self._state.tokens() if _is_over(token, now_ms))
        return [_removal(token_id) for token_id in islice(over, MOST_REMOVALS)]

    def _problem(self) -> Error:
        """Return why there are no tokens; NONE if there are."""
        if self._settings.secret_key is None:
            return Error.DELEGATION_TOKEN_AUTH_DISABLED
        if self._state.level < DELEGATION_TOKENS_LEVEL:
            return Error.UNSUPPORTED_VERSION
        return Error.NONE

    def _token(self, wanted: bytes) -> DelegationToken | Error:
        """Return the token of an HMAC, or why there is none."""
        error = self._problem()
        if error is not Error.NONE:
            return error
        for token in self._state.tokens():
            if token.id not in self._known:
                self._known.add(token.id)
                self._by_hmac[self._hmac(token.id)] = token.id
        token_id = self._by_hmac.get(bytes(wanted))
        found = self._state.token(token_id) if token_id is not None else None
        return found or Error.DELEGATION_TOKEN_NOT_FOUND

    def _hmac(self, token_id: str) -> bytes:
        assert self._settings.secret_key is not None, "`_problem` was asked"
        key = self._settings.secret_key.encode()
        return hmac.digest(key, token_id.encode(), hashlib.sha512)


def owner_of(request: dict[str, Any], principal: str) -> str:
    """Return the owner of a new token: the caller, if the request names nobody."""
    name = request.get("ownerPrincipalName")
    return f"{request['ownerPrincipalType']}:{name}" if name else principal


def not_created(
    request: dict[str, Any], error: Error, owner: str, principal: str
) -> dict[str, Any]:
    """Return the answer to a request for a token that no controller decided on."""
    never = dict.fromkeys(("issueTimestampMs", "expiryTimestampMs", "maxTimestampMs"), -1)
    return {"errorCode": int(error), **_principals(request, owner, principal), **never}


def _principals(request: dict[str, Any], owner: str, principal: str) -> dict[str, Any]:
    owner_type, _, owner_name = owner.partition(":")
    answer = {"principalType": owner_type, "principalName": owner_name}
    if "ownerPrincipalName" in request:  # a version that knows both
        requester_type, _, requester_name = principal.partition(":")
        answer["tokenRequesterPrincipalType"] = requester_type
        answer["tokenRequesterPrincipalName"] = requester_name
    return answer


def _refused(error: Error, answer: dict[str, Any] | None = None) -> Decision:
    """Like every answer, it waits until the state that it is based on is committed."""
    return Decision(answer={**(answer or {}), "errorCode": int(error)})


def _expires_at(token: DelegationToken, at_ms: int) -> Decision:
    answer = {"errorCode": int(Error.NONE), "expiryTimestampMs": at_ms}
    name, version, record = token.record()
    return Decision(
        answer=answer, records=[(name, version, {**record, "expirationTimestamp": at_ms})]
    )


def _removal(token_id: str) -> WrittenRecord:
    return "RemoveDelegationTokenRecord", 0, {"tokenId": token_id}


def _is_over(token: DelegationToken, now_ms: int) -> bool:
    return token.max_timestamp < now_ms or token.expiration_timestamp < now_ms


def _may_renew(token: DelegationToken, principal: str) -> bool:
    return principal == token.owner or principal in token.renewers


def _later(now_ms: int, ms: int) -> int:
    return min(now_ms + ms, INT64_MAX)
