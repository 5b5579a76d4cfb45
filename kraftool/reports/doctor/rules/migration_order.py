"""kraft.version 0 without controller.quorum.voters: the steps to a dynamic quorum out of order."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.directory.metadata_summary import VoterSource
from kraftool.raft.endpoints import shown_voter
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "MIGRATION-ORDER",
    Severity.ERROR,
    "At kraft.version 0 the setting controller.quorum.voters is the voter set, and this node"
    " no longer has it. Bootstrap servers replace it only once kraft.version is 1.",
    "put controller.quorum.voters back, start all controllers, upgrade kraft.version, and"
    " check it. Only then replace the setting",
    stake=Stake.NO_QUORUM,
    references=(
        "KIP-853",
        "apache/kafka #20071",
    ),
)

_STATIC, _DYNAMIC = "controller.quorum.voters", "controller.quorum.bootstrap.servers"


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        levels = [directory.source.kraft_version for directory in directories]
        if not any(level is not None for level in levels) or any(levels):
            continue
        if any(directory.source.newest is not None for directory in directories):
            continue  # a 0-0 checkpoint names voters that the log does not know of yet
        for examined in directories:
            settings = examined.source.settings
            if settings is None or settings.static_voters or not settings.bootstrap_servers:
                continue
            bootstrap = ",".join(settings.bootstrap_servers)
            yield Diagnosis(
                finding=KIND.at(
                    examined.settings_file,
                    f"kraft.version is 0, but the settings no longer have {_STATIC}",
                    field=_STATIC,
                    expected=_voters(examination, examined),
                ),
                directory=examined.path,
                evidence=(
                    Evidence(file=examined.path, found="no KRaftVersion record: kraft.version 0"),
                    Evidence(file=examined.settings_file, found=f"{_DYNAMIC}={bootstrap}"),
                ),
                commands=(
                    shell_text.settings(
                        examined.settings_file, _STATIC, _voters(examination, examined)
                    ),
                    shell_text.line(
                        "kafka-features", *tools.controller(examination, examined),
                        "upgrade", "--feature", "kraft.version=1",
                    ),
                    tools.quorum(examination, examined, "describe", "--status"),
                ),
            )  # fmt: skip


def _voters(examination: Examination, examined: ExaminedDirectory) -> str:
    """The setting as another node has it, or as far as the last election tells it."""
    for directory in (examined, *examination.directories):
        other = directory.source.settings
        if other is not None and other.static_voters:
            return ",".join(map(shown_voter, other.static_voters))
    voters = examined.source.in_force
    if voters is not None and voters.source is VoterSource.LEADER_CHANGE:
        return ",".join(f"{voter.id}@{shell_text.ANYWHERE}" for voter in voters.voters)
    return f"id@{shell_text.ANYWHERE},…"
