"""The rules of the audit by themselves: ranges that differ, what belongs together, what is said."""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from kraftool.arrow.local_copy import renamed
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.doctor.model import Evidence, Examination, ExaminedDirectory
from kraftool.reports.doctor.read import together
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.fleet.model import DirectorySummary
from kraftool.spark.audit.divergence import MOST_RANGES, BatchAt, divergences, findings_of
from kraftool.spark.audit.finding_merge import FindingMerge
from kraftool.spark.audit.log_families import (
    Household,
    Kin,
    Link,
    Traces,
    adopted,
    holds_log_of,
    households,
    missing_from,
    pieces,
    split,
)
from kraftool.spark.audit.roots import find
from tests.spark.audit_cases import QUORUM, quorum

Log = list[tuple[int, int, int]]
"""Base offset, epoch and CRC of batches; each ends where the next begins."""


def _told(**logs: Log) -> list[Any]:
    batches = []
    for name, log in logs.items():
        ends = [base for base, _, _ in log[1:]] + [log[-1][0] + 1]
        for (base, epoch, crc), end in zip(log, ends, strict=True):
            batches.append(BatchAt(base, name, end - 1, epoch, crc, f"{name}.log", base * 10))
    batches.sort(key=lambda batch: batch.base_offset)
    return list(divergences("c", batches))


def _ranges(**logs: Log) -> list[tuple[int, int, bool, bool]]:
    return [
        (divergence.first_offset, divergence.last_offset, divergence.same_epoch, divergence.is_open)
        for divergence in _told(**logs)
    ]


def _log(*crcs: int, epoch: int = 1, start: int = 0) -> Log:
    return [(start + number, epoch, crc) for number, crc in enumerate(crcs)]


def test_equal_logs_of_different_length_do_not_differ() -> None:
    assert _ranges(a=_log(1, 2, 3), b=_log(1, 2), c=_log(2, 3, start=1)) == []


def test_a_range_ends_where_the_logs_are_the_same_again() -> None:
    assert _ranges(a=_log(1, 2, 3, 4, 5), b=_log(1, 7, 8, 4, 5)) == [(1, 2, True, False)]


def test_a_range_is_open_where_one_log_ends_in_it() -> None:
    assert _ranges(a=_log(1, 2, 3, 4, 5), b=_log(1, 7, 8)) == [(1, 2, True, True)]


def test_another_epoch_is_told_apart() -> None:
    other = [(0, 1, 1), (1, 2, 7)]
    assert _ranges(a=_log(1, 2), b=other) == [(1, 1, False, True)]


def test_two_ranges_of_one_log_are_two() -> None:
    ranges = _ranges(a=_log(1, 2, 3, 4, 5), b=_log(1, 7, 3, 8, 5))
    assert ranges == [(1, 1, True, False), (3, 3, True, False)]


def test_the_agreement_of_one_side_closes_no_range_of_the_other_that_goes_on() -> None:
    differing = _told(a=_log(1, 2, 3), b=_log(1, 2, 3), c=_log(1, 7, 8))
    assert [(divergence.first_offset, divergence.last_offset) for divergence in differing] == [
        (1, 2)
    ]
    assert [side.paths for side in differing[0].sides] == [("a", "b"), ("c",)]


def test_after_a_log_has_ended_the_others_may_differ_once_more() -> None:
    differing = _told(a=_log(1, 2, 3, 4), b=_log(1, 2, 3, 9), c=_log(1, 7))
    assert [(divergence.first_offset, divergence.is_open) for divergence in differing] == [
        (1, True),
        (3, True),
    ]


def test_batches_with_other_bounds_differ() -> None:
    one = [(0, 1, 1), (1, 1, 2), (4, 1, 5)]
    other = [(0, 1, 1), (1, 1, 7), (2, 1, 8), (4, 1, 5)]
    assert _ranges(a=one, b=other) == [(1, 3, True, False)]


def test_a_log_that_begins_within_a_range_is_on_the_side_that_it_is_like() -> None:
    differing = _told(a=_log(1, 2, 3, 4), b=_log(1, 7, 8, 4), c=_log(3, 4, start=2))
    assert [side.paths for side in differing[0].sides] == [("a", "c"), ("b",)]


