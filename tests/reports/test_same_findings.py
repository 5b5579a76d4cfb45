"""The same bytes, the same findings: what the walk finds, every command that reads the log finds.

The logs are every damaged fixture with batches, three edits that commands once disagreed on, 500
seeded edits of a log of two segments that Kafka 4.3.0 wrote, and 100 of its records, under a right
CRC. Snapshots are every damaged fixture with one, and 100 seeded edits of one. Spark's audit has
such a test in tests/spark/test_same_findings_audit.py.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.fault import FaultKind
from kraftool.decoders.segment import scan
from kraftool.decoders.walk import BEGINNING, Faulty, Walk
from kraftool.repair.narration import complaints
from kraftool.reports.browse.blocks import RowPlace
from kraftool.reports.browse.rows import LogRow, RowKind
from kraftool.reports.browse.window import LogWindow
from kraftool.reports.directory.report import read_location
from kraftool.reports.doctor.read import examine
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import log as kinds
from kraftool.reports.findings.kinds import snapshot as snapshot_kinds
from kraftool.reports.state.load import load_state
from kraftool.reports.verify.log import verify_logs
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.paths import open_path
from kraftool.storage.source import BytesSource
from tests.decoders.log_edits import edited, edited_records
from tests.repair.directories import survey_path
from tests.reports.timeline_logs import timeline as told_by_timeline
from tests.support.places import FIXTURES

pytestmark = pytest.mark.slow

WHOLE = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"
DAMAGED = sorted(path for path in (FIXTURES / "damaged").glob("*/*.log") if path.stem.isdigit())
LOG = "__cluster_metadata-0"
SEEDS = range(500)
BATCHES = 40

Places = set[tuple[str, str, int]]
"""File, what is wrong, position."""
_DAMAGE = "damage"
_WORDS = {
    kinds.CRC.code: FaultKind.CRC.value,
    kinds.GAP.code: FaultKind.GAP.value,
    kinds.EPOCH_BACK.code: FaultKind.EPOCH_BACK.value,
    kinds.TORN_TAIL.code: _DAMAGE,
    kinds.ZERO_TAIL.code: _DAMAGE,
    kinds.DAMAGE.code: _DAMAGE,
    kinds.MAGIC.code: _DAMAGE,
}


def segments(directory: Path) -> list[Path]:
    return sorted((directory / LOG).glob("*.log"))


def walked(directory: Path) -> list[tuple[str, Faulty]]:
    """The faults of a log, in order."""
    faults: list[tuple[str, Faulty]] = []
    state = BEGINNING
    for segment in segments(directory):
        walk = Walk(BytesSource(segment.name, segment.read_bytes()).read_at, state.next_segment())
        faults += [(segment.name, item) for item in walk if isinstance(item, Faulty)]
        state = walk.state
    return faults


def word(kind: FaultKind) -> str:
    known = (FaultKind.CRC, FaultKind.GAP, FaultKind.EPOCH_BACK)
    return kind.value if kind in known else _DAMAGE


def places(faults: Iterable[tuple[str, Faulty]]) -> Places:
    return {(file, word(faulty.fault.kind), faulty.fault.position) for file, faulty in faults}


def of_findings(findings: Iterable[Finding]) -> Places:
    places_seen: Places = set()
    for finding in findings:
        if finding.code in _WORDS and finding.file.endswith(".log"):
            name, code = os.path.basename(finding.file), _WORDS[finding.code]
            positions = [finding.position, *(place.position for place in finding.places)]
            for position in positions:
                assert position is not None, finding
                places_seen.add((name, code, position))
    return places_seen


def dump(directory: Path) -> Places:
    return of_findings(read_location(open_path(str(directory))).all_findings)


def verify_log(directory: Path) -> Places:
    return of_findings(verify_logs([open_path(str(directory))]).rows)


def doctor(directory: Path) -> Places:
    return of_findings(diagnose(examine([open_path(str(directory))])).findings)


def timeline(directory: Path) -> Places:
    return of_findings(told_by_timeline(directory).findings)


def browse(directory: Path) -> Places:
    places_seen: Places = set()
    window = LogWindow(str(directory))
    for row in rows(window):
        if row.kind in (RowKind.GAP, RowKind.DAMAGE) and row.label != FaultKind.RECORDS:
            kind = word(FaultKind(row.label))
            places_seen.add((os.path.basename(row.file), kind, row.position))
    window.close()
    return places_seen


def rows(window: LogWindow) -> Iterator[LogRow]:
    place: RowPlace | None = window.start
    while place is not None:
        page = window.forward(place, 1000)
        yield from page.rows
        place = page.resume


Found = Callable[[Path], Iterable[Finding]]

RECORDS = (kinds.RECORDS.code, kinds.UNKNOWN_TYPE.code)
READERS: list[tuple[str, Found]] = [
    ("dump", lambda at: read_location(open_path(str(at))).all_findings),
    ("verify-log", lambda at: verify_logs([open_path(str(at))]).rows),
    ("doctor", lambda at: diagnose(examine([open_path(str(at))])).findings),
    ("timeline", lambda at: told_by_timeline(at).findings),
    ("state", lambda at: load_state(str(at)).findings),
]


def of_records(findings: Iterable[Finding]) -> dict[tuple[str, str], int | None]:
    """The first position of what is wrong inside records, by file and code. Reports that count
    records by type give the first of a type, and others each record."""
    first: dict[tuple[str, str], int | None] = {}
    for finding in findings:
        if finding.code in RECORDS:
            first.setdefault((os.path.basename(finding.file), finding.code), finding.position)
    return first


def check_records(directory: Path) -> dict[tuple[str, str], int | None]:
    """Every command that decodes records finds the same wrong ones."""
    places_by_reader = {name: of_records(findings(directory)) for name, findings in READERS}
    for name, places in places_by_reader.items():
        assert places == places_by_reader["dump"], name
    return places_by_reader["dump"]


WHOLE_LOG: list[Callable[[Path], Places]] = [dump, verify_log, doctor, timeline, browse]


def replayed(faults: list[tuple[str, Faulty]]) -> Iterator[tuple[str, Faulty]]:
    """The faults up to the batch at which the log cannot be replayed any more."""
    end: tuple[str, int] | None = None
    for file, faulty in faults:
        if end is None or end == (file, faulty.position):
            yield file, faulty
        if end is None and (faulty.fault.cuts or faulty.fault.kind is FaultKind.GAP):
            end = file, faulty.position


def begins_late(directory: Path) -> bool:
    """True if the first batch is later than the name says. A state has a gap for it; the other
    commands find a wrong file name."""
    first = segments(directory)[0]
    sound = (item for item in Walk(lambda at, size: first.read_bytes()[at : at + size]))
    batch = next((item for item in sound if not isinstance(item, Faulty)), None)
    return batch is not None and batch.position == 0 and batch.base_offset != int(first.stem)


def check(directory: Path) -> None:
    """Every command finds in a log what the walk finds."""
    faults = walked(directory)
    expected = places(faults)
    for command in WHOLE_LOG:
        assert command(directory) == expected, command.__name__
    is_late = begins_late(directory)
    if not is_late:
        assert of_findings(load_state(str(directory)).findings) == places(replayed(faults))
    (survey,) = survey_path(str(directory), now_ms=0)
    log = survey.log
    assert log is not None
    if faults:
        file, first = faults[0]
        assert log.broken is not None
        # A plan trusts less: of two batches whose epochs contradict each other, neither. And it
        # compares the first batch with the name of its file.
        broken = f"{log.broken.segment:020}.log", log.broken.position
        assert broken <= (file, first.position)
        if not is_late and all(
            faulty.fault.kind is not FaultKind.EPOCH_BACK for _, faulty in faults
        ):
            assert broken == (file, first.position)
    elif not is_late:
        assert log.broken is None
    named = [complaint for complaint in complaints(survey) if complaint.startswith("the log is ")]
    assert len(named) == (log.broken is not None)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with two segments that have nothing wrong, and no snapshot."""
    target = tmp_path / "data"
    shutil.copytree(WHOLE, target)
    for path in (target / LOG).iterdir():
        if path.suffix in (".checkpoint", ".index", ".timeindex", ".snapshot"):
            path.unlink()
    (log,) = segments(target)
    data = log.read_bytes()
    batches = [
        part
        for part in scan(lambda at, size: data[at : at + size])
        if isinstance(part, RecordBatch)
    ][:BATCHES]
    middle, end = batches[BATCHES // 2], batches[-1]
    log.write_bytes(data[: middle.position])
    following = log.with_name(f"{middle.base_offset:020}.log")
    following.write_bytes(data[middle.position : end.position + end.size])
    return target


def batches_of(path: Path) -> tuple[bytearray, list[RecordBatch]]:
    data = path.read_bytes()
    parts = scan(lambda at, size: data[at : at + size])
    return bytearray(data), [part for part in parts if isinstance(part, RecordBatch)]


def test_nothing_is_found_in_a_whole_log(directory: Path) -> None:
    assert walked(directory) == []
    check(directory)


def test_a_gap_behind_damage(directory: Path) -> None:
    data, batches = batches_of(segments(directory)[0])
    damaged, gone = batches[5], batches[9]
    data[damaged.position + damaged.size - 2] ^= 1
    del data[gone.position : gone.position + gone.size]
    segments(directory)[0].write_bytes(data)
    assert {kind for _, kind, _ in places(walked(directory))} == {"crc", "gap"}
    check(directory)


def test_the_epoch_of_a_damaged_batch(directory: Path) -> None:
    data, batches = batches_of(segments(directory)[0])
    at = batches[5].position
    data[at + 12 : at + 16] = (99).to_bytes(4, "big")
    data[at + 20] ^= 1
    segments(directory)[0].write_bytes(data)
    assert {kind for _, kind, _ in places(walked(directory))} == {"crc"}
    check(directory)
    findings = read_location(open_path(str(directory))).all_findings
    assert "KT-DIR-EPOCHS-DIFFER" not in {finding.code for finding in findings}


def test_the_record_count_of_a_damaged_batch(directory: Path) -> None:
    data, batches = batches_of(segments(directory)[0])
    counted = next(batch for batch in batches[1:] if batch.header.record_count > 1)
    data[counted.position + 60] ^= 1
    segments(directory)[0].write_bytes(data)
    check(directory)
    findings = read_location(open_path(str(directory))).all_findings
    assert [finding.code for finding in findings if finding.code.startswith("KT-LOG")] == [
        kinds.CRC.code
    ]


@pytest.mark.parametrize("log", DAMAGED, ids=lambda path: path.parent.name)
def test_a_damaged_fixture(log: Path, directory: Path) -> None:
    for segment in segments(directory):
        segment.unlink()
    shutil.copy(log, directory / LOG / log.name)
    check(directory)
    if not any(faulty.fault.cuts for _, faulty in walked(directory)):
        check_records(directory)


@pytest.mark.parametrize("seed", SEEDS)
def test_seeded_edits(seed: int, directory: Path) -> None:
    path = segments(directory)[seed % 2]
    path.write_bytes(edited(path.read_bytes(), seed))
    check(directory)


@pytest.mark.parametrize("seed", range(100))
def test_seeded_edits_of_records(seed: int, directory: Path) -> None:
    path = segments(directory)[seed % 2]
    path.write_bytes(edited_records(path.read_bytes(), seed))
    check_records(directory)


def test_edits_of_records_make_findings_of_both_kinds(directory: Path) -> None:
    path, whole = segments(directory)[0], segments(directory)[0].read_bytes()
    codes: set[str] = set()
    for seed in range(20):
        path.write_bytes(edited_records(whole, seed))
        codes |= {code for _, code in of_records(READERS[0][1](directory))}
    assert codes == set(RECORDS)


# Snapshots: what is wrong with their batches, form and names.

FORM = (
    snapshot_kinds.DAMAGE.code, snapshot_kinds.FORM.code, snapshot_kinds.FILE_NAME.code,
)  # fmt: skip
DAMAGED_SNAPSHOTS = sorted((FIXTURES / "damaged").glob("*/*.checkpoint"))


def of_snapshot(findings: Iterable[Finding]) -> set[tuple[str, int | None, int | None]]:
    return {
        (finding.code, place.position, place.offset)
        for finding in findings
        if finding.code in FORM
        for place in (finding.fault, *finding.places)
    }


def check_snapshot(directory: Path) -> None:
    """Every command finds the same in a snapshot; verify-snapshot, which reads all of its control
    records, at least that."""
    by_reader = {name: of_snapshot(findings(directory)) for name, findings in READERS}
    for name, places in by_reader.items():
        assert places == by_reader["dump"], name
    verified = of_snapshot(verify_snapshots([open_path(str(directory))]).all_findings)
    assert by_reader["dump"] <= verified


@pytest.mark.parametrize(
    "snapshot", DAMAGED_SNAPSHOTS, ids=lambda checkpoint: checkpoint.parent.name
)
def test_a_damaged_snapshot(snapshot: Path, directory: Path) -> None:
    for segment in segments(directory):
        segment.unlink()
    shutil.copy(snapshot, directory / LOG / snapshot.name)
    assert of_snapshot(READERS[0][1](directory))
    check_snapshot(directory)


@pytest.mark.parametrize("seed", range(100))
def test_seeded_edits_of_a_snapshot(seed: int, directory: Path) -> None:
    for segment in segments(directory):
        segment.unlink()
    newest = max((WHOLE / LOG).glob("*.checkpoint"))
    (directory / LOG / newest.name).write_bytes(edited(newest.read_bytes(), seed))
    check_snapshot(directory)
