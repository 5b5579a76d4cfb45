"""The nodes that can win at all, and who refuses whom and why: one node after another tries.

Owns the trial: only the requests of the one node arrive until it leads, which is a way that things
can go (all else is late), so that who wins here can win. Whoever refuses is asked again with one
thing changed; what changes the answer is the reason. No rule of the protocol is known here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import cast

from kraftool.decoders.error_codes import Error
from kraftool.decoders.json_marks import Count
from kraftool.raft.messages import UNREACHABLE, Request, VoteRequest, VoteResponse
from kraftool.raft.roles import NEVER
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.sim import witnesses
from kraftool.sim.candidacy import Chance, Refusal
from kraftool.sim.conditions import Conditions
from kraftool.sim.patience import idle_ms, is_idle
from kraftool.sim.replica import SentMessage, SimulatedNode, disks_of

_MOST_STEPS = 20_000
_MOST_TRIALS = 600
"""So many trials, at most, to find how many failures a quorum stands."""


class ShortestTimeouts:
    """No chance at all: every timeout is as short as it can be."""

    def randrange(self, stop: int, /) -> int:
        return 0


PATIENT = ShortestTimeouts()


class _Lasting:
    """No chance either: every timeout is as long as it can be, for slow messages."""

    def randrange(self, stop: int, /) -> int:
        return stop - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """The number of nodes that may also fail."""

    failures: Count
    is_exact: bool = True
    """False: at least this number; more were not tried."""


class _Trial:
    """All nodes, with a network that serves one of them first."""

    def __init__(self, case: ElectionCase, conditions: Conditions, node_id: int) -> None:
        self.case, self.conditions, self.id = case, conditions, node_id
        disks = disks_of(case)
        election_ms = case.by_id[node_id].settings.timing.election_timeout_ms
        is_slow = 4 * conditions.shortest_ms >= election_ms
        chance = _Lasting() if is_slow else PATIENT
        self.replicas = {
            node.id: SimulatedNode(node, chance, disks[node.id])
            for node in case.nodes
            if node.id not in conditions.down
        }
        self._idle_ms = idle_ms(case)
        self.now_ms = 1
        self.mail: deque[SentMessage] = deque()
        self.answers: dict[int, Refusal | None] = {}
        """By voter: why it refuses; None where it grants."""
        self._steps = 0

    @property
    def own(self) -> SimulatedNode:
        return self.replicas[self.id]

    def go(self) -> tuple[bool, bool]:
        """Return if the node wins, and if it then commits."""
        for replica in self.replicas.values():
            self.mail.extend(replica.start(self.now_ms))
        timing = self.own.raft.timing
        patience = 4 * (timing.fetch_timeout_ms + 3 * timing.election_timeout_ms) + 1000
        patience += 40 * self.conditions.shortest_ms
        for _ in self._until(patience, alone=True):
            if self.own.leads:
                break
        if not self.own.leads:
            return False, False
        for _ in self._until(self.now_ms + patience, alone=False):
            if self.own.can_commit:
                return True, True
        return True, False

    def _until(self, at_ms: int, *, alone: bool) -> Iterator[None]:
        yield
        while self._steps < _MOST_STEPS:
            self._steps += 1
            due, who = min(
                (replica.deadline_ms, replica.id)
                for replica in self.replicas.values()
                if replica.id == self.id or replica.broken or not alone
            )
            hop_ms = self._hop_ms()
            # Whoever has waited too long does not wait for what comes after that.
            if self.mail and self.now_ms + hop_ms < due:
                self.now_ms += hop_ms
                for _ in range(len(self.mail)):
                    self._deliver(self.mail.popleft(), alone=alone)
            elif due > at_ms or due >= NEVER:
                return
            else:
                self.now_ms = max(self.now_ms, due)
                self.mail.extend(self.replicas[who].tick(self.now_ms))
            yield

    def _hop_ms(self) -> int:
        """Return what the messages take that are on their way."""
        if self._idle_ms and all(is_idle(message.body) for message in self.mail):
            return max(self.conditions.shortest_ms, self._idle_ms)
        return self.conditions.shortest_ms

    def _deliver(self, message: SentMessage, *, alone: bool) -> None:
        if alone and message.asker != self.id:
            return
        if message.is_answer:
            to = message.asker
        else:
            to = self.case.places.get(message.endpoint, message.destination_id)
        if not self.conditions.passes(message.source, to):
            return
        body = message.body
        receiver = self.replicas.get(to)
        if receiver is None or receiver.broken:
            if not message.is_answer:
                self.mail.append(message.answered(to, UNREACHABLE[type(body)]))
            return
        before = receiver.fork() if alone and isinstance(body, VoteRequest) else None
        sent = receiver.receive(self.now_ms, message)
        self.mail.extend(sent)
        if before is not None:
            self._judge(before, message, sent)

    def _judge(self, before: SimulatedNode, message: SentMessage, sent: list[SentMessage]) -> None:
        for sent_message in sent:
            if sent_message.is_answer and isinstance(sent_message.body, VoteResponse):
                granted = sent_message.body.vote_granted
                self.answers[before.id] = (
                    None if granted else _reason(before, message, sent_message.body, self.now_ms)
                )


def _answer(
    replica: SimulatedNode, message: SentMessage, body: Request, now_ms: int
) -> VoteResponse:
    """Return what a node would say to another request."""
    for sent_message in replica.fork().receive(now_ms, message._replace(body=body)):
        if sent_message.is_answer and isinstance(sent_message.body, VoteResponse):
            return sent_message.body
    return VoteResponse()


def _reason(
    before: SimulatedNode, message: SentMessage, response: VoteResponse, now_ms: int
) -> Refusal:
    """Ask again with one thing changed, and see which makes the difference."""
    asked = cast("VoteRequest", message.body)
    own, to = before.raft, message.asker
    end = own.log.end
    error = response.top_error if response.top_error is not Error.NONE else response.error

    def refusal(kind: str, why: str) -> Refusal:
        return Refusal(
            voter_id=before.id, to=to, kind=kind, reason=f"{before.id} refuses {to}: {why}"
        )

    longer = replace(asked, last_offset=end.offset, last_offset_epoch=end.epoch)
    if error is Error.NONE and _answer(before, message, longer, now_ms).vote_granted:
        return refusal(
            "log",
            f"its log ends at {end.offset} of epoch {end.epoch},"
            f" beyond {to}'s {asked.last_offset} of epoch {asked.last_offset_epoch}",
        )
    if error is Error.INCONSISTENT_CLUSTER_ID:
        return refusal(
            "cluster", f"it belongs to cluster {own.settings.cluster_id}, not {asked.cluster_id}"
        )
    if error is Error.INVALID_VOTER_KEY and asked.voter is not None:
        return refusal(
            "replica",
            f"{to} asks replica {asked.voter}, but this one is {own.settings.key} (a node that"
            " is formatted again is another replica)",
        )
    if error is Error.FENCED_LEADER_EPOCH:
        return refusal("epoch", f"it is in epoch {own.epoch}, beyond {to}'s {asked.replica_epoch}")
    if error is not Error.NONE:
        return refusal("other", f"it answers {error.name}")
    if own.role.voted is not None:
        return refusal("vote", f"it has voted for {own.role.voted.id} in epoch {own.epoch}")
    if own.role.leader_id is not None:
        return refusal("leader", f"it knows {own.role.leader_id} as leader of epoch {own.epoch}")
    return refusal("other", f"it is {type(own.role).__name__} in epoch {own.epoch}")


class Chances:
    """The chances of all nodes, under conditions that may be changed; each is tried once."""

    def __init__(self, case: ElectionCase) -> None:
        self.case = case
        self._known: dict[tuple[int, frozenset[int], frozenset[tuple[int, int]]], Chance] = {}
        self.trials = 0

    def of(self, node_id: int, conditions: Conditions) -> Chance:
        key = (node_id, conditions.down, conditions.cut)
        if key not in self._known:
            self.trials += 1
            self._known[key] = _try(self.case, conditions, node_id)
        return self._known[key]

    def all(self, conditions: Conditions) -> tuple[Chance, ...]:
        chances = tuple(self.of(node.id, conditions) for node in self.case.nodes)
        return witnesses.handed_over(
            self.case, conditions, chances, lambda case, node_id: _try(case, conditions, node_id)
        )

    def leaders(self, conditions: Conditions) -> tuple[int, ...]:
        """Return who can lead and commit."""
        return tuple(chance.node for chance in self.all(conditions) if chance.commits)

    def electable(self, conditions: Conditions) -> tuple[int, ...]:
        """Return who can be elected, whether it can then commit or not: its followers cut their
        logs. Of one that a witness hands over to, it is the witness.
        """
        wins = (chance for chance in self.all(conditions) if chance.wins)
        return tuple(win.node if win.via is None else win.via for win in wins)

    def stands(self, conditions: Conditions) -> bool:
        """True if anybody can lead and commit."""
        up = [node for node in self.case.nodes if node.id not in conditions.down]
        up.sort(key=lambda node: (node.end.epoch, node.end.offset), reverse=True)
        if any(self.of(node.id, conditions).commits for node in up):
            return True
        return any(node.is_witness for node in up) and bool(self.leaders(conditions))

    def failures(self, conditions: Conditions, voters: list[int]) -> Failures | None:
        """Return how many more of these nodes may fail, whichever they are; None where already too
        many have.
        """
        if not self.stands(conditions):
            return None
        for count in range(1, len(voters) + 1):
            for gone in combinations(voters, count):
                if self.trials > _MOST_TRIALS:
                    return Failures(failures=count - 1, is_exact=False)
                if not self.stands(conditions.without(gone)):
                    return Failures(failures=count - 1)
        return Failures(failures=len(voters))


def _try(case: ElectionCase, conditions: Conditions, node_id: int) -> Chance:
    node = case.by_id[node_id]
    if node_id in conditions.down:
        return Chance(node=node_id, why_not=f"{node_id} is down")
    if not node.is_voter:
        return Chance(node=node_id, why_not=no_voter(node))
    if why_not := witnesses.why_not(node):
        return Chance(node=node_id, why_not=why_not)
    case = witnesses.as_candidate(case, node_id)
    trial = _Trial(case, conditions, node_id)
    wins, commits = trial.go()
    granted = tuple(sorted(voter_id for voter_id, why in trial.answers.items() if why is None))
    refusals = [why for why in trial.answers.values() if why is not None]
    refusals += (
        _silent(trial, voter_id)
        for voter_id in sorted(node.voters.ids - {node_id} - trial.answers.keys())
    )
    why_not = ""
    if not wins:
        votes, needed = len(granted) + 1, node.voters.majority
        why_not = (
            f"{node_id} gets {votes} of the {needed} votes it needs from {len(node.voters)} voters"
            if votes < needed
            else f"{node_id} would be given {votes} votes, but the answers come too late to count"
        )
    elif not commits:
        why_not = f"{node_id} can be elected, but in the trial its records did not reach a majority"
    if trial.own.errors and not commits:
        why_not = f"{node_id} stops with an error: {trial.own.errors[0]}"
    return Chance(
        node=node_id,
        wins=wins,
        commits=commits,
        granted=granted,
        refusals=tuple(sorted(refusals, key=lambda refusal: refusal.voter_id)),
        why_not=why_not,
    )


def no_voter(node: NodeCase) -> str:
    """Why a node does not ask for votes."""
    if not node.voters:
        return f"{node.id} knows no voters: it waits until a leader reports them"
    same = node.voters.voters.get(node.id)
    if same is not None:
        return (
            f"{node.id} is not the replica that is a voter: its directory id is"
            f" {node.settings.directory_id}, and the voter's is {same.key.directory_id}"
        )
    ids = ", ".join(map(str, sorted(node.voters.ids)))
    return f"{node.id} is not one of the voters {ids}"


def _silent(trial: _Trial, voter: int) -> Refusal:
    """Why no answer of a voter arrived."""
    case, conditions, node_id = trial.case, trial.conditions, trial.id
    node, own = case.by_id.get(voter), case.by_id[node_id]
    if node is None:
        is_lost = voter in dict(case.missing)
        what = "its directory does not exist" if is_lost else "no directory was given for it"
        why = f"{what}; it counts as down"
    elif voter in conditions.down:
        why = "it is down"
    elif not (conditions.passes(node_id, voter) and conditions.passes(voter, node_id)):
        why = "they are cut off from each other"
    elif not own.voters.has(node.key):
        why = f"it was formatted again and is not the replica {own.voters.voters[voter].key}"
    elif trial.replicas[voter].errors:
        why = f"it has stopped with an error ({trial.replicas[voter].errors[0]})"
    elif 2 * conditions.shortest_ms >= own.settings.timing.request_timeout_ms:
        why = "an answer takes longer than the request timeout"
    else:
        why = "nothing arrives in time"
    return Refusal(
        voter_id=voter,
        to=node_id,
        kind="silent",
        reason=f"{voter} does not answer {node_id}: {why}",
    )
