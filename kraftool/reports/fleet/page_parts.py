"""Common parts of the page's sections: links, badges, tables, plots with their numbers.

Owns the places that links lead to, and the HTML of each part. Whatever is handed to it as `html` is
HTML already; everything else is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kraftool.reports.findings.finding import Severity
from kraftool.reports.fleet.model import (
    DirectorySummary,
    FleetAudit,
)
from kraftool.reports.fleet.page_text import counted, data, path
from kraftool.reports.fleet.plots import Figure
from kraftool.reports.text.json_forms import FindingCounts
from kraftool.reports.text.words import listed

GLYPHS = {Severity.ERROR: "✕", Severity.WARNING: "▲", Severity.INFO: "●"}
"""Shapes that differ without their colour."""
NOUNS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info"}


@dataclass(slots=True, kw_only=True)
class PageContext:
    """An audit, with the places in the page of what it names."""

    audit: FleetAudit
    cluster_at: dict[str, str] = field(default_factory=dict)
    directory_at: dict[str, str] = field(default_factory=dict)
    directories: dict[str, DirectorySummary] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    """The folder of each cluster: the deepest one that has all of its directories."""

    @classmethod
    def of(cls, audit: FleetAudit, most_clusters: int, most_directories: int) -> PageContext:
        view = cls(audit=audit)
        for number, cluster in enumerate(audit.clusters):
            if number < most_clusters:
                view.cluster_at[cluster.name] = f"c{number}"
        inside: dict[str, list[str]] = {}
        for directory in audit.directories:
            inside.setdefault(directory.cluster, []).append(directory.name)
        view.folders = {name: _common_folder(names) for name, names in inside.items()}
        for number, directory in enumerate(audit.directories):
            view.directories[directory.name] = directory
            if number < most_directories:
                view.directory_at[directory.name] = f"d{number}"
        return view

    def to_cluster(self, name: str) -> str:
        """The href of a cluster's row; empty where it has none."""
        return f"#{self.cluster_at[name]}" if name in self.cluster_at else ""

    def to_directory(self, name: str) -> str:
        return f"#{self.directory_at[name]}" if name in self.directory_at else ""

    def cluster(self, name: str) -> str:
        """A cluster's name as HTML, leading to its row, and its folder."""
        return link(self.to_cluster(name), f"<code>{data(name)}</code>") + self.folder(name)

    def folder(self, name: str) -> str:
        """The folder of a cluster as HTML; empty where it says no more than the name."""
        folder = self.folders.get(name, "")
        return f' <span class="q">{path(folder)}</span>' if folder not in ("", name) else ""

    def directory(self, name: str) -> str:
        return link(self.to_directory(name), f"<code>{path(name)}</code>")

    @property
    def ended_at(self) -> int:
        """When the audit ended, in epoch milliseconds; ages count from then."""
        run = self.audit.run
        return run.started_at + round(run.seconds * 1000)


def _common_folder(names: Sequence[str]) -> str:
    """The deepest folder that all paths lead through."""
    parts = [name.rstrip("/").split("/") for name in names]
    if len(parts) == 1:
        return names[0]
    shared = 0
    for level in zip(*parts, strict=False):
        if len(set(level)) > 1:
            break
        shared += 1
    return "/".join(parts[0][:shared])


def link(href: str, html: str) -> str:
    return f'<a href="{href}">{html}</a>' if href else html


def badge(severity: Severity) -> str:
    return f'<span class="b {severity.value}">{GLYPHS[severity]} {severity.value}</span>'


def severities(counts: FindingCounts) -> str:
    """Counts as HTML, shape and number of each severity that there is."""
    marks = [
        f'<span class="n {severity.value}" title="{counted(number, NOUNS[severity])}">'
        f"{GLYPHS[severity]} {number:,}</span>"
        for severity, number in each_severity(counts)
        if number
    ]
    return "".join(marks) or '<span class="n good" title="nothing found">✓</span>'


def each_severity(counts: FindingCounts) -> tuple[tuple[Severity, int], ...]:
    return (
        (Severity.ERROR, counts.error),
        (Severity.WARNING, counts.warning),
        (Severity.INFO, counts.info),
    )


def in_words(counts: FindingCounts, *, least: Severity = Severity.INFO) -> str:
    """`2 errors, 1 warning and 3 infos`, down to a severity; empty where there are none."""
    known = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    taken = known[: known.index(least) + 1]
    phrases = [
        counted(number, NOUNS[severity])
        for severity, number in each_severity(counts)
        if number and severity in taken
    ]
    return listed(phrases)


def section(id: str, title: str, lead_html: str = "") -> Iterator[str]:
    """The beginning of a section."""
    yield f'<section id="{id}" aria-labelledby="{id}-h"><h2 id="{id}-h">{data(title)}</h2>\n'
    if lead_html:
        yield f'<p class="lead">{lead_html}</p>\n'


def table(
    label: str, columns: Sequence[tuple[str, str]], rows_html: Iterable[str], kind: str = ""
) -> Iterator[str]:
    """A table that scrolls by itself. A column is its name and the class of its head.

    `kind` is a class whose columns the style knows, so that a thousand cells need not say theirs.
    """
    yield f'<div class="scroll" role="region" aria-label="{data(label)}" tabindex="0">'
    yield f"<table{_class(kind)}>"
    yield f'<caption class="hide">{data(label)}</caption><thead><tr>'
    for name, kind in columns:
        yield f'<th scope="col"{_class(kind)}>{data(name)}</th>'
    yield "</tr></thead><tbody>\n"
    yield from rows_html
    yield "</tbody></table></div>\n"


def cell(html: str, kind: str = "") -> str:
    return f"<td{_class(kind)}>{html}</td>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def cut(html: str) -> str:
    """Return what was left out, and where all of it is."""
    return f'<p class="cut">{html}</p>\n'


def figure(
    title: str, lead: str, drawn: Sequence[tuple[str, Figure]], *, wide: bool = False
) -> Iterator[str]:
    """One or more plots under one title, each with a heading of its own or none, and numbers."""
    yield f"<figure{_class('wide' if wide else '')}><figcaption><h3>{data(title)}</h3>"
    yield f"<p>{data(lead)}</p></figcaption>" if lead else "</figcaption>"
    for heading, plot in drawn:
        if plot.is_empty:
            continue
        yield f"<h4>{data(heading)}</h4>" if heading else ""
        yield plot.svg
        for note in plot.notes:
            yield f'<p class="note">{data(note)}</p>'
    if all(plot.is_empty for _, plot in drawn):
        yield '<p class="note">Nothing to show.</p>'
    yield from _numbers(title, [plot for _, plot in drawn if not plot.is_empty])
    yield "</figure>\n"


def _numbers(title: str, drawn: Sequence[Figure]) -> Iterator[str]:
    """The same as tables."""
    if not drawn:
        return
    yield "<details><summary>Numbers</summary>"
    for plot in drawn:
        columns = [(name, "d" if at else "") for at, name in enumerate(plot.columns)]
        yield from table(f"{title}: {plot.columns[-1]}", columns, _number_rows(plot))
    yield "</details>"


def _number_rows(plot: Figure) -> Iterator[str]:
    links = plot.links or ("",) * len(plot.rows)
    for row, href in zip(plot.rows, links, strict=True):
        head = link(href, data(row[0]))
        yield f'<tr><th scope="row">{head}</th>'
        yield "".join(cell(data(number), "d") for number in row[1:])
        yield "</tr>\n"
