"""The lines of collect on stderr about the directories.

Owns the sentences. Commands print them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.repair.survey import Survey
from kraftool.reports.text.words import many


def survey_lines(survey: Survey) -> Iterator[str]:
    """Yield what was found in one directory."""
    identity, end = survey.identity, survey.end
    who = f"node {survey.node_id}" if survey.node_id is not None else "an unknown node"
    log = survey.log
    if survey.log is None and not survey.snapshots:
        yield f"{survey.path}: {who}, without metadata"
    else:
        yield (
            f"{survey.path}: {who} of cluster {identity.cluster_id or 'unknown'}, readable up"
            f" to offset {end.offset} of epoch {end.epoch}"
        )
    if survey.running:
        yield (
            "  a process is running on it. A plan can use its snapshots and closed segments. To"
            " have this node repaired, stop it and collect again"
        )
    for complaint in complaints(survey):
        yield f"  {complaint}"
    if log is not None and log.open_transaction is not None:
        yield f"  a metadata transaction is open since offset {log.open_transaction}"
    then = survey.earlier
    if then is not None and not (then.whole and then.records_sha256):
        why = then.complaint or "the records before the log are missing"
        yield f"  it does not have the state at offset {then.end_offset}: {why}"


def complaints(survey: Survey) -> Iterator[str]:
    """Yield what is wrong with a directory, one sentence each."""
    log = survey.log
    if survey.half_done:
        yield f"a recovery plan is half done here: {survey.half_done}"
    if survey.meta_complaint:
        yield f"meta.properties: {survey.meta_complaint}"
    if survey.quorum_state.complaint:
        yield f"quorum-state: {survey.quorum_state.complaint}"
    if survey.quorum_state.missing and log is not None:
        yield "quorum-state is missing"
    if log is None and any(surveyed_snapshot.offset > 0 for surveyed_snapshot in survey.snapshots):
        yield "there is no segment of a log next to the snapshots"
    elif log is None and survey.has_epochs:
        yield "there is no segment of a log, but leader-epoch-checkpoint shows that there was one"
    if log is not None and log.broken is not None:
        broken = log.broken
        yield (
            f"the log is {'torn' if broken.torn else 'damaged'} from offset {broken.offset} on:"
            f" {broken.reason}"
            + (
                f"; after it: {many(broken.lost_batches, 'whole batch')}"
                if broken.lost_batches
                else ""
            )
        )
    for snapshot in survey.live_snapshots:
        if not snapshot.intact:
            yield f"{snapshot.name}: {snapshot.complaint}"
    for edit in survey.flipped:
        for bit in edit.flipped:
            yield f"{edit.target.name}: {bit.describe()}"
    for misfit in log.misfits if log is not None else ():
        yield f"offset {misfit.offset} has a record that cannot be applied: {misfit.text}"
    if survey.state is not None and not survey.state.whole:
        complaint = survey.state.complaint or "the records before the log are missing"
        yield f"no whole state: {complaint}"
    for complaint, file in (
        (survey.epochs_complaint, "leader-epoch-checkpoint"),
        (survey.topic_id_complaint, "partition.metadata"),
    ):
        if complaint:
            yield f"{file}: {complaint}"
    if survey.bootstrap_complaint and (log is not None or survey.snapshots):
        yield f"bootstrap.checkpoint: {survey.bootstrap_complaint}"
    for name in survey.stopping:
        yield f"{name}: Kafka refuses to start on a file of this name"
    yield from survey.unread


def is_well(survey: Survey) -> bool:
    """True if nothing is wrong but a torn tail, which Kafka cuts off by itself."""
    torn = survey.log is not None and survey.log.broken is not None and survey.log.broken.torn
    return len(list(complaints(survey))) <= int(torn)
