"""One directory as a source, and what its voters show without any other.

Owns the step from files and their summary to a source, and the rules of which every report of a
directory tells: dump, verify-log, verify-snapshot and doctor have them from here, diff-voters asks
the same rules of several sources. It refuses to read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kraftool.decoders.checkpoint_files import EpochEntry, LeaderEpochCheckpoint
from kraftool.decoders.kinds import FileKind
from kraftool.reports.files.file_report import FileReport
from kraftool.reports.files.metadata_summary import MetadataSummary
from kraftool.reports.files.notes import bounded
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.voters import node_rules
from kraftool.reports.voters.commit import with_verdicts
from kraftool.reports.voters.history import VoterHistory
from kraftool.reports.voters.model import VoterSourceReport
from kraftool.reports.voters.node_directory import NodeDirectory

TOLD_ALONE = frozenset(
    finding_kind.code
    for finding_kind in (
        dir_kinds.NODE_ID_EDITED, dir_kinds.NOT_A_VOTER, dir_kinds.STALE_VOTER,
        log_kinds.VOTERS_JUMP, snap_kinds.LOG_VOTERS,
    )
)  # fmt: skip
"""The kinds of these rules, which a comparison of sources tells anew in the light of all."""


def source_of(
    begun: VoterSourceReport,
    files: Sequence[FileReport],
    summary: MetadataSummary,
    history: VoterHistory,
) -> VoterSourceReport:
    """A source with all that its files say; its findings are those it was begun with."""
    voters = summary.voters
    recorded = any(entry.voters for entry in history.entries)
    return replace(
        begun,
        node=summary.node,
        registered_controllers=summary.controllers,
        quorum_state=summary.quorum_state,
        quorum_state_file=_name_of(files, FileKind.QUORUM_STATE),
        meta_file=_name_of(files, FileKind.META_PROPERTIES),
        history=history.entries,
        leaders=history.leaders,
        log=history.log,
        epoch_checkpoint=_epoch_checkpoint(files),
        snapshots=history.snapshots,
        seen_voters=voters if voters is not None and not recorded else None,
    )


def voter_findings(directory: NodeDirectory) -> Iterator[Finding]:
    """Yield what a directory's own voters show: who the node is beside them, jumps, snapshots."""
    files, summary, history = directory.files, directory.summary, directory.history
    # How meta.properties fits the settings is reported where both are read.
    settings = replace(directory.settings, node_id=None) if directory.settings else None
    begun = VoterSourceReport(name=directory.path, kind="directory", settings=settings)
    sources = with_verdicts([source_of(begun, files, summary, history)])
    yield from history.findings
    yield from bounded(node_rules.membership(sources))
    yield from bounded(node_rules.jumps(sources))


def _epoch_checkpoint(files: Iterable[FileReport]) -> tuple[EpochEntry, ...]:
    return next(
        (
            file.content.entries
            for file in files
            if file.is_live
            and isinstance(file.content, LeaderEpochCheckpoint)
            and file.content.accepted
        ),
        (),
    )


def _name_of(files: Iterable[FileReport], kind: FileKind) -> str:
    return next((file.name for file in files if file.kind is kind and file.is_live), "")
