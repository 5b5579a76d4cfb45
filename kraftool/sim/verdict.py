"""The verdict in words: one or two sentences, and what to do next.

Owns the wording for whoever reads it at three in the morning; what to do is `advice.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kraftool.reports.election.assessment_words import running_sentences, why_unknown
from kraftool.reports.findings.status import Status, overall_status
from kraftool.reports.text.words import listed, many, offsets
from kraftool.sim.advice import AdviceStep, next_steps
from kraftool.sim.chances import Failures
from kraftool.sim.outlook import Likelihood
from kraftool.sim.report import Report
from kraftool.sim.run import MOST_EVENTS
from kraftool.sim.verdict_words import all_empty, is_empty, lost, seconds, slow


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionVerdict:
    """The verdict on an election."""

    elected: bool
    """True if there is a leader, in the runs, too."""
    headline: str
    status: Status
    """Of the whole report: what the headline and the next steps look like."""
    details: tuple[str, ...] = ()
    next_steps: tuple[AdviceStep, ...] = ()


def verdict(report: Report) -> ElectionVerdict:
    if not report.leaders and any(chance.wins for chance in report.chances):
        # Whoever is elected may commit in some order that was not tried.
        runs = f" in {many(report.runs, 'run')}" if report.runs else ""
        headline = f"No leader could commit{runs}: {_why(report)}."
    elif not report.leaders:
        headline = f"No leader is possible: {_why(report)}."
    elif not report.is_elected:
        headline = (
            f"No leader was elected in {many(report.runs, 'run')} of"
            f" {seconds(report.horizon_ms)}: {listed(report.leaders, 'or')} could lead, but"
            " only if messages arrived sooner, or in another order."
        )
    else:
        headline = _who(report)
    return ElectionVerdict(
        elected=report.is_elected,
        headline=headline,
        status=_status(report),
        details=(
            *running_sentences(report.assessment), *_graves(report), *_minors(report),
            *_stopped(report), *_witnesses(report), *slow(report),
            *_doubts(report), *_standing(report), *_changed(report),
        ),
        next_steps=tuple(next_steps(report)),
    )  # fmt: skip


def _status(report: Report) -> Status:
    """Return GOOD only if a failure is tolerated, all runs were made and had a leader, and every
    voter's directory was given."""
    if not report.is_fine:
        return Status.BAD
    if (
        report.minor
        or report.is_last_majority
        or report.without_leader
        or report.given_up
        or report.broken
    ):
        return Status.WARN
    unknown = [node_id for node_id in report.case.unknown if node_id in report.case.voters.ids]
    severities = [finding.severity for finding in report.case.findings]
    are_all_made = bool(report.runs) and not report.stopped_before
    return overall_status(severities, is_complete=are_all_made and not unknown)


# --- with a leader ----------------------------------------------------------------------------


def _who(report: Report) -> str:
    who, trouble = listed(report.leaders, "or"), _trouble(report)
    if len(report.leaders) == 1:
        who += ", the only one that can win"
    if not report.runs:  # only runs show how likely each leader is, and how long it takes
        return f"{trouble}{'Possible leader' if trouble else 'A leader can be elected'}: {who}."
    for outlook in report.outlooks:
        if outlook.likelihood is Likelihood.LIKELY:
            who += f", likely {outlook.node}"
    time = _time(report)
    if report.without_leader:
        some = f"in {report.runs - report.without_leader} of {many(report.runs, 'run')}"
        time = f"{some}, and then {time}" if time else some
    end = f"; {time}." if time else "."
    if trouble:
        return f"{trouble}Possible leader: {who}{end}"
    if report.is_last_majority:
        return f"Leader possible, but no failure is tolerated: {who}{end}"
    return f"A leader is elected: {who}{end}"


def _time(report: Report) -> str:
    """Return how long an election takes; nothing if no run says so."""
    if not report.times_ms:
        return ""
    half, most = seconds(report.quantile_ms(0.5)), seconds(report.quantile_ms(0.95))
    runs = many(len(report.times_ms), "run")
    return f"if all start together, within {half} in half of {runs}, {most} in 95%"


