"""A fleet's audit as one HTML page that needs nothing else: no network and no other file.

Owns the order of its sections, which is that in which somebody on call needs them, and the page's
frame. It hands out pieces of text, so that nobody has to hold the whole page.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.fleet.model import FleetAudit
from kraftool.reports.fleet.page_nodes import all_of_it, nodes
from kraftool.reports.fleet.page_now import now
from kraftool.reports.fleet.page_overview import first, overview, verdict
from kraftool.reports.fleet.page_parts import PageContext, section
from kraftool.reports.fleet.page_plots import plots
from kraftool.reports.fleet.page_script import SCRIPT
from kraftool.reports.fleet.page_style import POLICY, STYLE
from kraftool.reports.fleet.page_tables import (
    MOST_CLUSTERS,
    MOST_DIRECTORIES,
    clusters,
    directories,
    findings,
)
from kraftool.reports.fleet.page_text import NOTHING, age, data, path, size, time

_SECTIONS = (
    ("now", "Act now"),
    ("first", "What to do first"),
    ("plots", "Plots"),
    ("nodes", "Across the nodes"),
    ("clusters", "Clusters"),
    ("directories", "Directories"),
    ("findings", "Findings"),
    ("about", "About"),
)
_SECTIONS_OF_NOTHING = tuple(
    page_section for page_section in _SECTIONS if page_section[0] in ("first", "findings", "about")
)
"""Where no directory was found there is nothing to plot and nothing to list."""


def page(audit: FleetAudit) -> Iterator[str]:
    """The page, piece by piece."""
    view = PageContext.of(audit, MOST_CLUSTERS, MOST_DIRECTORIES)
    run = audit.run
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield '<meta name="color-scheme" content="light dark">'
    yield f"<title>{data(verdict(audit)[0])} · kraftool audit {time(run.started_at)}</title>"
    yield f"<style>{STYLE}</style></head>\n<body>"
    yield '<a class="skip" href="#first">Skip to what to do first</a>'
    yield '<header class="top"><div class="brand"><span>kraftool pipeline audit</span>'
    yield f"<span>{time(run.started_at)}</span></div>\n"
    yield from overview(view)
    yield '</header><nav aria-label="Sections"><ul>'
    parts = _SECTIONS if audit.counts.directories else _SECTIONS_OF_NOTHING
    if not any(cluster.finding_counts.error for cluster in audit.clusters):
        parts = tuple(part for part in parts if part[0] != "now")
    for id, name in parts:
        yield f'<li><a href="#{id}">{name}</a></li>'
    yield "</ul></nav>\n<main>"
    everything = all_of_it(view)
    yield from now(view)
    yield from first(view)
    if audit.counts.directories:
        yield from plots(view)
        yield from nodes(view)
        yield from clusters(view, everything)
        yield from directories(view, everything)
    yield from findings(view, everything)
    yield from _about(audit)
    yield "</main><footer>Made by kraftool. This page loads nothing and sends nothing.</footer>"
    yield f"<script>{SCRIPT}</script>"
    yield "</body></html>\n"


def _about(audit: FleetAudit) -> Iterator[str]:
    """Yield how the audit was made."""
    run, counts = audit.run, audit.counts
    roots = "<br>".join(f"<code>{path(root)}</code>" for root in run.roots)
    ignored = ", ".join(f"<code>{data(code)}</code>" for code in run.ignored_codes)
    yield from section("about", "How this audit was made")
    yield '<dl class="facts card">'
    for name, html in (
        ("Roots", roots),
        ("Started", time(run.started_at)),
        ("Took", age(run.seconds * 1000)),
        ("Read", f"{size(counts.bytes_read)} in {counts.files:,} files"),
        ("Work of all tasks", age(counts.task_seconds * 1000)),
        ("kraftool", data(run.kraftool_version)),
        ("Spark", data(run.spark_version)),
        ("Master", f"<code>{data(run.master)}</code>, {run.cores:,} cores" if run.master else ""),
        ("Fails from", data(run.fail_on)),
        ("Ignored codes", ignored),
    ):
        yield f"<dt>{name}</dt><dd>{html or NOTHING}</dd>"
    yield "</dl></section>\n"
