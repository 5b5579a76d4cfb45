"""The same bytes, the same findings: what the walk finds, every command that reads the log finds.

The logs are every damaged fixture with batches, three edits that commands once disagreed on, and
500 seeded edits of a log of two segments that Kafka 4.3.0 wrote.
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
from kraftool.repair.surveying import survey_path
from kraftool.reports.browse.rows import LogRow, RowKind
from kraftool.reports.browse.window import LogWindow
from kraftool.reports.directory import read_location
from kraftool.reports.doctor.read import examine
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.findings import Finding
from kraftool.reports.kinds import log as kinds
from kraftool.reports.state.load import load_state
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.paths import open_path
from kraftool.storage.source import BytesSource
from tests.decoders.log_edits import edited
from tests.reports.timeline_logs import timeline as told_by_timeline

FIXTURES = Path(__file__).parents[2] / "fixtures"
WHOLE = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"
DAMAGED = sorted(each for each in (FIXTURES / "damaged").glob("*/*.log") if each.stem.isdigit())
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
    found: list[tuple[str, Faulty]] = []
    state = BEGINNING
    for each in segments(directory):
        walk = Walk(BytesSource(each.name, each.read_bytes()).read_at, state.next_segment())
        found += [(each.name, item) for item in walk if isinstance(item, Faulty)]
        state = walk.state
    return found


def word(kind: FaultKind) -> str:
    known = (FaultKind.CRC, FaultKind.GAP, FaultKind.EPOCH_BACK)
    return kind.value if kind in known else _DAMAGE


def places(found: Iterable[tuple[str, Faulty]]) -> Places:
    return {(file, word(each.fault.kind), each.fault.position) for file, each in found}


def of_findings(findings: Iterable[Finding]) -> Places:
    found: Places = set()
    for each in findings:
        if each.code in _WORDS and each.file.endswith(".log"):
            name, code = os.path.basename(each.file), _WORDS[each.code]
            for place in (each, *each.places):
                assert place.position is not None, place
                found.add((name, code, place.position))
    return found


def dump(directory: Path) -> Places:
    return of_findings(read_location(open_path(str(directory))).all_findings)


def verify_log(directory: Path) -> Places:
    return of_findings(verify_logs([open_path(str(directory))]).all_findings)


def doctor(directory: Path) -> Places:
    return of_findings(diagnose(examine([open_path(str(directory))])).findings)


def timeline(directory: Path) -> Places:
    return of_findings(told_by_timeline(directory).findings)


def browse(directory: Path) -> Places:
    found: Places = set()
    window = LogWindow(str(directory))
    for row in rows(window):
        if row.kind in (RowKind.GAP, RowKind.DAMAGE) and row.label != FaultKind.RECORDS:
            kind = word(FaultKind(row.label))
            found.add((os.path.basename(row.file), kind, row.position))
    window.close()
    return found


def rows(window: LogWindow) -> Iterator[LogRow]:
    place = window.start
    while place is not None:
        page = window.forward(place, 1000)
        yield from page.rows
        place = page.resume


WHOLE_LOG: list[Callable[[Path], Places]] = [dump, verify_log, doctor, timeline, browse]


def replayed(faults: list[tuple[str, Faulty]]) -> Iterator[tuple[str, Faulty]]:
    """The faults up to the batch at which the log cannot be replayed any more."""
    end: tuple[str, int] | None = None
    for file, each in faults:
        if end is None or end == (file, each.position):
            yield file, each
        if end is None and (each.fault.cuts or each.fault.kind is FaultKind.GAP):
            end = file, each.position


def begins_late(directory: Path) -> bool:
    """True if the first batch is later than the name says. A state has a gap for it; the other
    commands find a wrong file name."""
    first = segments(directory)[0]
    sound = (each for each in Walk(lambda at, size: first.read_bytes()[at : at + size]))
    batch = next((each for each in sound if not isinstance(each, Faulty)), None)
    return batch is not None and batch.position == 0 and batch.base_offset != int(first.stem)


def check(directory: Path) -> None:
    """Every command finds in a log what the walk finds."""
    faults = walked(directory)
    expected = places(faults)
    for command in WHOLE_LOG:
        assert command(directory) == expected, command.__name__
    if not begins_late(directory):
        assert of_findings(load_state(str(directory)).findings) == places(replayed(faults))
    (survey,) = survey_path(str(directory), now_ms=0)
    log = survey.log
    assert log is not None
    if faults:
        file, first = faults[0]
        assert log.broken is not None
        # A plan trusts less: of two batches whose epochs contradict each other, neither.
        broken = f"{log.broken.segment:020}.log", log.broken.position
        assert broken <= (file, first.position)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A directory with two segments that have nothing wrong, and no snapshot."""
    target = tmp_path / "data"
    shutil.copytree(WHOLE, target)
    for each in (target / LOG).iterdir():
        if each.suffix in (".checkpoint", ".index", ".timeindex", ".snapshot"):
            each.unlink()
    (log,) = segments(target)
    data = log.read_bytes()
    batches = [
        each
        for each in scan(lambda at, size: data[at : at + size])
        if isinstance(each, RecordBatch)
    ][:BATCHES]
    middle, end = batches[BATCHES // 2], batches[-1]
    log.write_bytes(data[: middle.position])
    following = log.with_name(f"{middle.base_offset:020}.log")
    following.write_bytes(data[middle.position : end.position + end.size])
    return target


def batches_of(path: Path) -> tuple[bytearray, list[RecordBatch]]:
    data = path.read_bytes()
    found = scan(lambda at, size: data[at : at + size])
    return bytearray(data), [each for each in found if isinstance(each, RecordBatch)]


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
    told = read_location(open_path(str(directory))).all_findings
    assert "KT-DIR-EPOCHS-DIFFER" not in {each.code for each in told}


def test_the_record_count_of_a_damaged_batch(directory: Path) -> None:
    data, batches = batches_of(segments(directory)[0])
    counted = next(each for each in batches[1:] if each.header.record_count > 1)
    data[counted.position + 60] ^= 1
    segments(directory)[0].write_bytes(data)
    check(directory)
    told = read_location(open_path(str(directory))).all_findings
    assert [each.code for each in told if each.code.startswith("KT-LOG")] == [kinds.CRC.code]


@pytest.mark.parametrize("log", DAMAGED, ids=lambda each: each.parent.name)
def test_a_damaged_fixture(log: Path, directory: Path) -> None:
    for each in segments(directory):
        each.unlink()
    shutil.copy(log, directory / LOG / log.name)
    check(directory)


@pytest.mark.parametrize("seed", SEEDS)
def test_seeded_edits(seed: int, directory: Path) -> None:
    path = segments(directory)[seed % 2]
    path.write_bytes(edited(path.read_bytes(), seed))
    check(directory)
