"""A damaged log that the good batches of other nodes restore.

Owns the words. The survey that a plan is made of has the runs already (`ranking.py`), so that every
other case and every method plans with the whole log. `on_disk.py` makes the edit's pieces of it. It
refuses to judge if the runs are right: `log_runs.py` has proved it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.repair.cases.model import Mend
from kraftool.repair.edit_builder import epochs_removed, indexes_removed
from kraftool.repair.plan import Edit, Piece, RestoredFile
from kraftool.repair.quorum_assessment import QuorumAssessment
from kraftool.repair.ranking import Host
from kraftool.reports.text.words import listed

CASE = "restored-runs"


def find(standing: QuorumAssessment, host: Host) -> Iterator[Mend]:
    survey = host.survey
    if not survey.restored_files or not survey.intact:
        return  # what is still damaged is the case; its edits have the runs
    bases = [int(restored_file.target.name[:20]) for restored_file in survey.restored_files]
    yield Mend(
        case=CASE,
        host=host,
        text=described(host),
        edits=(
            *map(edit_of, survey.restored_files),
            *epochs_removed(survey),
            *indexes_removed(survey, bases),
        ),
        stops_all=True,
    )


def described(host: Host) -> str:
    """Return which offsets come from which node, and the evidence."""
    survey = host.survey
    runs = [run for restored_file in survey.restored_files for run in restored_file.runs]
    text = (
        f"{host.name}: its log is damaged, but other nodes have the batches that belong there."
        f" The plan takes {listed(run.describe() for run in runs)}, and the rest from"
        f" {host.name} itself. The epochs and CRCs of the batches on both sides agree"
    )
    if survey.intact:
        text += f": {host.name} gets back the log that it had, up to offset {survey.end.offset}"
    return text


def edit_of(file: RestoredFile) -> Edit:
    """The edit of the file as the survey has it; `on_disk.py` makes it of what the disks have."""
    return Edit(
        target=file.target,
        before=file.after,
        after=file.after,
        pieces=(Piece(file=file.target, end=file.after.size),),
        why=f"restored: {listed(run.describe() for run in file.runs)}",
    )