def test_a_gap_is_no_divergence() -> None:
    batches = [BatchAt(0, name, 0, 1, 1, "", 0) for name in "ab"]
    batches += [BatchAt(1, "a", 1, 1, 2, "", 1)]
    batches += [BatchAt(2, name, 2, 1, 3, "", 2) for name in "ab"]
    assert list(divergences("c", batches)) == []


def test_the_ranges_of_a_cluster_are_bounded() -> None:
    one = _log(*([1, 2] * (MOST_RANGES + 50)))
    other = _log(*([1, 3] * (MOST_RANGES + 50)))
    assert len(_told(a=one, b=other)) == MOST_RANGES


def _said(*, newest_snapshot: int = 0, **logs: Log) -> list[Any]:
    summaries = {
        name: DirectorySummary(
            name=name, cluster="c", epoch=log[-1][1], newest_snapshot_offset=newest_snapshot
        )
        for name, log in logs.items()
    }
    return [finding for finding, _ in findings_of(_told(**logs), summaries)]


def test_the_tail_of_a_leader_that_was_stopped_is_no_error() -> None:
    """As doctor judges the same directories."""
    stopped = _log(1, 2) + _log(3, epoch=2, start=2)
    later = _log(1, 2) + _log(4, 5, epoch=3, start=2)
    severities = {
        "three nodes": _said(a=stopped, b=later, c=later),
        "nobody shows which of two is the rare one": _said(a=stopped, b=later),
        "two nodes have the older one": _said(a=stopped, b=later, c=stopped),
        "a snapshot shows that it was committed": _said(
            newest_snapshot=3, a=stopped, b=later, c=later
        ),
        "the logs have nothing in common": _said(a=_log(3), b=_log(4, epoch=3), c=_log(4, epoch=3)),
    }
    by_name = {
        name: [str(finding.severity) for finding in several] for name, several in severities.items()
    }
    assert by_name == {
        "three nodes": ["info"],
        "nobody shows which of two is the rare one": ["warning"],
        "two nodes have the older one": ["error"],
        "a snapshot shows that it was committed": ["error"],
        "the logs have nothing in common": ["error"],
    }


def test_the_same_two_sides_at_many_places_are_one_finding() -> None:
    (finding,) = _said(a=_log(1, 2, 3, 4, 5, 6, 7), b=_log(1, 8, 3, 9, 5, 10, 7))
    assert finding.offset == 1
    assert finding.text.endswith("so it is at 2 more places, up to offset 5")


def test_the_side_that_most_are_on_is_named_first() -> None:
    (finding,) = _said(b=_log(1, 2, 3), c=_log(1, 2, 3), a=_log(1, 7, 3))
    assert finding.text.startswith("other records than b and c at offset 1")
    assert finding.advice.startswith("b and c agree, which is evidence for them")


def test_of_one_against_one_neither_side_is_the_right_one() -> None:
    (finding,) = _said(a=_log(1, 2, 3), b=_log(1, 7, 3))
    assert finding.text.startswith("other records in each of a and b at offset 1")
    assert finding.advice.startswith("nothing here shows which side is right")


def test_batches_that_differ_in_their_epoch_alone_are_said_to_be_the_same() -> None:
    (finding,) = _said(a=_log(1, 2, 3), b=_log(1, 2, 3), c=[(0, 1, 1), (1, 2, 2), (2, 1, 3)])
    assert finding.text.startswith("the same records in another epoch than a and b at offset 1")
    assert "no CRC covers" in finding.advice


def test_logs_without_a_common_beginning_are_not_to_be_deleted() -> None:
    (finding,) = _said(a=_log(1, 2, 3), b=_log(1, 2, 3), c=_log(7, 8, 9))
    assert "the logs have nothing in common" in finding.text
    assert "Delete nothing" in finding.advice


def _kin(name: str, node: int | None, *tokens: int, epochs: dict[int, int] | None = None) -> Kin:
    traces = Traces(tokens=frozenset(tokens), epochs=epochs or {})
    return Kin(name=name, cluster_id="c", node_id=node, traces=traces)


def test_one_cluster_stays_one_where_a_node_ended_early() -> None:
    units, conflicts = split([_kin("a", 1, 1, 2), _kin("b", 2, 2, 3), _kin("c", 3)])
    assert ([len(unit) for unit in units], conflicts) == ([3], [])


