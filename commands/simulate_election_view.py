"""A simulated election for people: the verdict first, then tables, bars, and one run as a story.

Owns layout and colour. Everything that comes from data goes through `printable` into Text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table
from rich.text import Text

from kraftool.commands.block_view import heading, plain_table, table
from kraftool.commands.finding_view import (
    BAD,
    GOOD,
    NAME,
    QUIET,
    WARN,
    advice_flow,
    style_of,
    text,
    write_commands,
    write_findings,
)
from kraftool.commands.output import Output
from kraftool.commands.text_flow import READABLE, Flow
from kraftool.reports.election.assessment import QuorumSafety
from kraftool.reports.election.assessment_words import sentences
from kraftool.reports.election.losses import CommitStatus
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.status import status_of
from kraftool.reports.text.words import listed, many
from kraftool.sim.conditions import LISTENING_MS, StartPace
from kraftool.sim.node_table import LEADS_FIRST, node_table
from kraftool.sim.outlook import LIKELIHOODS, Likelihood
from kraftool.sim.replica import STARTED_AGAIN_MS
from kraftool.sim.report import Changed, Report
from kraftool.sim.timeline import lines
from kraftool.sim.verdict import stands, verdict
from kraftool.sim.verdict_words import lost, seconds

_BAR = "█"
_WIDEST = 40
_MOST_LINES = 40
_MOST_REFUSALS = 24
_BUCKETS = 8
_MOST_PROOFS = 4


def write_election(
    output: Output, report: Report, written: Report | None = None, *, verbose: bool = False
) -> None:
    """Write the verdict, the nodes, and one proof; with `verbose` the whole report. Of a verdict
    that is `written` already, only what the runs changed is written again."""
    write_verdict(output, report, written)
    output.line()
    nodes = node_table(report.case, report.conditions.down, report).without(LEADS_FIRST)
    output.rich(table(nodes, output.width))
    _voters(output, report)
    judged = sentences(report.assessment, with_running=False)
    if not verbose:
        if _is_worse_judged(report):
            _section(output, "The directories alone", map(text, judged))
        _proof(output, report)
        _section(output, "Changes of the voters", map(_change, report.changes), _after(report))
        _section(output, "Assumed", map(text, report.case.notes))
        _brief_findings(output, report)
        output.line()
        output.rich(Flow(text(_MORE, QUIET), widest=READABLE))
        return
    _section(output, "The directories alone", map(text, judged))
    _section(output, "Who cannot win, and votes that are refused", _refusals(report))
    _section(output, "What is cut off if a node leads", _losses(report))
    _section(output, "Changes of the voters", map(_change, report.changes), _after(report))
    _section(output, "Restarting one node", _restarts(report))
    if report.wins:
        _plots(output, report)
    _timeline(output, report)
    _section(output, "Assumed", map(text, _assumptions(report)))
    write_findings(output, report.case.findings, "")


_MORE = (
    "-v also shows the judgement of the directories, refused votes, which nodes may restart, times,"
    " one run message by message, assumptions, and findings in full."
)


def _is_worse_judged(report: Report) -> bool:
    """True if the directories have a danger that the verdict does not name, such as a voter that
    was not given. The verdict does not name it if an order of starts avoids it."""
    is_named = not report.is_fine or bool(report.minor)
    return report.assessment.state is QuorumSafety.AT_RISK and not is_named


def _proof(output: Output, report: Report) -> None:
    """Show the evidence that the verdict depends on most: the records that a possible
    leader truncates, or the reasons why no node can win, or who leads first."""
    cut = [loss for loss in report.losses if loss.leader_id in map(report.log_of, report.leaders)]
    if cut:
        _section(output, "What is cut off if a node leads", _first(_losses(report)))
    elif not report.leaders:
        _section(output, "Who cannot win, and votes that are refused", _first(_refusals(report)))
    elif report.wins:
        output.line()
        output.rich(_outlooks(report))


def _first(rows: Iterable[Text]) -> Iterator[Text]:
    every = list(rows)
    yield from every[:_MOST_PROOFS]
    if len(every) > _MOST_PROOFS:
        yield Text(f"… and {len(every) - _MOST_PROOFS} more (-v)", style=QUIET)


def _brief_findings(output: Output, report: Report) -> None:
    """Show each error and warning in one line, and how many notes there are."""
    faults = [fault for fault in report.case.findings if fault.severity is not Severity.INFO]
    rows = [
        text(f"{fault.code} {fault.where()}", style_of(status_of(fault.severity)))
        for fault in faults
    ]
    notes = len(report.case.findings) - len(faults)
    counted = [text(many(notes, "note"), QUIET)] if notes else []
    _section(output, "Findings", _first(rows), counted)


def _section(output: Output, title: str, *parts: Iterable[Text]) -> None:
    rows = [row for part in parts for row in part]
    if rows:
        output.line()
        output.rich(heading(title), *rows)


def write_verdict(output: Output, report: Report, written: Report | None = None) -> None:
    """Write who can lead and what to do next; only what is new if `written` is on the screen."""
    election_verdict = verdict(report)
    before = verdict(written) if written is not None else None
    style = f"bold {style_of(election_verdict.status)}"
    mark = Text(f"{election_verdict.status.mark} ", style=style)
    is_new = before is None or (before.headline, before.status) != (
        election_verdict.headline,
        election_verdict.status,
    )
    if is_new:
        output.rich(Flow(text(election_verdict.headline, style), lead=mark, widest=READABLE))
    for detail in election_verdict.details:
        if before is None or detail not in before.details:
            is_loss = detail.startswith("DATA LOSS")
            output.rich(Flow(text(detail, BAD if is_loss else ""), lead="  ", widest=READABLE))
    for step in election_verdict.next_steps:
        if before is not None and step in before.next_steps:
            continue
        output.rich(advice_flow(step.advice, election_verdict.status))
        write_commands(output, step.commands)


def _voters(output: Output, report: Report) -> None:
    voters = report.case.voters
    if voters:
        who = f"The only voter: {next(iter(voters.ids))}."
        if len(voters) > 1:
            ids = listed(sorted(voters.ids))
            who = f"Voters: {ids}; {voters.majority} of {len(voters)} are a majority."
        output.rich(
            Text(
                f"{who} kraft.version {report.case.kraft_version}",
                style=QUIET,
            )
        )


def _refusals(report: Report) -> Iterator[Text]:
    for chance in report.chances:
        beside = report.conditions.down | set(report.leaders)
        if chance.why_not and chance.node not in beside:
            yield text(f"{chance.why_not}.", NAME)
    refusals = [refusal for chance in report.chances for refusal in chance.refusals]
    refusals.sort(key=lambda refusal: refusal.kind == "silent")
    for refusal in refusals[:_MOST_REFUSALS]:
        yield text(refusal.reason, QUIET if refusal.kind == "silent" else "")
    if len(refusals) > _MOST_REFUSALS:
        yield Text(f"… and {len(refusals) - _MOST_REFUSALS} more", style=QUIET)


def _losses(report: Report) -> Iterator[Text]:
    """The losses by each leader. Nodes that can win come first: a short report cuts the rest."""
    winning = {report.log_of(leader) for leader in report.leaders}
    for loss in sorted(report.losses, key=lambda loss: loss.leader_id not in winning):
        possible = loss.leader_id in winning
        if not possible and report.case.by_id[loss.leader_id].end.offset == 0:
            continue  # nobody would make it lead by force
        can = "" if possible else " (it cannot win)"
        style = {
            CommitStatus.NOT: "",
            CommitStatus.MINORITY: WARN,
            CommitStatus.POSSIBLE: WARN,
        }.get(loss.commit_status, BAD)
        if can:
            style = QUIET
        yield text(f"{loss.leader_id} leads{can}: {lost(loss)}", style)


def _restarts(report: Report) -> Iterator[Text]:
    for restart in report.restarts:
        if restart.is_safe:
            leaders = listed(restart.leaders, "or")
            yield text(f"{restart.node_id}: safe; {leaders} can lead meanwhile", GOOD)
        elif restart.leaders:
            what = "; ".join(dict.fromkeys(map(lost, restart.losses)))
            yield text(
                f"{restart.node_id}: not safe: {listed(restart.leaders, 'or')} could lead: {what}",
                BAD,
            )
        else:
            yield text(f"{restart.node_id}: not safe: there is no leader meanwhile", WARN)


def _change(changed: Changed) -> Text:
    what = f"{changed.kind} {changed.node_id}: "
    if changed.is_done and len(changed.answers) == 1:
        return text(f"{what}done in every run, {seconds(changed.took_ms)} after asking", GOOD)
    runs = ", ".join(
        f"{'done' if answer.error_name == 'NONE' else answer.error_name}"
        f" in {many(answer.runs, 'run')}"
        for answer in changed.answers
    )
    return text(f"{what}{runs}" + (f" ({changed.reason})" if changed.reason else ""), WARN)


def _after(report: Report) -> Iterator[Text]:
    if report.changes:
        voters = listed(report.voters_after)
        then = (
            f"tolerate {stands(report.failures_after)}"
            if report.failures_after is not None
            else "have no leader"
        )
        yield text(f"Afterwards the voters are {voters}; they {then}.")


# --- plots ------------------------------------------------------------------------------------


def _bars(rows: Sequence[tuple[str, int]], width: int) -> Iterator[Text]:
    """A bar a row; the longest as wide as there is room."""
    most = max((count for _, count in rows), default=0) or 1
    total = sum(count for _, count in rows) or 1
    label = max((len(name) for name, _ in rows), default=0)
    room = max(min(width - label - 16, _WIDEST), 8)
    for name, count in rows:
        length = -(-count * room // most)
        line = Text(f"{name:>{label}}  ").append(_BAR * length, style="cyan")
        yield line.append(f"{' ' if length else ''}{count} ({100 * count / total:.0f}%)")


def _plots(output: Output, report: Report) -> None:
    output.line()
    output.rich(_outlooks(report))
    basis = f"By {many(report.runs, 'run')} from seed {report.seed}."
    output.rich(Text(basis, style=QUIET))
    _section(
        output, "Time until that leader could commit, if all start together",
        _bars(list(_times(report)), output.width),
    )  # fmt: skip


def _outlooks(report: Report) -> Table:
    """The word for each possible leader."""
    outlooks = plain_table("Who leads first", "node", "", right=("node",))
    for outlook in report.outlooks:
        if outlook.likelihood is not Likelihood.NO:
            outlooks.add_row(text(outlook.node, NAME), text(LIKELIHOODS[outlook.likelihood]))
    if report.without_leader:
        outlooks.add_row(text("nobody"), text(f"in {many(report.without_leader, 'run')}", WARN))
    return outlooks


def _times(report: Report) -> Iterator[tuple[str, int]]:
    """The times in a few equal steps, whose width is a round number."""
    times = report.times_ms
    if not times:
        return
    low, high = times[0], times[-1]
    step = next(
        factor * scale
        for scale in (1, 10, 100, 1000, 10_000)
        for factor in (10, 20, 50)
        if (high - low) // (factor * scale) < _BUCKETS
    )
    first = low // step * step
    while first <= high:
        count = sum(first <= time < first + step for time in times)
        yield f"{first} to {first + step} ms", count
        first += step


# --- one run ----------------------------------------------------------------------------------


def _timeline(output: Output, report: Report) -> None:
    timeline_entries = list(lines(report.timeline))
    if not timeline_entries:
        return
    table = plain_table(f"One run, message by message (seed {report.seed})", "ms", "who", "",
                        right=("ms",))  # fmt: skip
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    for timeline_entry in timeline_entries[:_MOST_LINES]:
        style = (
            QUIET
            if timeline_entry.event.startswith("starts")
            else NAME
            if "Leader" in timeline_entry.event
            else ""
        )
        table.add_row(
            text(timeline_entry.after_ms),
            text(timeline_entry.who),
            text(timeline_entry.event, style),
        )
    output.line()
    output.rich(table)
    if len(timeline_entries) > _MOST_LINES:
        output.rich(Text(f"… and {len(timeline_entries) - _MOST_LINES} more lines", style=QUIET))


def _assumptions(report: Report) -> Iterator[str]:
    case, conditions = report.case, report.conditions
    delay = conditions.delay_ms
    starts = f"start within {seconds(conditions.start_within_ms)}"
    if StartPace.APART in conditions.starts:
        least, most = conditions.gap_ms(len(report.up))
        starts = (
            f"start together, within {seconds(conditions.start_within_ms)}, in every other run. In"
            f" the rest they start apart: in any order, {seconds(least)} to {seconds(most)} between"
            " two"
        )
    least, most = LISTENING_MS
    yield (
        f"All nodes that are up {starts}. A node's listener opens {seconds(least)} to"
        f" {seconds(most)} after its first step. A message takes {delay // 2} to"
        f" {delay + (delay + 1) // 2} ms."
    )
    if report.broken:
        yield f"A node that ends with an error is started again {seconds(STARTED_AGAIN_MS)} later."
    yield from (f"Cut: {partition}" for partition in conditions.partitions)
    yield from case.notes
    yield from (note for node in case.nodes for note in node.notes)
