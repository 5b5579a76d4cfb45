"""Plans: what they may name, and that only what was planned is read back."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION
from kraftool.repair.document import DocumentError, from_document, to_document
from kraftool.repair.plan import Edit, Fingerprint, HostPlan, Piece, Plan
from kraftool.repair.plan_file import PlanFile, PlanFileKind, target_of
from kraftool.repair.plan_yaml import MOST_BYTES, PlanError, plan_from_yaml, plan_to_yaml
from tests.repair.plan_cases import DELETED, JUMP, OLD, QUORUM_STATE, SEGMENT, a_plan


def test_what_is_written_is_read_back() -> None:
    plan = a_plan()
    assert plan_from_yaml(plan_to_yaml(plan)) == plan


def test_a_plan_is_written_as_before_and_an_old_one_is_read() -> None:
    """The file was written while plans had classes of their own for voters and endpoints."""
    old = (Path(__file__).parent / "testdata" / "plan.yaml").read_bytes()
    assert plan_to_yaml(a_plan()) == old
    assert plan_from_yaml(old) == a_plan()


def test_a_voter_set_is_a_list_of_voters_in_its_order() -> None:
    voters = VoterSet.of(
        Voter(
            key=ReplicaKey(3, "AAAAAAAAAAAAAAAAAAAAAg"),
            endpoints={"SECOND": Endpoint("::1", 2), "FIRST": Endpoint("a", 1)},
            kraft_version=SUPPORTED_KRAFT_VERSION,
        ),
        Voter(key=ReplicaKey(1), endpoints={"": Endpoint("b", 0)}),
    )
    document = [
        {
            "id": 3,
            "directoryId": "AAAAAAAAAAAAAAAAAAAAAg",
            "endpoints": [
                {"listener": "SECOND", "host": "::1", "port": 2},
                {"listener": "FIRST", "host": "a", "port": 1},
            ],
        },
        {
            "id": 1,
            "endpoints": [{"listener": "", "host": "b", "port": 0}],
            "maxKraftVersion": 0,
        },
    ]
    assert to_document(voters) == document
    read = from_document(VoterSet, document)
    assert read == voters
    assert [list(voter.endpoints) for voter in read] == [["SECOND", "FIRST"], [""]]


_AT = {"listener": "A", "host": "a", "port": 1}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "voters is not a list"),
        ([{}], "voters[0] has no id"),
        ([{"id": "1"}], "voters[0].id is not an integer"),
        ([{"id": 1, "rack": "a"}], "voters[0] has an unknown key 'rack'"),
        ([{"id": 1}, {"id": 1}], "voters has voter 1 twice"),
        ([{"id": 1, "endpoints": [{**_AT, "port": "1"}]}], "endpoints[0].port is not an integer"),
        ([{"id": 1, "endpoints": [_AT, _AT]}], "voters[0].endpoints has listener 'A' twice"),
    ],
)
def test_a_list_that_is_no_voter_set_is_refused(document: object, words: str) -> None:
    with pytest.raises(DocumentError, match=re.escape(words)):
        from_document(VoterSet, document, "voters")


def test_the_id_is_the_first_line_and_is_of_everything_else() -> None:
    plan = a_plan()
    text = plan_to_yaml(plan).decode()
    assert text.startswith(f"id: {plan.id}\n")
    for other in (
        replace(plan, created_ms=plan.created_ms + 1),
        replace(plan, steps=()),
        replace(plan, hosts=plan.hosts[:1]),
        replace(plan, loss=replace(plan.loss, text="another")),
    ):
        assert other.id != plan.id


def test_every_line_that_is_changed_is_noticed() -> None:
    """Whatever digit is another one: the id no longer fits, or the file is no plan."""
    text = plan_to_yaml(a_plan()).decode()
    places = [match.start() for match in re.finditer(r"[0-9]", text)]
    assert len(places) > 200
    for place in places[:: len(places) // 60]:
        other = "1" if text[place] != "1" else "2"
        with pytest.raises(PlanError):
            plan_from_yaml((text[:place] + other + text[place + 1 :]).encode())


def test_a_plan_that_is_cut_off_is_none() -> None:
    lines = plan_to_yaml(a_plan()).decode().splitlines(keepends=True)
    for count in range(len(lines)):
        with pytest.raises(PlanError):
            plan_from_yaml("".join(lines[:count]).encode())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: "other: 1\n" + text, "the first key of a plan is id"),
        (lambda text: text + "more: 1\n", "unknown key 'more'"),
        (lambda text: text + "method: none\n", "method twice"),
        (lambda text: text.replace("tool:", "tool: &a"), "aliases are not read"),
        (lambda text: text.replace("tool:", "tool: !!str"), "tags are not read"),
        (lambda text: text.replace("method: snapshot-jump", "method: magic"), "must be one of"),
        (lambda text: text.replace("kraftVersion: 1", "kraftVersion: yes"), "integer"),
        (lambda text: re.sub(r"sha256: \w+", "sha256: abc", text), "SHA-256"),
        (lambda text: text.replace("name: quorum-state", "name: ../../passwd"), "is not a name"),
        (lambda text: "id: 1\n" + "#" * MOST_BYTES + text, "bytes are read"),
        (lambda text: "[1]", "the first key of a plan is id"),
    ],
)
def test_what_is_no_plan_is_refused_with_the_reason(
    change: Callable[[str], str], words: str
) -> None:
    text = plan_to_yaml(a_plan()).decode()
    changed = change(text)
    assert changed != text
    with pytest.raises(PlanError, match=re.escape(words)):
        plan_from_yaml(changed.encode(), "p.yaml")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("00000000000000000000.log", PlanFileKind.SEGMENT),
        ("00000000000000000010.index", PlanFileKind.INDEX),
        ("00000000000000000010.timeindex", PlanFileKind.TIME_INDEX),
        ("00000000000000000010.snapshot", PlanFileKind.PRODUCER_STATE),
        ("00000000000000000010-0000000001.checkpoint", PlanFileKind.SNAPSHOT),
        ("00000000000000000010-0000000001.checkpoint.deleted", PlanFileKind.OTHER),
        ("00000000000000000010.log.deleted", PlanFileKind.OTHER),
        ("10.log", PlanFileKind.OTHER),
        ("quorum-state", PlanFileKind.QUORUM_STATE),
        ("quorum-state.tmp", PlanFileKind.OTHER),
        ("leader-epoch-checkpoint", PlanFileKind.LEADER_EPOCHS),
        ("partition.metadata", PlanFileKind.PARTITION_METADATA),
    ],
)
def test_a_file_is_of_the_kind_that_kafka_takes_it_for(name: str, kind: PlanFileKind) -> None:
    target = target_of(name)
    assert target == PlanFile(kind=kind, name=name)
    assert target.path == f"__cluster_metadata-0/{name}"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", ".lock", "a\nb", "a b", "/etc/passwd", "x" * 300]
)
def test_nothing_outside_of_the_folder_can_be_named(name: str) -> None:
    with pytest.raises(DocumentError):
        target_of(name)


@pytest.mark.parametrize(
    "kind", [file_kind for file_kind in PlanFileKind if file_kind is not PlanFileKind.SEGMENT]
)
def test_a_file_cannot_pass_for_one_of_another_kind(kind: PlanFileKind) -> None:
    with pytest.raises(DocumentError):
        PlanFile(kind=kind, name="00000000000000000000.log")


@pytest.mark.parametrize(
    "edit",
    [
        lambda: Edit(target=SEGMENT),
        lambda: Edit(target=SEGMENT, after=OLD),
        lambda: Edit(target=SEGMENT, after=OLD, pieces=(Piece(data=b"short"),)),
        lambda: Edit(target=SEGMENT, before=OLD, pieces=(Piece(data=b"x"),)),
        lambda: Edit(target=DELETED, after=Fingerprint.of(b"x"), pieces=(Piece(data=b"x"),)),
        lambda: Edit(target=SEGMENT, snapshot=a_plan().hosts[0].edits[0].snapshot),
        lambda: Edit(
            target=target_of("00000000000000006001-0000001007.checkpoint"),
            snapshot=a_plan().hosts[0].edits[0].snapshot,
        ),
        lambda: Edit(target=JUMP, before=OLD, snapshot=a_plan().hosts[0].edits[0].snapshot),
        lambda: Piece(file=SEGMENT, start=3, end=2),
        lambda: Piece(data=b"x", file=SEGMENT, end=2),
        lambda: Piece(data=b"x", source="node-2"),
        lambda: Piece(data=bytes(300 << 10)),
        lambda: replace(
            a_plan().hosts[1],
            edits=(Edit(target=QUORUM_STATE, before=OLD), Edit(target=QUORUM_STATE, before=OLD)),
        ),
        lambda: replace(a_plan().hosts[1], name="../x"),
        lambda: replace(a_plan(), hosts=a_plan().hosts * 2),
        lambda: replace(a_plan(), schema_version=2),
    ],
)
def test_an_edit_that_makes_no_sense_cannot_be_made(
    edit: Callable[[], Edit | Piece | HostPlan | Plan],
) -> None:
    with pytest.raises(DocumentError):
        edit()