def test_strangers_with_the_same_node_ids_are_two_clusters() -> None:
    members = [
        _kin("x/a", 1, 1, epochs={1: 1}), _kin("x/b", 2, 1, epochs={1: 1}),
        _kin("y/a", 1, 9, epochs={1: 9}),
    ]  # fmt: skip
    units, (conflict,) = split(members)
    assert [len(unit) for unit in units] == [2, 1]
    assert (conflict.first, conflict.second, conflict.nodes) == (("x/a", "x/b"), ("y/a",), (1,))
    assert not conflict.are_copies


def test_strangers_with_other_node_ids_are_left_to_the_comparison() -> None:
    units, conflicts = split([_kin("a", 1, 1, epochs={1: 1}), _kin("b", 2, 9, epochs={1: 9})])
    assert (len(units), conflicts) == (1, [])


def test_copies_in_folders_of_their_own_are_two_clusters() -> None:
    members = [_kin(f"{day}/n{id}", id, 1) for day in ("mon", "tue") for id in (1, 2, 3)]
    units, (conflict,) = split(members)
    assert [len(unit) for unit in units] == [3, 3]
    assert conflict.are_copies


def test_one_directory_that_is_there_twice_stays_with_its_cluster() -> None:
    members = [_kin(f"x/n{id}", id, 1) for id in (1, 2, 3)] + [_kin("x/old", 3, 1)]
    assert split(members)[1] == []


FIRST = "\0" + "1"
"""What the key of the first piece under a cluster id ends with."""
SEATS = frozenset((id, f"D{id}") for id in (1, 2, 3))


def _of(cluster: str, log: str, *nodes: int, seats: bool = True) -> list[Kin]:
    """Nodes of one cluster by their meta.properties, with the log of the same one or another."""
    number = {"x": 100, "y": 200}
    return [
        Kin(
            name=f"/fleet/{cluster}/n{id}",
            cluster_id=cluster,
            node_id=id,
            voters=frozenset({1, 2, 3}),
            traces=Traces(tokens=frozenset({number[log]}), epochs={1: number[log]}),
            directory_id=f"D{id}" if cluster == "x" else f"E{id}",
            seats=(SEATS if log == "x" else frozenset((id, f"E{id}") for id in (1, 2, 3)))
            if seats
            else frozenset(),
        )
        for id in nodes
    ]


def _fleet(*members: Kin) -> dict[str, Household]:
    """Households, with the pieces that their logs show."""
    by_name: dict[str, int] = {}
    for cluster in ("x", "y"):
        by_name |= pieces([member for member in members if member.cluster_id == cluster])
    return households(replace(member, piece=by_name.get(member.name, 0)) for member in members)


def _lent(id: int, **how: bool) -> Kin:
    """A node of x under the cluster id of y."""
    (one,) = _of("x", "x", id, **how)
    return replace(one, cluster_id="y")


@pytest.mark.parametrize("seats", [True, False])
def test_a_node_under_the_id_of_another_cluster_is_missing_in_its_own(seats: bool) -> None:
    fleet = _fleet(
        *_of("x", "x", 1, 2, seats=seats), _lent(3, seats=seats),
        *_of("y", "y", 1, 2, 3, seats=seats),
    )  # fmt: skip
    assert set(fleet) == {"x", "y", "y" + FIRST}
    assert missing_from(fleet["y" + FIRST], fleet["x"])
    assert not missing_from(fleet["y" + FIRST], fleet["y"])


@pytest.mark.parametrize("seats", [True, False])
def test_exchanged_logs_are_told_from_exchanged_ids(seats: bool) -> None:
    fleet = _fleet(
        *_of("x", "x", 1, 2, seats=seats), *_of("x", "y", 3, seats=seats),
        *_of("y", "y", 1, 2, seats=seats), *_of("y", "x", 3, seats=seats),
    )  # fmt: skip
    for mine, other in (("x", "y"), ("y", "x")):
        assert not missing_from(fleet[mine + FIRST], fleet[other])
        assert holds_log_of(fleet[mine + FIRST], fleet[other])


def test_a_voter_without_traces_is_no_piece() -> None:
    wiped = replace(_of("x", "x", 3)[0], traces=Traces())
    assert pieces([*_of("x", "x", 1, 2), wiped]) == {}


