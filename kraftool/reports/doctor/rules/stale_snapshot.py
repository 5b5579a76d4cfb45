"""A snapshot of an earlier epoch beyond the log's end: left behind when the log was truncated."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "STALE-SNAPSHOT",
    Severity.ERROR,
    "A snapshot from an earlier epoch is beyond the end of the log, as after a recovery"
    " truncated the log. Kafka keeps the log. If no other snapshot has a higher epoch, it"
    " loads this one and then skips the log's records below the snapshot's offset.",
    "do this only while the other nodes have a leader, one node at a time. With Kafka"
    " stopped, move all of __cluster_metadata-0 except quorum-state away (keep"
    " meta.properties). The node then fetches everything from the leader",
    references=("KIP-630",),
    tells_better=frozenset({snap_kinds.AHEAD.code}),
    observed=(
        (
            "3.9.1 and 4.3.0: the log is kept. Kafka loads the snapshot of the highest epoch, "
            "whatever the offsets: this one only if no other has a higher epoch."
        ),
    ),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        log, newest = examined.summary.log, examined.summary.newest_snapshot
        if log is None or newest is None or log.last_epoch is None or examined.is_live:
            continue
        if newest.offset <= log.end or newest.epoch >= log.last_epoch:
            continue
        yield Diagnosis(
            finding=KIND.at(
                newest.file,
                f"it ends {newest.offset - log.end} offsets beyond the log, in an"
                    " earlier epoch than the log's last one",
                offset=newest.offset,
                expected=f"at most offset {log.end}",
                found=f"offset {newest.offset} of epoch {newest.epoch}",
            ),
            directory=examined.path,
            evidence=(
                Evidence(file=newest.file, found=f"epoch {newest.epoch}, offset {newest.offset}"),
                Evidence(
                    file=examined.path, offset=log.end,
                    found=f"the log ends here in epoch {log.last_epoch}",
                ),
            ),
            commands=(shell_text.keep_copy(examined.path), tools.on_all(examination, "timeline")),
        )  # fmt: skip
