"""CreateAcls and DeleteAcls: who may do what.

Owns what makes an ACL one that cannot be, in Kafka's words, and the limit of what one request may
remove. An ACL that is there already is not written again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kraftool.controller.acl_filters import ANY, MATCH, filter_of, is_unknown
from kraftool.controller.acl_hosts import ANY_HOST, is_range, range_problem
from kraftool.controller.authorizer import CLUSTER_NAME
from kraftool.controller.decision import Decision
from kraftool.controller.new_partitions import MOST_RECORDS
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.image.acls import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    StandardAcl,
    acl_members,
    acl_record,
)
from kraftool.image.metadata_version import CIDR_ACL_LEVEL, KAFKA_4_4_LEVEL, level_name
from kraftool.image.replay import WrittenRecord

Body = dict[str, Any]

_CLUSTER = ACL_RESOURCES.index("CLUSTER")
_NUMBERS = (
    ("resourceType", "resourceType", ACL_RESOURCES),
    ("resourcePatternType", "patternType", ACL_PATTERNS),
    ("operation", "operation", ACL_OPERATIONS),
    ("permissionType", "permissionType", ACL_PERMISSIONS),
)
"""Fields of a creation, what Kafka calls each, and the names of its numbers."""
_NO_ERROR: Body = {"errorCode": int(Error.NONE), "errorMessage": None}


def create_acls(state: ControllerState, request: Body, new_id: Callable[[], str]) -> Decision:
    """Add the ACLs that are not there yet."""
    creations = request["creations"]
    if any(map(_has_any, creations)):
        # Kafka has no ACL for "any"; it fails at the whole request before it looks at single ones.
        raise RequestRefused(Error.UNKNOWN_SERVER_ERROR)
    there = state.distinct_acls()
    added: dict[StandardAcl, None] = {}
    results: list[Body] = []
    for creation in creations:
        try:
            _check(creation, state.level)
        except RequestRefused as refused:
            results.append(_error(refused))
            continue
        acl = _acl(creation)
        if acl not in there and acl not in added:
            if len(added) == MOST_RECORDS:
                raise RequestRefused(
                    Error.POLICY_VIOLATION,
                    "Unable to perform excessively large batch operation.",
                )
            added[acl] = None
        results.append({"errorCode": int(Error.NONE), "errorMessage": ""})
    records = [acl_record(_unused_id(state, new_id), acl) for acl in added]
    return Decision(answer={"results": results}, records=records)


def delete_acls(state: ControllerState, request: Body) -> Decision:
    """Remove the ACLs that filters fit."""
    removed: dict[str, None] = {}
    results: list[Body] = []
    for item in request["filters"]:
        wanted = filter_of(item)
        unknown = "patternFilter" if wanted.has_unknown_pattern else ""
        unknown = unknown or ("entryFilter" if wanted.has_unknown_entry else "")
        if unknown:
            refused = RequestRefused(Error.INVALID_REQUEST, f"Unknown {unknown}.")
            results.append(_error(refused) | {"matchingAcls": []})
            continue
        matching = []
        for entry_id, acl in state.acls():
            if not wanted.fits(acl):
                continue
            if len(removed) == MOST_RECORDS:
                # Nothing is removed: a part of the answer could be overlooked.
                raise RequestRefused(
                    Error.INVALID_REQUEST,
                    f"Cannot remove more than {MOST_RECORDS} acls in a single delete operation.",
                )
            removed[entry_id] = None
            matching.append(
                {"errorCode": int(Error.NONE), "errorMessage": None, **acl_members(acl)}
            )
        results.append({**_NO_ERROR, "matchingAcls": matching})
    records: list[WrittenRecord] = [
        ("RemoveAccessControlEntryRecord", 0, {"id": entry_id}) for entry_id in removed
    ]
    return Decision(answer={"filterResults": results}, records=records)


def refused_creations(request: Body, error: Body) -> Body:
    """Return the answer that has one error for each ACL."""
    return {"results": [error for _ in request["creations"]]}


def refused_filters(request: Body, error: Body) -> Body:
    """Return the answer that has one error for each filter."""
    return {"filterResults": [error | {"matchingAcls": []} for _ in request["filters"]]}


def _error(refused: RequestRefused) -> Body:
    return {"errorCode": int(refused.error), "errorMessage": refused.text}


def _has_any(creation: Body) -> bool:
    return creation["resourcePatternType"] == MATCH or any(
        creation[name] == ANY for name, _, _ in _NUMBERS
    )


def _check(creation: Body, level: int) -> None:
    """Raise RequestRefused for an ACL that cannot be. What Kafka's request layer checks is first,
    then what its controller checks."""
    if creation["resourceType"] == _CLUSTER and creation["resourceName"] != CLUSTER_NAME:
        raise _invalid(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not creation["resourceName"]:
        raise _invalid("Invalid empty resource name")
    for name, shown, names in _NUMBERS:
        if is_unknown(creation[name], names):
            raise _invalid(f"Invalid {shown} UNKNOWN")
    principal = creation["principal"]
    if ":" not in principal:
        raise _invalid(
            f"Could not parse principal from `{principal}` (no colon is present separating the"
            " principal type from the principal name)"
        )
    if level >= KAFKA_4_4_LEVEL:
        _check_host(creation["host"], level)


def _check_host(host: str, level: int) -> None:
    """Kafka 4.4 looks at hosts; before, every text is one."""
    if not host:
        raise _invalid("Host pattern cannot be null or empty")
    if host == ANY_HOST or not is_range(host):
        return
    if level < CIDR_ACL_LEVEL:
        raise RequestRefused(
            Error.UNSUPPORTED_VERSION,
            "CIDR-based ACL host patterns require metadata version"
            f" {level_name(CIDR_ACL_LEVEL)} or higher.",
        )
    if problem := range_problem(host):
        raise _invalid(f"Invalid CIDR notation '{host}': {problem}")


def _invalid(text: str) -> RequestRefused:
    return RequestRefused(Error.INVALID_REQUEST, text)


def _acl(creation: Body) -> StandardAcl:
    return StandardAcl(
        resource_type=creation["resourceType"],
        resource_name=creation["resourceName"],
        pattern_type=creation["resourcePatternType"],
        principal=creation["principal"],
        host=creation["host"],
        operation=creation["operation"],
        permission_type=creation["permissionType"],
    )


def _unused_id(state: ControllerState, new_id: Callable[[], str]) -> str:
    while True:
        entry_id = new_id()
        if state.acl(entry_id) is None:
            return entry_id