def test_a_voter_whose_log_has_no_part_in_common_stays_where_the_voters_name_it() -> None:
    late = replace(_of("x", "x", 3)[0], traces=Traces(tokens=frozenset({7})))
    assert pieces([*_of("x", "x", 1, 2), late]) == {}


def _household(key: str, *nodes: int, voters: tuple[int, ...] = (1, 2, 3)) -> Household:
    names = tuple(f"/fleet/{key}/n{node}" for node in nodes)
    return Household(key=key, names=names, node_ids=frozenset(nodes), voters=frozenset(voters))


def test_clusters_that_were_made_from_one_template_are_not_parts_of_each_other() -> None:
    one, other = _household("a", 1, 2, 3), _household("b", 1, 2, 3)
    assert not missing_from(one, other)
    assert not missing_from(_household("a", 3), other)


def test_a_cluster_that_lacks_no_node_takes_none() -> None:
    """Not even a directory without ids, whose log begins with the same batches."""
    nameless = Household(
        key="\0/fleet/lost",
        names=("/fleet/lost",),
        node_ids=frozenset(),
        voters=frozenset({1, 2, 3}),
    )
    assert not missing_from(nameless, _household("a", 1, 2, 3))
    assert missing_from(nameless, _household("a", 1, 2))
    brokers = replace(_household("a", 1, 2, 3), registered=frozenset({1, 2, 3, 11}))
    assert missing_from(nameless, brokers)
    assert not missing_from(nameless, replace(brokers, claimed=frozenset({11})))


def test_a_missing_node_is_missing_once() -> None:
    lost = {
        f"\0/fleet/a/{name}": Household(
            key=f"\0/fleet/a/{name}", names=(f"/fleet/a/{name}",), node_ids=frozenset(),
            voters=frozenset({1, 2, 3}),
        )
        for name in "pq"
    }  # fmt: skip
    known = {**lost, "a": _household("a", 1, 2)}
    links = [Link("\0/fleet/a/p", "a", 5, 5), Link("\0/fleet/a/q", "a", 9, 9)]
    assert adopted(links, known).home_of == {"\0/fleet/a/q": "a"}


def test_a_lone_node_belongs_to_the_cluster_that_lacks_it() -> None:
    assert missing_from(_household("b", 3), _household("a", 1, 2))
    assert not missing_from(_household("a", 1, 2), _household("b", 3))


def test_of_several_homes_the_one_in_the_same_folder_is_chosen() -> None:
    part = Household(
        key="x", names=("/fleet/b/n3",), node_ids=frozenset({3}), voters=frozenset({1, 2, 3})
    )
    known = {"x": part, "a": _household("a", 1, 2), "b": _household("b", 1, 2)}
    links = [Link("x", "a", 9, 0), Link("x", "b", 5, 0)]
    assert adopted(links, known) == ({"x": "b"}, {})


def test_a_directory_is_not_guessed_into_one_of_several_clones() -> None:
    """Among clones each has the same traces. One that only one of them has decides."""
    lost = Household(
        key="\0/fleet/lost", names=("/fleet/lost",), node_ids=frozenset(), voters=frozenset({1})
    )
    clones = {
        key: replace(_household(key, 1, voters=(1,)), registered=frozenset({11})) for key in "abc"
    }
    known = {lost.key: lost, **clones}
    alike = [Link(lost.key, key, 9, 0) for key in "ab"]
    assert adopted(alike, known) == ({}, {lost.key: ("a", "b")})
    assert adopted(alike[:1], known) == ({}, {lost.key: ("a",)}), "c has these traces, too"
    own = [alike[0], Link(lost.key, "b", 7, 2)]
    assert adopted(own, known) == ({lost.key: "b"}, {})


def test_a_finding_is_once_with_all_that_say_it() -> None:
    collected = FindingMerge("d")
    finding = log_kinds.CRC.at("d/f", "text", position=1)
    collected.add("doctor", finding, (), ("kraftool explain",))
    collected.add("verify-log", log_kinds.CRC.at("d/f", "text", position=1, advice="other advice"))
    collected.add("verify-log", finding)
    (merged,) = collected.sorted().kept
    assert (merged.by, merged.commands) == (("doctor", "verify-log"), ("kraftool explain",))


