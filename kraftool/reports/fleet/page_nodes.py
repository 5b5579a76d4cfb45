"""The part of the page on nodes: where logs of one cluster differ, and who has what.

Owns how a divergence is told. The sides of one are given letters, so that picture and table can be
read together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.reports.findings.finding import Severity
from kraftool.reports.fleet.model import AUDIT, DirectorySummary, DivergedSide, Divergence
from kraftool.reports.fleet.page_parts import PageContext, badge, cell, cut, section, table
from kraftool.reports.fleet.page_tables import FINDING_COLUMNS, finding_rows
from kraftool.reports.fleet.page_text import NOTHING, command, count, counted, data, path
from kraftool.reports.fleet.plots import Figure, Lane, SideRange, lanes
from kraftool.reports.text.shell_text import line

MOST_CLUSTERS = 40
MOST_IN_CLUSTER = 5
MOST_FINDINGS = 60
_MOST_LANES = 12
_OPEN = 3
"""So many clusters are shown unfolded, so that what follows is not far away."""
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_COLUMNS = (
    ("Side", ""),
    ("Directories", ""),
    ("Epoch", "d"),
    ("First batch there", "d"),
    ("CRC", ""),
    ("Batches", "d"),
    ("File and position", ""),
)


def nodes(view: PageContext) -> Iterator[str]:
    """Divergences cluster by cluster, then the other findings between directories."""
    audit = view.audit
    yield from section(
        "nodes",
        "Across the nodes",
        "The same offset of one cluster has to be the same bytes on every node, snapshots of the"
        " same offset the same state, and voters the same set.",
    )
    by_cluster: dict[str, list[Divergence]] = {}
    for divergence in audit.divergences:
        by_cluster.setdefault(divergence.cluster, []).append(divergence)
    if not audit.counts.divergences:
        yield '<p class="card fine">No two logs of a cluster differ at any offset.</p>\n'
    for number, (name, divergences) in enumerate(list(by_cluster.items())[:MOST_CLUSTERS]):
        yield from _cluster(view, name, divergences, is_open=number < _OPEN)
    unseen = sum(len(divergences) for divergences in list(by_cluster.values())[MOST_CLUSTERS:])
    unseen += audit.left_out.divergences
    if unseen:
        yield cut(f"{counted(unseen, 'more divergence')} not shown here. {all_of_it(view)}")
    yield from _other(view)
    yield "</section>\n"


def all_of_it(view: PageContext) -> str:
    """Return where everything that the page leaves out is, as HTML."""
    command = line("kraftool", "pipeline", "audit", *view.audit.run.roots, "-o", "json")
    return f"All of it: <code>{path(command)}</code>"


def _cluster(
    view: PageContext, name: str, divergences: Sequence[Divergence], *, is_open: bool
) -> Iterator[str]:
    mine = [directory for directory in view.audit.directories if directory.cluster == name]
    spans = ", ".join(_span(one) for one in divergences[:3])
    yield f'<details class="card"{" open" if is_open else ""}><summary class="head">'
    yield f"{badge(Severity.ERROR)}<code>{data(name)}</code>"
    yield f'<span class="where">{counted(len(divergences), "divergence")}: {spans}'
    yield f"{', …' if len(divergences) > 3 else ''}</span></summary>\n"
    yield f"<p>Cluster {view.cluster(name)}, {counted(len(mine), 'directory', 'directories')}.</p>"
    shown = divergences[:MOST_IN_CLUSTER]
    drawn = _lanes(_most_concerned(mine, shown[0]), shown[0], name)
    if not drawn.is_empty:
        yield f'<div class="lanes">{drawn.svg}<p class="note">{data(drawn.notes[0])}'
        yield " Marked is the first divergence, with the letter of its side."
        yield f" {_MOST_LANES} of {len(mine):,} are drawn." if len(mine) > _MOST_LANES else ""
        yield "</p></div>\n"
    for divergence in shown:
        yield from _divergence(view, divergence)
    more = len(divergences) - len(shown)
    if more:
        yield cut(f"{counted(more, 'more divergence')} in this cluster. {all_of_it(view)}")
    yield "</details>\n"


def _most_concerned(
    mine: Sequence[DirectorySummary], one: Divergence
) -> tuple[DirectorySummary, ...]:
    """The directories that are drawn: of too many, those that are on a side of a divergence."""
    sides = {name for side in one.sides for name in side.paths}
    taken = sorted(mine, key=lambda summary: summary.name not in sides)[:_MOST_LANES]
    return tuple(summary for summary in mine if summary in taken)


def _lanes(mine: Sequence[DirectorySummary], one: Divergence, cluster: str) -> Figure:
    rows = []
    for summary in mine:
        side = next((at for at, it in enumerate(one.sides) if summary.name in it.paths), None)
        node = f"node {summary.node_id}" if summary.node_id is not None else summary.name
        there = f"{count(summary.start_offset)} to {count(summary.end_offset)}"
        letter = f"  {_letter(side)}" if side is not None else ""
        marks = () if side is None else (SideRange(one.first_offset, one.last_offset, side),)
        rows.append(Lane(node, summary.start_offset, summary.end_offset, there + letter, marks))
    title = f"Logs of {cluster}, offsets {one.first_offset} to {one.last_offset} differ"
    return lanes(title, ("Node", "Offsets", "Differs at"), rows)


def _span(one: Divergence) -> str:
    if one.first_offset == one.last_offset:
        return f"offset {one.first_offset:,}"
    return f"offsets {one.first_offset:,} to {one.last_offset:,}"


def _letter(side: int) -> str:
    return _LETTERS[side] if side < len(_LETTERS) else f"{side + 1}"


def _divergence(view: PageContext, one: Divergence) -> Iterator[str]:
    length = one.last_offset - one.first_offset + 1
    yield f'<p class="span"><b>{_span(one).capitalize()}</b> ({counted(length, "offset")}): '
    yield f"{counted(len(one.sides), 'side')}. "
    if one.same_epoch:
        yield "Two have batches of the same leader epoch there, which no correct quorum leaves:"
        yield " one of them was changed on disk, or two leaders wrote in one epoch. "
    else:
        yield "Their leader epochs differ: a node kept what a later leader replaced. "
    if one.is_open:
        yield "The logs do not come together again after it."
    else:
        yield "After it the logs are the same again."
    yield "</p>\n"
    label = f"Sides of the divergence at offset {one.first_offset}"
    yield from table(label, _COLUMNS, (_side(view, at, it) for at, it in enumerate(one.sides)))
    commands = [
        line("kraftool", "dump-log", side.paths[0], "--offsets",
             f"{one.first_offset}..{one.last_offset}")
        for side in one.sides
        if side.paths
    ][:3]  # fmt: skip
    yield f"<pre>{chr(10).join(map(command, commands))}</pre>\n"


def _side(view: PageContext, at: int, side: DivergedSide) -> str:
    who = "<br>".join(_node(view, name) + view.directory(name) for name in side.paths)
    crc = f'<code class="r">{side.crc:08x}</code>' if side.crc is not None else NOTHING
    batch = NOTHING
    if side.base_offset is not None:
        batch = f"{count(side.base_offset)} .. {count(side.last_offset)}"
    inside = side.file.removeprefix(next(iter(side.paths), "")).lstrip("/")
    file = f"<code>{path(inside)}</code>" if side.file else NOTHING
    if side.position is not None:
        file += f' <span class="r">position {count(side.position)}</span>'
    return (
        f'<tr><th scope="row">{_letter(at)}</th>{cell(who, "w")}{cell(count(side.epoch), "d")}'
        f"{cell(batch, 'd')}{cell(crc)}{cell(count(side.batches), 'd')}{cell(file, 'w')}</tr>\n"
    )


def _node(view: PageContext, name: str) -> str:
    """The node that a directory is of, before its name."""
    known = view.directories.get(name)
    if known is None or known.node_id is None:
        return ""
    return f'<span class="r">node {known.node_id}</span> '


def _other(view: PageContext) -> Iterator[str]:
    """Findings that the audit made between directories, but those that were told above."""
    shown_places = {
        (divergence.cluster, offset)
        for divergence in view.audit.divergences
        for offset in (divergence.first_offset, *(side.base_offset for side in divergence.sides))
        if offset is not None
    }
    mine = [
        finding
        for finding in view.audit.findings
        if AUDIT in finding.by and (finding.cluster, finding.finding.offset) not in shown_places
    ]
    if not mine:
        return
    shown = mine[:MOST_FINDINGS]
    label = "Other findings between directories"
    yield f'<h3 class="sub">{label}</h3>'
    yield from table(label, FINDING_COLUMNS, finding_rows(view, shown))
    if len(mine) > len(shown):
        more = counted(len(mine) - len(shown), "more finding")
        yield cut(f'{more} between directories among <a href="#findings">all findings</a>.')
