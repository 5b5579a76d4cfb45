"""The leaders and voters of the log's control records, and whether that history is possible.

Owns what is odd in single LeaderChange and KRaftVoters records and in the levels of kraft.version.
How voter sets follow on each other, and what snapshots say of them, is `reports/voters`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.log_record import decode_control, position_in_file
from kraftool.decoders.schema import NEWEST_RELEASE
from kraftool.directory.voter_history import Origin, VoterHistory
from kraftool.reports.files.finding_limits import FileFindings
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.voters.form import HIGHEST_KRAFT_VERSION, voter_faults

_MOST = 100_000
"""Leaders that are kept; a log has one leader an epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Led:
    """The leader of an epoch, by its first LeaderChange."""

    leader_id: int
    offset: int


@dataclass(slots=True)
class ControlRecordChecks:
    """The control records of one log, each judged as it passes."""

    leaders: dict[int, Led] = field(default_factory=dict)
    """By epoch."""

    def batch(self, findings: FileFindings, batch: RecordBatch, *, opens_epoch: bool) -> None:
        """Take in a control batch whose CRC holds."""
        first = True
        for record in batch.shared_records():
            item = decode_control(record)
            if first and opens_epoch and item.type != "LeaderChange":
                epoch_start(findings, batch)
            first = False
            if item.data is None:
                continue
            position = position_in_file(batch, record)
            if item.type == "LeaderChange":
                self._leader(findings, batch.epoch, item.data["leaderId"], record.offset, position)
            elif item.type == "KRaftVoters":
                _one_set(findings, item.data["voters"], record.offset, position)

    def _leader(
        self, findings: FileFindings, epoch: int, leader: int, offset: int, position: int
    ) -> None:
        before = self.leaders.get(epoch)
        if before is None and len(self.leaders) < _MOST:
            self.leaders[epoch] = Led(leader_id=leader, offset=offset)
        elif before is not None and before.leader_id != leader:
            findings.add(
                log_kinds.TWO_LEADERS,
                f"epoch {epoch} had a leader at offset {before.offset}",
                position=position,
                offset=offset,
                field="leaderId",
                expected=str(before.leader_id),
                found=str(leader),
            )


def epoch_start(findings: FileFindings, batch: RecordBatch) -> None:
    text = f"epoch {batch.epoch} begins without a LeaderChange"
    findings.add(log_kinds.EPOCH_START, text, position=batch.position, offset=batch.base_offset)


def _one_set(
    findings: FileFindings, voters: list[dict[str, Any]], offset: int, position: int
) -> None:
    if not voters:
        text = "a voter set without voters"
        findings.add(log_kinds.VOTERS, text, position=position, offset=offset)
    seen: set[int] = set()
    for voter in voters:
        # Which kraft.version holds here is not known where the log begins later.
        for fault in voter_faults(voter, None, seen):
            findings.add(
                log_kinds.VOTERS,
                fault.reason,
                position=position,
                offset=offset,
                expected=fault.expected,
                found=fault.found,
            )
        seen.add(voter["voterId"])


def kraft_versions(history: VoterHistory) -> Iterator[Finding]:
    """Levels of the log that no Kafka has, that go back, or that come behind the first voters."""
    logged = [entry for entry in history.entries if entry.origin is Origin.LOG]
    versions = [entry for entry in logged if entry.kraft_version is not None]
    level = 0
    for version in versions:
        logged_level = version.kraft_version
        assert logged_level is not None, "only entries with a level were taken"
        if logged_level < level or not 0 <= logged_level <= HIGHEST_KRAFT_VERSION:
            yield log_kinds.KRAFT_VERSION.at(
                version.file,
                "the level goes back"
                if logged_level < level
                else f"a level that Kafka {NEWEST_RELEASE} does not have",
                position=version.position,
                offset=version.offset,
                field="kRaftVersion",
                expected=f"{level} to {HIGHEST_KRAFT_VERSION}",
                found=str(logged_level),
            )
        level = max(level, logged_level)
    first = next((entry for entry in logged if entry.voters is not None), None)
    if versions and first is not None and first.offset < versions[0].offset:
        # Where the log begins later the version stands in a snapshot.
        yield log_kinds.VOTERS.at(
            first.file,
            "voters before any kraft.version that has them",
            position=first.position,
            offset=first.offset,
            expected=f"after offset {versions[0].offset}",
            found=str(first.offset),
        )
