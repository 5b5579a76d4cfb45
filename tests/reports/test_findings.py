"""One finding for each kind and file, with the number of its places."""

import struct
from pathlib import Path

import pytest

from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.findings.kinds import log as kinds
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.paths import open_path


def test_places_of_one_kind_in_one_file_become_one_finding() -> None:
    alike = [kinds.CRC.at("a.log", "bad", position=position) for position in range(30)]
    other = kinds.CRC.at("b.log", "bad", position=7)
    whole = kinds.REPLAY.at("a.log", "about the whole file")
    rest = kinds.CRC.at("a.log", "5 more such places", count=5)
    (first, second, third) = in_order([*alike, other, whole, rest])
    assert (first.position, first.count) == (0, 35)
    assert [place.position for place in first.places] == list(range(1, 10))
    assert (second, third) == (other, whole)
    assert in_order([first, second, third]) == (first, second, third), "merging twice adds nothing"


def test_findings_without_a_place_or_of_another_severity_are_not_merged() -> None:
    about = [kinds.CRC.at("dir", text) for text in ("node 1", "node 2")]
    info = kinds.CRC.at("dir", "old", position=1, severity=Severity.INFO)
    error = kinds.CRC.at("dir", "new", position=2)
    assert len(in_order([*about, info, error])) == 4


@pytest.mark.parametrize(
    ("suffix", "entry"), [("index", struct.pack(">ii", -5, -5)), ("timeindex", b"\xff" * 12)]
)
def test_a_damaged_index_is_one_finding_that_counts_all_entries(
    tmp_path: Path, suffix: str, entry: bytes
) -> None:
    """Real indexes have a million entries; 100 of them were a finding each."""
    path = tmp_path / f"{0:020}.{suffix}"
    path.write_bytes(entry * 5000 + b"x")
    findings: tuple[Finding, ...] = verify_logs([open_path(str(path))]).rows
    (finding,) = findings
    assert (finding.code, finding.count) == ("KT-LOG-INDEX", 5001)
    assert finding.places[0].position is not None


@pytest.mark.parametrize("code", sorted(KINDS))
def test_every_warning_and_error_says_what_to_do(code: str) -> None:
    """`doctor --explain` is where the runbook sends a reader: a meaning alone is a dead end."""
    kind = KINDS[code]
    assert kind.advice or kind.severity is Severity.INFO
