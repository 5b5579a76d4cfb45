"""A directory verified on demand: verify-log and verify-snapshot, with progress, and to be stopped.

Owns that both run over one directory, and what becomes of their findings together. What is checked
is decided in `reports/verify/`, as for the commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Moment, in_json
from kraftool.reports.files.locations import open_paths
from kraftool.reports.findings.finding import Finding, Severity, in_order, tally
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.text.words import many, size
from kraftool.reports.verify.log import LogVerification, verify_logs
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.entry import Entry
from kraftool.storage.paths import Location
from kraftool.watching.task import StoppedError, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryVerification:
    """The result of verifying a directory."""

    path: str
    began: Moment
    """What was written later was not seen."""
    what_was_checked: str
    """How much was looked at, in words."""
    state_hashes: Mapping[str, str]
    """By the snapshot's file: the hash of the state that it holds."""
    findings: tuple[Finding, ...]
    """The worst first."""

    @property
    @in_json
    def finding_counts(self) -> FindingCounts:
        return finding_counts(self.findings)

    def of(self, name: str) -> tuple[Finding, ...]:
        """The findings in one file."""
        return tuple(finding for finding in self.findings if finding.file == name)

    def verdict(self) -> str:
        counts = tally(self.findings)
        loud_counts = [
            many(counts[severity], severity.value) for severity in _LOUD if counts[severity]
        ]
        return ", ".join(loud_counts) if loud_counts else "verified"


_LOUD = (Severity.ERROR, Severity.WARNING)


def verify(path: str, at_ms: int, task: Task) -> DirectoryVerification:
    """Verify all of a directory. Raises StoppedError where the task was stopped."""
    locations, unopened = open_paths([path])
    total = sum(map(_bytes, locations))
    task.begin("reading log and files", total)
    logs = verify_logs(locations, task.passed, unopened=unopened)
    findings = [*logs.rows]
    state_hashes: dict[str, str] = {}
    if locations:
        task.begin("comparing snapshots with the log", total)
        try:
            snapshots = verify_snapshots(locations, progress=task.passed)
        except StoppedError:
            raise
        except KraftoolError:
            pass  # there is no snapshot to verify
        else:
            findings += snapshots.all_findings
            state_hashes = {
                snapshot.file: snapshot.state_hash
                for snapshot in snapshots.rows
                if snapshot.state_hash
            }
    return DirectoryVerification(
        path=path,
        began=at_ms,
        what_was_checked=_checked(logs),
        state_hashes=state_hashes,
        findings=in_order(_once(findings)),
    )


def _bytes(location: Location) -> int:
    return sum(entry.size for entry in location.entries() if isinstance(entry, Entry))


def _once(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings of both commands without repeats."""
    seen = set()
    for finding in findings:
        fault = finding.fault
        key = finding.code, fault.file, fault.position, fault.offset, fault.field
        if key not in seen:
            seen.add(key)
            yield finding


def _checked(logs: LogVerification) -> str:
    amounts = [verified_log.checked for verified_log in logs.verified]
    counts = (
        many(sum(amount.files for amount in amounts), "file"),
        size(sum(amount.size for amount in amounts)),
        many(sum(amount.batches for amount in amounts), "batch"),
        many(sum(amount.records for amount in amounts), "record"),
    )
    return ", ".join(counts)
