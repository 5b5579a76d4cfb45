"""Features for people: levels, nodes with their ranges, then what a change would meet.

Owns layout and colour. Nodes with the same ranges share a line. Everything that comes from data
goes through `printable` into Text, which knows no markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kraftool.commands.block_view import heading, plain_table
from kraftool.commands.finding_view import (
    BAD,
    COMMAND,
    GOOD,
    NAME,
    QUIET,
    WARN,
    style_of,
    text,
    write_findings,
)
from kraftool.commands.output import Output
from kraftool.commands.times import iso
from kraftool.image.cluster import FeatureRange
from kraftool.image.metadata_version import METADATA_VERSION, level_name
from kraftool.reports.features.losses import FeatureLoss
from kraftool.reports.features.model import (
    ClusterFeatures,
    FeatureReach,
    FinalizedLevel,
    LevelSource,
    NodeSupport,
)
from kraftool.reports.features.plan import FeaturePlan
from kraftool.reports.features.rules import Blocker, named, unregistered_voters
from kraftool.reports.features.target import FeaturesRun
from kraftool.reports.findings.status import Status, worst_status
from kraftool.reports.text.words import many

_FRACTION = re.compile(r"\.\d+(?=Z|[+-])")


def write_features(
    output: Output,
    cluster: ClusterFeatures,
    reached: Sequence[FeatureReach],
    plan: FeaturePlan | None,
    zone: tzinfo,
) -> None:
    """Write the whole report."""
    _sources(output, cluster)
    output.rich(_levels(cluster, reached, zone))
    _nodes(output, cluster)
    _voters(output, cluster)
    if plan is None:
        _reach(output, reached)
    else:
        output.line()
        _plan(output, plan)
    write_findings(output, cluster.findings, "")


def _sources(output: Output, cluster: ClusterFeatures) -> None:
    newest = cluster.newest
    line = text(newest.path, NAME).append(
        f"  the state at offset {cluster.image.provenance.offset}"
    )
    output.rich(line)
    for source in cluster.sources:
        if source.is_newest:
            continue
        details = "settings only" if source.metadata_version is None else _behind(source.end_offset)
        missing = source.directory.missing
        details += f"; {missing} is not there" if missing else ""
        if source.metadata_version not in (None, cluster.metadata_version):
            details += f", metadata.version {named(METADATA_VERSION, source.metadata_version or 0)}"
        output.rich(text(source.path, QUIET).append(f"  {details}", style=QUIET))
    output.line()


def _behind(end: int) -> str:
    return f"up to offset {end}"


def _levels(cluster: ClusterFeatures, reached: Sequence[FeatureReach], zone: tzinfo) -> Table:
    highest = {reach.name: reach for reach in reached}
    table = plain_table(
        "Features", "feature", "level", "max", "offset", "last set", right=("offset",)
    )
    for column in table.columns[:3]:
        column.no_wrap = True
    names = [
        *cluster.levels,
        *(reach.name for reach in reached if reach.name not in cluster.levels),
    ]
    names.sort(key=lambda name: name != METADATA_VERSION)
    for name in names:
        level = cluster.level(name)
        most = highest.get(name)
        style = WARN if most is not None and most.is_below else GOOD
        words = f"{level} {level_name(level)}" if name == METADATA_VERSION else str(level)
        table.add_row(
            text(name, NAME),
            Text(words.rstrip(), style=style if level else QUIET),
            text(most.highest_level if most is not None else "", QUIET),
            *_when(cluster.levels.get(name), zone),
        )
    return table


def _when(level: FinalizedLevel | None, zone: tzinfo) -> tuple[Text, Text]:
    """The offset and the time, to the second: JSON has the rest."""
    if level is None or level.source is LevelSource.DEFAULT:
        return Text(), Text("never", style=QUIET)
    if level.offset is None:
        words = "before the log" if level.source is LevelSource.SNAPSHOT else "unknown"
        return Text(), Text(words, style=QUIET)
    when = iso(level.timestamp, zone) if level.timestamp is not None else ""
    return Text(str(level.offset)), Text(_FRACTION.sub("", when))


def _nodes(output: Output, cluster: ClusterFeatures) -> None:
    output.line()
    if not cluster.nodes:
        output.rich(Text("No node has registered.", style=WARN))
        return
    groups: dict[tuple[tuple[str, FeatureRange], ...], list[NodeSupport]] = {}
    for node in cluster.nodes:
        groups.setdefault(tuple(sorted(node.supported.items())), []).append(node)
    output.rich(heading("Nodes and what they support"))
    for ranges, nodes in groups.items():
        line = text(_labels(nodes))
        if nodes[0].software:
            line.append(f": as Kafka {nodes[0].software}")
        output.rich(line)
        supported_text = ", ".join(
            f"{name} {feature_range.min}-{feature_range.max}" for name, feature_range in ranges
        )
        output.rich(Padding(text(supported_text or "they name no range", QUIET), (0, 0, 0, 2)))


def _labels(nodes: Sequence[NodeSupport]) -> str:
    words = []
    for role in dict.fromkeys(node.role for node in nodes):
        listed = [node for node in nodes if node.role is role]
        ids = ", ".join(
            f"{support.id}{' (fenced)' if support.is_fenced else ''}" for support in listed[:20]
        )
        more = f" and {len(listed) - 20} more" if len(listed) > 20 else ""
        words.append(f"{role.value}{'s' if len(listed) > 1 else ''} {ids}{more}")
    return ", ".join(words)


def _voters(output: Output, cluster: ClusterFeatures) -> None:
    static = cluster.static_voters
    if cluster.voters:
        output.rich(text(f"voters {_ids(cluster.voters)} (dynamic quorum)", QUIET))
    elif static is not None:
        voters_text = f"voters {_ids(static.voters)} (controller.quorum.voters of {static.file})"
        output.rich(text(voters_text, QUIET))
        if missing := unregistered_voters(cluster):
            line = f"never registered: {_ids(missing)}; until they do, Kafka changes no feature"
            output.rich(text(line, WARN))


def _ids(ids: Iterable[int]) -> str:
    return ", ".join(map(str, ids))


def _reach(output: Output, reached: Sequence[FeatureReach]) -> None:
    for reach in reached:
        if reach.name == METADATA_VERSION:
            note = f"all nodes support metadata.version {named(reach.name, reach.highest_level)}"
            if reach.level > reach.highest_level:
                output.rich(text(f"{note}, and the cluster is beyond it", BAD))
            elif not reach.is_below:
                output.rich(text(f"{note}: the cluster is there", QUIET))
            else:
                line = text(f"{note}: the cluster runs below it", WARN)
                output.rich(line)
                output.rich(_arrow(f"kraftool features … --to {level_name(reach.highest_level)}"))
        elif reach.is_below:
            note = f"{reach.name} could be {reach.expected_level}, the default of that release"
            output.rich(text(note, QUIET))
        if reach.limited_by:
            limiting = ", ".join(reach.limited_by)
            note = f"{reach.name} ends at {reach.highest_level} because of {limiting}"
            output.rich(text(note, QUIET))


def _arrow(words: str) -> Text:
    return Text("→ ", style=COMMAND).append_text(text(words))


def _plan(output: Output, plan: FeaturePlan) -> None:
    output.rich(heading("To ").append_text(text(plan.target)))
    table = plain_table("", "feature", "from", "to", "")
    table.title = None
    stopped = {blocker.feature for blocker in plan.blockers}
    for change in plan.changes:
        same = change.current_level == change.target_level
        mark = Text("blocked", style=BAD) if change.feature in stopped else Text()
        table.add_row(
            text(change.feature, NAME),
            text(named(change.feature, change.current_level)),
            text(
                "the same" if same else named(change.feature, change.target_level),
                QUIET if same else "",
            ),
            mark,
        )
    output.rich(table)
    if plan.is_blocked:
        _list(output, "What blocks it", (_blocker(group) for group in _grouped(plan.blockers)), BAD)
    else:
        output.line()
        minds = [Status.WARN] if plan.cautions or plan.losses or plan.newer_records else []
        output.rich(
            Text("Nothing known blocks it.", style=style_of(worst_status([Status.GOOD, *minds])))
        )
    _list(output, "Mind", (text(caution) for caution in plan.cautions), WARN)
    _list(output, "A downgrade would lose", (_loss(loss) for loss in plan.losses), WARN)
    newer = (
        text(
            f"{newer_record.name} v{newer_record.version}: {newer_record.records},"
            f" the first at offset {newer_record.first_offset},"
            f" needs {named(METADATA_VERSION, newer_record.needed_level)}"
        )
        for newer_record in plan.newer_records
    )
    _list(output, "Records in the log that are newer than that", newer, WARN)
    if plan.runs:
        output.line()
        introduction = "This part would go through" if plan.is_blocked else "To do it"
        output.rich(text(f"{introduction}; first with --dry-run:", QUIET))
        for run in plan.runs:
            for line in _command(run):
                output.rich(line)
    elif not plan.is_blocked:
        output.line()
        output.rich(text("There is nothing to do: the levels are these already.", QUIET))


def _command(request: FeaturesRun) -> Iterator[Text]:
    """A command that can be copied, over as many lines as it has options."""
    head, *options = request.words()
    yield _arrow(head + (f" {options[0]}" if len(options) == 1 else " \\" if options else ""))
    if len(options) > 1:
        for number, option in enumerate(options, 1):
            yield text(f"    {option}" + (" \\" if number < len(options) else ""))


_MOST_LINES = 12


def _list(output: Output, title: str, lines: Iterable[Text], style: str) -> None:
    listed = list(lines)
    if not listed:
        return
    output.line()
    output.rich(heading(title))
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for line in listed[:_MOST_LINES]:
        table.add_row(Text("-", style=style), line)
    if len(listed) > _MOST_LINES:
        more = f"… and {len(listed) - _MOST_LINES} more; -o json has them all"
        table.add_row(Text("-", style=style), Text(more, style=QUIET))
    output.rich(table)


def _grouped(blockers: Sequence[Blocker]) -> list[tuple[str, list[str]]]:
    """Blockers that say the same of several features are one line."""
    features_by_text: dict[str, list[str]] = {}
    for blocker in blockers:
        features_by_text.setdefault(blocker.reason, []).append(blocker.feature)
    return list(features_by_text.items())


def _blocker(group: tuple[str, list[str]]) -> Text:
    words, features = group
    if len(features) > 1:
        words += f" (for {many(len(features), 'feature')})"
    elif features[0] not in words:
        return text(features[0], NAME).append_text(text(f": {words}"))
    return text(words)


def _loss(loss: FeatureLoss) -> Text:
    more = ", …" if loss.count > len(loss.examples) else ""
    line = text(f"{loss.what}: {loss.count}", NAME)
    line.append_text(text(f" ({', '.join(loss.examples)}{more})"))
    level = named(loss.feature, loss.needed_level)
    needs = f" in {', '.join(loss.type_names)}, from {loss.feature} {level} on"
    return line.append_text(text(needs, QUIET))
