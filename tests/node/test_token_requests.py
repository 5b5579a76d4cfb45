"""Who may send the requests of delegation tokens: what Kafka's ControllerApis refuses at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftool.controller.authorizer import AuthorizerRules
from kraftool.controller.permissions import Permissions, everything
from kraftool.controller.settings import TokenSettings
from kraftool.decoders import codec
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import (
    RequestFrame,
    ResponseFrame,
    decode_response,
    encode_request,
    encode_response,
)
from kraftool.net.server import Peer
from kraftool.node import token_requests
from kraftool.node.authorization import Authorization
from kraftool.node.config import STANDARD_AUTHORIZER
from kraftool.node.serving import Serving
from tests.node.quorum import ANYBODY
from tests.node.test_controlling import Controllers, run

ALICE = replace(ANYBODY, principal="User:alice", is_authenticated=True)
BODY: dict[str, Any] = {"ownerPrincipalType": None, "ownerPrincipalName": None}


def error_for(
    peer: Peer, api: str = "CreateDelegationToken", *, may_create: bool = True, **more: Any
) -> int:
    is_forwarded = more.pop("is_forwarded", False)
    answer = token_requests.refused(
        peer, api, BODY | more, Permissions(lambda *_: may_create), is_forwarded=is_forwarded
    )
    return Error.NONE if answer is None else answer["errorCode"]


@pytest.mark.parametrize("api", sorted(token_requests.APIS))
def test_a_client_that_the_listener_did_not_authenticate_gets_no_token(api: str) -> None:
    not_allowed = Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    assert error_for(ANYBODY, api) == not_allowed
    assert error_for(ANYBODY, api, is_forwarded=True) == Error.NONE
    assert error_for(ALICE, api) == Error.NONE


@pytest.mark.parametrize("api", sorted(token_requests.APIS))
def test_a_token_does_not_give_other_tokens(api: str) -> None:
    with_token = replace(ALICE, has_token=True)
    for is_forwarded in (False, True):
        answer = error_for(with_token, api, is_forwarded=is_forwarded)
        assert answer == Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


def test_tokens_of_others_need_a_permission_and_own_ones_none() -> None:
    assert error_for(ALICE, may_create=False) == Error.NONE
    owner = {"ownerPrincipalType": "User", "ownerPrincipalName": "bob"}
    refused = Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    assert error_for(ALICE, may_create=False, **owner) == refused
    assert error_for(ALICE, may_create=True, **owner) == Error.NONE
    own = {"ownerPrincipalType": "User", "ownerPrincipalName": "alice"}
    assert error_for(ALICE, may_create=False, **own) == Error.NONE


def test_a_refusal_has_no_dates() -> None:
    """DelegationTokenManager.ERROR_TIMESTAMP is -1."""
    created = token_requests.refused(
        ANYBODY, "CreateDelegationToken", BODY, everything(), is_forwarded=False
    )
    assert created is not None
    dates = {"issueTimestampMs", "expiryTimestampMs", "maxTimestampMs"}
    assert {key: created[key] for key in dates} == dict.fromkeys(dates, -1)
    renewed = token_requests.refused(
        ANYBODY, "RenewDelegationToken", BODY, everything(), is_forwarded=False
    )
    assert renewed is not None
    assert renewed["expiryTimestampMs"] == -1


def test_a_controller_creates_the_tokens_that_brokers_ask_for(tmp_path: Path) -> None:
    """With an authorizer, too: everybody may have a token. DescribeDelegationToken is offered, and
    answered with an error, as Kafka 4.3's ControllerApis does."""

    async def creates(controllers: Controllers) -> None:
        node_id = await controllers.active()
        only_brokers = AuthorizerRules(super_users=frozenset({ANYBODY.principal}))
        node = Serving(
            controllers.quorum.running[node_id],
            lambda: None,
            features={},
            authorization=Authorization(STANDARD_AUTHORIZER, only_brokers, lambda: None, bool),
            controlling=controllers.of[node_id],
        )
        direct = await answered(node, "CreateDelegationToken", 3, CREATION)
        assert direct["errorCode"] == Error.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
        sent_on = await sent_by_broker(node, "User:alice", "CreateDelegationToken", 3, CREATION)
        assert sent_on["errorCode"] == Error.NONE
        assert sent_on["principalName"] == "alice"
        renewal = {"hmac": sent_on["hmac"], "renewPeriodMs": 1}
        renewed = await sent_by_broker(node, "User:alice", "RenewDelegationToken", 2, renewal)
        assert renewed["errorCode"] == Error.NONE
        other = {**CREATION, "ownerPrincipalType": "User", "ownerPrincipalName": "bob"}
        refused = await sent_by_broker(node, "User:alice", "CreateDelegationToken", 3, other)
        assert refused["errorCode"] == Error.DELEGATION_TOKEN_AUTHORIZATION_FAILED
        described = await answered(node, "DescribeDelegationToken", 3, {"owners": None})
        assert described["errorCode"] == Error.UNKNOWN_SERVER_ERROR

    settings = TokenSettings(secret_key="a secret")
    asyncio.run(run(Controllers(tmp_path, 1, max_idle_ms=None, tokens=settings), creates))


CREATION = {**BODY, "renewers": [], "maxLifetimeMs": -1}


async def answered(node: Serving, name: str, version: int, body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a client that asks the controller itself, by way of Kafka's bytes."""
    frame = RequestFrame(name=name, version=version, correlation_id=1, client_id="t", body=body)
    answer = await node.answer(ANYBODY, frame)
    assert answer is not None
    back = ResponseFrame(name=name, version=version, correlation_id=1, body=answer)
    return dict(decode_response(encode_response(back), name, version).body)


async def sent_by_broker(
    node: Serving, principal: str, name: str, version: int, body: dict[str, Any]
) -> dict[str, Any]:
    """The answer to a client whose request a broker sends on."""
    kind, _, user = principal.partition(":")
    client = {"type": kind, "name": user, "tokenAuthenticated": False}
    inner = RequestFrame(name=name, version=version, correlation_id=7, client_id="c", body=body)
    envelope = {
        "requestData": encode_request(inner),
        "requestPrincipal": b"\0\0" + codec.encode("DefaultPrincipalData", 0, client),
        "clientHostAddress": b"\x7f\0\0\1",
    }
    answer = await answered(node, "Envelope", 0, envelope)
    assert answer["errorCode"] == Error.NONE
    return dict(decode_response(answer["responseData"], name, version).body)
