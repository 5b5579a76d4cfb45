"""Two leaders of one epoch, by quorum-state files and by LeaderChange records of several nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, Patient
from kraftool.reports.kinds import signatures as kinds


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patients in examination.clusters():
        led: dict[int, dict[int, Evidence]] = {}
        for patient in patients:
            for epoch, leader, evidence in _claims(patient):
                led.setdefault(epoch, {}).setdefault(leader, evidence)
        for epoch, leaders in sorted(led.items()):
            if len(leaders) > 1:
                yield _diagnosis(examination, patients, epoch, leaders)


def _claims(patient: Patient) -> Iterator[tuple[int, int, Evidence]]:
    for each in patient.statistics.elections:
        yield each.epoch, each.leader_id, Evidence(
            file=each.file, position=each.position, offset=each.offset,
            text=f"LeaderChange of epoch {each.epoch}: leader {each.leader_id}",
        )  # fmt: skip
    state = patient.summary.quorum_state
    if state is not None and state.leader_id >= 0:
        yield (
            state.leader_epoch,
            state.leader_id,
            Evidence(
                file=patient.source.quorum_state_file,
                text=f"leaderEpoch {state.leader_epoch}, leaderId {state.leader_id}",
            ),
        )


def _diagnosis(
    examination: Examination,
    patients: Sequence[Patient],
    epoch: int,
    leaders: dict[int, Evidence],
) -> Diagnosis:
    first, second, *_ = leaders.values()
    ids = ", ".join(map(str, sorted(leaders)))
    copies = tuple(tools.keep_copy(each.path) for each in patients if each.report is not None)
    return Diagnosis(
        finding=kinds.SPLIT_BRAIN.at(
            second.file,
            f"epoch {epoch} has several leaders: {ids}",
            position=second.position,
            offset=second.offset,
            expected=first.text,
            found=second.text,
        ),
        evidence=tuple(leaders.values()),
        commands=(
            *copies,
            tools.on_all(examination, "timeline"),
            tools.on_all(examination, "diff-voters"),
        ),
    )
