"""The problems inside one segment or checkpoint, as findings.

Owns the step from a fault at a byte to what it means and what to do. It refuses to look at other
files: a torn tail is harmless only in a log's last segment, which `directory/findings.py` knows.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.decoders import names
from kraftool.decoders.batch import HEADER_SIZE
from kraftool.decoders.fault import DAMAGE_KINDS, FaultKind, LogFault
from kraftool.decoders.java_text import INT32_MAX
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.segment import UNKNOWN_MAGIC
from kraftool.directory.log_summary import LogSummary
from kraftool.reports.findings.finding import Finding, FindingKind, Severity
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds

KEEP_COPY = "keep a copy before you start Kafka here: "
USE_INTACT = ". Use the log of an intact node"
_FETCHED = (
    ". If the other voters run and have a leader, start this node once you have the copy: it"
    " fetches from the leader what it lacks. If they have none, use the log of an intact node"
)
_QUIET = "and only writes warnings to its own log"

_IN_LOG: dict[FaultKind, FindingKind] = {
    FaultKind.CRC: log_kinds.CRC,
    FaultKind.RECORDS: log_kinds.RECORDS,
    FaultKind.UNKNOWN: log_kinds.UNKNOWN_TYPE,
    FaultKind.EPOCH_BACK: log_kinds.EPOCH_BACK,
    FaultKind.GAP: log_kinds.GAP,
    FaultKind.TORN_TAIL: log_kinds.TORN_TAIL,
    FaultKind.ZERO_TAIL: log_kinds.ZERO_TAIL,
    FaultKind.CORRUPT: log_kinds.DAMAGE,
}


def log_findings(name: str, kind: FileKind, summary: LogSummary) -> tuple[Finding, ...]:
    """The findings of one file with batches, in the order of their positions."""
    if kind is FileKind.LOG:
        return _of_segment(name, summary)
    return _of_snapshot(name, kind, summary)


def _of_segment(name: str, summary: LogSummary) -> tuple[Finding, ...]:
    findings = [
        log_finding(name, problem, _advice(summary, problem)) for problem in summary.problems
    ]
    if _ends_in_garbage(summary):
        findings[-1] = replace(
            findings[-1].saying(f"{findings[-1].text}; no batch follows in the file"),
            severity=Severity.WARNING,
            undecoded=False,
            advice=log_kinds.ZERO_TAIL.advice,
        )
    if not summary.is_metadata:
        text = "its records belong to another topic than the metadata topic"
        findings.append(log_kinds.NOT_METADATA.at(name, text))
    segment = names.parse_segment_name(name.rpartition("/")[2])
    starts = summary.start_offset
    if segment is not None and starts is not None and summary.is_metadata:
        intact_start = not summary.problems or summary.problems[0].position > 0
        if segment.base_offset != starts and intact_start:
            findings.append(
                log_kinds.FILE_NAME.at(
                    name,
                    "the first batch is not the one that the file name gives",
                    position=0,
                    field="baseOffset",
                    expected=str(segment.base_offset),
                    found=str(starts),
                )
            )
    return _with_rest(findings, name, summary, log_kinds.DAMAGE)


def log_finding(name: str, fault: LogFault, advice: str | None = None) -> Finding:
    """The finding of one fault in a segment."""
    if fault.kind == FaultKind.GAP:
        segment = names.parse_segment_name(name.rpartition("/")[2])
        base = segment.base_offset if segment is not None else 0
        if advice is None:
            advice = gap_advice(int(fault.expected), int(fault.found), base)
        finding = _finding(log_kinds.GAP, name, fault, advice)
        return replace(finding, exits_here=_overflows(int(fault.found), base))
    kind = log_kinds.MAGIC if fault.reason == UNKNOWN_MAGIC else _IN_LOG[fault.kind]
    return _finding(kind, name, fault, advice)


def snapshot_finding(name: str, fault: LogFault) -> Finding:
    """The finding of one fault in a snapshot."""
    unknown = fault.kind == FaultKind.UNKNOWN
    return _finding(snap_kinds.UNKNOWN_TYPE if unknown else snap_kinds.DAMAGE, name, fault)


def gap_advice(expected: int, actual: int, base_offset: int) -> str:
    """Return what Kafka makes of offsets that do not follow on each other, and what to do.

    `base_offset` is the segment's; its indexes hold offsets relative to it, in 31 bits.
    """
    keep = "; keep a copy, compare with another node's log and use that of an intact node"
    if _overflows(actual, base_offset):
        return f"Kafka exits when it starts, because its index cannot hold that offset{keep}"
    if actual > expected:
        missing = actual - expected
        offsets = "1 offset" if missing == 1 else f"{missing} offsets"
        lost = f"a node that reads this log lacks the records of {offsets}"
    else:
        lost = (
            "a node that reads this log may read records twice. If the offset index steps"
            " back (it has an entry every 4 KiB), Kafka empties this segment and deletes"
            " those after it"
        )
    return f"Kafka continues without noticing, and {lost}{keep}"


def _overflows(offset: int, base_offset: int) -> bool:
    """True if a segment's index cannot hold an offset: Kafka exits on it."""
    return offset - base_offset > INT32_MAX


