"""The beginning of the page: how the fleet is, in a sentence and in numbers, and what to do first.

Owns the verdict and the grouping of findings by cause. It refuses to weigh anew: what is worst was
decided by whoever made the audit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.status import Status, overall_status
from kraftool.reports.fleet.model import CodeCount, FleetAudit, FleetCounts, FleetFinding
from kraftool.reports.fleet.page_parts import (
    GLYPHS,
    PageContext,
    badge,
    cut,
    each_severity,
    in_words,
    section,
)
from kraftool.reports.fleet.page_text import (
    clipped,
    command,
    count,
    counted,
    data,
    path,
    short,
    size,
    unique_tails,
)

_KINDS = {
    Status.BAD: "error",
    Status.WARN: "warning",
    Status.UNKNOWN: "info",
    Status.NOTE: "info",
    Status.GOOD: "good",
}
"""The class in the page's style for each status."""
_MOST_CAUSES = 12
_MOST_EXAMPLES = 6
_MOST_NAMED = 300
"""Clusters up to which each square of the map has its name in it."""
_MOST_ADVICE = 8
_MOST_COMMANDS = 3
_LONGEST = 1200


def verdict(audit: FleetAudit) -> tuple[str, str]:
    """The sentence that everything comes down to, and the class of how bad it is."""
    counts = audit.counts
    with_errors, with_warnings = counts.clusters_with.error, counts.clusters_with.warning
    fine = counts.clusters - with_errors - with_warnings
    severity = counts.finding_counts.worst
    if not counts.clusters and severity in (None, Severity.INFO):
        return "No data directory of Kafka was found", "warning"
    kind = _KINDS[status(audit)]
    if severity in (None, Severity.INFO):
        many = (
            "the cluster" if counts.clusters == 1 else f"all {counted(counts.clusters, 'cluster')}"
        )
        if not _is_complete(counts):
            return f"No problems found in what was examined of {many}", kind
        return f"No problems found in {many}", kind
    if not with_errors + with_warnings:
        return (
            f"{in_words(counts.finding_counts, least=Severity.WARNING)} outside of any cluster",
            kind,
        )
    ill, noun = (with_errors, "errors") if with_errors else (with_warnings, "warnings")
    sentence = f"{ill:,} of {counted(counts.clusters, 'cluster')}"
    sentence += f" {'has' if ill == 1 else 'have'} {noun}"
    if with_errors and with_warnings:
        sentence += f", {with_warnings:,} more {'has' if with_warnings == 1 else 'have'} warnings"
    if fine:
        return f"{sentence}; no errors and no warnings were found in the other {fine:,}", kind
    return sentence, kind


def status(audit: FleetAudit) -> Status:
    """Return the status of the whole fleet: GOOD only if nothing was left out."""
    counts = audit.counts
    severities = [severity for severity, number in each_severity(counts.finding_counts) if number]
    return overall_status(severities, is_complete=_is_complete(counts))


def _is_complete(counts: FleetCounts) -> bool:
    return bool(counts.directories) and not (counts.undecoded or counts.ignored or counts.muted)


def overview(view: PageContext) -> Iterator[str]:
    """The verdict, the tiles and the map of all clusters."""
    audit = view.audit
    counts = audit.counts
    sentence, kind = verdict(audit)
    yield f'<section id="verdict" class="verdict {kind}"><h1>{data(sentence)}.</h1>'
    words = in_words(counts.finding_counts) or "Nothing"
    yield f"<p>{words} found in {counted(counts.directories, 'directory', 'directories')} with"
    yield f" {size(counts.size)} of metadata. "
    if counts.divergences:
        where = "place" if counts.divergences == 1 else "places"
        yield f"Logs of one cluster are not the same bytes in {count(counts.divergences)} {where}. "
    if counts.undecoded:
        yield f"{counted(counts.undecoded, 'finding')} of what could not be read or decoded:"
        yield " nothing is said about what lies there. "
    if counts.ignored:
        yield f"{counted(counts.ignored, 'finding')} left out by --ignore. "
    if counts.muted:
        yield f"{counted(counts.muted, 'finding')} left out by --mute. "
    yield "</p></section>\n"
    yield '<dl class="tiles">'
    for name, tile in _tiles(audit):
        yield f"<div><dt>{name}</dt><dd>{tile}</dd></div>"
    yield "</dl>\n"
    if len(audit.clusters) > 1:
        yield from _map(view)


