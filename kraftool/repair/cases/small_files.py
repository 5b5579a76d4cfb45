"""The small files: quorum-state, leader-epoch-checkpoint, partition.metadata, bootstrap.checkpoint,
stray names.

Owns that a promise is never forgotten: a lost quorum-state is not simply left to Kafka, which would
begin without the vote that the node may have given, but written with an epoch in which it can have
given none. What Kafka makes anew goes; what it believes though it is wrong goes, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import BOOTSTRAP_CHECKPOINT
from kraftool.repair.cases.model import Mend
from kraftool.repair.edit_builder import (
    LARGEST_EPOCH,
    PARTITION_METADATA,
    epochs_removed,
    quorum_state_of,
    removed,
)
from kraftool.repair.plan import Edit
from kraftool.repair.ranking import Host
from kraftool.repair.seed_choice import EPOCH_MARGIN
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.text.words import listed

_SWAPS = (".swap", ".cleaned")


def quorum_state(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    survey = host.survey
    state_survey = survey.quorum_state
    has_log = survey.log is not None and survey.log.end_offset > 0
    is_lost = state_survey.missing and (has_log or quorum.votes(host))
    if not is_lost and not state_survey.complaint:
        return
    why = (
        f"quorum-state cannot be read ({state_survey.complaint})" if state_survey.complaint else ""
    )
    why = why or "quorum-state is missing"
    unseen = _unseen(quorum, host)
    epoch = free_epoch(quorum, host)
    if epoch >= LARGEST_EPOCH:
        raise KraftoolError(
            f"{host.name}: {why}, and epoch {quorum.highest_epoch} is too close to the"
            " highest possible epoch: there is no room for one above it",
            hint="one of the files has a false epoch, for example in a checkpoint's name. Find it"
            " with kraftool doctor, move it away, and plan again",
        )
    text = f"{host.name}: {why}. The plan writes it with the epoch {epoch} and no vote,"
    if unseen:
        text += (
            f" far above every epoch known here: the epoch of voter {listed(unseen)} is"
            " unknown, and may be a later one. The next election begins above it"
        )
    else:
        text += (
            " one above the epochs of all other voters when they were read: it voted for none"
            " of them in that epoch or a later one"
        )
    if quorum.votes(host) and len(quorum.voters) > 1:
        text += ". If the file were deleted, the node would forget a vote that it may have given"
    yield Mend(
        case="quorum-state",
        host=host,
        text=text,
        edits=(
            quorum_state_of(
                survey,
                epoch,
                quorum.kraft_version,
                [voter.id for voter in quorum.voters],
                "so the node does not vote twice in an epoch",
            ),
        ),
    )


def free_epoch(quorum: SurveyedQuorum, host: Host) -> int:
    """An epoch in which a node has given no vote, and of which no leader is known."""
    return quorum.highest_epoch + (EPOCH_MARGIN if _unseen(quorum, host) else 1)


def _unseen(quorum: SurveyedQuorum, host: Host) -> list[int]:
    """The other voters whose epoch is not known."""
    known = {host.node_id, *(host.node_id for host in quorum.hosts if _tells_epoch(host))}
    return [voter.id for voter in quorum.voters if voter.id not in known]


def _tells_epoch(host: Host) -> bool:
    state = host.survey.quorum_state
    return not state.missing and not state.complaint


def leader_epochs(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    complaint = host.survey.epochs_complaint
    edits = epochs_removed(host.survey)
    if complaint and edits:
        yield Mend(
            case="leader-epochs",
            host=host,
            text=f"{host.name}: leader-epoch-checkpoint contradicts the log ({complaint}): Kafka"
            " would refuse it or trust it. The plan removes it, and Kafka recreates it from"
            " the log",
            edits=edits,
        )


def partition_metadata(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    complaint = host.survey.topic_id_complaint
    edit = removed(host.survey, PARTITION_METADATA.name, "Kafka recreates it")
    if complaint and edit is not None:
        yield Mend(
            case="partition-metadata",
            host=host,
            text=f"{host.name}: partition.metadata is wrong ({complaint}): Kafka refuses to start"
            " on it. The plan removes it, and Kafka recreates it",
            edits=(edit,),
        )


def bootstrap(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    """Kafka reads it at every start, and uses it where no metadata was ever written."""
    complaint = host.survey.bootstrap_complaint
    edit = removed(host.survey, BOOTSTRAP_CHECKPOINT, "a node that has metadata does not need it")
    if not complaint or edit is None or not host.has_metadata:
        return
    why = (
        f"{host.name}: bootstrap.checkpoint is damaged ({complaint}): Kafka may exit on it when it"
        " starts"
    )
    if all(host.survey.end.offset == 0 for host in quorum.hosts):
        raise KraftoolError(
            f"{why}, and no log given here has the first records yet. They are only in that file",
            hint="format the directory again, as it was formatted at first (kraftool format)",
        )
    yield Mend(
        case="bootstrap",
        host=host,
        text=f"{why}. Only a quorum without any metadata starts from this file. The plan removes"
        " it, and nothing replaces it",
        edits=(edit,),
    )


def stray_names(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    survey = host.survey
    names = [*survey.stopping]
    names += [
        file.target.name
        for file in survey.files
        if file.target.name.endswith(_SWAPS) and file.target.name not in names
    ]
    edits: list[Edit] = []
    for name in names:
        edit = removed(survey, name, "no file of a metadata log has such a name")
        if edit is not None:
            edits.append(edit)
    if edits:
        yield Mend(
            case="stray-names",
            host=host,
            text=f"{host.name}: {', '.join(edit.target.name for edit in edits)}: Kafka refuses to"
            " start on such a name, or would read the file as part of the log. The plan"
            " removes it",
            edits=tuple(edits),
        )
