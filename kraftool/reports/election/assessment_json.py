"""The member `assessment` of every JSON document that judges a quorum at rest."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.json_marks import Inline
from kraftool.reports.election.assessment import Assessment
from kraftool.reports.election.assessment_words import sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessmentObject:
    """The judgement of the quorum at rest, from the directories. It is the same in every command
    that judges the quorum."""

    assessment: Inline[Assessment]
    reasons: tuple[str, ...]
    """The same in sentences for people; not for programs."""


def assessment_json(assessment: Assessment) -> AssessmentObject:
    """Return the member."""
    return AssessmentObject(assessment=assessment, reasons=tuple(sentences(assessment)))
