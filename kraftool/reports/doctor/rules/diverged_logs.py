"""Logs of several nodes that part: other bytes at the same offset.

Of another epoch, that is a leader that lost its last records and truncates them. Of the same epoch,
Kafka cannot tell them apart, and never repairs it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.log_statistics import LogStatistics
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, Patient
from kraftool.reports.kinds import log as log_kinds
from kraftool.reports.kinds import signatures as kinds


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patients in examination.clusters():
        logs = [each for each in patients if each.statistics.offsets]
        if len(logs) < 2:
            continue
        reference = max(logs, key=lambda each: each.statistics.rank)
        for patient in logs:
            found = (
                None if patient is reference else _parts(patient.statistics, reference.statistics)
            )
            if found is not None:
                yield _diagnosis(examination, patient, reference, *found)


def _parts(one: LogStatistics, other: LogStatistics) -> tuple[int, int, int] | None:
    """The first offset at which both have a batch that differs, and the epochs of the two."""
    here = there = 0
    while here < len(one.offsets) and there < len(other.offsets):
        mine, theirs = one.offsets[here], other.offsets[there]
        if mine < theirs and not (here and there):
            here += 1
        elif theirs < mine and not (here and there):
            there += 1
        elif (mine, one.epochs[here], one.crcs[here]) == (
            theirs, other.epochs[there], other.crcs[there],
        ):  # fmt: skip
            here, there = here + 1, there + 1
        elif mine == theirs:
            return mine, one.epochs[here], other.epochs[there]
        else:
            return None  # a log with a gap, which has a finding of its own
    return None


def _diagnosis(
    examination: Examination,
    patient: Patient,
    reference: Patient,
    offset: int,
    epoch: int,
    other_epoch: int,
) -> Diagnosis:
    kind = kinds.SAME_PLACE if epoch == other_epoch else log_kinds.DIVERGED
    text = f"other records than {reference.path} from offset {offset} on"
    if epoch == other_epoch:
        text += f", in the same epoch {epoch}"
    return Diagnosis(
        finding=kind.at(
            patient.path,
            text,
            offset=offset,
            expected=f"the batch of epoch {other_epoch} that {reference.path} has",
            found=f"another one of epoch {epoch}",
        ),
        directory=patient.path,
        evidence=(
            Evidence(file=reference.path, offset=offset, text=f"a batch of epoch {other_epoch}"),
            Evidence(file=patient.path, offset=offset, text=f"another batch of epoch {epoch}"),
        ),
        commands=(
            tools.keep_copy(patient.path),
            tools.on(patient.path, "dump-log", "--offsets", f"{offset}.."),
            tools.on(reference.path, "dump-log", "--offsets", f"{offset}.."),
        ),
    )
