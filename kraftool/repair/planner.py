"""From surveys to a plan: the gravest thing first, the smallest change that mends it.

Owns the order of the questions: is a majority lost, or is single directories' mending enough, or is
nothing to be done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from kraftool.repair.collected_logs import (
    KeptByDirectory,
    archive_commands,
    kept_by_directories,
    relevant,
    with_copies,
    words,
)
from kraftool.repair.judging import doubted
from kraftool.repair.leadership import refuse_second_leader
from kraftool.repair.lost_objects import with_objects
from kraftool.repair.majority import majority_plan
from kraftool.repair.mending import mending_plan
from kraftool.repair.missing_directory import missing_directory, refuse_missing_directories
from kraftool.repair.plan import Plan, Risk
from kraftool.repair.plan_check import refuse_contradiction
from kraftool.repair.ranking import host_names
from kraftool.repair.read_directory import ReadDirectory
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.request import Acceptance, PlanRequest
from kraftool.repair.rest_behind_damage import with_rests_behind_damage
from kraftool.repair.restorations import with_restorations
from kraftool.repair.run_survey import with_runs_restored
from kraftool.repair.survey import Survey
from kraftool.repair.surveyed_quorum import surveyed_quorum
from kraftool.repair.surveying import read_directories
from kraftool.reports.text.words import listed
from kraftool.storage.bundle_names import bundle_place, each_node
from kraftool.storage.paths import directories_of

Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class ReadQuorum:
    """The content of PATHs."""

    directories: Mapping[str, ReadDirectory]
    """By the names of their hosts."""
    lost: tuple[str, ...] = ()
    """The server.properties of lost nodes, whose directories are not there."""

    @classmethod
    def of(cls, read: Sequence[ReadDirectory], lost: Sequence[str] = ()) -> ReadQuorum:
        names = host_names([directory.survey for directory in read])
        return cls(with_runs_restored(dict(zip(names, read, strict=True))), tuple(lost))

    @property
    def surveys(self) -> tuple[Survey, ...]:
        return tuple(directory.survey for directory in self.directories.values())

    @property
    def restored(self) -> dict[str, Survey]:
        """The surveys of what restorations will leave."""
        return {name: one.restored for name, one in self.directories.items() if one.restored}

    @property
    def paths(self) -> dict[str, str]:
        """The directories on this host; none for a tar stream."""
        return {name: one.path for name, one in self.directories.items() if one.path}

    def asked(self, request: PlanRequest) -> PlanRequest:
        """The request with what was read."""
        logs = {name: one.segments for name, one in self.directories.items() if one.open}
        return replace(request, surveys=self.surveys, restored=self.restored, logs=logs)


def read_quorum(
    paths: Sequence[str],
    *,
    now_ms: int,
    at: int | None = None,
    lost: Collection[int] = (),
    progress: Progress = lambda name, position: None,
) -> ReadQuorum:
    """The surveys of PATHs and collect files, and the logs that can be read. `lost` are nodes whose
    server.properties may lead nowhere."""
    read: list[ReadDirectory] = []
    paths = [_collected(path) for path in each_node(paths)]
    missing = [one for path in paths if (one := missing_directory(path)) is not None]
    refuse_missing_directories(missing, lost)
    gone = [one.file for one in missing]
    for path in paths:
        if path in gone:
            continue
        if collect_file.is_collect_file(path):
            read += collect_file.read(path).directories()
        else:
            read += read_directories(path, now_ms=now_ms, at=at, progress=progress)
    return ReadQuorum.of(with_copies(read), lost=gone)


def _collected(path: str) -> str:
    """The collect file of a bundle's node in the place of that."""
    place = bundle_place(path)
    if place is None:
        return path
    from kraftool.storage import bundle_files

    return bundle_files.collect_file(*place, directories_of) or path


def plan_for(request: PlanRequest) -> Plan:
    """The plan. Raises KraftoolError where none can be made, PlanRefused where none should be."""
    if not request.surveys:
        raise KraftoolError("there is nothing to plan for")
    plan = _asked_for(request)
    records = tuple(
        with_objects(lost, request.logs[lost.host]) if lost.host in request.logs else lost
        for lost in plan.loss.records
    )
    return replace(plan, loss=replace(plan.loss, records=records))


def _asked_for(request: PlanRequest) -> Plan:
    """The plan, unless it gives up what it could keep with the bytes of the logs."""
    kept = kept_by_directories(request.surveys, request.restored)
    is_accepted = Acceptance.COLLECT_FILES in request.accepted
    try:
        plan = _plan_for(request)
    except PlanRefused as refused:
        if kept and refused.is_loss and not is_accepted:
            raise _asking_for_directories(request, kept, refused) from refused
        raise
    kept = relevant(kept, plan.loss.records)
    if not kept:
        return plan
    names = listed(one.host for one in kept)
    risk = Risk(
        word=Acceptance.COLLECT_FILES.value,
        text=f"the plan was made without the bytes of the log of {names}",
    )
    if not is_accepted:
        raise _asking_for_directories(request, kept)
    loss = plan.loss
    rest = loss.text.removeprefix(f"{loss.verdict.value}: ")
    text = f"{loss.verdict.value}: {words(kept)}. As it is: {rest}"
    return replace(plan, loss=replace(loss, text=text), risks=(risk, *plan.risks))


def _asking_for_directories(
    request: PlanRequest, kept: Sequence[KeptByDirectory], refused: PlanRefused | None = None
) -> PlanRefused:
    """Return the refusal of a plan that gives up what it could keep with the logs' bytes."""
    asked = [Acceptance.COLLECT_FILES.value, *(refused.words if refused is not None else ())]
    options = " ".join(f"--accept {word}" for word in dict.fromkeys(asked))
    without = f". Without these: {refused.message}" if refused is not None else ""
    return PlanRefused(
        f"{words(kept)}{without}",
        hint="copy the metadata of each directory to here, and name the copies in addition to the"
        f" collect files. If you cannot, and accept the loss, add {options}",
        words=asked,
        archives=tuple(archive_commands(request.surveys)),
    )


def _plan_for(request: PlanRequest) -> Plan:
    quorum = surveyed_quorum(request)
    is_lost = quorum.is_lost or request.rollback is not None or request.seed is not None
    if is_lost:
        quorum = with_rests_behind_damage(quorum)
    plan = majority_plan(quorum) if is_lost else mending_plan(quorum)
    refuse_second_leader(plan, quorum)
    refuse_contradiction(plan)
    return with_restorations(doubted(plan, request), quorum.hosts)
