"""Delegation tokens, as Kafka's DelegationTokenControlManager decides on them."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import pytest

from kraftool.controller.settings import TokenSettings
from kraftool.decoders.error_codes import Error
from tests.controller.bench import Bench

ALICE, BOB, CAROL = "User:alice", "User:bob", "User:carol"
DAY_MS = 24 * 3_600_000
SECRET = "a secret"


@pytest.fixture
def bench() -> Bench:
    return Bench(tokens=TokenSettings(secret_key=SECRET))


def create(bench: Bench, principal: str = ALICE, version: int = 3, **fields: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"renewers": [], "maxLifetimeMs": -1}
    if version >= 3:
        body |= {"ownerPrincipalType": None, "ownerPrincipalName": None}
    answer = bench.ask("CreateDelegationToken", version, body | fields, principal=principal)
    return dict(answer)


def renew(bench: Bench, token: bytes, principal: str = ALICE, period: int = -1) -> dict[str, Any]:
    body = {"hmac": token, "renewPeriodMs": period}
    return dict(bench.ask("RenewDelegationToken", 2, body, principal=principal))


def expire(bench: Bench, token: bytes, principal: str = ALICE, period: int = -1) -> dict[str, Any]:
    body = {"hmac": token, "expiryTimePeriodMs": period}
    return dict(bench.ask("ExpireDelegationToken", 2, body, principal=principal))


def renewers(*names: str) -> list[dict[str, str]]:
    return [{"principalType": "User", "principalName": name} for name in names]


def test_a_token_lasts_a_day_at_a_time_and_seven_at_most(bench: Bench) -> None:
    answer = create(bench, renewers=renewers("bob"))
    now = bench.now_ms
    [(_, _, record)] = bench.records
    assert record == {
        "owner": ALICE,
        "requester": ALICE,
        "renewers": [BOB],
        "issueTimestamp": now,
        "maxTimestamp": now + 7 * DAY_MS,
        "expirationTimestamp": now + DAY_MS,
        "tokenId": answer["tokenId"],
    }
    assert answer["expiryTimestampMs"] == now + DAY_MS
    assert answer["maxTimestampMs"] == now + 7 * DAY_MS
    assert (answer["principalName"], answer["tokenRequesterPrincipalName"]) == ("alice", "alice")


def test_the_password_is_the_hmac_of_the_id_and_is_not_in_the_record(bench: Bench) -> None:
    answer = create(bench)
    expected = hmac.new(SECRET.encode(), answer["tokenId"].encode(), hashlib.sha512).digest()
    assert answer["hmac"] == expected
    assert not any(value == expected for value in bench.records[0][2].values())


def test_a_shorter_lifetime_bounds_the_first_day_too(bench: Bench) -> None:
    answer = create(bench, maxLifetimeMs=5_000)
    assert answer["maxTimestampMs"] == answer["expiryTimestampMs"] == bench.now_ms + 5_000
    assert create(bench, maxLifetimeMs=9 * DAY_MS)["maxTimestampMs"] == bench.now_ms + 7 * DAY_MS


def test_a_token_may_have_another_owner_than_who_asked_for_it(bench: Bench) -> None:
    answer = create(bench, ownerPrincipalType="User", ownerPrincipalName="bob")
    assert (answer["principalName"], answer["tokenRequesterPrincipalName"]) == ("bob", "alice")
    assert renew(bench, answer["hmac"], ALICE)["errorCode"] == Error.DELEGATION_TOKEN_OWNER_MISMATCH
    assert renew(bench, answer["hmac"], BOB)["errorCode"] == Error.NONE


def test_older_versions_are_answered_without_the_requester(bench: Bench) -> None:
    answer = create(bench, version=2)
    assert answer["principalName"] == "alice"
    assert "tokenRequesterPrincipalName" not in answer


def test_only_users_renew_tokens(bench: Bench) -> None:
    groups = [{"principalType": "Group", "principalName": "readers"}]
    assert create(bench, renewers=groups)["errorCode"] == Error.INVALID_PRINCIPAL_TYPE
    assert bench.names == []


def test_a_renewer_may_renew_and_expire_a_token_and_others_may_not(bench: Bench) -> None:
    token = create(bench, renewers=renewers("bob"))["hmac"]
    for ask in (renew, expire):
        refused = ask(bench, token, CAROL, 5_000)
        assert refused["errorCode"] == Error.DELEGATION_TOKEN_OWNER_MISMATCH
        assert ask(bench, token, BOB, 5_000)["expiryTimestampMs"] == bench.now_ms + 5_000
        assert bench.records[0][2]["expirationTimestamp"] == bench.now_ms + 5_000


def test_a_token_is_not_renewed_beyond_its_lifetime(bench: Bench) -> None:
    token = create(bench, maxLifetimeMs=8_000)["hmac"]
    assert renew(bench, token, period=DAY_MS)["expiryTimestampMs"] == bench.now_ms + 8_000
    assert expire(bench, token, period=DAY_MS)["expiryTimestampMs"] == bench.now_ms + 8_000


def test_a_token_is_valid_in_the_millisecond_in_which_it_ends(bench: Bench) -> None:
    token = create(bench, maxLifetimeMs=1_000)["hmac"]
    bench.now_ms += 1_000
    assert renew(bench, token)["errorCode"] == Error.NONE


def test_a_token_that_is_over_cannot_be_renewed_whoever_asks(bench: Bench) -> None:
    token = create(bench, maxLifetimeMs=1_000)["hmac"]
    bench.now_ms += 1_001
    assert renew(bench, token, CAROL)["errorCode"] == Error.DELEGATION_TOKEN_EXPIRED
    assert expire(bench, token, period=1)["errorCode"] == Error.DELEGATION_TOKEN_EXPIRED
    mismatch = expire(bench, token, CAROL, 1)["errorCode"]
    assert mismatch == Error.DELEGATION_TOKEN_OWNER_MISMATCH


def test_a_negative_period_removes_a_token_at_once_also_one_that_is_over(bench: Bench) -> None:
    token = create(bench, maxLifetimeMs=1_000)["hmac"]
    bench.now_ms += 1_001
    assert expire(bench, token) == {"errorCode": Error.NONE, "expiryTimestampMs": bench.now_ms}
    assert bench.names == ["RemoveDelegationTokenRecord"]
    assert renew(bench, token)["errorCode"] == Error.DELEGATION_TOKEN_NOT_FOUND
    assert expire(bench, b"no such token")["errorCode"] == Error.DELEGATION_TOKEN_NOT_FOUND


def test_tokens_that_are_over_are_removed_every_hour(bench: Bench) -> None:
    over, kept = create(bench, maxLifetimeMs=1_000), create(bench)
    bench.pass_time(3_600_000 - 1)
    assert "RemoveDelegationTokenRecord" not in bench.names
    bench.pass_time(1)
    removed = [value for name, _, value in bench.records if name == "RemoveDelegationTokenRecord"]
    assert removed == [{"tokenId": over["tokenId"]}]
    assert [token.id for token in bench.active.state.tokens()] == [kept["tokenId"]]


def test_without_a_key_there_are_no_tokens() -> None:
    bench = Bench()
    answer = create(bench)
    assert answer["errorCode"] == Error.DELEGATION_TOKEN_AUTH_DISABLED
    assert answer["principalName"] == "alice"
    for ask in (renew, expire):
        assert ask(bench, b"")["errorCode"] == Error.DELEGATION_TOKEN_AUTH_DISABLED


def test_before_3_6_iv2_there_are_no_tokens() -> None:
    for level, expected in ((13, Error.UNSUPPORTED_VERSION), (14, Error.NONE)):
        bench = Bench(level, tokens=TokenSettings(secret_key=SECRET))
        assert create(bench)["errorCode"] == expected
