"""kraftool's authorizer decides as Kafka's StandardAuthorizer, of 4.3 and of 4.4.

48,000 random actions on 400 random sets of ACLs for each release. What Kafka decided is recorded.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kraftool.controller import authorizer
from kraftool.controller.acl_hosts import host_of
from kraftool.controller.authorizer import Client
from kraftool.image.acls import StandardAcl
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.image.loader import ImageLoader
from kraftool.node.authorization import authorization_of
from kraftool.node.config import STANDARD_AUTHORIZER, config_of
from tests.interop import kafka
from tests.interop.acl_cases import ACTIONS, SETS, cases
from tests.interop.recorded import Recording, words
from tests.support import proof

JUDGE = Path(__file__).parent / "java" / "AclJudge.java"
_LEVELS = {"4.3.0": 30, "4.4.0": 33}
_CONFIG = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.bootstrap.servers": "127.0.0.1:1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:0",
    "log.dirs": "/tmp/data",
    "authorizer.class.name": STANDARD_AUTHORIZER,
}


def _decisions(version: str) -> dict[str, str]:
    lines = "".join(json.dumps(case) + "\n" for case in cases())
    done = kafka.run_source(version, JUDGE, stdin=lines.encode(), check=True)
    answers = done.stdout.decode().splitlines()
    return {str(number): answer for number, answer in enumerate(answers)}


RECORDINGS = [
    Recording(
        name="authorizer",
        release=version,
        command="java/AclJudge.java",
        sources=(JUDGE,),
        about=lambda: words({str(number): case for number, case in enumerate(cases())}),
        ask=partial(_decisions, version),
    )
    for version in _LEVELS
]


def _image(level: int, acls: list[list[Any]]) -> MetadataImage:
    loader = ImageLoader(EMPTY)
    loader.replay(0, "FeatureLevelRecord", {"name": "metadata.version", "featureLevel": level})
    for number, acl in enumerate(acls):
        record = dict(zip(_FIELDS, StandardAcl(*acl), strict=True))
        loader.replay(1 + number, "AccessControlEntryRecord", {"id": f"{number:022d}", **record})
    loader.end_batch(len(acls), 1, 0)
    return loader.image()


_FIELDS = (
    *("resourceType", "resourceName", "patternType", "principal", "host"),
    *("operation", "permissionType"),
)


def _ours(case: dict[str, Any], level: int) -> list[str]:
    image = _image(level, case["acls"])
    authorization = authorization_of(
        config_of(_CONFIG | case["configs"]), lambda: image, lambda: case["loaded"]
    )
    answers = []
    for principal, address, operation, resource, name in case["actions"]:
        permissions = authorization.permissions(Client(principal, host_of(address)))
        if permissions is None:
            answers.append("(AuthorizerNotReadyException)")
        else:
            answers.append("A" if permissions.allows(operation, resource, name) else "D")
    return answers


def _differences(recording: Recording) -> tuple[list[str], Counter[str]]:
    different, seen = [], Counter[str]()
    answers = recording.answers()
    assert len(answers) == SETS
    for number, case in enumerate(cases()):
        theirs = re.findall(r"A|D|\(\w+\)", answers[str(number)])
        ours = _ours(case, _LEVELS[recording.release])
        assert len(theirs) == len(ours) == ACTIONS
        seen.update(theirs)
        different += [
            f"set {number}: {action}: Kafka {their}, kraftool {our}; {case['configs']}"
            for action, their, our in zip(case["actions"], theirs, ours, strict=True)
            if their != our
        ]
    return different, seen


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_every_decision_is_kafkas(recording: Recording) -> None:
    different, seen = _differences(recording)
    assert not different, "\n".join(different[:5])
    proof.count("decisions of Kafka's authorizer", seen.total())
    assert min(seen["A"], seen["D"]) > seen.total() / 10
    assert seen["(AuthorizerNotReadyException)"] > 1_000
    assert set(seen) == {"A", "D", "(AuthorizerNotReadyException)"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("_ALLOWED_BY", authorizer._ALLOWED_BY | {"DESCRIBE": frozenset({8})}), ("ANY_NAME", "-")],
)
def test_a_rule_that_is_wrong_is_noticed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any
) -> None:
    """The comparison can fail: an operation that implies no other, and no wildcard."""
    monkeypatch.setattr(authorizer, name, value)
    different, _ = _differences(RECORDINGS[0])
    assert different


def test_ranges_of_addresses_decide_from_kafka_4_4_on() -> None:
    older, newer = (recording.answers() for recording in RECORDINGS)
    assert sum(older[number] != newer[number] for number in older) > SETS / 10
