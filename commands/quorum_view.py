"""A live quorum for people: its replicas as the leader knows them, then every node by itself.

Owns layout and colour. Everything from nodes goes through `printable` into Text.
"""

from __future__ import annotations

from datetime import tzinfo

from rich.text import Text

from kraftool.client.active_controller import next_step, without_controller
from kraftool.client.cluster_health import cluster_words
from kraftool.client.health import Health
from kraftool.client.judgement import Judgement, judge
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.not_asked import broker_words, reason
from kraftool.client.quorum_tables import node_table, replica_table
from kraftool.commands.block_view import heading, table
from kraftool.commands.finding_view import (
    BAD,
    COMMAND,
    NAME,
    QUIET,
    WARN,
    style_of,
    text,
    write_findings,
    write_muted,
)
from kraftool.commands.output import Output
from kraftool.image.metadata_version import METADATA_VERSION, level_name
from kraftool.reports.findings.status import overall_status
from kraftool.reports.text.words import many


def write_quorum(output: Output, view: QuorumView, zone: tzinfo) -> None:
    """Write what the nodes said."""
    judgement = judge(view)
    _head(output, view)
    if view.quorum is not None:
        output.rich(_tolerance(judgement))
        for voter in judgement.voters:
            if not voter.counts:
                output.rich(text(f"Voter {voter.id} does not count: {voter.reason}", WARN))
        output.line()
        output.rich(table(replica_table(view, zone), output.width))
    output.line()
    if view.nodes:
        output.rich(table(node_table(view), output.width))
    _problems(output, view)
    _features(output, view)
    if view.quorum is not None and view.lacks_controller:
        output.line()
        output.rich(text(without_controller(view), BAD))
        output.rich(text(f"→ {next_step(view, judgement.ready)}", BAD))


def write_health(output: Output, health: Health, zone: tzinfo, *, show_muted: bool = False) -> None:
    """Write what the nodes said, and what is wrong."""
    view = health.view
    # Without the metadata nothing is known of brokers and partitions.
    is_complete = health.cluster_health is not None
    severities = [finding.severity for finding in health.findings]
    style = style_of(overall_status(severities, is_complete=is_complete))
    _head(output, view, style)
    if view.quorum is not None:
        line = _tolerance(health.judgement)
        if health.commits_per_second is not None:
            words = f"; the high watermark moves by {health.commits_per_second:.1f} records/s"
            line.append_text(text(words, QUIET))
        output.rich(line)
    if health.cluster_health is not None:
        output.rich(text(cluster_words(health.cluster_health), QUIET))
    elif health.unobserved_reason:
        output.rich(Text("Nothing is known about brokers and partitions, see below.", style=WARN))
    output.line()
    if view.quorum is not None:
        output.rich(table(replica_table(view, zone), output.width))
    else:
        output.rich(table(node_table(view), output.width))
        _features(output, view)
    write_findings(output, health.findings, "", explain=True)
    write_muted(output, health.muted, is_listed=show_muted)
    output.line()
    if health.is_well:
        output.rich(Text("The quorum is healthy.", style=style))
    elif health.is_quorum_well:
        output.rich(Text("The quorum is healthy; the cluster is not.", style=style))
    elif not view.reached:
        output.rich(Text("Nothing is known about the quorum.", style=style))
    elif not health.is_cluster_well:
        output.rich(Text("The quorum is not healthy, and the cluster is not.", style=style))
    else:
        output.rich(Text("The quorum is not healthy.", style=style))


def _tolerance(judgement: Judgement) -> Text:
    """Return how many voters can be lost, in the words of `watch`."""
    failures = judgement.failures
    if judgement.is_lost:
        return text(f"Can lose no voter: {judgement.reason}", BAD)
    if failures is None:
        return text(f"It is not known how many voters can be lost: {judgement.reason}", WARN)
    count = many(failures, "voter") if failures else "no voter"
    line = text(f"Can lose {count}", QUIET if failures else WARN)
    return line.append_text(text(f": {judgement.reason}", QUIET))


def _head(output: Output, view: QuorumView, style: str = NAME) -> None:
    """The leader, in the colour of a verdict if there is one."""
    line = Text("Quorum", style=NAME)
    if view.cluster_ids:
        line.append(" of cluster ", style="").append_text(text(", ".join(view.cluster_ids), NAME))
    if view.leader is not None and view.quorum is not None:
        style = BAD if view.lacks_controller else style
        line.append(f": node {view.leader.node_id} leads epoch {view.epoch}", style=style)
        mark = view.quorum.high_watermark
        words = "without a controller, " if view.lacks_controller else ""
        words += f"high watermark {mark}" if mark >= 0 else "no high watermark yet"
        fits = len(line) + len(words) + 2 <= output.width
        line.append(", " if fits else ",\n", style=style)
        line.append(words, style=style if mark >= 0 else WARN)
    else:
        epoch = "" if view.epoch is None else f" (epoch {view.epoch})"
        words = f"no node leads{epoch}" if view.reached else "no node was reached"
        line.append(f": {words}", style=BAD)
    output.rich(line)


def _problems(output: Output, view: QuorumView) -> None:
    for broker in view.brokers:
        output.rich(text(broker_words(broker), WARN))
    for node in view.nodes:
        if node.problem:
            output.rich(text(f"{node.name}: {reason(node)}", WARN))
    for advice in dict.fromkeys(answer.advice for answer in view.asked if answer.advice):
        output.rich(Text("→ ", style=COMMAND).append_text(text(advice)))


def _features(output: Output, view: QuorumView) -> None:
    """The finalized levels; nodes that tell the same share a line."""
    by_levels: dict[tuple[tuple[str, int], ...], list[NodeAnswer]] = {}
    for answer in view.reached:
        by_levels.setdefault(tuple(sorted(answer.offered.finalized.items())), []).append(answer)
    if not by_levels:
        return
    output.line()
    output.rich(heading("Finalized features"))
    for levels, nodes in by_levels.items():
        ids = ", ".join("?" if node.node_id is None else str(node.node_id) for node in nodes)
        words = ", ".join(
            f"{name} {level}" + (f" ({level_name(level)})" if name == METADATA_VERSION else "")
            for name, level in levels
        )
        line = Text() if len(by_levels) == 1 else text(f"nodes {ids}: ", NAME)
        output.rich(line.append_text(text(words or "none")))
