"""All sources against each other: the report that `kraftool diff-voters` shows.

Owns the order of work: sources of other clusters are set aside, verdicts given, then each rule is
asked. It takes sources as values, so that a running controller can be one beside directories.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kraftool.directory.metadata_summary import SeenVoters
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.files.finding_limits import bounded
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.voters import identities, node_rules, settings_rules, source_differences
from kraftool.reports.voters.commit import with_verdicts
from kraftool.reports.voters.judged_directory import JudgedDirectory, about_voters

_RULES: tuple[Callable[[Sequence[NodeDirectory]], Iterator[Finding]], ...] = (
    source_differences.newest_sets,
    source_differences.conflicts,
    identities.ids_twice,
    node_rules.membership,
    node_rules.elections,
    node_rules.current_voters,
    node_rules.leader_changes,
    node_rules.jumps,
    settings_rules.bootstrap,
    settings_rules.static_sets,
    settings_rules.advertised,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSource:
    """A source beside the newest voters."""

    source: NodeDirectory
    foreign: bool = False
    """True if it is of another cluster, and so not compared."""
    behind: bool = False
    differences: tuple[str, ...] = ()
    """From the newest voters, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterDiff:
    """The voters of all sources, compared."""

    sources: tuple[ComparedSource, ...]
    newest: NodeDirectory | None
    """The source with the newest voters, which the others are compared with."""
    kraft_version: int | None
    findings: tuple[Finding, ...]

    @property
    def voters(self) -> SeenVoters | None:
        return self.newest.in_force if self.newest is not None else None

    @property
    def differ(self) -> bool:
        """True if any source has other voters than the newest, behind or not."""
        return any(source.differences for source in self.sources)


def diff_voters(judged: Sequence[JudgedDirectory]) -> VoterDiff:
    """Compare sources; a single one is compared with itself, file by file."""
    sources = [one.directory for one in judged]
    home = source_differences.home_cluster(sources)
    own = [source for source in sources if not source_differences.is_foreign(source, home)]
    ours = with_verdicts(own)
    given = dict(zip(map(id, own), ours, strict=True))
    newest = source_differences.newest_source(ours)
    compared = []
    for source in sources:
        source_report = given.get(id(source))
        if source_report is None:
            compared.append(ComparedSource(source=with_verdicts([source])[0], foreign=True))
            continue
        differences = (
            source_differences.differs(source_report, newest) if newest is not None else ()
        )
        behind = bool(differences) and source_differences.is_behind(source_report, ours)
        compared.append(
            ComparedSource(source=source_report, behind=behind, differences=differences)
        )
    findings = [finding for one in judged for finding in about_voters(one)]
    findings += source_differences.clusters(sources)
    for rule in _RULES:
        findings += bounded(rule(ours))
    levels = [newest.kraft_version] if newest is not None else []
    return VoterDiff(
        sources=tuple(compared),
        newest=newest,
        kraft_version=next(iter(levels), None),
        findings=in_order(findings),
    )
