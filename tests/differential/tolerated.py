"""The differences between kraftool and Kafka that a trial expects: the one table of them.

Owns names and reasons, which docs/differences.md lists (`test_tolerated.py` holds both equal), and
how each is recognised. A difference that no entry recognises fails its trial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kraftool.decoders import codec
from kraftool.decoders.control import BY_ID, decode_value, read_key
from kraftool.decoders.error_codes import Error
from kraftool.decoders.segment import Damage, scan
from kraftool.raft.records import KRaftVersion, Voters
from kraftool.raft.wire import batches as wire_batches
from tests.differential.compare import Difference
from tests.differential.random_start import LAST_EPOCH
from tests.differential.steps import Answer, Ask, Restart


class After(Enum):
    """The continuation of a trial after a difference."""

    AS_IT_IS = "only what was compared differs"
    FROM_KAFKA = "both nodes start again from Kafka's directory"
    FROM_KRAFTOOL = "both nodes start again from kraftool's directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerated:
    """One known difference."""

    name: str
    reason: str
    recognises: Callable[[Difference], bool]
    after: After = After.FROM_KAFKA


def _asks(difference: Difference, *names: str) -> bool:
    action = difference.step.action if difference.step is not None else None
    return isinstance(action, Ask) and action.name in names


def _answers(difference: Difference, name: str) -> dict[str, Any] | None:
    """Return the answer that the step is, if it is of this name."""
    action = difference.step.action if difference.step is not None else None
    if not isinstance(action, Answer) or action.name != name:
        return None
    return codec.decode(f"{name}Response", action.version, action.data)[0]


def _is_start(difference: Difference) -> bool:
    return difference.step is None or isinstance(difference.step.action, Restart)


def _only_kafka_stops(difference: Difference) -> bool:
    ours, theirs = difference.our_side, difference.their_side
    return difference.where == "fatal" and theirs.fatal is not None and ours.fatal is None


def _impossible_message(difference: Difference) -> bool:
    return _only_kafka_stops(difference) and difference.our_side.impossible is not None


def _last_epochs(difference: Difference) -> bool:
    """kraftool refuses an epoch near the last one, or Kafka counts beyond it."""
    refusal = difference.our_side.impossible or difference.our_side.fatal or ""
    is_near = difference.our_side.state.get("epoch", 0) > LAST_EPOCH - 10
    return difference.where == "fatal" and ("a quorum cannot reach epoch" in refusal or is_near)


def _order_of_voters(difference: Difference) -> bool:
    is_bytes = isinstance(difference.ours, bytes) and isinstance(difference.theirs, bytes)
    return is_bytes and _without_order(difference.ours) == _without_order(difference.theirs)


def _without_order(data: bytes) -> list[object]:
    """Return the batches of a log or a snapshot: control batches with all voters in order, others
    as bytes."""
    batches: list[object] = []
    for batch in scan(lambda position, size: data[position : position + size]):
        if isinstance(batch, Damage) or not batch.is_valid or not batch.is_control:
            batches.append(batch)
            continue
        header = (batch.base_offset, batch.last_offset, batch.epoch, batch.header.max_timestamp)
        batches += [header, *(_in_order(record.key, record.value) for record in batch.records())]
    return batches


def _in_order(key: bytes | None, value: bytes | None) -> object:
    kind = BY_ID[read_key(key)]
    _, record = decode_value(kind, value)
    for name in ("voters", "grantingVoters"):
        if name in record:
            record[name] = sorted(record[name], key=lambda voter: int(voter["voterId"]))
    return kind, record


def _stale_voters(difference: Difference) -> bool:
    is_control = difference.where in ("state .voters", "state .kraftVersion")
    in_snapshot = difference.where.startswith("state .files.snapshots") and (
        isinstance(difference.ours, bytes) and isinstance(difference.theirs, bytes)
    )
    is_known = is_control or in_snapshot or _leads_with_voters(difference)
    return is_known and difference.our_side.has_truncated


def _leads_with_voters(difference: Difference) -> bool:
    """Kafka's leader takes its voters for those of the format, and writes them to its log."""
    if difference.where != "state .files.log":
        return False
    last = [wire_batches.decode_batches(log)[-1:] for log in (difference.ours, difference.theirs)]
    ours, theirs = (
        {type(record) for batch in batches for record in batch.control} for batches in last
    )
    return theirs - ours == {KRaftVersion, Voters}


