"""The plots of the page: which numbers of an audit are drawn, and how they are divided.

Owns that choice. A fleet of a few clusters gets a bar for each of them, a large one a histogram and
the farthest ones by name. Drawing is `plots`; looks are the page's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kraftool.reports.findings.finding import Severity
from kraftool.reports.fleet.model import VersionCount
from kraftool.reports.fleet.page_parts import GLYPHS, PageContext, each_severity, figure, section
from kraftool.reports.fleet.page_text import age, count, counted, size
from kraftool.reports.fleet.plots import (
    Bar,
    BarPart,
    Bins,
    Figure,
    Stack,
    bars,
    days,
    histogram,
    stacked,
)

_FEW = 12
"""So many are drawn one by one; of more, `_FARTHEST` are named beside the histogram."""
_FARTHEST = 5
_MOST_DAYS = 90
_KB, _MB, _GB = 1_000, 1_000_000, 1_000_000_000
_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000

COUNTS = Bins(
    edges=(0, 1, 2, 5, 10, 100, 1_000, 10_000, 100_000, 1_000_000),
    labels=(
        "0", "1", "2 to 4", "5 to 9", "10 to 99", "100 to 999", "1k to 10k", "10k to 100k",
        "100k to 1M", "1M and up",
    ),
    below="below 0",
)  # fmt: skip
SIZES = Bins(
    edges=(0, 1, 100 * _KB, _MB, 10 * _MB, 100 * _MB, _GB, 10 * _GB),
    labels=(
        "empty", "to 100 kB", "to 1 MB", "to 10 MB", "to 100 MB", "to 1 GB", "to 10 GB",
        "10 GB and up",
    ),
)  # fmt: skip
AGES = Bins(
    edges=(0, _MINUTE, _HOUR, 6 * _HOUR, _DAY, 7 * _DAY, 30 * _DAY, 365 * _DAY),
    labels=(
        "to 1 min", "to 1 h", "to 6 h", "to 1 day", "to 7 days", "to 30 days", "to 1 year",
        "over 1 year",
    ),
    below="in the future",
)  # fmt: skip
_PARTS = tuple(BarPart(severity.value.capitalize(), GLYPHS[severity]) for severity in Severity)


def plots(view: PageContext) -> Iterator[str]:
    """All of them."""
    audit = view.audit
    yield from section("plots", "The fleet in plots")
    yield '<div class="plots">\n'
    if audit.codes:
        yield from _worst(view)
        yield from _codes(view)
    yield from _versions(view)
    by_lag = [(cluster.name, cluster.lag) for cluster in audit.clusters]
    lag = _spread(view, "Lag", ("Cluster", "Offsets"), by_lag, COUNTS, count)
    yield from figure(
        "Lag between the nodes of a cluster",
        "Offsets between the longest and the shortest log.",
        lag,
    )
    by_size = [(cluster.name, cluster.size) for cluster in audit.clusters]
    sizes = _spread(view, "Size", ("Cluster", "Size"), by_size, SIZES, size, "The largest")
    yield from figure("Size of logs and snapshots", "All directories of a cluster together.", sizes)
    by_age = [
        (
            cluster.name,
            None if cluster.last_timestamp is None else view.ended_at - cluster.last_timestamp,
        )
        for cluster in audit.clusters
    ]
    columns = ("Cluster", "Age")
    ages = _spread(view, "Age of the last record", columns, by_age, AGES, age, "The oldest")
    yield from figure(
        "Age of the last record",
        "Before the end of this audit. A running cluster's is young.",
        ages,
    )
    yield from _elections(view)
    yield "</div></section>\n"


def _worst(view: PageContext) -> Iterator[str]:
    sick = [cluster for cluster in view.audit.clusters if cluster.finding_counts.total]
    rows = [
        Stack(
            summary.name,
            tuple(n for _, n in each_severity(summary.finding_counts)),
            view.to_cluster(summary.name),
        )
        for summary in sick[:_FEW]
    ]
    lead = "The thickest part is errors, the next warnings."
    if len(sick) > len(rows):
        lead += f" {len(rows)} of {counted(len(sick), 'cluster')} with findings."
    drawn = stacked(
        f"Findings of {counted(len(rows), 'cluster')} by severity", "Cluster", _PARTS, rows
    )
    yield from figure("Clusters with the most serious findings", lead, [("", drawn)])


def _codes(view: PageContext) -> Iterator[str]:
    codes = view.audit.codes
    rows = [
        Bar(
            f"{GLYPHS[code.severity]} {code.code}",
            code.findings,
            count(code.findings),
            kind=code.severity.value,
        )
        for code in codes[:_FEW]
    ]
    lead = "How often each code was found, the worst first."
    left = len(codes) + view.audit.left_out.codes - len(rows)
    if left:
        lead += f" {counted(left, 'more code')} not drawn."
    drawn = bars("Findings by code", ("Code", "Findings"), rows)
    yield from figure("Findings by code", lead, [("", drawn)])


def _versions(view: PageContext) -> Iterator[str]:
    audit = view.audit
    mixed = sum(len(cluster.metadata_versions) > 1 for cluster in audit.clusters)
    lead = "Clusters at each level"
    lead += f"; in {counted(mixed, 'cluster')} directories differ." if mixed else "."
    yield from figure(
        "metadata.version and kraft.version",
        lead,
        [
            ("metadata.version", _levels("metadata.version", audit.metadata_versions)),
            ("kraft.version", _levels("kraft.version", audit.kraft_versions)),
        ],
    )


def _levels(feature: str, versions: Sequence[VersionCount]) -> Figure:
    rows = []
    for version in versions[:_FEW]:
        name = version.name or "not known"
        if version.level is not None and version.name and version.name != str(version.level):
            name = f"{version.name} (level {version.level})"
        kind = "unknown" if not version.name else "plain"
        rows.append(Bar(name, version.clusters, count(version.clusters), kind=kind))
    rest = versions[_FEW:]
    if rest:
        many = sum(version_count.clusters for version_count in rest)
        rows.append(Bar(counted(len(rest), "other level"), many, count(many), kind="unknown"))
    return bars(f"Clusters by {feature}", (feature, "Clusters"), rows)


def _elections(view: PageContext) -> Iterator[str]:
    by_day: Counter[str] = Counter()
    for cluster in view.audit.clusters:
        for day, many in cluster.elections_by_day:
            by_day[day] += many
    newest = sorted(by_day.items())[-_MOST_DAYS:]
    by_cluster = [(summary.name, summary.elections) for summary in view.audit.clusters]
    drawn = _spread(view, "Elections", ("Cluster", "Elections"), by_cluster, COUNTS, count)
    over_time = days("Elections by day", ("Day (UTC)", "Elections"), newest)
    lead = "Leader epochs that began in the logs that are still there."
    yield from figure("Elections of each cluster", lead, drawn)
    lead = "Of all clusters, by day in UTC; days without one are left out."
    yield from figure("Elections by day", lead, [("", over_time)], wide=True)


def _spread(
    view: PageContext,
    title: str,
    columns: tuple[str, str],
    values: Sequence[tuple[str, int | None]],
    bins: Bins,
    formatter: Callable[[int | None], str],
    highest: str = "The highest",
) -> list[tuple[str, Figure]]:
    """A value of each cluster: each by itself, or how they spread and the highest by name."""
    rows = [
        Bar(name, value, formatter(value), view.to_cluster(name), "plain")
        for name, value in sorted(
            values,
            key=lambda named_value: -1 if named_value[1] is None else named_value[1],
            reverse=True,
        )
    ]
    if len(values) <= _FEW:
        return [("", bars(f"{title} of each cluster", columns, rows))]
    spread = histogram(
        f"{title}: how many clusters",
        (columns[1], "Clusters"),
        [value for _, value in values],
        bins,
    )
    farthest = [row for row in rows if row.value][:_FARTHEST]
    return [("", spread), (highest, bars(f"{title}: {highest.lower()}", columns, farthest))]
