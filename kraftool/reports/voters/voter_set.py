"""Voter sets compared: by id, since a snapshot lists voters in another order than the log.

Owns what counts as a difference between two voters, and how it is said. What one side does not
tell (static voters have neither directory id nor listener) is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftool.decoders.wire import ZERO_UUID
from kraftool.raft.names import majority_of
from kraftool.reports.metadata_summary import SeenVoter


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterDifference:
    """One way in which a voter differs."""

    field: str
    expected: str
    found: str

    def words(self) -> str:
        return f"{self.field} {self.expected or 'none'} → {self.found or 'none'}"


def directory_id(voter: SeenVoter) -> str | None:
    """The directory id, where there is one: the zero uuid stands for none."""
    return None if voter.directory_id == ZERO_UUID else voter.directory_id


def matches(voter: SeenVoter, node_directory_id: str | None) -> bool:
    """Whether a node with this directory id is that voter; ids are known to be equal."""
    recorded = directory_id(voter)
    return recorded is None or recorded == node_directory_id


def endpoints(voter: SeenVoter) -> dict[str, str]:
    """`host:port` by listener, whose name Kafka compares in capitals; "" for a static voter's."""
    found = {}
    for each in voter.endpoints:
        listener, mark, address = each.partition("://")
        found[listener.upper() if mark else ""] = address if mark else each
    return found


def voter_range(voter: SeenVoter) -> str:
    return "-".join(map(str, voter.kraft_versions)) if voter.kraft_versions is not None else ""


def differences(one: SeenVoter, other: SeenVoter) -> Iterator[VoterDifference]:
    """How `other` differs from `one`, in what both tell."""
    first, second = directory_id(one), directory_id(other)
    if first != second and one.directory_id is not None and other.directory_id is not None:
        yield VoterDifference(field="directory id", expected=first or "", found=second or "")
    here, there = endpoints(one), endpoints(other)
    if "" in here or "" in there:
        # A static voter's one address is that of the default listener, which has a name elsewhere.
        if here and there and not set(here.values()) & set(there.values()):
            yield VoterDifference(
                field="endpoint", expected=", ".join(here.values()), found=", ".join(there.values())
            )
    elif here and there:
        for listener in sorted(here.keys() | there.keys()):
            if here.get(listener) != there.get(listener):
                yield VoterDifference(
                    field=listener, expected=here.get(listener, ""), found=there.get(listener, "")
                )
    if None not in (one.kraft_versions, other.kraft_versions):
        expected, found = voter_range(one), voter_range(other)
        if expected != found:
            yield VoterDifference(field="kraft.version range", expected=expected, found=found)


def set_differences(
    one: Sequence[SeenVoter],
    other: Sequence[SeenVoter],
    *,
    came: str = "added",
    gone: str = "removed",
) -> tuple[str, ...]:
    """How the set `other` differs from `one`, in words; empty where it does not."""
    before = {each.id: each for each in one}
    after = {each.id: each for each in other}
    told = [f"voter {id} {came}" for id in sorted(after.keys() - before.keys())]
    told += [f"voter {id} {gone}" for id in sorted(before.keys() - after.keys())]
    for id in sorted(before.keys() & after.keys()):
        found = [each.words() for each in differences(before[id], after[id])]
        if found:
            told.append(f"voter {id}: {', '.join(found)}")
    return tuple(told)


def same_set(one: Sequence[SeenVoter], other: Sequence[SeenVoter]) -> bool:
    return not set_differences(one, other)


def keys_changed(one: Sequence[SeenVoter], other: Sequence[SeenVoter]) -> int:
    """How many voters, known by id and directory id, go and come, both counted.

    Kafka's add and remove change one; its update none, since it may only fill in a directory id.
    """
    gone, came = _keys(one, other), _keys(other, one)
    return len(gone) + len(came)


def majorities_overlap(one: Sequence[SeenVoter], other: Sequence[SeenVoter]) -> bool:
    """Whether every majority of one set has a voter in common with every majority of the other.

    Where they need not, both sets can elect a leader and commit other records.
    """
    gone, came = len(_keys(one, other)), len(_keys(other, one))
    shared = len(one) - gone
    needed = max(majority_of(len(one)) - gone, 0) + max(majority_of(len(other)) - came, 0)
    return needed > shared


def _keys(one: Sequence[SeenVoter], other: Sequence[SeenVoter]) -> list[SeenVoter]:
    """The voters of a set that the other does not have."""
    known = {each.id: each for each in other}
    return [each for each in one if not _same_key(each, known.get(each.id))]


def _same_key(one: SeenVoter, other: SeenVoter | None) -> bool:
    if other is None:
        return False
    here, there = directory_id(one), directory_id(other)
    return here is None or there is None or here == there