def _commit_before_flush(difference: Difference) -> bool:
    if difference.where != "Fetch reply .highWatermark":
        return False
    # The step that answers can also end the leadership.
    sides = [outcome for outcome in (difference.before, difference.our_side) if outcome is not None]
    was_leader = any(side.state.get("role") == "Leader" for side in sides)
    return was_leader and bool(difference.ours < difference.theirs)


def _late_answer(difference: Difference) -> bool:
    age = difference.our_side.ignored_after_ms
    return age is not None and age >= difference.settings.timing.request_timeout_ms


def _gap(difference: Difference) -> bool:
    refusal = difference.our_side.impossible or ""
    return difference.where == "fatal" and "cannot follow offset" in refusal


def _unknown_error(difference: Difference) -> bool:
    answer = _answers(difference, "FetchSnapshot")
    return answer is not None and answer["errorCode"] == -1


def _no_node_id(difference: Difference) -> bool:
    has_no_id = difference.settings.node_id is None
    return (
        has_no_id and _only_kafka_stops(difference) and _asks(difference, "Vote", "EndQuorumEpoch")
    )


def _own_id(difference: Difference) -> bool:
    is_one = _asks(difference, "Vote", "FetchSnapshot", "UpdateRaftVoter")
    return _only_kafka_stops(difference) and is_one


def _while_unattached(difference: Difference) -> bool:
    is_it = "Expected to be Follower" in (difference.their_side.fatal or "")
    return is_it and _only_kafka_stops(difference) and _answers(difference, "Fetch") is not None


def _from_removed_voter(difference: Difference) -> bool:
    reason = difference.their_side.fatal or ""
    return _only_kafka_stops(difference) and "acknowledgement from non-voter" in reason


def _no_last_epoch(difference: Difference) -> bool:
    reason = difference.their_side.fatal or ""
    return _only_kafka_stops(difference) and "doesn't have a last fetch epoch" in reason


def _inside_batch(difference: Difference) -> bool:
    return difference.where == "fatal" and "inside the batch" in (difference.our_side.fatal or "")


def _cleaned_to_end(difference: Difference) -> bool:
    theirs = difference.their_side.state
    is_log = difference.where in ("state .logStart", "state .files.log")
    return is_log and _is_start(difference) and theirs["logStart"] == theirs["logEnd"]


def _own_vote(difference: Difference) -> bool:
    theirs = difference.their_side
    # The only voter is elected at once.
    is_elected = theirs.state.get("role") in ("Candidate", "Leader")
    return _is_start(difference) and (is_elected or _only_kafka_stops(difference))


def _own_bootstrap(difference: Difference) -> bool:
    settings = difference.settings
    uses_voters = len(settings.static_voters) > 0 and not settings.bootstrap_servers
    if not uses_voters or difference.where != "requests sent":
        return False
    return {name for _, name in {*difference.ours} ^ {*difference.theirs}} == {"Fetch"}


def _floor(difference: Difference) -> bool:
    refusal = difference.our_side.fatal or ""
    return difference.where == "fatal" and refusal.startswith("CommittedTruncation")


def _partly_committed(difference: Difference) -> bool:
    if difference.where != "state .consumed":
        return False
    return any(
        batch.base_offset == difference.theirs < difference.ours <= batch.last_offset
        for batch in wire_batches.decode_batches(difference.our_side.state["files"]["log"])
    )


