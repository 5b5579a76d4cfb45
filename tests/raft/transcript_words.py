"""The words of a transcript: how keys, places in the log, voters and batches are written and read.

Owns both directions, so that what is printed can be typed. Short forms stand for what is usual:
replica `2` has directory d2 (`2@x` another, `2@-` none that is known), a listener's name alone is
its usual endpoint, `10@4` is offset 10 after a record of epoch 4.
"""

from collections.abc import Collection, Iterable, Sequence

from kraftool.raft.names import (
    NO_ID,
    Endpoint,
    Endpoints,
    OffsetAndEpoch,
    ReplicaKey,
    VersionRange,
    Voter,
    VoterSet,
)
from kraftool.raft.records import Batch, ControlRecord, KRaftVersion, LeaderChange, Voters

PORTS = {"CONTROLLER": 9093, "EXTERNAL": 9094}


class TranscriptError(Exception):
    """A transcript says what cannot be understood, or done."""


def options(words: Sequence[str], known: Collection[str]) -> dict[str, list[str]]:
    """Words by the keyword before them; those before the first keyword are under ''."""
    parsed: dict[str, list[str]] = {"": []}
    at = ""
    for word in words:
        if word in known:
            if word in parsed:
                raise TranscriptError(f"{word} is said twice")
            at = word
            parsed[at] = []
        else:
            parsed[at].append(word)
    return parsed


def one(parsed: dict[str, list[str]], name: str, default: str | None = None) -> str:
    """The only word of an option."""
    words = parsed.get(name)
    if words is None and default is not None:
        return default
    if words is None or len(words) != 1:
        raise TranscriptError(f"{name} wants one word, not {words}")
    return words[0]


def key(word: str) -> ReplicaKey:
    """`2`, `2@x` or `2@-`; ids below 0 have no directory."""
    id_, _, directory = word.partition("@")
    number = int(id_)
    if directory == "-" or number < 0:
        return ReplicaKey(number, None)
    return ReplicaKey(number, directory or f"d{number}")


def show_key(replica: ReplicaKey) -> str:
    if replica.directory_id == f"d{replica.id}" or replica.id < 0:
        return str(replica.id)
    return f"{replica.id}@{replica.directory_id or '-'}"


def show_keys(replicas: Iterable[ReplicaKey]) -> str:
    return " ".join(map(show_key, replicas))


def place(word: str) -> OffsetAndEpoch:
    """`10@4`."""
    offset, _, epoch = word.partition("@")
    return OffsetAndEpoch(int(offset), int(epoch))


def show_place(where: OffsetAndEpoch) -> str:
    return f"{where.offset}@{where.epoch}"


def usual_endpoint(node_id: int, listener: str) -> Endpoint:
    return Endpoint(f"n{node_id}", PORTS[listener])


def endpoints(node_id: int, words: Iterable[str]) -> dict[str, Endpoint]:
    """`CONTROLLER` or `CONTROLLER=host:port`; `none` for nothing."""
    by_listener = {}
    for word in words:
        if word == "none":
            continue
        listener, _, address = word.partition("=")
        host, _, port = address.rpartition(":")
        by_listener[listener] = (
            Endpoint(host, int(port)) if address else usual_endpoint(node_id, listener)
        )
    return by_listener


def show_endpoints(node_id: int, known: Endpoints, between: str = " ") -> str:
    if not known:
        return "none"
    return between.join(
        name
        if endpoint == usual_endpoint(node_id, name)
        else f"{name}={endpoint.host}:{endpoint.port}"
        for name, endpoint in known.items()
    )


def versions(word: str) -> VersionRange:
    """`0-1`; a number that is negative is written `-1..0`."""
    low, _, high = word.partition(".." if ".." in word else "-")
    return VersionRange(int(low), int(high))


def voter(word: str) -> Voter:
    """`2`, `2@x:CONTROLLER+EXTERNAL` or `2/0-0`, as far as it is not the usual."""
    word, _, supported = word.partition("/")
    name, _, listeners = word.partition(":")
    replica = key(name)
    return Voter(
        key=replica,
        endpoints=endpoints(replica.id, (listeners or "CONTROLLER").split("+")),
        kraft_version=versions(supported or "0-1"),
    )


def show_voter(member: Voter) -> str:
    text = show_key(member.key)
    if member.endpoints != endpoints(member.key.id, ["CONTROLLER"]):
        text += ":" + show_endpoints(member.key.id, member.endpoints, "+")
    if member.kraft_version != VersionRange(0, 1):
        text += f"/{member.kraft_version.min}-{member.kraft_version.max}"
    return text


def voters(words: Iterable[str]) -> VoterSet:
    return VoterSet.of(*map(voter, words))


def show_voters(members: VoterSet, between: str = " ") -> str:
    return between.join(map(show_voter, members)) or "none"


def batch(word: str) -> Batch:
    """`5-9@4` of data, `5@4` one record, `5-7@4:leader=1;version=1;voters=1,2,3` of control
    records, `damaged:5-9@4` one that nobody can read."""
    is_damaged = word.startswith("damaged:")
    span, _, records = word.removeprefix("damaged:").partition(":")
    offsets, _, epoch = span.partition("@")
    first, _, last = offsets.partition("-")
    return Batch(
        base_offset=int(first),
        last_offset=int(last or first),
        epoch=int(epoch),
        control=tuple(map(_record, records.split(";"))) if records else (),
        is_valid=not is_damaged,
    )


def _record(word: str) -> ControlRecord:
    name, _, value = word.partition("=")
    match name:
        case "leader":
            return LeaderChange(int(value), (), ())
        case "version":
            return KRaftVersion(int(value))
        case "voters":
            return Voters(voters(value.split(",")))
        case _:
            raise TranscriptError(f"no control record is called {name}")


def show_batch(appended: Batch) -> str:
    offsets = (
        str(appended.base_offset)
        if appended.base_offset == appended.last_offset
        else f"{appended.base_offset}-{appended.last_offset}"
    )
    records = ";".join(map(_show_record, appended.control))
    return f"{offsets}@{appended.epoch}" + (f":{records}" if records else "")


def _show_record(record: ControlRecord) -> str:
    match record:
        case LeaderChange(leader, _, granting):
            granted = "+".join(map(str, granting))
            return f"leader={leader}" + (f"(granted {granted})" if granted else "")
        case KRaftVersion(level):
            return f"version={level}"
        case Voters(members):
            return f"voters={show_voters(members, ',')}"


def leader(word: str) -> int:
    """A node id, or `none`."""
    return NO_ID if word == "none" else int(word)