def loss(cut: int | None, end: int | None, newest: int = 0, *, intact: bool = True) -> str | None:
    """Return what is lost where Kafka cuts the log, and what to do; None if nothing is behind it.

    Kafka recovers the whole metadata log at every start, also after a clean stop. It cuts the log
    at the first batch whose bytes are wrong, and deletes the segments behind it. With a snapshot
    beyond the cut it then wipes the whole log and goes on from there, whatever that snapshot is
    worth: it uses names.

    `newest` is the offset of the newest snapshot, and `intact` whether it is whole.
    """
    if cut is None or end is None or cut >= end:
        return None
    if newest <= cut:
        lost = f"it cuts the log at offset {cut} {_QUIET}. {offsets(end - cut)} are lost with it"
    elif not intact:
        lost = (
            f"it deletes the whole log. Then it exits on the snapshot at {newest}, which is"
            " damaged, or loads what is left of it"
        )
    else:
        lost = f"it deletes the whole log and continues from the snapshot at {newest} {_QUIET}"
        if newest < end:
            lost += f". {offsets(end - newest)} after the snapshot are lost with the log"
    is_fetched = newest <= cut or intact
    return f"{KEEP_COPY}{lost}{_FETCHED if is_fetched else USE_INTACT}"


def offsets(count: int) -> str:
    return f"{count} offset" if count == 1 else f"{count} offsets"


def _ends_in_garbage(summary: LogSummary) -> bool:
    """True if nothing but the bytes behind the last whole batch are wrong, as with a torn tail."""
    return (
        _ends_damaged(summary)
        and summary.problems[-1].kind == FaultKind.CORRUPT
        and summary.problems[-1].reason != UNKNOWN_MAGIC
        and summary.batches > 0
        and summary.intact_end_offset == summary.end_offset
    )


def _advice(summary: LogSummary, fault: LogFault) -> str | None:
    """Return what Kafka would cut off at a place that is not the log's end."""
    cuts = fault.kind in (FaultKind.CRC, FaultKind.CORRUPT)
    if not cuts or fault.reason == UNKNOWN_MAGIC:
        return None
    intact = summary.intact_end_offset
    return loss(intact if intact is not None else summary.start_offset, summary.end_offset)


def _of_snapshot(name: str, kind: FileKind, summary: LogSummary) -> tuple[Finding, ...]:
    findings = [snapshot_finding(name, problem) for problem in summary.problems]
    if not summary.batches and not findings:
        findings.append(snap_kinds.FORM.at(name, "the file is empty", position=0))
    elif summary.batches:
        # A header whose batch is damaged is there; which that batch is, its damage tells.
        begins_damaged = bool(summary.problems) and summary.problems[0].position < HEADER_SIZE
        if not summary.has_header and not begins_damaged:
            text = "it does not begin with a SnapshotHeader"
            findings.append(snap_kinds.FORM.at(name, text, position=0))
        if not summary.has_footer and not _ends_damaged(summary):
            text = "it does not end with a SnapshotFooter: it was cut, or never finished"
            findings.append(snap_kinds.FORM.at(name, text, offset=summary.end_offset))
        if summary.start_offset != 0:
            text, start = "the offsets do not begin at 0", str(summary.start_offset)
            findings.append(snap_kinds.FORM.at(name, text, position=0, expected="0", found=start))
    if kind is FileKind.CHECKPOINT:
        findings += _of_snapshot_name(name, summary)
    return _with_rest(findings, name, summary, snap_kinds.DAMAGE)


def _ends_damaged(summary: LogSummary) -> bool:
    """True if the file ends in damage that is told, with no batch behind it."""
    if not summary.problems or summary.omitted_problems:
        return False
    last = summary.problems[-1]
    return last.kind in DAMAGE_KINDS and last.offset == summary.end_offset


def _of_snapshot_name(name: str, summary: LogSummary) -> list[Finding]:
    base = name.rpartition("/")[2]
    named = names.parse_checkpoint_name(base)
    if named is None:
        return []
    findings = []
    if not named.canonical:
        text = f"Kafka never writes this name. It takes it for {named.offset}-{named.epoch}"
        findings.append(snap_kinds.FILE_NAME.at(name, text))
    epochs = {epoch.epoch for epoch in summary.epochs}
    if epochs and epochs != {named.epoch}:
        findings.append(
            snap_kinds.FILE_NAME.at(
                name,
                "the batches have another epoch than the file name",
                field="partitionLeaderEpoch",
                expected=str(named.epoch),
                found=", ".join(map(str, sorted(epochs)[:5])),
            )
        )
    return findings


def _finding(kind: FindingKind, name: str, fault: LogFault, advice: str | None = None) -> Finding:
    size = f", {fault.size} bytes" if fault.size and fault.kind in DAMAGE_KINDS else ""
    if fault.flipped:
        size += f"; one flipped bit explains it: {fault.flipped}"
    return kind.of(fault.plain(name), advice=advice).saying(fault.reason + size)


def _with_rest(
    findings: list[Finding], name: str, summary: LogSummary, kind: FindingKind
) -> tuple[Finding, ...]:
    if summary.omitted_problems:
        text = f"{summary.omitted_problems} more problems are not listed"
        findings.append(kind.at(name, text))
    return tuple(findings)
