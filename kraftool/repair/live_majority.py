"""A majority of the voters that runs while other nodes are repaired: the plan leaves it running.

Owns when that is so, and what a plan may take from a node that runs: files that never change. It
refuses to find out if the running voters have a leader: the plan asks for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kraftool.decoders.names import write_segment_name
from kraftool.repair.cases.model import Mend
from kraftool.repair.plan import Edit
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.repair.ranking import Host
from kraftool.repair.start_order import StartOrder
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.text.words import listed


def live_majority(quorum: SurveyedQuorum, mends: Sequence[Mend] = ()) -> tuple[Host, ...]:
    """The voters that run, if they are a majority and the plan changes no node that runs."""
    changed = {mend.host.name for mend in mends if mend.edits or mend.settings}
    running = [host for host in quorum.hosts if host.survey.running]
    voters = tuple(host for host in running if quorum.votes(host))
    is_untouched = all(host.name not in changed for host in running)
    return voters if is_untouched and 0 < quorum.majority <= len(voters) else ()


def left_running(
    quorum: SurveyedQuorum, mends: Sequence[Mend], order: StartOrder | None
) -> tuple[Host, ...]:
    """The running majority, unless another voter has to start before it."""
    live = live_majority(quorum, mends)
    first = set(order.first) if order is not None else set()
    return live if first <= {host.node_id for host in live} else ()


def described(live: Sequence[Host]) -> Iterator[str]:
    """Yield that the nodes that run are left running."""
    if live:
        names = listed(host.name for host in live)
        if len(live) == 1:
            yield f"{names} is running, and is the only voter: leave it running."
        else:
            yield f"{names} are running, and are a majority of the voters: leave them running."


def takes_what_may_change(quorum: SurveyedQuorum, mends: Sequence[Mend]) -> bool:
    """True if the plan takes a file from a node that runs, and the node may change that file."""
    return any(
        files is None or any(not _is_immutable(file, host) for file in files)
        for host in quorum.hosts
        if host.survey.running
        for files in (used_of(host, (edit for mend in mends for edit in mend.edits)),)
    )


def used_of(host: Host, edits: Iterable[Edit]) -> tuple[PlanFile, ...] | None:
    """The files of a host that another host's new files are made of; None if it is all of it."""
    files: dict[str, PlanFile] = {}
    for edit in edits:
        if edit.snapshot is not None and edit.snapshot.source == host.name:
            return None
        for piece in edit.pieces:
            if piece.source == host.name and piece.file is not None:
                files[piece.file.path] = piece.file
    return tuple(files[path] for path in sorted(files))


def _is_immutable(file: PlanFile, host: Host) -> bool:
    """True for a snapshot, and for a segment that another one follows."""
    if file.kind is PlanFileKind.SNAPSHOT:
        return True
    log = host.survey.log
    if file.kind is not PlanFileKind.SEGMENT or log is None:
        return False
    return any(file.name == write_segment_name(segment, ".log") for segment in log.segments[:-1])