def _tiles(audit: FleetAudit) -> Iterator[tuple[str, str]]:
    counts = audit.counts
    yield "clusters", count(counts.clusters)
    yield "directories", count(counts.directories)
    if counts.live:
        yield "in use now", count(counts.live)
    for severity, number in each_severity(counts.finding_counts):
        mark = f'<span class="n {severity.value}">{GLYPHS[severity]}</span>' if number else ""
        yield {"info": "infos"}.get(severity.value, f"{severity.value}s"), mark + count(number)
    yield "divergences", count(counts.divergences)
    yield "not decoded", count(counts.undecoded)
    yield "records", short(counts.records)
    yield "of metadata", size(counts.size)


def _map(view: PageContext) -> Iterator[str]:
    """A square for each cluster. It is for the eye; the table of clusters says the same."""
    with_worst = view.audit.counts.clusters_with
    fine = view.audit.counts.clusters - with_worst.total
    legend = [
        f'<span class="n {severity.value}">{GLYPHS[severity]} {number:,} {words}</span>'
        for (severity, number), words in zip(
            each_severity(with_worst), ("with errors", "with warnings", "with infos"), strict=True
        )
        if number
    ]
    yield '<div class="card"><div class="head"><h2>Clusters, the worst first</h2>'
    yield '<span class="where">'
    rest = Status.GOOD if _is_complete(view.audit.counts) else Status.UNKNOWN
    nothing = f'<span class="n {_KINDS[rest]}">{rest.mark} {fine:,} without findings</span>'
    yield f"{' '.join(legend)} {nothing}</span></div>"
    named = len(view.audit.clusters) <= _MOST_NAMED
    names = unique_tails(view.folders) if named else {}
    yield f'<div class="map{" named" if named else ""}" aria-hidden="true">'
    for cluster in view.audit.clusters:
        worst = cluster.finding_counts.worst
        href = view.to_cluster(cluster.name)
        if href:
            kind = f' class="{worst.value}"' if worst is not None else ""
            glyph = GLYPHS[worst] if worst in (Severity.ERROR, Severity.WARNING) else ""
            folder = view.folders.get(cluster.name, "")
            label = f"{glyph} {data(names.get(cluster.name, cluster.name))}" if named else glyph
            title = data(" ".join(dict.fromkeys(filter(None, (cluster.name, folder)))))
            yield f'<a href="{href}" tabindex="-1"{kind} title="{title}">{label.strip()}</a>'
    yield "</div></div>\n"


def first(view: PageContext) -> Iterator[str]:
    """Yield what to do first: each cause with its reach, and the advice for each group of
    clusters.
    """
    yield from section(
        "first",
        "What to do first",
        "Causes, the most urgent first. A cause is one code. Clusters with the same advice are"
        " together.",
    )
    if not view.audit.counts.directories:
        roots = ", ".join(f"<code>{path(root)}</code>" for root in view.audit.run.roots)
        yield f'<p class="card">Look at what was searched: {roots or "no root was named"}.'
        yield " A data directory is known by its <code>meta.properties</code> or its"
        yield " <code>__cluster_metadata-0</code>."
        yield " How deep below a root it may lie, <code>--depth</code> says.</p>"
    urgent = [code for code in view.audit.codes if code.severity is not Severity.INFO]
    if not urgent and view.audit.counts.directories:
        kind = " fine" if status(view.audit) is Status.GOOD else ""
        yield f'<p class="card{kind}">Nothing: no finding from warning up.'
        infos = view.audit.counts.finding_counts.info
        yield f" {counted(infos, 'info')} below.</p>" if infos else "</p>"
    by_code: dict[str, list[FleetFinding]] = {}
    for finding in view.audit.findings:
        by_code.setdefault(finding.finding.code, []).append(finding)
    yield '<ol class="causes">' if urgent else ""
    for cause in urgent[:_MOST_CAUSES]:
        yield from _cause(view, cause, by_code.get(cause.code, ()))
    yield "</ol>" if urgent else ""
    rest = urgent[_MOST_CAUSES:]
    if rest:
        names = ", ".join(
            f"<code>{data(code_count.code)}</code> ({code_count.findings:,})" for code_count in rest
        )
        yield cut(f"{counted(len(rest), 'more cause')}: {names}.")
    if view.audit.left_out.codes:
        yield cut(f"{counted(view.audit.left_out.codes, 'further code')} not listed here.")
    yield "</section>\n"


