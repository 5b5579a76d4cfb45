"""Real nodes on the copies, and what they come to: the recovered voters, then old ones.

Owns what is asked of them: who leads, who votes, whether the metadata is what the plan is to save,
and whether that is still so once nodes of the quarantine are back. They listen on the loopback
interface alone, and know of nobody else (`rehearsal_local.py`). Brokers are not started: the
metadata names the real ones, and a broker fetches from those.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice

from kraftool.client.asking import Access, question
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.observer import observe
from kraftool.client.observing import UnobservableError
from kraftool.decoders.json_marks import Count, Hidden, Ids
from kraftool.image.image import MetadataImage
from kraftool.raft.names import majority_of
from kraftool.repair.apply import Tell
from kraftool.repair.rehearsal_local import LocalNode, listener_of, localize, write_settings
from kraftool.repair.rehearsal_software import Running, Software, free_ports, running
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import repair as kinds
from kraftool.reports.state.diff import IGNORABLE, ChangeType, DiffOptions, changes
from kraftool.reports.state.diff_words import change_name
from kraftool.reports.text.words import listed, many

_ASK_S, _PAUSE_S = 2.0, 0.2
_MOST_TOLD = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """The nodes that take part, and what is expected of them."""

    voters: Mapping[int, str]
    """Copies of the voters that the plan makes, by node id."""
    back: Mapping[int, str]
    """Copies of nodes of the quarantine."""
    voters_after: tuple[int, ...]
    voters_before: tuple[int, ...]
    is_static: bool
    is_fenced: bool
    is_promised: bool
    """True if the method promises that old voters do no harm."""
    expected: Mapping[int, MetadataImage]
    """The metadata of each voter's copy: a leader has all of its own, and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """A node of the quarantine that was started after the others."""

    node_id: int
    is_following: bool = False
    """True if it follows the recovered leader, and has all of its records."""
    leader_id: int | None = None
    """The leader that it knows."""
    last_words: str | None = None
    """Its last error, or the last line that it logged, if it exited; null if it runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesRehearsal:
    """The nodes that were started on the copies."""

    software: str
    not_started_reason: str | None = None
    """Why nothing was started."""
    started: Ids = ()
    rewritten_files: Count = 0
    """Files whose voters got endpoints of this machine."""
    leader_id: int | None = None
    epoch: int | None = None
    voters: Ids = ()
    high_watermark: int | None = None
    took_ms: int = 0
    is_compared: bool = False
    """True if the metadata was compared with what the plan saves."""
    topics: Count = 0
    """In the metadata that is served, like partitions and brokers."""
    partitions: Count = 0
    brokers: Count = 0
    returned: tuple[Returned, ...] = ()
    findings: Hidden[tuple[Finding, ...]] = ()


def rehearse_nodes(
    software: Software, cast: Cast, folder: str, timeout_s: float, tell: Tell
) -> NodesRehearsal:
    """Start the voters, wait for a leader, look at what it leads; then start the others, too.

    The copies are changed: their voters are then reached on this machine.
    """
    with ExitStack() as stack:
        voters, back, rewritten = _prepared(cast, folder, stack)
        nodes_rehearsal = NodesRehearsal(
            software=software.name, started=tuple(sorted(cast.voters)), rewritten_files=rewritten
        )
        tell(f"starting {many(len(voters), 'node')}: {software.name}")
        first = stack.enter_context(running(software, voters))
        nodes_rehearsal = _led(nodes_rehearsal, first, cast, timeout_s)
        if nodes_rehearsal.leader_id is None or not back:
            return nodes_rehearsal
        tell(f"starting {many(len(back), 'node')} of the quarantine")
        second = stack.enter_context(running(software, back))
        return _returned(nodes_rehearsal, first, second, cast, timeout_s)


def _prepared(
    cast: Cast, folder: str, stack: ExitStack
) -> tuple[list[LocalNode], list[LocalNode], int]:
    """Settings for all, and copies whose voters are reached here."""
    directories = {**cast.voters, **cast.back}
    listener = listener_of(directories.values())
    nowhere = free_ports(stack, 1)[0]
    with ExitStack() as chosen:
        ports = dict(zip(directories, free_ports(chosen, len(directories)), strict=True))
    nodes = {}
    for node_id, directory in directories.items():
        place = os.path.join(folder, f"run-{node_id}")
        os.mkdir(place, 0o700)
        nodes[node_id] = LocalNode(
            id=node_id, directory=directory, folder=place, port=ports[node_id]
        )
    rewritten = sum(
        localize(directory, listener, ports, nowhere) for directory in directories.values()
    )
    servers = [node.endpoint for node in nodes.values()]
    groups = []
    for some, ids in (cast.voters, cast.voters_after), (cast.back, cast.voters_before):
        group = [nodes[node_id] for node_id in some]
        static = {id_: ports.get(id_, nowhere) for id_ in ids} if cast.is_static else {}
        write_settings(group, servers, listener, static)
        groups.append(group)
    return groups[0], groups[1], rewritten


# --- the recovered voters ---------------------------------------------------------------------


def _led(
    rehearsal: NodesRehearsal, processes: Sequence[Running], cast: Cast, timeout_s: float
) -> NodesRehearsal:
    began = time.monotonic()
    while True:
        view = asyncio.run(_view(processes))
        ended = [process for process in processes if process.has_ended]
        if ended:
            return replace(rehearsal, findings=tuple(_start_failed(run) for run in ended))
        if _commits(view):
            break
        if time.monotonic() - began > timeout_s:
            last_lines = "; ".join(
                f"node {process.node.id} last logged: {process.last_words()}"
                for process in processes
            )
            text = f"no leader that commits within {timeout_s:g} s; {last_lines}"
            return replace(rehearsal, findings=(kinds.START.at("", text),))
        time.sleep(_PAUSE_S)
    quorum, leader = view.quorum, view.leader
    assert leader is not None, "somebody leads"
    assert quorum is not None, "a leader describes its quorum"
    live = tuple(sorted(voter.replica.id for voter in quorum.voters))
    rehearsal = replace(
        rehearsal,
        leader_id=leader.node_id,
        epoch=leader.epoch,
        voters=live,
        high_watermark=quorum.high_watermark,
        took_ms=round((time.monotonic() - began) * 1000),
    )
    wrong = []
    if set(live) != set(cast.voters_after):
        text = (
            f"the leader names {listed(live)}, but the plan has {listed(sorted(cast.voters_after))}"
        )
        wrong.append(kinds.VOTERS.at("", text))
    image = _image(view, timeout_s)
    if isinstance(image, str):
        wrong.append(kinds.STATE.at("", image))
        return replace(rehearsal, findings=tuple(wrong))
    expected = None if leader.node_id is None else cast.expected.get(leader.node_id)
    if expected is not None:
        wrong += [kinds.STATE.at("", difference) for difference in _differences(expected, image)]
    return replace(
        rehearsal,
        topics=len(image.topics.by_id),
        partitions=image.topics.partitions,
        brokers=len(image.cluster.brokers),
        is_compared=expected is not None,
        findings=tuple(wrong),
    )


async def _view(processes: Sequence[Running]) -> QuorumView:
    """Return what these nodes say; nobody else is asked, whomever they name."""
    access = Access(timeout_s=_ASK_S)
    answers = await asyncio.gather(
        *(question(process.node.endpoint, access, node_id=process.node.id) for process in processes)
    )
    return QuorumView(nodes=tuple(answers))


def _commits(view: QuorumView) -> bool:
    """True if somebody leads, and a majority has what it wrote first."""
    return view.leader is not None and view.quorum is not None and view.quorum.high_watermark > 0


def _image(view: QuorumView, timeout_s: float) -> MetadataImage | str:
    """The metadata that the leader serves, or why it cannot be had."""
    try:
        observation = asyncio.run(observe(view, Access(timeout_s=timeout_s)))
    except UnobservableError as error:
        return f"the leader's metadata cannot be read: {error.message}"
    wrong = [finding for finding in observation.findings if finding.severity is not Severity.INFO]
    return f"{wrong[0].code} {wrong[0].sentence()}" if wrong else observation.image


def _start_failed(run: Running) -> Finding:
    text = f"node {run.node.id} exited with {run.process.returncode}: {run.last_words()}"
    return kinds.START.at("", text)


def _differences(expected: MetadataImage, image: MetadataImage) -> Iterator[str]:
    """Yield what is there that should not be, or is not; a controller registers where it starts."""
    options = DiffOptions(ignored=frozenset(IGNORABLE))
    diffs = (
        change for change in changes(expected, image, options) if change.entity_kind != "controller"
    )
    entity_changes = list(islice(diffs, _MOST_TOLD + 1))
    words = {
        ChangeType.ADDED: "is new",
        ChangeType.REMOVED: "is missing",
        ChangeType.CHANGED: "differs",
    }
    for entity_change in entity_changes[:_MOST_TOLD]:
        yield f"{change_name(entity_change)} {words[entity_change.change_type]}"
    if len(entity_changes) > _MOST_TOLD:
        yield "there is more"


# --- nodes of the quarantine ------------------------------------------------------------------


def _returned(
    rehearsal: NodesRehearsal,
    first: Sequence[Running],
    second: Sequence[Running],
    cast: Cast,
    timeout_s: float,
) -> NodesRehearsal:
    """Wait until each of them follows, leads or has ended; then look at the recovered ones."""
    began = time.monotonic()
    while True:
        view = asyncio.run(_view([*first, *second]))
        ours = QuorumView(nodes=view.nodes[: len(first)])
        theirs = QuorumView(nodes=view.nodes[len(first) :])
        returned = tuple(
            _one(run, answer, ours) for run, answer in zip(second, theirs.nodes, strict=True)
        )
        settled = all(
            voter.is_following
            or voter.last_words
            or (cast.is_fenced and _is_apart(voter, theirs, cast))
            for voter in returned
        )
        if (settled and _commits(ours)) or any(run.has_ended for run in first):
            break
        if time.monotonic() - began > timeout_s:
            break
        time.sleep(_PAUSE_S)
    severity = Severity.ERROR if cast.is_promised else Severity.WARNING
    return replace(
        rehearsal,
        returned=returned,
        findings=(
            *rehearsal.findings,
            *(replace(finding, severity=severity)
              for finding in _harm(rehearsal, first, ours, returned, cast, timeout_s)),
        ),
    )  # fmt: skip


def _one(run: Running, answer: NodeAnswer, ours: QuorumView) -> Returned:
    if run.has_ended:
        return Returned(node_id=run.node.id, last_words=run.last_words() or None)
    leader, quorum = ours.leader, ours.quorum
    is_following = (
        leader is not None
        and quorum is not None
        and (answer.epoch, answer.leader_id) == (leader.epoch, leader.node_id)
        and any(
            one.replica.id == run.node.id and one.log_end_offset >= quorum.high_watermark > 0
            for one in (*quorum.observers, *quorum.voters)
        )
    )
    return Returned(node_id=run.node.id, is_following=is_following, leader_id=answer.leader_id)


def _is_apart(voter: Returned, theirs: QuorumView, cast: Cast) -> bool:
    """True if an old voter behind a fence has its quorum, or answers where it can have none."""
    if len(cast.back) < majority_of(len(cast.voters_before)):
        return bool(theirs.reached)
    return (
        _commits(theirs) and theirs.leader is not None and voter.leader_id == theirs.leader.node_id
    )


def _harm(
    rehearsal: NodesRehearsal,
    first: Sequence[Running],
    ours: QuorumView,
    returned: Sequence[Returned],
    cast: Cast,
    timeout_s: float,
) -> Iterator[Finding]:
    """Yield what is worse than before."""
    for run in first:
        if run.has_ended:
            text = f"node {run.node.id} of the recovered quorum exited once old voters were back"
            yield kinds.ENDS.at("", f"{text}: {run.last_words()}")
    for one in returned:
        if one.last_words:
            text = f"node {one.node_id} exited when it was back: {one.last_words}"
            yield kinds.ENDS.at("", text)
        elif not one.is_following and not cast.is_fenced:
            text = f"node {one.node_id} is back, but does not follow the recovered leader"
            if one.leader_id is None:
                yield kinds.QUARANTINED.at("", f"{text}; it knows no leader")
            else:
                yield kinds.TWO_QUORUMS.at("", f"{text}, but node {one.leader_id}")
    if not _commits(ours):
        yield kinds.LOSES.at("", "the recovered voters no longer have a leader that commits")
        return
    image = _image(ours, timeout_s)
    expected = None if rehearsal.leader_id is None else cast.expected.get(rehearsal.leader_id)
    if isinstance(image, str):
        yield kinds.LOSES.at("", image)
    elif expected is not None:
        for difference in _differences(expected, image):
            yield kinds.LOSES.at("", f"{difference} once old voters are back")
