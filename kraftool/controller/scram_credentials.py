"""AlterUserScramCredentials: users that log in with SCRAM, and the answers about their credentials.

Owns the checks, in Kafka's words, and the record of a credential. The request carries a salted
password; what is written are the keys that a server needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.image.metadata_version import SCRAM_LEVEL
from kraftool.image.replay import WrittenRecord
from kraftool.image.scram import MECHANISMS
from kraftool.image.scram_keys import ITERATIONS, keys_of

Body = dict[str, Any]
_Items = dict[str, Body]


def alter_scram_credentials(state: ControllerState, request: Body) -> Decision:
    """Set and remove credentials. A user whose change is refused keeps nobody else from theirs."""
    refused: dict[str, RequestRefused] = {}
    deletions: _Items = {}
    upsertions: _Items = {}

    def take(items: Iterable[Body], into: _Items, check: Callable[[Body], None]) -> None:
        for item in items:
            name = item["name"]
            if name in refused:
                continue
            try:
                # Of both changes of a user none is made.
                if deletions.pop(name, None) or upsertions.pop(name, None):
                    raise RequestRefused(
                        Error.DUPLICATE_RESOURCE,
                        "A user credential cannot be altered twice in the same request",
                    )
                if state.level < SCRAM_LEVEL:
                    raise RequestRefused(
                        Error.UNSUPPORTED_VERSION,
                        "The current metadata.version does not support SCRAM",
                    )
                check(item)
            except RequestRefused as refusal:
                refused[name] = refusal
            else:
                into[name] = item

    take(request["deletions"], deletions, lambda item: _check_deletion(state, item))
    take(request["upsertions"], upsertions, _check_upsertion)
    for name in [name for name, item in upsertions.items() if not item["saltedPassword"]]:
        # Java's HMAC takes no empty key: Kafka fails at this user.
        refused[name] = RequestRefused(Error.UNKNOWN_SERVER_ERROR)
        del upsertions[name]
    records = [*map(_removal, deletions.values()), *map(_credential, upsertions.values())]
    done = {"errorCode": int(Error.NONE), "errorMessage": None}
    results = [{"user": name, **done} for name in (*deletions, *upsertions)]
    results += [
        {"user": name, "errorCode": int(refusal.error), "errorMessage": refusal.text}
        for name, refusal in refused.items()
    ]
    return Decision(answer={"results": results}, records=records)


def refused_users(request: Body, error: Body) -> Body:
    """Return the answer that has one error for each user."""
    names = {item["name"] for item in (*request["deletions"], *request["upsertions"])}
    return {"results": [{"user": name, **error} for name in sorted(names)]}


def refused_description(request: Body, error: Body) -> Body:
    """Return the answer to a DescribeUserScramCredentials that has only an error."""
    return error | {"results": [{"user": "", **error} for _ in request["users"] or ()]}


def _check_deletion(state: ControllerState, item: Body) -> None:
    _check_user(item)
    if not state.has_scram_credential(item["mechanism"], item["name"]):
        raise RequestRefused(
            Error.RESOURCE_NOT_FOUND, "Attempt to delete a user credential that does not exist"
        )


def _check_upsertion(item: Body) -> None:
    _check_user(item)
    if item["iterations"] < ITERATIONS[0]:
        raise RequestRefused(Error.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if item["iterations"] > ITERATIONS[-1]:
        raise RequestRefused(Error.UNACCEPTABLE_CREDENTIAL, "Too many iterations")


def _check_user(item: Body) -> None:
    if not item["name"]:
        raise RequestRefused(Error.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if item["mechanism"] not in MECHANISMS:
        raise RequestRefused(Error.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")


def _removal(item: Body) -> WrittenRecord:
    record = {"name": item["name"], "mechanism": item["mechanism"]}
    return "RemoveUserScramCredentialRecord", 0, record


def _credential(item: Body) -> WrittenRecord:
    keys = keys_of(MECHANISMS[item["mechanism"]], item["saltedPassword"])
    record = {
        "name": item["name"],
        "mechanism": item["mechanism"],
        "salt": item["salt"],
        "storedKey": keys.stored_key,
        "serverKey": keys.server_key,
        "iterations": item["iterations"],
    }
    return "UserScramCredentialRecord", 0, record
