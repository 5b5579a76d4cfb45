"""The next steps, one at a time, with the commands for it.

Owns which advice fits together: nothing is advised that needs a leader where there is none, and
what is said of restarts is what the table of restarts says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kraftool.reports.doctor.quorum_advice import health_command, quorum_commands
from kraftool.reports.election.assessment import Assessment, NextStep
from kraftool.reports.election.assessment_words import next_sentence
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.text import shell_text
from kraftool.reports.text.words import listed
from kraftool.sim.report import Report
from kraftool.sim.verdict_words import all_empty, is_empty, lost, slow
from kraftool.storage.entry import Severity


@dataclass(frozen=True, slots=True)
class AdviceStep:
    """One thing to do. The commands are for copying."""

    advice: str
    commands: tuple[str, ...] = ()


def next_steps(report: Report) -> Iterable[AdviceStep]:
    if report.assessment.next_step in (NextStep.ASK_LIVE, NextStep.START_ONE_MORE):
        yield from _running(report.assessment)
        return
    if report.is_elected and (report.grave or report.unseen):
        yield from _save(report)
        return
    if report.assessment.next_step is NextStep.RECOVER and report.case.cannot_start:
        # A node that is repaired by itself could lead without records that a plan keeps.
        commands = tuple(command for _, command in _further(report))
        yield AdviceStep(f"{next_sentence(report.assessment)}:", commands)
        return
    yield from _ended(report)
    if report.is_elected:
        yield from _keep(report)
    else:
        yield from _ways_out(report)


def _running(assessment: Assessment) -> Iterable[AdviceStep]:
    """Yield what to do where voters run: they are neither stopped nor started again."""
    commands = (health_command(assessment),) if assessment.running_voters.is_majority else ()
    yield AdviceStep(f"{next_sentence(assessment)}.", commands)


def _ended(report: Report) -> Iterable[AdviceStep]:
    """Yield how to start a node that Kafka stops for a vote in an epoch that another node won."""
    ended = {node for node, _, _ in report.broken if report.case.by_id[node].stands_in_won_epoch}
    for node in sorted(ended):
        yield AdviceStep(
            f"Start {node} when the other nodes have a leader. If they need its vote for that,"
            " write its quorum-state with the highest epoch of all voters + 1 and no vote first."
        )


# --- with a leader ----------------------------------------------------------------------------


def _keep(report: Report) -> Iterable[AdviceStep]:
    """Yield what keeps the quorum, or brings it back to its strength."""
    case = report.case
    empty = [
        node.id
        for node in case.nodes
        if node.id in report.up and case.voters.has(node.key) and is_empty(node)
    ]
    if all_empty(report):
        empty = []
    first = [*_network(report), *_refill(report, empty)]
    yield from first
    other = list(_replaced(report))
    yield from _restarting(report, is_fine=not (first or other))
    yield from other


def _network(report: Report) -> Iterable[AdviceStep]:
    if report.conditions.cut:
        yield AdviceStep(
            "Repair the network: without the partition the quorum tolerates more failures."
        )
    if list(slow(report)) or report.without_leader:
        yield AdviceStep(
            "Make messages faster, or the controller.quorum timeouts longer: elections fail"
            " or take long."
        )


def _restarting(report: Report, *, is_fine: bool) -> Iterable[AdviceStep]:
    unsafe = [restart for restart in report.restarts if not restart.is_safe]
    safe = [restart.node_id for restart in report.restarts if restart.is_safe]
    missing = [node_id for node_id in report.case.unknown if node_id in report.case.voters.ids]
    voting = {voter.key.id for voter in report.case.voters}
    down = sorted(voting & {*report.conditions.down, *missing})
    back = f" {_bring_back(report.case, down)} first." if down else ""
    names = listed((restart.node_id for restart in unsafe), "or")
    if len(report.case.voters) == 1:
        yield AdviceStep("It is the only voter: while it is down there is no leader.")
    elif not safe:
        yield AdviceStep(
            f"Do not restart voter {names} now: the quorum could lose its leader.{back}"
        )
    elif unsafe:
        for restart in unsafe:
            why = "without it there is no leader"
            if restart.leaders:
                cut = "; ".join(dict.fromkeys(map(lost, restart.losses)))
                why = f"{listed(restart.leaders, 'or')} could lead meanwhile, but {cut}"
            yield AdviceStep(f"Do not restart {restart.node_id} now: {why}.{back}")
        yield AdviceStep(
            f"Restart {listed(safe)} only one by one, each once the previous one has caught up."
        )
    elif down:
        yield AdviceStep(
            f"{_bring_back(report.case, down)}. Do not restart another voter before it has caught"
            " up."
        )
    elif is_fine:
        grave = any(finding.severity is not Severity.INFO for finding in report.case.findings)
        done = "Do what the findings below say." if grave else "Nothing has to be done."
        yield AdviceStep(
            f"{done} Restart one node after another, each once the previous one has caught up."
        )
        if not report.case.is_live and any(node.source for node in report.case.nodes):
            yield AdviceStep(
                "kraftool doctor also replays the records: a controller exits at one that it"
                " cannot apply."
            )


def _refill(report: Report, empty: Sequence[int]) -> Iterable[AdviceStep]:
    """Yield what to do about voters that lost their log."""
    if not empty:
        return
    names = listed(empty)
    voteless = [node_id for node_id in empty if report.case.by_id[node_id].election is None]
    if voteless and any(finding.code == log_kinds.NONE.code for finding in report.case.findings):
        yield AdviceStep(
            f"Before {listed(voteless)} starts, do what {log_kinds.NONE.code} says below."
        )
    if any(restart.node_id in empty and not restart.leaders for restart in report.restarts):
        yield AdviceStep(
            f"Only the vote of {names} makes a majority: bring back another voter first if you can."
        )
    else:
        yield AdviceStep(f"Start {names} last, once the others have a leader.")
    yield AdviceStep(f"Stop nothing before {names} has copied the log.")


def _replaced(report: Report) -> Iterable[AdviceStep]:
    """Yield how a node that was formatted again becomes a voter: only a leader can do that."""
    anywhere = ("--bootstrap-controller", _address(report))
    for node in _strangers(report):
        voter = report.case.voters.voters[node.id]
        yield AdviceStep(
            f"Start {node.id} only once there is a leader. It is no longer the voter"
                f" {node.id}: remove that one, wait until {node.id} has no lag, and add it from"
                f" {node.id} itself, with its server.properties:",
            (
                shell_text.line(
                    "kafka-metadata-quorum", *anywhere, "remove-controller",
                    "--controller-id", node.id,
                    "--controller-directory-id", voter.key.directory_id,
                ),
                shell_text.line("kafka-metadata-quorum", *anywhere, "describe", "--replication"),
                shell_text.line(
                    "kafka-metadata-quorum", "--command-config", "server.properties", *anywhere,
                    "add-controller",
                ),
            ),
        )  # fmt: skip


def _strangers(report: Report) -> list[NodeCase]:
    """Nodes that have the id of a voter, and another directory."""
    case = report.case
    if case.kraft_version < 1:
        return []
    return [
        node
        for node in case.nodes
        if case.is_stranger(node) and node.id not in report.conditions.down
    ]


def _address(report: Report) -> str:
    """Return where a controller listens that may lead."""
    for leader in report.leaders:
        settings = report.case.by_id[leader].settings
        endpoint = settings.listeners.get(settings.default_listener)
        if endpoint is not None and endpoint.port:
            return str(endpoint)
    return shell_text.ANYWHERE


def _save(report: Report) -> Iterable[AdviceStep]:
    """Yield how to start without losing anything, if there is a way."""
    yield AdviceStep("Do not start the nodes like this. Copy all directories first.")
    if report.unseen:
        yield from _look_further(report)
    if not report.grave:
        return
    holders = sorted({holder for loss in report.grave for holder in loss.holders})
    if not report.rescue:
        yield AdviceStep(
            f"{listed(holders)} {'has' if len(holders) == 1 else 'have'} the records that"
            " would be lost, but no group of these nodes is sure to keep them: find the"
            " directories of the other voters."
        )
        return
    case, down = report.case, sorted(report.conditions.down & set(report.rescue))
    if down:
        them = "it" if len(down) == 1 else "them"
        yield AdviceStep(
            f"Bring back {listed(down)} before any other node starts: no group of these nodes"
            f" without {them} keeps all records and has a leader."
        )
    rest = sorted(case.voters.ids - set(report.rescue))
    alone = " alone" if rest else ""
    rivals = [
        node_id
        for node_id in rest
        if node_id in case.by_id and _is_rival(case, case.by_id[node_id])
    ]
    if rivals:
        yield AdviceStep(
            f"Once the copy is safe, format {listed(rivals)} again with"
            " --no-initial-controllers:"
            f" {'otherwise it elects itself' if len(rivals) == 1 else 'otherwise they lead alone'}."
        )
    then = f" Start {listed(rest)} once there is a leader." if rest else ""
    yield AdviceStep(
        f"Then start {listed(report.rescue)}{alone}: each possible leader of these has all of"
        f" it.{then}"
    )


def _look_further(report: Report) -> Iterable[AdviceStep]:
    """Yield where to find committed records that no directory shows."""
    for words, command in _further(report):
        yield AdviceStep(f"{words}:", (command,))


def _further(report: Report) -> Iterable[tuple[str, str]]:
    paths = [node.source for node in report.case.nodes if node.source and not node.assumed]
    return quorum_commands(report.assessment, paths, "simulate-election")


def _is_rival(case: ElectionCase, node: NodeCase) -> bool:
    """True if a node votes by its own log only, as after it was formatted with --standalone."""
    return node.is_voter and case.is_stranger(node)


# --- without ----------------------------------------------------------------------------------


def _ways_out(report: Report) -> Iterable[AdviceStep]:
    if report.grave or report.unseen:
        yield from _save(report)
    if report.revivals:
        groups = [listed(revival) for revival in report.revivals]
        either = "either" if len(groups) == 2 else "any" if len(groups) > 2 else "it"
        if not any(report.case.cannot_start & {*revival} for revival in report.revivals):
            start = f"Start {listed(groups, 'or')}"
        else:
            ways = [_start_words(report.case, revival) for revival in report.revivals]
            start = f"{ways[0].capitalize()}{''.join(f', or {way}' for way in ways[1:])}"
        yield AdviceStep(f"{start}: with {either} a leader can be elected.")
    if report.heals:
        yield AdviceStep("Repair the network: without the partition a leader can be elected.")
    unknown = [node_id for node_id in report.case.unknown if node_id in report.case.voters.ids]
    if unknown:
        yield AdviceStep(
            f"Give the directories of {listed(unknown)} too, or ask what if they run:"
            f" {' '.join(f'--assume-up {node_id}' for node_id in unknown)}."
        )
    if list(slow(report)) or report.leaders:
        yield AdviceStep("Make messages faster, or the controller.quorum timeouts longer.")
    elif not (report.revivals or report.heals or unknown):
        best = report.case.most_complete
        if best is not None and best.log.end:
            yield AdviceStep(
                f"Copy all directories before anything else. {best.id} has the most complete log"
                f" ({best.end.offset} of epoch {best.end.epoch})."
            )
        yield from _old_disks(report)


def _bring_back(case: ElectionCase, down: Sequence[int]) -> str:
    """Return what to do about nodes that are down, some of which have to be repaired."""
    broken = [node_id for node_id in down if node_id in case.cannot_start]
    if broken == [*down]:
        return f"Repair node {listed(down)} and bring {'it' if len(down) == 1 else 'them'} back"
    repair = f"Repair node {listed(broken)}, and b" if broken else "B"
    return f"{repair}ring node {listed(down)} back"


def _start_words(case: ElectionCase, ids: Iterable[int]) -> str:
    """Return what to do so that these nodes run: `start 1 and 3`, `repair 2, and start 1 and 2`."""
    ids = sorted(ids)
    broken = [node_id for node_id in ids if node_id in case.cannot_start]
    if broken == ids:
        return f"repair and start {listed(ids)}"
    return f"repair {listed(broken)}, and start {listed(ids)}" if broken else f"start {listed(ids)}"


def _old_disks(report: Report) -> Iterable[AdviceStep]:
    strangers = _strangers(report)
    if not strangers:
        return
    voters = report.case.voters.voters
    disks = listed(
        (f"{stranger.id} ({voters[stranger.id].key.directory_id})" for stranger in strangers), "or"
    )
    yield AdviceStep(
        f"Find the old disk of {disks}: only the replicas that are voters make a majority. Without"
        " a leader no voter can be removed, added or replaced."
    )