def _trouble(report: Report) -> str:
    """Return why a leader is no good news: it cuts off what may have been committed, or runs no
    controller. Empty if it is good news."""
    if not report.grave and not report.unseen:
        return "No controller can lead. " if report.without_controller else ""
    is_sure = set(report.leaders) <= {loss.leader_id for loss in report.grave}
    return "Records are lost. " if is_sure else "Records may be lost. "


def _stopped(report: Report) -> Iterable[str]:
    if not report.stopped_before:
        return
    if report.runs:
        yield (
            f"Stopped after {report.runs} of {many(report.stopped_before, 'run')}: all figures are"
            " of these runs."
        )
    else:
        yield "Stopped before the first run was done: the likelihood of each leader is unknown."


def _witnesses(report: Report) -> Iterable[str]:
    if ids := report.without_controller:
        who = "Node" if len(ids) == 1 else "Nodes"
        runs = "runs" if len(ids) == 1 else "run"
        yield (
            f"{who} {listed(ids)} {runs} no controller, and no other node can lead: topics cannot"
            " be created."
        )
    for chance in report.chances:
        if chance.via is not None:
            yield (
                f"Witness {chance.via} has records that node {chance.node} lacks. It refuses"
                f" {chance.node}, then leads as a last resort until {chance.node} has caught up,"
                f" and hands over to it."
            )
    lasting = [
        node.id
        for node in report.case.nodes
        if node.settings.is_witness and node.is_voter and node.id in report.up
    ]
    if lasting and all(chance.via is None for chance in report.chances):
        yield (
            f"Node {listed(lasting)} is a witness: it votes, and leads only as a last resort."
            if len(lasting) == 1
            else f"Nodes {listed(lasting)} are witnesses: they vote, and lead only as a last"
            " resort."
        )


def _graves(report: Report) -> Iterable[str]:
    for leader in sorted({loss.leader_id for loss in report.grave}):
        grave = [loss for loss in report.losses_by(leader) if loss.commit_status.is_grave]
        yield f"DATA LOSS if {leader} leads: {'; '.join(map(lost, grave))}."
    for leader in report.unseen:
        first, bound = report.assessment.unseen_from, (report.assessment.lost_range or (0, None))[1]
        if first is None:
            first = report.case.by_id[leader].end.offset
        what = f"records from offset {first} on may be committed, but no directory shows them"
        if bound is not None and bound > first:
            what = f"{offsets(first, bound)} may be committed, but no log can be read as far"
        yield f"DATA LOSS if {leader} leads: {what}: {why_unknown(report.assessment)}."


def _minors(report: Report) -> Iterable[str]:
    for leader in sorted({loss.leader_id for loss in report.minor}):
        minor = [loss for loss in report.minor if loss.leader_id == leader]
        yield f"If {leader} leads: {'; '.join(map(lost, minor))}."


def _doubts(report: Report) -> Iterable[str]:
    if report.wins and report.without_leader:
        yield (
            f"In {report.without_leader} of {many(report.runs, 'run')} no node became leader"
            f" within {seconds(report.horizon_ms)}."
        )
    if report.given_up:
        yield (
            f"{many(report.given_up, 'run')} stopped early, after {MOST_EVENTS} events without"
            " a leader: what would happen later is not known."
        )
    for node, why, runs in report.broken:
        yield (
            f"{node} stops with an error in {runs} of {many(report.runs, 'run')} ({why}), as"
            " Kafka would. Start it again."
        )
        ended = report.case.by_id[node]
        if ended.stands_in_won_epoch:
            yield (
                f"{node} voted for itself in epoch {ended.end.epoch}, but another node won"
                " that epoch. Kafka starts it as a candidate of that epoch again, and stops"
                " it when a voter answers that knows the epoch but no leader."
            )


def stands(failures: Failures) -> str:
    """Return how many more may fail, in words."""
    least = "" if failures.is_exact else "at least "
    return f"{least}{many(failures.failures, 'more failure')}"


