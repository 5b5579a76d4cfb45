"""What the digest's scenario of SCRAM users (MI14) says, and Kafka's texts."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode
from typing import Any

import pytest

from kraftool.controller.answers import answered_at_once, refused_answer
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from tests.controller.bench import Bench

SHA_256, SHA_512 = 1, 2
TWICE = "A user credential cannot be altered twice in the same request"


def upsertion(name: str, mechanism: int = SHA_256, **fields: Any) -> dict[str, Any]:
    return {
        "name": name,
        "mechanism": mechanism,
        "iterations": 4096,
        "salt": b"salt",
        "saltedPassword": b"salted",
    } | fields


def deletion(name: str, mechanism: int = SHA_256) -> dict[str, Any]:
    return {"name": name, "mechanism": mechanism}


def alter(bench: Bench, *items: dict[str, Any]) -> dict[str, tuple[int, str | None]]:
    body = {
        "deletions": [item for item in items if "salt" not in item],
        "upsertions": [item for item in items if "salt" in item],
    }
    results = bench.ask("AlterUserScramCredentials", 0, body)["results"]
    assert len({result["user"] for result in results}) == len(results)
    return {result["user"]: (result["errorCode"], result["errorMessage"]) for result in results}


def test_a_credential_proves_the_example_of_rfc_7677() -> None:
    """The user is "user", the password "pencil"; both sides' proofs are the RFC's."""
    bench, nonce = Bench(), "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", salt, 4096)
    assert alter(bench, upsertion("user", salt=salt, saltedPassword=salted)) == {"user": (0, None)}
    [(name, version, record)] = bench.records
    assert (name, version) == ("UserScramCredentialRecord", 0)
    keys = record.pop("storedKey"), record.pop("serverKey")
    assert record == {"name": "user", "mechanism": SHA_256, "salt": salt, "iterations": 4096}
    message = (
        f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r={nonce}"
    ).encode()
    signature = hmac.digest(keys[0], message, "sha256")
    proof = b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
    assert hashlib.sha256(client_key).digest() == keys[0]
    verified = hmac.digest(keys[1], message, "sha256")
    assert verified == b64decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


@pytest.mark.parametrize(
    ("item", "code", "text"),
    [
        (upsertion("a", iterations=4095), Error.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
        (upsertion("a", iterations=16385), Error.UNACCEPTABLE_CREDENTIAL, "Too many iterations"),
        (upsertion("a", iterations=16384), Error.NONE, None),
        (upsertion(""), Error.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        (upsertion("a", 3), Error.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (deletion("a", 0), Error.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
        (deletion(""), Error.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
        (
            deletion("a"), Error.RESOURCE_NOT_FOUND,
            "Attempt to delete a user credential that does not exist",
        ),
        (
            deletion("good", SHA_512), Error.RESOURCE_NOT_FOUND,
            "Attempt to delete a user credential that does not exist",
        ),
        (upsertion("a", saltedPassword=b""), Error.UNKNOWN_SERVER_ERROR, None),
    ],
)  # fmt: skip
def test_mi14_a_user_that_cannot_be_is_refused_in_kafkas_words_and_keeps_no_other_back(
    item: dict[str, Any], code: int, text: str | None
) -> None:
    bench = Bench()
    alter(bench, upsertion("good"))
    told = alter(bench, item, upsertion("other", SHA_512))
    assert told["other"] == (0, None)
    assert told[item["name"]] == (code, text)
    assert len(bench.records) == (1 if code else 2)


def test_mi14_a_user_that_is_altered_twice_is_not_altered() -> None:
    bench = Bench()
    alter(bench, upsertion("a"), upsertion("b", SHA_512))
    assert alter(
        bench,
        deletion("a"),
        deletion("b", SHA_512),
        deletion("b", SHA_512),
        upsertion("a", SHA_512),
        upsertion("c"),
        upsertion("d"),
        upsertion("d", SHA_512),
    ) == {
        "a": (Error.DUPLICATE_RESOURCE, TWICE),
        "b": (Error.DUPLICATE_RESOURCE, TWICE),
        "c": (0, None),
        "d": (Error.DUPLICATE_RESOURCE, TWICE),
    }
    assert [value["name"] for _, _, value in bench.records] == ["c"]


def test_a_credential_that_is_removed_is_gone_and_the_users_other_one_stays() -> None:
    bench = Bench()
    alter(bench, upsertion("a"))
    alter(bench, upsertion("a", SHA_512))
    assert alter(bench, deletion("a")) == {"a": (0, None)}
    assert bench.records == [
        ("RemoveUserScramCredentialRecord", 0, {"name": "a", "mechanism": SHA_256})
    ]
    state = bench.active.state
    assert not state.has_scram_credential(SHA_256, "a")
    assert state.has_scram_credential(SHA_512, "a")


def test_before_3_5_iv2_there_are_no_scram_users() -> None:
    text = "The current metadata.version does not support SCRAM"
    bench = Bench(10)
    assert alter(bench, upsertion("a", 3), deletion("b")) == {
        "a": (Error.UNSUPPORTED_VERSION, text),
        "b": (Error.UNSUPPORTED_VERSION, text),
    }
    assert alter(Bench(11), upsertion("a")) == {"a": (0, None)}


def test_a_refused_request_has_the_error_once_for_each_user_in_their_order() -> None:
    body = {"deletions": [deletion("b"), deletion("a")], "upsertions": [upsertion("b")]}
    answer = refused_answer(
        "AlterUserScramCredentials", body, RequestRefused(Error.NOT_CONTROLLER, "not here")
    )
    error = {"errorCode": Error.NOT_CONTROLLER, "errorMessage": "not here"}
    assert answer == {"results": [{"user": "a", **error}, {"user": "b", **error}]}
    nothing: dict[str, Any] = {"deletions": [], "upsertions": []}
    assert answered_at_once("AlterUserScramCredentials", nothing) == {"results": []}
