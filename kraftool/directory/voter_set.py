"""Voter sets compared: by id, since a snapshot lists voters in another order than the log.

Owns what counts as a difference between two voters, and how it is said. What one side does not
tell (static voters have neither directory id nor listener) is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.raft.endpoints import shown_endpoint
from kraftool.raft.names import ONLY_STATIC, Voter, VoterSet


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterDifference:
    """One way in which a voter differs."""

    field: str
    expected: str
    found: str

    def words(self) -> str:
        return f"{self.field} {self.expected or 'none'} → {self.found or 'none'}"


def matches(voter: Voter, node_directory_id: str | None) -> bool:
    """True if a node with this directory id is that voter; ids are known to be equal."""
    return voter.directory_id in (None, node_directory_id)


def edited_node_id(
    node_id: int | None, directory_id: str | None, configured: int | None, voters: VoterSet
) -> int | None:
    """The node id that a meta.properties had before somebody edited it: server.properties still has
    it, and the voters know this directory by it. None where it was not edited."""
    if None in (node_id, directory_id, configured) or node_id == configured:
        return None
    voter = voters.get(configured)
    return configured if voter is not None and voter.directory_id == directory_id else None


def addresses(voter: Voter) -> dict[str, str]:
    """HOST:PORT by listener, whose name Kafka compares in capitals; "" for a static voter's."""
    by_listener = {}
    for name, endpoint in voter.endpoints.items():
        by_listener[name.upper()] = shown_endpoint("", endpoint) if not name else str(endpoint)
    return by_listener


def version_range(voter: Voter) -> str:
    """MIN-MAX, empty where no record has it."""
    return "" if voter.kraft_version == ONLY_STATIC else "-".join(map(str, voter.kraft_version))


def differences(one: Voter, other: Voter, *, recorded: bool = False) -> Iterator[VoterDifference]:
    """Yield how `other` differs from `one`, in what both have; records (`recorded`) have
    everything.
    """
    first, second = one.directory_id, other.directory_id
    if first != second and (recorded or None not in (first, second)):
        yield VoterDifference(field="directory id", expected=first or "", found=second or "")
    here, there = addresses(one), addresses(other)
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
    ranges = (one.kraft_version, other.kraft_version)
    if ranges[0] != ranges[1] and (recorded or ONLY_STATIC not in ranges):
        expected, actual = ("-".join(map(str, bounds)) for bounds in ranges)
        yield VoterDifference(field="kraft.version range", expected=expected, found=actual)


def set_differences(
    one: VoterSet,
    other: VoterSet,
    *,
    came: str = "added",
    gone: str = "removed",
    recorded: bool = True,
) -> tuple[str, ...]:
    """Return how the set `other` differs from `one`, in words; empty where it does not."""
    before, after = one.voters, other.voters
    changes = [f"voter {id} {came}" for id in sorted(after.keys() - before.keys())]
    changes += [f"voter {id} {gone}" for id in sorted(before.keys() - after.keys())]
    for id in sorted(before.keys() & after.keys()):
        details = [
            difference.words()
            for difference in differences(before[id], after[id], recorded=recorded)
        ]
        if details:
            changes.append(f"voter {id}: {', '.join(details)}")
    return tuple(changes)


def same_set(one: VoterSet, other: VoterSet) -> bool:
    return not set_differences(one, other)


def keys_changed(one: VoterSet, other: VoterSet) -> int:
    """Return how many voters, known by id and directory id, go and come, both counted.

    Kafka's add and remove change one; its update none, since it may only fill in a directory id.
    """
    gone, came = _keys(one, other), _keys(other, one)
    return len(gone) + len(came)


def majorities_overlap(one: VoterSet, other: VoterSet) -> bool:
    """True if every majority of one set has a voter in common with every majority of the other.

    Where they need not, both sets can elect a leader and commit other records.
    """
    gone, came = len(_keys(one, other)), len(_keys(other, one))
    shared = len(one) - gone
    needed = max(one.majority - gone, 0) + max(other.majority - came, 0)
    return needed > shared


def _keys(one: VoterSet, other: VoterSet) -> list[Voter]:
    """The voters of a set that the other does not have."""
    return [voter for voter in one if not _same_key(voter, other.voters.get(voter.id))]


def _same_key(one: Voter, other: Voter | None) -> bool:
    if other is None:
        return False
    here, there = one.directory_id, other.directory_id
    return here is None or there is None or here == there