def test_other_words_at_the_same_place_are_another_finding() -> None:
    collected = FindingMerge("d")
    collected.add("doctor", log_kinds.CRC.at("f", "one"))
    collected.add("verify-log", log_kinds.CRC.at("f", "two"))
    assert len(collected.sorted().kept) == 2


def test_texts_are_renamed_all_through() -> None:
    value = {"k": (Evidence(file="/tmp/x/f", found="see /tmp/x"), deque(["/tmp/x"], maxlen=5), 7)}
    document = renamed(value, lambda text: text.replace("/tmp/x", "s3://b"))
    evidence, names, number = document["k"]
    assert (evidence.file, evidence.found) == ("s3://b/f", "see s3://b")
    assert (list(names), number) == (["s3://b"], 7)


def test_a_root_behind_a_link_is_the_same_directory(fixtures_dir: Path, tmp_path: Path) -> None:
    source = fixtures_dir / "kafka-4.3.0/static-single"
    (tmp_path / "link").symlink_to(source)
    listing = find([str(source), str(tmp_path / "link"), str(tmp_path / "none")])
    assert len(listing.directories) == 1
    assert [finding.finding.code for finding in listing.findings] == ["KT-DIR-READ"]


def test_a_folder_that_cannot_be_listed_is_a_finding(
    fixtures_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftool.arrow.local_folders import LocalFiles

    (tmp_path / "locked").mkdir()
    (tmp_path / "open").symlink_to(fixtures_dir / "kafka-4.3.0/static-single")
    listed = LocalFiles.listed

    def refused(self: LocalFiles, path: str = "") -> Any:
        if path == "locked":
            raise KraftoolError(f"{path} cannot be opened: Permission denied")
        return listed(self, path)

    monkeypatch.setattr(LocalFiles, "listed", refused)
    listing = find([str(tmp_path)])
    assert len(listing.directories) == 1
    (finding,) = listing.findings
    assert (finding.finding.code, finding.finding.undecoded) == ("KT-DIR-READ", True)
    assert finding.finding.file == str(tmp_path / "locked")


def test_what_nobody_expected_in_one_cluster_is_a_finding(
    fixtures_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftool.spark.audit import cluster
    from kraftool.spark.audit.examine import examine

    def failing(directories: Sequence[ExaminedDirectory]) -> Examination:
        if directories:
            raise ZeroDivisionError("secret")
        return together(directories)

    monkeypatch.setattr(cluster, "together", failing)
    items = find([str(fixtures_dir / "kafka-4.3.0/static-single")]).directories
    compared = cluster.compare(cluster.ClusterMembers(name="c", members=tuple(map(examine, items))))
    (finding,) = compared.findings
    assert (finding.finding.code, "secret" in finding.finding.text) == ("KT-FLEET-FAILED", False)
    assert compared.summary.directories == 1


def test_a_wiped_directory_among_others_is_told(tmp_path: Path) -> None:
    quorum(tmp_path / "one")
    quorum(tmp_path / "two")
    for name in ("one/node-9", "one/lost+found", "elsewhere", "site-b/x/y"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "two/node-9/__cluster_metadata-0").mkdir(parents=True)
    listing = find([str(tmp_path)])
    assert len(listing.directories) == 6
    by_file = {finding.finding.file: finding.finding for finding in listing.findings}
    assert {name: finding.severity.value for name, finding in by_file.items()} == {
        f"{tmp_path}/one/node-9": "warning",
        f"{tmp_path}/two/node-9": "error",
    }
    assert {finding.code for finding in by_file.values()} == {"KT-DIR-EMPTY"}


def test_an_empty_directory_is_told_where_its_fellows_or_a_pattern_name_it(tmp_path: Path) -> None:
    for number in (1, 2):
        shutil.copytree(QUORUM / "node-2/data", tmp_path / f"node-{number}/data")
    (tmp_path / "node-3/data/lost+found").mkdir(parents=True)
    (tmp_path / "node-3/other").mkdir()
    (one,) = find([str(tmp_path)]).findings
    assert (one.finding.file, one.finding.code) == (f"{tmp_path}/node-3/data", "KT-DIR-EMPTY")
    (one,) = find([f"{tmp_path}/*/data"]).findings
    assert (one.finding.file, one.finding.severity.value) == (f"{tmp_path}/node-3/data", "error")
