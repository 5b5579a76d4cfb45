"""Scenario files: what they say, and what they may not be."""

from __future__ import annotations

import pytest

from kraftool.raft.names import ElectionState, OffsetAndEpoch, ReplicaKey
from kraftool.reports.election.scenario import (
    MOST_BYTES,
    Scenario,
    ScenarioError,
    parse_scenario,
)


def parsed(text: str) -> Scenario:
    return parse_scenario(text.encode(), "test.yaml")


def test_a_node_is_what_its_keys_say() -> None:
    scenario = parsed(
        """
        nodes:
          1: {log: {1: 0, 7: 40}, end: 50, epoch: 8, leader: 2, voted: 2}
          2: {logStart: 30, snapshot: [30, 1], log: {1: 30}, end: 44, directoryId: abc}
          3:
        voters: [1, 2, 4]
        timing: {electionTimeoutMs: 5}
        """
    )
    one, two, three = scenario.case.nodes
    assert one.end == OffsetAndEpoch(50, 7)
    assert one.log.epochs == ((1, 0), (7, 40))
    assert one.election == ElectionState(epoch=8, leader_id=2, voted=ReplicaKey(2, "abc"))
    assert one.settings.timing.election_timeout_ms == 5
    assert two.log.start == 30
    assert two.key == ReplicaKey(2, "abc")
    assert two.is_voter
    assert (three.end, three.election) == (OffsetAndEpoch(0, 0), None)
    assert not three.is_voter
    assert scenario.case.unknown == (4,)
    assert scenario.case.kraft_version == 1


def test_what_ifs_are_those_of_the_command_line() -> None:
    scenario = parsed(
        "nodes: {1: {down: true}, 2: }\ndown: 2\npartition: 1|2\ndelayMs: 9\nwipe: [2]\naddVoter: 3"
    )
    assert scenario.down == (1, 2)
    assert (scenario.partition, scenario.delay_ms, scenario.wipe, scenario.add_voter) == (
        ("1|2",),
        9,
        (2,),
        (3,),
    )


def test_static_voters_have_no_directory_ids() -> None:
    case = parsed("kraftVersion: 0\nnodes: {1: {end: 3}, 2: {end: 3}}").case
    assert case.kraft_version == 0
    assert [voter.key.directory_id for voter in case.voters] == [None, None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is not a mapping"),
        ("[1]", "the file is not a mapping"),
        ("nodes: {}", "there must be 1 to 64"),
        ("nodes: {1: {end: -1}}", "end of 1 is not a number"),
        ("nodes: {1: {end: 1.5}}", "end of 1 is not a number"),
        ("nodes: {1: {end: yes}}", "end of 1 is not a number"),
        ("nodes: {one: {end: 1}}", "a node's id"),
        ("nodes: {1: {size: 1}}", "node 1 has no size"),
        ("node: {1: }", "the file has no node"),
        ("nodes: {1: {end: 1}, 1: {end: 2}}", "line 1: 1 twice"),
        ("nodes: {1: {log: {2: 0, 1: 5}, end: 9}}", "increase"),
        ("nodes: {1: {log: {1: 0, 2: 9}, end: 9}}", "cover 0 to 8"),
        ("nodes: {1: {logStart: 5, end: 9}}", "there is no snapshot before it"),
        ("nodes: {1: {epoch: 3, leader: 1, voted: 1}}", "has no vote"),
        ("nodes: {1: {down: maybe}}", "true or false"),
        ("nodes: {1: {directoryId: ''}}", "short text"),
        ("kraftVersion: 2\nnodes: {1: }", "kraftVersion must be 0 or 1"),
        ("timing: {linger: 1}\nnodes: {1: }", "timing has no linger"),
        ("timing: {fetchTimeoutMs: 99999999}\nnodes: {1: }", "an hour at most"),
        ("a: &x 1\nb: *x", "aliases are not read"),
        ("nodes: !!python/object:os.system {}", "tags are not read"),
        ("nodes: !!int 3", "tags are not read"),
        ("nodes: " + "[" * 5000, "too deep"),
        ("nodes: {1: {end: [}", "line 1"),
        ("? [1, 2]\n: 3", "a key is a word or a number"),
        ("nodes: {1: {epoch: 99999999999999999999999}}", "not a number"),
        ("- x\n" * 30_000, "too long"),
        ("a: \x00", "special characters are not allowed"),
        (" " * (MOST_BYTES + 1), "at most"),
        ("nodes: {1: {end: 5}}\n---\nnodes: {}", "line 2"),
    ],
)
def test_what_is_no_scenario_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=r"^test\.yaml: ") as raised:
        parsed(text)
    assert words in raised.value.message


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(ScenarioError, match="byte 0 is not UTF-8"):
        parse_scenario(b"\xff\xfe", "test.yaml")