def _cause(view: PageContext, cause: CodeCount, findings: Sequence[FleetFinding]) -> Iterator[str]:
    severity = cause.severity
    reach = f"{counted(cause.findings, 'finding')} in {counted(cause.clusters, 'cluster')}"
    yield f'<li class="card cause {severity.value}"><div class="head">{badge(severity)}'
    yield f'<span class="code">{data(cause.code)}</span><span class="where">{reach}, '
    yield f"{counted(cause.directories, 'directory', 'directories')}</span></div>"
    meaning = cause.meaning or (findings[0].finding.text if findings else "")
    yield f"<p>{clipped(meaning, _LONGEST)}</p>"
    groups = _by_advice(findings)
    if not groups:
        yield f'<p class="do"><b>Do:</b> {clipped(cause.advice, _LONGEST)}</p>'
        yield f"<pre>{command(_explain(cause))}</pre>"
    for group in groups[:_MOST_ADVICE]:
        yield from _advice(view, cause, group)
    rest = len(groups) - _MOST_ADVICE
    if rest > 0:
        words = "piece of advice" if rest == 1 else "pieces of advice"
        yield cut(f"{rest:,} more {words} for this code, with the findings below.")
    clusters = {finding.cluster for finding in findings if finding.cluster}
    if cause.clusters > len(clusters):
        more = counted(cause.clusters - len(clusters), "more cluster")
        yield cut(f"{more} with this code not listed here: their advice may differ.")
    yield "</li>\n"


def _by_advice(findings: Sequence[FleetFinding]) -> list[list[FleetFinding]]:
    """The findings of one code, those with equal severity and advice together."""
    groups: dict[tuple[Severity, str], list[FleetFinding]] = {}
    for finding in findings:
        groups.setdefault((finding.finding.severity, finding.finding.advice), []).append(finding)
    return list(groups.values())


def _advice(view: PageContext, cause: CodeCount, group: Sequence[FleetFinding]) -> Iterator[str]:
    """One piece of advice, the clusters that it is for, and the next command of one of them."""
    severity, advice = group[0].finding.severity, group[0].finding.advice
    clusters = list(dict.fromkeys(finding.cluster for finding in group if finding.cluster))
    yield '<div class="advice">'
    if clusters or severity is not cause.severity:
        examples = ", ".join(view.cluster(name) for name in clusters[:_MOST_EXAMPLES])
        more = len(clusters) - _MOST_EXAMPLES
        rest = f' <span class="q">and {more:,} more</span>' if more > 0 else ""
        mark = f"{badge(severity)} " if severity is not cause.severity else ""
        yield f'<p>{mark}<span class="q">In</span> {examples or "the fleet"}{rest}</p>'
    if advice:
        yield f'<p class="do"><b>Do:</b> {clipped(advice, _LONGEST)}</p>'
    owner = next((finding for finding in group if finding.commands), None)
    if owner is not None and owner.cluster and len(clusters) > 1:
        yield f'<p class="q">For {view.cluster(owner.cluster)}:</p>'
    # Codes are ours, but a page is made of what it is given.
    lines = owner.commands[:_MOST_COMMANDS] if owner is not None else (_explain(cause),)
    yield f"<pre>{chr(10).join(map(command, lines))}</pre></div>"


def _explain(cause: CodeCount) -> str:
    return f"kraftool doctor --explain {cause.code}"