def _standing(report: Report) -> Iterable[str]:
    case, failures = report.case, report.failures
    if failures is not None and report.is_fine:
        yield (
            "The quorum cannot tolerate another failure: if one more voter stops, there may be no"
            " leader."
            if report.is_last_majority
            else f"The quorum tolerates {stands(failures)}."
        )
    missing = dict(case.missing)
    absent = [node_id for node_id in case.unknown if node_id in case.voters.ids or not case.voters]
    for node_id in absent:
        if node_id in missing:
            yield (
                f"The directory of {node_id} does not exist: its server.properties leads to"
                f" {missing[node_id]}. The node counts as down. Mount the disk, or name the"
                " directory itself if it was moved."
            )
    ungiven = [node_id for node_id in absent if node_id not in missing]
    if ungiven:
        is_one = len(ungiven) == 1
        yield (
            f"kraftool assumes that {listed(ungiven)} {'is' if is_one else 'are'} down, because"
            f" {'its directory was' if is_one else 'their directories were'} not given."
        )
    if case.cannot_start:
        counts = "counts" if len(case.cannot_start) == 1 else "count"
        yield (
            f"Kafka exits when it starts on {listed(sorted(case.cannot_start))}, which {counts} as"
            " down: kraftool doctor says what to repair."
        )
    yield from _empties(report)


def _empties(report: Report) -> Iterable[str]:
    for node in report.case.nodes:
        if node.id in report.conditions.down or node.id in report.conditions.added_voters:
            continue
        if report.case.is_stranger(node):
            so = "so this one only observes"
            if node.is_voter:
                alone = len(node.voters) == 1
                own = (
                    "it is the only one" if alone else f"they are {listed(sorted(node.voters.ids))}"
                )
                so = f"and by its own log {own}"
            yield (f"{node.id} was formatted again: the voter {node.id} is another replica, {so}.")
        elif node.is_unread:
            yield (
                f"The log of {node.id} could not be read. In the runs it ends at offset"
                f" {node.end.offset}."
            )
        elif report.case.voters.has(node.key) and is_empty(node) and not all_empty(report):
            yield (
                f"{node.id} is a voter with an empty log: it votes for the first candidate that"
                " asks."
            )


def _changed(report: Report) -> Iterable[str]:
    for change in report.changes:
        if not change.is_done:
            what = "is not added" if change.kind == "add" else "is not removed"
            yield f"{change.node_id} {what}: {change.reason or change.answers[0].error_name}."
    if report.changes and report.failures_after is None:
        yield "After the voter changes there would be no leader if all nodes started again."


# --- without ----------------------------------------------------------------------------------


def _why(report: Report) -> str:
    case = report.case
    voters = case.voters
    if not voters:
        return "no directory of a known node names the voters"
    reaching = [node_id for node_id in report.up if voters.has(case.by_id[node_id].key)]
    gone = sorted(voters.ids - set(reaching))
    if len(reaching) < voters.majority:
        available = "no voter is available"
        if len(reaching) == 1:
            available = f"only voter {reaching[0]} is available"
        elif reaching:
            available = f"only voters {listed(reaching)} are available"
        if len(voters) > 1:
            available += f", and a majority is {voters.majority} of {len(voters)} voters"
        return f"{available} ({_missing(report, gone)})"
    refusals = [refusal for chance in report.chances for refusal in chance.refusals]
    reasons = [refusal.reason for refusal in refusals if refusal.kind != "silent"]
    if reasons:
        return "; ".join(reasons[:3])
    cut = "the partition leaves no side with a majority" if report.conditions.cut else ""
    obstacles = [chance.why_not for chance in report.chances if chance.why_not]
    return cut or "; ".join(obstacles[:3]) or "no node gets a majority"


def _missing(report: Report, gone: Sequence[int]) -> str:
    """Why voters do not count, each reason once."""
    reasons: dict[str, list[int]] = {}
    for voter_id in gone:
        if voter_id in report.conditions.down:
            why = "{ids} {are} down"
        elif voter_id in dict(report.case.missing):
            why = "there is no directory at the configured path of {ids}"
        elif voter_id in report.case.unknown:
            why = "no directory was given for {ids}"
        else:
            why = "{ids} {are} newly formatted"
        reasons.setdefault(why, []).append(voter_id)
    return "; ".join(
        why.format(ids=listed(ids), are="is" if len(ids) == 1 else "are")
        for why, ids in reasons.items()
    )
