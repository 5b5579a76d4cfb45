"""Mutes: what they leave out, and when it comes back."""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.findings.kinds import live as kinds
from kraftool.reports.findings.mutes import FindingFilter, Mute, MuteError, read_mutes

CODES = frozenset(KINDS)
NOON = 1_800_000_000_000
LAG = [kinds.LAG.at(f"voter {number}", "behind") for number in (1, 2)]


def _filter(*mutes: Mute, now_ms: int = NOON, ignored: tuple[str, ...] = ()) -> FindingFilter:
    return FindingFilter(ignored_codes=frozenset(ignored), mutes=mutes, now_ms=now_ms)


def _mute(**changed: object) -> Mute:
    values: dict[str, Any] = {
        "code": "KT-LIVE-LAG", "until": NOON + 1, "reason": "known", "count": 2, **changed,
    }  # fmt: skip
    return Mute(**values)


def test_a_mute_leaves_out_its_code_and_nothing_else() -> None:
    other = kinds.SILENT.at("voter 3", "silent")
    chosen = _filter(_mute()).of([*LAG, other])
    assert chosen.kept == (other,)
    assert [one.finding for one in chosen.muted] == LAG
    assert {one.mute.reason for one in chosen.muted} == {"known"}


def test_all_come_back_when_there_are_more_than_it_covers() -> None:
    assert _filter(_mute(count=1)).of(LAG).kept == tuple(LAG)
    assert _filter(_mute(count=1)).of(LAG[:1]).kept == ()


def test_they_come_back_when_the_time_is_over() -> None:
    mute = _mute()
    assert not _filter(mute, now_ms=NOON).of(LAG).kept
    assert _filter(mute, now_ms=NOON + 1).of(LAG).kept == tuple(LAG)


@pytest.mark.parametrize(("subject", "kept"), [("voter *", []), ("voter 1", ["voter 2"])])
def test_a_subject_is_a_pattern(subject: str, kept: list[str]) -> None:
    chosen = _filter(_mute(subject=subject)).of(LAG)
    assert [finding.file for finding in chosen.kept] == kept


def test_ignored_codes_are_counted_and_not_listed() -> None:
    chosen = _filter(ignored=("KT-LIVE-LAG",)).of(LAG)
    assert (chosen.kept, chosen.ignored, chosen.muted) == ((), 2, ())


def test_a_file_has_mutes_with_a_day_up_to_its_end_or_a_time() -> None:
    day, time = read_mutes(
        b"""
- {code: kt-live-lag, until: 2027-01-31, reason: disk ordered}
- {code: KT-LIVE-EVEN-VOTERS, subject: "x*", count: 3, until: "2027-01-10T12:00:00+02:00",
   reason: soon}
""",
        "mutes.yaml",
        CODES,
    )
    assert (day.code, day.subject, day.count) == ("KT-LIVE-LAG", "*", 1)
    assert day.until == 1_801_440_000_000, "2027-02-01T00:00:00Z"
    assert time.until == 1_799_575_200_000, "2027-01-10T10:00:00Z"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: b", "not a list"),
        ("- x", "entry 1: not a mapping"),
        ("- [", "mutes.yaml: line 1: "),
        ("- {code: KT-LIVE-LAG, until: 2027-01-31, until: 2037-01-31, reason: x}", "until twice"),
        ("- {code: KT-NO, until: 2027-01-31, reason: x}", "KT-NO is not a finding code"),
        ("- {code: KT-LIVE-LAG, reason: x}", "until when"),
        ("- {code: KT-LIVE-LAG, until: soon, reason: x}", "soon is not a date"),
        ("- {code: KT-LIVE-LAG, until: 2027-01-31}", "no reason"),
        ("- {code: KT-LIVE-LAG, until: 2027-01-31, reason: x, count: 0}", "count 0"),
        ("- {code: KT-LIVE-LAG, until: 2027-01-31, reason: x, file: y}", "file is not one of"),
    ],
)
def test_what_is_not_understood_is_an_error_and_no_mute(text: str, words: str) -> None:
    with pytest.raises(MuteError) as raised:
        read_mutes(text.encode(), "mutes.yaml", CODES)
    assert words in raised.value.message


def test_an_empty_file_mutes_nothing() -> None:
    assert read_mutes(b"# nothing\n", "mutes.yaml", CODES) == ()
