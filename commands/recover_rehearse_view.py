"""The report of `recover rehearse` for people: the loss, rows for each phase, findings, the
verdict.

Owns layout and words. Everything from the plan, the directories and the nodes goes through
`printable`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from kraftool.commands.finding_view import (
    BAD,
    GOOD,
    QUIET,
    WARN,
    style_of,
    text,
    write_findings,
)
from kraftool.commands.output import Output
from kraftool.commands.recover_layout import LABEL, labelled, plan_head
from kraftool.commands.recover_plan_view import BEFORE
from kraftool.commands.text_flow import READABLE, Flow
from kraftool.repair.rehearsal import AppliedCopy, Rehearsal
from kraftool.repair.rehearsal_election import (
    ElectionRehearsal,
    Trial,
    how_it_goes,
    in_words,
    is_fenced,
)
from kraftool.repair.rehearsal_nodes import NodesRehearsal, Returned
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.election.assessment_words import sentences
from kraftool.reports.findings.status import Status, overall_status, worst_status
from kraftool.reports.text.words import listed, many, span
from kraftool.sim.verdict_words import seconds


def write_rehearsal(to: Output, rehearsal: Rehearsal, file: str, kept: str) -> None:
    """Write all of it."""
    to.rich(*plan_head(rehearsal.plan, file, "rehearsed on copies"))
    # For the directories that were given. The quorum after the plan comes below.
    lines = [BEFORE, *sentences(rehearsal.assessment)]
    to.rich(*labelled("Quorum", [text(sentence) for sentence in lines]))
    to.rich(*labelled("Applied", _copies(rehearsal)))
    if rehearsal.elections is not None:
        _elections(to, rehearsal.elections, fenced=is_fenced(rehearsal.plan))
    if rehearsal.nodes is not None:
        to.rich(*labelled("Started", _nodes(rehearsal.nodes)))
    write_findings(to, rehearsal.findings, "", explain=True)
    to.line()
    to.rich(_verdict(rehearsal))
    if kept:
        to.rich(text(f"The copies are in {kept}; they have the secrets of the originals."))


# --- apply ------------------------------------------------------------------------------------


def _copies(rehearsal: Rehearsal) -> Iterator[Text]:
    width = max((len(copy.of.name) for copy in rehearsal.copies), default=0)
    for copy in rehearsal.copies:
        yield text(copy.of.name.ljust(width)).append("  ").append_text(_applied(copy))
    if rehearsal.not_given:
        yield text(f"not given, so its result is unknown: {listed(rehearsal.not_given)}", WARN)


def _applied(copy: AppliedCopy) -> Text:
    if copy.refused:
        return Text().append("apply refuses it: ", style=BAD).append_text(text(copy.refused))
    if copy.of.host is None:
        return text("stays as it is: the plan keeps the node off", QUIET)
    body = Text().append("nothing to change", style=QUIET)
    if copy.was_applied:
        body = text("the plan was applied there already")
        if copy.check is not None and copy.check.has_moved_on:
            body.append(", and a node has run on it since")
    elif copy.edits:
        body = Text().append(f"{many(copy.edits, 'file')} changed, each as planned", style=GOOD)
    if copy.edits and copy.check is not None and copy.check.voter_keys:
        ids = listed(node_id for node_id, _ in copy.check.voter_keys)
        body.append(f"; voters by its log: {ids}")
    if copy.of.is_quarantined:
        body.append("; the plan keeps the node off", style=QUIET)
    return body


# --- the simulator ----------------------------------------------------------------------------


def _elections(to: Output, rehearsal: ElectionRehearsal, *, fenced: bool) -> None:
    runs = len(rehearsal.trials[0].endings) if rehearsal.trials else 0
    rows = [Text(f"{many(runs, 'run')} of each kind")] if runs else []
    if rehearsal.absent:
        absent = listed(rehearsal.absent)
        rows.append(text(f"not given, and so down: voter {absent}", WARN))
        if not rehearsal.trials:
            rows.append(text(f"nothing: without voter {absent} there is no majority", WARN))
    if rehearsal.trials and rehearsal.assumed:
        nodes = listed(rehearsal.assumed)
        rows.append(text(f"not given, and so as if with the best log there is: node {nodes}"))
    to.rich(*labelled("Simulated", rows))
    if not rehearsal.trials:
        return
    for trial in rehearsal.trials:
        to.rich(*_trial(rehearsal, trial, fenced))
    to.rich(*labelled("", [text(f"in the end {_voters(rehearsal)}")]))


def _trial(rehearsal: ElectionRehearsal, trial: Trial, fenced: bool) -> Iterator[Flow]:
    """Show how the quarantined nodes came back, and the result."""
    is_alone = not (rehearsal.back or rehearsal.assumed)
    how = in_words(rehearsal, trial) if is_alone else how_it_goes(trial)
    parts = [_leads(trial)]
    if not is_alone and trial.leaderless_runs < len(trial.endings):
        parts.append(
            Text(f"committed records lost in {len(trial.losing)}", style=WARN)
            if trial.losing
            else Text("no committed record lost", style=GOOD)
        )
    parts += _besides(trial, fenced)
    row = Text().append_text(text(how)).append(": ", style=QUIET)
    row.append_text(Text("; ").join(parts))
    yield Flow(row, lead=" " * LABEL, again=" " * (LABEL + 2), widest=READABLE)


def _leads(trial: Trial) -> Text:
    body, runs = Text(), len(trial.endings)
    for node, count in sorted(trial.leaders.items()):
        epochs = sorted({ending.epoch for ending in trial.endings if ending.leader_id == node})
        some = "" if count == runs else f" in {count}"
        spanned = span(epochs[0], epochs[-1])
        body.append(", " if body else "").append(f"node {node}, epoch {spanned}{some}")
    if trial.leaderless_runs:
        body.append(", " if body else "")
        body.append(f"no leader in {trial.leaderless_runs}", style=BAD)
    return body


def _besides(trial: Trial, fenced: bool) -> list[Text]:
    """Show the remaining notes."""
    parts = []
    if apart := sum(ending.led_apart is not None for ending in trial.endings):
        parts.append(Text(f"they elected while apart in {apart}"))
    if trial.parted and fenced:
        parts.append(Text("two quorums, as the plan wants them"))
    elif trial.parted:
        parts.append(Text(f"two quorums in the end in {len(trial.parted)}", style=WARN))
    if trial.breaking:
        parts.append(Text(f"nodes end with an error in {len(trial.breaking)}", style=WARN))
    return parts


def _voters(rehearsal: ElectionRehearsal) -> str:
    """Return whom each node takes for the voters when all is over, whatever came before."""
    sets: dict[tuple[int, ...], set[int]] = {}
    for ending in (one for trial in rehearsal.trials for one in trial.endings):
        for node, voters in ending.voters_by_node:
            sets.setdefault(voters, set()).add(node)
    if not sets:
        return "no leader"
    if len(sets) == 1:
        return f"every node has the voters {listed(next(iter(sets)))}"
    return "the voters are " + "; ".join(
        f"{listed(voters)} by node {listed(sorted(nodes))}"
        for voters, nodes in sorted(sets.items())
    )


# --- nodes ------------------------------------------------------------------------------------


def _nodes(nodes: NodesRehearsal) -> Iterator[Text]:
    yield text(nodes.software)
    if nodes.not_started_reason:
        yield text(f"nothing: {nodes.not_started_reason}", WARN)
        return
    if nodes.rewritten_files:
        files = many(nodes.rewritten_files, "file")
        yield text(f"the copies' voters are reached on 127.0.0.1 ({files} rewritten for that)")
    if nodes.leader_id is None:
        yield Text().append("no leader was elected", style=BAD)
        return
    line = Text().append(f"node {nodes.leader_id} leads", style=GOOD)
    line.append(f" epoch {nodes.epoch} after {seconds(nodes.took_ms)}, high watermark")
    yield line.append(f" {nodes.high_watermark}; voters: {listed(nodes.voters)}")
    counts = (
        f"{many(nodes.topics, 'topic')}, {many(nodes.partitions, 'partition')},"
        f" {many(nodes.brokers, 'broker')}"
    )
    differ = any(finding.code == "KT-REC-STATE" for finding in nodes.findings)
    is_saved = nodes.is_compared and not differ
    yield text(f"it serves {'the metadata that the plan saves: ' if is_saved else ''}{counts}")
    for returned in nodes.returned:
        yield _returned(returned)


def _returned(returned: Returned) -> Text:
    line = Text(f"node {returned.node_id} comes back, and ")
    if returned.is_following:
        return line.append("follows the recovered leader", style=GOOD)
    if returned.last_words:
        return line.append("exits: ", style=WARN).append_text(text(returned.last_words))
    knows = (
        "no leader" if returned.leader_id is None else f"node {returned.leader_id} as its leader"
    )
    return line.append(f"knows {knows}")


def _verdict(rehearsal: Rehearsal) -> Text:
    if rehearsal.refused is not None:
        status, words = Status.BAD, "The plan cannot be applied as it is."
    elif rehearsal.elections is not None and not rehearsal.elections.trials:
        status, words = Status.WARN, "Too few directories were given to show the result."
    elif not rehearsal.is_well:
        status, words = Status.WARN, "Not everything went as planned: see above."
    else:
        status = overall_status((), is_complete=not rehearsal.not_given)
        if rehearsal.plan.loss.verdict is not LossBound.NONE:
            status = worst_status([status, Status.NOTE])  # the rehearsal does not undo the loss
        words = "Everything that was rehearsed went as planned."
    return Text(f"{status.mark} {words}", style=style_of(status))
