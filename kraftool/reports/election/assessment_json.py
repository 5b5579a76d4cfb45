"""The member `assessment` of every JSON document that judges a quorum at rest."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.json_marks import Ids
from kraftool.reports.election.assessment import (
    Assessment,
    ForgetfulVoter,
    LaggingVoter,
    LossBound,
    NextStep,
    QuorumSafety,
)
from kraftool.reports.election.assessment_words import sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRange:
    """Offsets of records that may be lost."""

    first_offset: int
    last_offset: int | None
    """null if no end is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentObject:
    """The judgement of the quorum at rest, from the directories. It is the same in every command
    that judges the quorum."""

    is_live: bool
    """True if a leader reported the log ends, and no directory was read."""
    state: QuorumSafety
    """safe: no possible leader lacks a record that may be committed. at risk: a possible leader
    lacks one. no leader: no given node can win. unknown: the voters are not known, or there are
    more than 7."""
    may_be_committed_to: int | None
    """No record from this offset on can be committed. null if the directories do not show such an
    offset."""
    loss: LossBound
    """The worst loss of records that may be committed, over all orders of starts. possible:
    nothing, unless a directory is an old copy or lost its end."""
    lost_range: LostRange | None
    """null if no record may be lost."""
    voters: Ids
    """The voters by the most complete log."""
    not_given: Ids
    """Voters without a directory among those that were given."""
    can_lead: Ids
    """Nodes that can be elected with some set of voters. Nodes of `to_repair` cannot."""
    harmful: Ids
    """Those of them that may lack committed records."""
    forgetful: tuple[ForgetfulVoter, ...]
    """Voters that may have had more than their directory shows."""
    lagging: tuple[LaggingVoter, ...]
    """Given voters with a log that ends before the best log that was given."""
    next_step: NextStep
    start_first: Ids
    """If these voters start first and elect a leader, the others are safe to start."""
    to_repair: Ids
    """Voters that do not run, and on which Kafka exits when it starts."""
    is_on_minority: bool
    """True if what may be lost is on a minority of the voters, all of which were given. It is then
    uncommitted, unless a directory is an old copy or lost its end."""
    running: Ids
    """Voters whose processes ran when their directories were read. Their logs were read moments
    apart."""
    read_apart: Ids
    """Those of them whose log counts as long as that of another one, which was read later."""
    to_start: Ids
    """If some voters run: those that do not run and can be started, the best log first."""
    reasons: tuple[str, ...]
    """The same in sentences for people; not for programs."""


def assessment_json(assessment: Assessment) -> AssessmentObject:
    """Return the member."""
    lost = None
    if assessment.lost_range is not None:
        first, end = assessment.lost_range
        lost = LostRange(first_offset=first, last_offset=None if end is None else end - 1)
    return AssessmentObject(
        is_live=assessment.is_live,
        state=assessment.state,
        may_be_committed_to=assessment.may_be_committed_to,
        loss=assessment.loss,
        lost_range=lost,
        voters=assessment.voters,
        not_given=assessment.not_given,
        can_lead=assessment.can_lead,
        harmful=assessment.harmful,
        forgetful=assessment.forgetful,
        lagging=assessment.lagging,
        next_step=assessment.next_step,
        start_first=assessment.start_first,
        to_repair=assessment.to_repair,
        is_on_minority=assessment.is_on_minority,
        running=assessment.running.ids,
        read_apart=assessment.running.read_apart,
        to_start=assessment.running.to_start,
        reasons=tuple(sentences(assessment)),
    )
