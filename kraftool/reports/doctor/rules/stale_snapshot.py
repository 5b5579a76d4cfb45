"""A snapshot of an earlier epoch beyond the log's end: left behind when the log was truncated."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.kinds import signatures as kinds
from kraftool.reports.text import shell_text


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patient in examination.patients:
        log, newest = patient.summary.log, patient.summary.newest_snapshot
        if log is None or newest is None or log.last_epoch is None or patient.is_live:
            continue
        if newest.offset <= log.end or newest.epoch >= log.last_epoch:
            continue
        yield Diagnosis(
            finding=kinds.STALE_SNAPSHOT.at(
                newest.file,
                f"it ends {newest.offset - log.end} offsets beyond the log, in an"
                    " earlier epoch than the log's last one",
                offset=newest.offset,
                expected=f"at most offset {log.end}",
                found=f"offset {newest.offset} of epoch {newest.epoch}",
            ),
            directory=patient.path,
            evidence=(
                Evidence(file=newest.file, found=f"epoch {newest.epoch}, offset {newest.offset}"),
                Evidence(
                    file=patient.path, offset=log.end,
                    found=f"the log ends here in epoch {log.last_epoch}",
                ),
            ),
            commands=(shell_text.keep_copy(patient.path), tools.on_all(examination, "timeline")),
        )  # fmt: skip
