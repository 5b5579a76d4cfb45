"""Scenario files: nodes without directories, in YAML.

Owns the format (docs/simulate-election.md) and its bounds: a small file, no aliases, no tags, no
deep nesting, no key twice, no key that is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.safe_yaml import YamlError, YamlLimits, load_yaml
from kraftool.raft.names import (
    ElectionState,
    OffsetAndEpoch,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION, NodeSettings, Timing
from kraftool.reports.election.case import ElectionCase, Log, NodeCase, reachable_by
from kraftool.reports.election.read import DEFAULT_LISTENER, placeholder

MOST_BYTES = 256 << 10
_BOUNDS = YamlLimits(bytes=MOST_BYTES, events=20_000, depth=8)
_MOST_NODES = 64
_LARGEST = (1 << 62) - 1
_TIMING = {
    "electionTimeoutMs": "election_timeout_ms",
    "fetchTimeoutMs": "fetch_timeout_ms",
    "electionBackoffMaxMs": "election_backoff_max_ms",
    "requestTimeoutMs": "request_timeout_ms",
    "retryBackoffMs": "retry_backoff_ms",
}
_TOP = frozenset(
    {
        "nodes", "voters", "kraftVersion", "timing", "down", "partition", "delayMs",
        "startWithinMs", "wipe", "addVoter", "removeVoter",
    }
)  # fmt: skip
_NODE = frozenset(
    {
        "log", "end", "logStart", "snapshot", "epoch", "leader", "voted", "directoryId",
        "clusterId", "down", "voters",
    }
)  # fmt: skip


class ScenarioError(KraftoolError):
    """A scenario that cannot be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A case, and the what-ifs that the file asks for, in the words of the command line."""

    case: ElectionCase
    down: tuple[int, ...] = ()
    partition: tuple[str, ...] = ()
    delay_ms: int | None = None
    start_within_ms: int | None = None
    wipe: tuple[int, ...] = ()
    add_voter: tuple[int, ...] = ()
    remove_voter: tuple[int, ...] = ()


def parse_scenario(data: bytes, name: str) -> Scenario:
    """Read a scenario; ScenarioError says where it is none."""
    try:
        top = _mapping(load_yaml(data, _BOUNDS), _TOP, "the file")
        return _scenario(top)
    except (ScenarioError, YamlError) as error:
        raise ScenarioError(f"{name}: {error.message}", hint=error.hint) from None


# --- values -----------------------------------------------------------------------------------


def _mapping(value: Any, known: frozenset[str] | None, what: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise ScenarioError(f"{what} is not a mapping")
    for key in value:
        if known is not None and key not in known:
            raise ScenarioError(
                f"{what} has no {key}", hint=f"known keys are {', '.join(sorted(known))}"
            )
    return value


def _number(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise ScenarioError(f"{what} is not a number of at least 0")
    return value


def _id(value: Any, what: str) -> int:
    number = _number(value, what)
    if number > 0x7FFFFFFF:
        raise ScenarioError(f"{what} is not a node id")
    return number


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _ids(value: Any, what: str) -> tuple[int, ...]:
    return tuple(_id(raw_id, what) for raw_id in _list(value))


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 64 or not value.isprintable():
        raise ScenarioError(f"{what} is not a short text")
    return value


# --- the case ---------------------------------------------------------------------------------


def _scenario(top: Mapping[str, Any]) -> Scenario:
    raw_nodes = _mapping(top.get("nodes"), None, "nodes")
    if not 0 < len(raw_nodes) <= _MOST_NODES:
        raise ScenarioError(f"nodes: there must be 1 to {_MOST_NODES}")
    nodes = {
        _id(key, "a node's id"): _mapping(value or {}, _NODE, f"node {key}")
        for key, value in raw_nodes.items()
    }
    level = _number(top.get("kraftVersion", 1), "kraftVersion")
    if level not in (0, 1):
        raise ScenarioError("kraftVersion must be 0 or 1")
    timing = _timing(top.get("timing"))
    directories = {
        id_: _text(node.get("directoryId", f"directory-{id_}"), f"directoryId of {id_}")
        for id_, node in nodes.items()
    }
    ids = _ids(top["voters"], "voters") if "voters" in top else tuple(sorted(nodes))
    built = [
        _node(id_, told_, ids, level, timing, directories) for id_, told_ in sorted(nodes.items())
    ]
    connected = tuple(replace(node, settings=reachable_by(node.settings, built)) for node in built)
    wanted = {id_ for node in connected for id_ in node.voters.ids} | set(ids)
    case = ElectionCase(nodes=connected, unknown=tuple(sorted(wanted - nodes.keys())))
    down = [*_ids(top.get("down"), "down")]
    down += (id_ for id_, node in nodes.items() if _flag(node.get("down"), f"down of {id_}"))
    return Scenario(
        case=case,
        down=tuple(sorted(set(down))),
        partition=tuple(str(group)[:200] for group in _list(top.get("partition"))),
        delay_ms=_number(top["delayMs"], "delayMs") if "delayMs" in top else None,
        start_within_ms=_number(top["startWithinMs"], "startWithinMs")
        if "startWithinMs" in top
        else None,
        wipe=_ids(top.get("wipe"), "wipe"),
        add_voter=_ids(top.get("addVoter"), "addVoter"),
        remove_voter=_ids(top.get("removeVoter"), "removeVoter"),
    )


def _flag(value: Any, what: str) -> bool:
    if value not in (None, True, False):
        raise ScenarioError(f"{what} must be true or false")
    return bool(value)


def _timing(value: Any) -> Timing:
    raw_timing = _mapping(value or {}, frozenset(_TIMING), "timing")
    durations = {_TIMING[key]: _number(raw, f"timing.{key}") for key, raw in raw_timing.items()}
    if any(duration > 3_600_000 for duration in durations.values()):
        raise ScenarioError("timing: an hour at most")
    return replace(Timing(), **durations)


def _voters(ids: tuple[int, ...], level: int, directories: Mapping[int, str]) -> VoterSet:
    return VoterSet.of(
        *(
            Voter(
                key=ReplicaKey(id_, directories.get(id_, f"directory-{id_}") if level else None),
                endpoints={DEFAULT_LISTENER: placeholder(id_)},
                kraft_version=SUPPORTED_KRAFT_VERSION if level else VersionRange(0, 0),
            )
            for id_ in ids
        )
    )


def _node(
    id_: int,
    fields: Mapping[str, Any],
    ids: tuple[int, ...],
    level: int,
    timing: Timing,
    directories: Mapping[int, str],
) -> NodeCase:
    own = _ids(fields["voters"], f"voters of {id_}") if "voters" in fields else ids
    voters = _voters(own, level, directories)
    log = _log(id_, fields, voters, level)
    static = voters if level == 0 else VoterSet()
    settings = NodeSettings(
        node_id=id_,
        directory_id=directories[id_],
        cluster_id=_text(fields.get("clusterId", "scenario"), f"clusterId of {id_}"),
        listeners={DEFAULT_LISTENER: placeholder(id_)},
        static_voters=static,
        timing=timing,
        stands_again=True,
    )
    last = log.view().last_epoch
    epoch = _number(fields.get("epoch", last), f"epoch of {id_}")
    leader = _id(fields["leader"], f"leader of {id_}") if "leader" in fields else None
    voted = _id(fields["voted"], f"voted of {id_}") if "voted" in fields else None
    if leader is not None and voted is not None and leader == voted == id_:
        raise ScenarioError(f"node {id_} has no vote in an epoch that it leads")
    key = None
    if voted is not None:
        key = ReplicaKey(voted, directories.get(voted) if level else None)
    election = ElectionState(epoch=epoch, leader_id=leader, voted=key)
    if (epoch, leader, voted) == (0, None, None):
        return NodeCase(settings=settings, log=log, source="scenario")
    return NodeCase(settings=settings, log=log, election=election, source="scenario")


def _log(id_: int, fields: Mapping[str, Any], voters: VoterSet, level: int) -> Log:
    start = _number(fields.get("logStart", 0), f"logStart of {id_}")
    end = _number(fields.get("end", start), f"end of {id_}")
    epochs = tuple(_epochs(id_, fields.get("log"), start, end))
    snapshots = []
    if "snapshot" in fields:
        pair = [_number(number, f"snapshot of {id_}") for number in _list(fields["snapshot"])]
        if len(pair) != 2:
            raise ScenarioError(f"snapshot of {id_} must be [offset, epoch]")
        snapshots.append(OffsetAndEpoch(*pair))
    if start > 0 and not snapshots:
        raise ScenarioError(
            f"the log of {id_} starts at {start}, but there is no snapshot before it"
        )
    if end < start:
        raise ScenarioError(f"the log of {id_} ends before it starts")
    formatted = [] if level == 0 else [OffsetAndEpoch(0, 0)]
    return Log(
        start=start,
        end=end,
        epochs=epochs,
        snapshots=tuple(sorted([*formatted, *snapshots])),
        voter_sets=((-1, voters),) if level else (),
        kraft_versions=((-1, level),) if level else (),
    )


def _epochs(id_: int, epoch_starts: Any, start: int, end: int) -> Iterator[EpochEntry]:
    """Epochs with the offsets they start at: a mapping; the first may be left out."""
    pairs = [
        EpochEntry(_number(key, f"an epoch of {id_}"), _number(offset, f"an offset of {id_}"))
        for key, offset in _mapping(epoch_starts or {}, None, f"log of {id_}").items()
    ]
    if not pairs and end > start:
        pairs = [EpochEntry(1, start)]
    if pairs and (
        pairs[0].start_offset > start or pairs[-1].start_offset >= end or pairs[0].epoch < 1
    ):
        raise ScenarioError(
            f"log of {id_}: epochs must be 1 or more and cover {start} to {end - 1}"
        )
    for (one, first), (other, second) in pairwise(pairs):
        if other <= one or second <= first:
            raise ScenarioError(f"log of {id_}: epochs and their offsets must increase")
    yield from pairs