def _inside_committed_batch(difference: Difference) -> bool:
    is_end = difference.where.startswith("DescribeQuorum reply ") and (
        difference.where.endswith(".logEndOffset")
    )
    return is_end and bool(difference.ours > difference.theirs)


def _whole_batches(difference: Difference) -> bool:
    """kraftool leaves out the batch that Kafka cuts."""
    if difference.where != "Fetch reply .records":
        return False
    whole = sum(batch.size for batch in wire_batches.decode_batches(difference.theirs))
    return _without_order(difference.ours) == _without_order(difference.theirs[:whole])


def _beyond_the_end(difference: Difference) -> bool:
    if difference.where != "state .timers.checkQuorum":
        return False
    for reply in difference.our_side.replies.values():
        if reply.name == "FetchSnapshot":
            value, _ = codec.decode("FetchSnapshotResponse", reply.version, reply.data)
            error = value["topics"][0]["partitions"][0]["errorCode"]
            return bool(error == Error.POSITION_OUT_OF_RANGE)
    return False


def _expires_as_leader_resigns(difference: Difference) -> bool:
    resigns = difference.our_side.state.get("role") == "Resigned"
    return resigns and difference.where.startswith("Fetch reply ")


TOLERATED: tuple[Tolerated, ...] = (
    Tolerated(
        name="order of voters",
        reason="Kafka writes the granting voters of a LeaderChange record in an order that depends"
        " on the process, and voter sets in the order of a hash map; kraftool sorts granting voters"
        " and keeps the order of voter sets.",
        recognises=_order_of_voters,
        after=After.AS_IT_IS,
    ),
    Tolerated(
        name="voters after a truncation",
        reason="After a truncation Kafka does not read control records again that replace"
        " truncated ones; until its restart it uses voters that its log does not have, and writes"
        " them into snapshots. kraftool reads them.",
        recognises=_stale_voters,
    ),
    Tolerated(
        name="commit before flush",
        reason="A Kafka leader counts its own records towards the high watermark before its fsync"
        " returns; kraftool counts them after it. A fetch that waits can be answered with a lower"
        " high watermark.",
        recognises=_commit_before_flush,
        after=After.AS_IT_IS,
    ),
    Tolerated(
        name="late answer",
        reason="Kafka accepts a late answer until it happens to look at the connection; kraftool"
        " ignores each answer that arrives after the request timeout.",
        recognises=_late_answer,
    ),
    Tolerated(
        name="gap in fetched records",
        reason="Kafka appends fetched batches that leave a gap in the offsets; kraftool refuses"
        " the answer.",
        recognises=_gap,
        after=After.FROM_KRAFTOOL,
    ),
    Tolerated(
        name="unknown error of a snapshot download",
        reason="Kafka's leader answers -1 to a FetchSnapshot that it refuses, and its follower"
        " repeats the request; kraftool drops the download and fetches again.",
        recognises=_unknown_error,
    ),
    Tolerated(
        name="vote without a node id",
        reason="A Kafka node without an id exits on a Vote that it would grant, and on an"
        " EndQuorumEpoch; kraftool refuses the vote.",
        recognises=_no_node_id,
    ),
    Tolerated(
        name="request from the own id",
        reason="Kafka exits on a Vote, and a Kafka leader on a FetchSnapshot or UpdateRaftVoter,"
        " that names the node's own id as the sender; kraftool answers.",
        recognises=_own_id,
    ),
    Tolerated(
        name="fetch answer while unattached",
        reason="An unattached node asks again if a Fetch answer fails without a leader, and follows"
        " a leader that it knew by id alone as soon as an answer names the endpoint; Kafka exits.",
        recognises=_while_unattached,
    ),
    Tolerated(
        name="answer of a removed voter",
        reason="A Kafka leader exits if a voter that was removed meanwhile answers a"
        " BeginQuorumEpoch; kraftool ignores the answer.",
        recognises=_from_removed_voter,
    ),
    Tolerated(
        name="truncation inside a batch",
        reason="kraftool stops if a leader names a diverging offset inside a batch, which no honest"
        " leader does; Kafka truncates the whole batch and leaves a gap in the offsets.",
        recognises=_inside_batch,
        after=After.FROM_KRAFTOOL,
    ),
    Tolerated(
        name="log truncated to its snapshot",
        reason="If a leader has a log truncated to the end of its newest snapshot, while the log"
        " starts before it, Kafka exits because it finds no last epoch; kraftool continues.",
        recognises=_no_last_epoch,
    ),
    Tolerated(
        name="log cleaned to its end",
        reason="If the log was cleaned up to its end, Kafka finds no epoch in the log at its next"
        " start, and drops the records that the newest snapshot covers; kraftool keeps the"
        " segment.",
        recognises=_cleaned_to_end,
    ),
    Tolerated(
        name="restart after an own vote",
        reason="A node that voted for itself and then took records of that epoch from another"
        " leader starts as a follower or unattached; Kafka starts as a candidate of that epoch, or"
        " exits.",
        recognises=_own_vote,
    ),
    Tolerated(
        name="bootstrap without itself",
        reason="Under static voters without bootstrap servers, Kafka's bootstrap servers include"
        " the node itself; kraftool leaves itself out.",
        recognises=_own_bootstrap,
    ),
    Tolerated(
        name="committed floor",
        reason="kraftool stops rather than truncate below its newest snapshot, or take a snapshot"
        " below it; after a restart Kafka protects only the log start, and it checks no snapshot.",
        recognises=_floor,
    ),
    Tolerated(
        name="part of a batch",
        reason="If the high watermark is inside a batch, kraftool's state machine gets the"
        " committed records of that batch; Kafka's gets the batch once all of it is committed.",
        recognises=_partly_committed,
        after=After.AS_IT_IS,
    ),
    Tolerated(
        name="fetch inside a committed batch",
        reason="DescribeQuorum shows the offset of a Fetch that is inside a committed batch;"
        " Kafka's shows the start of the batch.",
        recognises=_inside_committed_batch,
        after=After.AS_IT_IS,
    ),
    Tolerated(
        name="whole batches",
        reason="kraftool answers a Fetch in whole batches; Kafka 4.3 cuts the last one at"
        " MaxBytes.",
        recognises=_whole_batches,
        after=After.AS_IT_IS,
    ),
    Tolerated(
        name="slice beyond the end of a snapshot",
        reason="A voter that asks for a slice beyond the end of a snapshot counts for the leader's"
        " check-quorum; for Kafka's it does not.",
        recognises=_beyond_the_end,
    ),
    Tolerated(
        name="fetch that expires as the leader resigns",
        reason="If a waiting Fetch expires in the millisecond in which the leader resigns, two"
        " threads of Kafka race for the answer; kraftool resigns first.",
        recognises=_expires_as_leader_resigns,
        after=After.AS_IT_IS,
    ),
    Tolerated(
        name="last epochs",
        reason="An epoch has 31 bits. kraftool refuses a message that jumps to the last of them;"
        " Kafka follows, and its next election overflows.",
        recognises=_last_epochs,
    ),
    Tolerated(
        name="impossible message",
        reason="Kafka's raft thread exits on a message that no honest node sends; kraftool"
        " refuses the message and continues.",
        recognises=_impossible_message,
    ),
)


def explained(differences: Sequence[Difference]) -> tuple[list[Tolerated], list[Difference]]:
    """Return the entries that explain the differences of one step, and what no entry explains.

    Where the nodes have to start again, the rest of the step is a consequence.
    """
    entries: list[Tolerated] = []
    unexplained: list[Difference] = []
    for difference in differences:
        entry = next((entry for entry in TOLERATED if entry.recognises(difference)), None)
        if entry is None:
            unexplained.append(difference)
        elif entry not in entries:
            entries.append(entry)
    if any(entry.after is not After.AS_IT_IS for entry in entries):
        return entries, []
    return entries, unexplained
