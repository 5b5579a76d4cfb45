"""--explain: every code, with what belongs to it; words that are no code."""

from __future__ import annotations

import re

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.doctor.explain import explain
from kraftool.reports.findings.kinds import KINDS


def test_the_list_has_every_code_in_order() -> None:
    listed = [explanation.code for explanation in explain("list")]
    assert listed == sorted(KINDS)
    families = {"LOG", "SNAP", "DIR", "SIG", "FLEET", "LIVE", "REC", "BAK"}
    assert {code.split("-")[1] for code in listed} == families


def test_a_code_has_its_meaning_advice_and_references() -> None:
    (explanation,) = explain("kt-sig-auto-join")
    assert explanation.severity == "warning"
    assert "auto.join.enable" in explanation.meaning
    assert explanation.advice
    assert explanation.references[0] == "KIP-853"


def test_references_have_the_form_of_kips_and_pull_requests() -> None:
    references = {reference for kind in KINDS.values() for reference in kind.references}
    assert len(references) > 20
    assert all(re.fullmatch(r"KIP-\d+|apache/kafka #\d+", reference) for reference in references)


def test_what_was_observed_begins_with_the_releases() -> None:
    observed = [fact for kind in KINDS.values() for fact in kind.observed]
    assert len(observed) > 25
    release = re.compile(r"(?:\d\.\d+\.\d|From the source)\b")
    assert [fact for fact in observed if not release.match(fact)] == []
    (explanation,) = explain("KT-SNAP-SCRAM-LOST")
    assert explanation.observed == KINDS["KT-SNAP-SCRAM-LOST"].observed != ()


def test_applied_offset_is_said_to_be_no_evidence() -> None:
    assert "appliedOffset" in explain("KT-DIR-QUORUM-STATE")[0].note


def test_a_word_that_is_no_code_is_answered_with_near_ones() -> None:
    with pytest.raises(KraftoolError) as caught:
        explain("AUTO-JOIN")
    assert "KT-SIG-AUTO-JOIN" in caught.value.hint
