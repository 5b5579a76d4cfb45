"""What `recover rehearse` shows people: a table for each phase, what was found, the verdict.

Owns layout and words. Everything from the plan, the directories and the nodes goes through
`printable`.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import (
    BAD,
    GOOD,
    NAME,
    QUIET,
    WARN,
    style_of,
    text,
    write_findings,
)
from kraftool.commands.output import Output, printable
from kraftool.repair.plan import SHORT_ID
from kraftool.repair.rehearsal import AppliedCopy, Rehearsal
from kraftool.repair.rehearsal_election import (
    ElectionRehearsal,
    Trial,
    how_it_goes,
    is_fenced,
)
from kraftool.repair.rehearsal_nodes import NodesRehearsal, Returned
from kraftool.reports.election.assessment_words import sentences
from kraftool.reports.findings.status import overall_status
from kraftool.reports.text.words import listed, many, span
from kraftool.sim.election.words import seconds


def write_rehearsal(to: Output, found: Rehearsal, kept: str) -> None:
    """All of it."""
    line = Text("Plan ", style=QUIET).append(found.plan.id[:SHORT_ID], style=NAME)
    line.append(f"  {found.plan.method.value}, rehearsed on copies")
    to.rich(line)
    _head(to, "The quorum before the plan")
    for sentence in sentences(found.assessment):
        to.line(f"  {printable(sentence)}")
    _copies(to, found)
    if found.elections is not None:
        _elections(to, found.elections, fenced=is_fenced(found.plan))
    if found.nodes is not None:
        _nodes(to, found.nodes)
    write_findings(to, found.findings, "", explain=True)
    to.line()
    to.rich(_verdict(found))
    if kept:
        to.line(f"The copies are in {printable(kept)}; they have the secrets of the originals.")


def _head(to: Output, words: str) -> None:
    to.line()
    to.rich(Text(words, style=NAME))


def _table(rows: Sequence[tuple[Text, ...]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=0)
    for _ in rows[0] if rows else ():
        table.add_column(overflow="fold")
    for row in rows:
        table.add_row("", *row)
    return table


# --- apply ------------------------------------------------------------------------------------


def _copies(to: Output, found: Rehearsal) -> None:
    _head(to, "Applied")
    to.rich(_table([(text(copy.of.name), _applied(copy)) for copy in found.copies]))
    if found.not_given:
        names = printable(listed(found.not_given))
        to.line(f"  not given, and so not shown: {names}")


def _applied(each: AppliedCopy) -> Text:
    if each.refused:
        return Text("apply refuses it: ", style=BAD).append_text(text(each.refused))
    if each.of.host is None:
        return text("stays as it is: the plan keeps the node off", QUIET)
    body = text("nothing to change", QUIET)
    if each.was_applied:
        body = text("the plan was applied there already")
        if each.check is not None and each.check.has_moved_on:
            body.append(", and a node has run on it since")
    elif each.edits:
        body = text(f"{many(each.edits, 'file')} changed, each as planned", GOOD)
    if each.edits and each.check is not None and each.check.voters:
        ids = listed(node_id for node_id, _ in each.check.voters)
        body.append(f"; voters by its log: {ids}")
    if each.of.is_quarantined:
        body.append("; the plan keeps the node off", style=QUIET)
    return body


# --- the simulator ----------------------------------------------------------------------------


def _elections(to: Output, found: ElectionRehearsal, *, fenced: bool) -> None:
    runs = len(found.trials[0].endings) if found.trials else 0
    _head(to, f"Simulated, {many(runs, 'run')} of each kind" if runs else "Simulated")
    if found.absent:
        to.line(f"  not given, and so down: voter {listed(found.absent)}")
        if not found.trials:
            to.line(f"  nothing: without voter {listed(found.absent)} there is no majority")
            return
    if found.assumed:
        to.line(
            f"  not given, and so as if with the best log there is: node {listed(found.assumed)}"
        )
    titles = ("quarantine", "leads", "committed records", "besides")
    head = tuple(Text(title, style=QUIET) for title in titles)
    to.rich(_table([head, *(_trial(found, trial, fenced) for trial in found.trials)]))
    to.line(f"  in the end {_voters(found)}")


def _trial(found: ElectionRehearsal, trial: Trial, fenced: bool) -> tuple[Text, ...]:
    is_alone = not (found.back or found.assumed)
    how = "nobody" if is_alone else how_it_goes(trial)
    records = Text("none lost", style=GOOD)
    if trial.losing:
        records = Text(f"lost in {len(trial.losing)}", style=WARN)
    if is_alone or trial.without_leader == len(trial.endings):
        records = Text("")
    return text(how), _leads(trial), records, _besides(trial, fenced)


def _leads(trial: Trial) -> Text:
    body, runs = Text(), len(trial.endings)
    for node, count in sorted(trial.leaders.items()):
        epochs = sorted({each.epoch for each in trial.endings if each.leader == node})
        some = "" if count == runs else f" in {count}"
        spanned = span(epochs[0], epochs[-1])
        body.append(", " if body else "").append(f"node {node}, epoch {spanned}{some}")
    if trial.without_leader:
        body.append(", " if body else "")
        body.append(f"no leader in {trial.without_leader}", style=BAD)
    return body


def _besides(trial: Trial, fenced: bool) -> Text:
    """Return what else is worth a word."""
    parts = []
    if apart := sum(each.apart is not None for each in trial.endings):
        parts.append(Text(f"they elected while apart in {apart}"))
    if trial.parted and fenced:
        parts.append(Text("two quorums, as the plan wants them"))
    elif trial.parted:
        parts.append(Text(f"two quorums in the end in {len(trial.parted)}", style=WARN))
    if trial.breaking:
        parts.append(Text(f"nodes end with an error in {len(trial.breaking)}", style=WARN))
    return Text(", ").join(parts)


def _voters(found: ElectionRehearsal) -> str:
    """Return whom each node takes for the voters when all is over, whatever came before."""
    sets: dict[tuple[int, ...], set[int]] = {}
    for ending in (one for trial in found.trials for one in trial.endings):
        for node, voters in ending.voters:
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


def _nodes(to: Output, nodes: NodesRehearsal) -> None:
    _head(to, f"Started: {printable(nodes.software)}")
    if nodes.skipped:
        to.line(f"  nothing: {printable(nodes.skipped)}")
        return
    if nodes.rewritten:
        files = many(nodes.rewritten, "file")
        to.line(f"  the copies' voters are reached on 127.0.0.1 ({files} written anew for that)")
    if nodes.leader is None:
        to.rich(Text("  no leader came about", style=BAD))
        return
    line = Text(f"  node {nodes.leader} leads", style=GOOD)
    line.append(f" epoch {nodes.epoch} after {seconds(nodes.took_ms)}, high watermark")
    line.append(f" {nodes.high_watermark}; voters: {listed(nodes.voters)}")
    to.rich(line)
    counts = (
        f"{many(nodes.topics, 'topic')}, {many(nodes.partitions, 'partition')},"
        f" {many(nodes.brokers, 'broker')}"
    )
    differ = any(finding.code == "KT-REC-STATE" for finding in nodes.findings)
    if nodes.is_compared and not differ:
        to.line(f"  it serves the metadata that the plan saves: {counts}")
    else:
        to.line(f"  it serves {counts}")
    for returned in nodes.returned:
        to.rich(_returned(returned))


def _returned(each: Returned) -> Text:
    line = Text(f"  node {each.id} comes back, and ")
    if each.follows:
        return line.append("follows the recovered leader", style=GOOD)
    if each.ended:
        return line.append("ends: ", style=WARN).append_text(text(each.ended))
    knows = "no leader" if each.leader is None else f"node {each.leader} as its leader"
    return line.append(f"knows {knows}")


def _verdict(found: Rehearsal) -> Text:
    if found.refused is not None:
        return Text("The plan cannot be applied as it is.", style=BAD)
    if found.elections is not None and not found.elections.trials:
        return Text("Too little was given to show the result.", style=WARN)
    if not found.is_well:
        return Text("It does not all go as it should, see above.", style=WARN)
    status = overall_status((), is_complete=not found.not_given)
    return Text("It goes as planned, as far as was rehearsed.", style=style_of(status))
