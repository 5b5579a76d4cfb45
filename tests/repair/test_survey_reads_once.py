"""`recover plan` reads each log and snapshot once, and hashes what it read."""

from __future__ import annotations

import hashlib
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from kraftool.repair.plan import Fingerprint
from kraftool.repair.survey import Survey
from tests.repair.directories import survey_path
from tests.storage.read_counts import assert_read_once, count_bytes_read


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    return count_bytes_read(monkeypatch)


def survey(path: Path) -> Survey:
    (surveyed,) = survey_path(str(path), now_ms=0)
    return surveyed


@pytest.mark.parametrize("name", ["dynamic-quorum/node-2", "log-cleaning/node-1"])
def test_a_survey_reads_each_log_and_snapshot_once(
    name: str, fixtures_dir: Path, read: Counter[str]
) -> None:
    surveyed = survey(fixtures_dir / "kafka-4.3.0" / name / "data")
    assert surveyed.state is not None
    assert surveyed.state.whole
    assert_read_once(read)


@pytest.mark.parametrize("damaged", [slice(-3, None), slice(-200, -130)])
def test_a_survey_reads_only_damaged_bytes_again(
    damaged: slice,
    fixtures_dir: Path,
    tmp_path: Path,
    read: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The search for a flipped bit reads around the damage by itself; here there is no search."""
    monkeypatch.setattr("kraftool.repair.surveying.flipped_files", lambda *_: ())
    monkeypatch.setattr("kraftool.directory.log_reader.flipped_bit", lambda *_: None)
    data = tmp_path / "data"
    shutil.copytree(fixtures_dir / "kafka-4.3.0/static-single/node-1/data", data)
    (log,) = (data / "__cluster_metadata-0").glob("*.log")
    content = bytearray(log.read_bytes())
    content[damaged] = b"" if damaged.stop is None else bytes(70)
    log.write_bytes(content)
    surveyed = survey(data)
    assert surveyed.log is not None
    assert surveyed.log.broken is not None
    assert surveyed.state is not None
    assert_read_once(read, again=1000)


def test_the_hashes_of_damaged_logs_are_those_of_the_files(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(fixtures_dir / "kafka-4.3.0/static-single/node-1/data", data)
    (log,) = (data / "__cluster_metadata-0").glob("*.log")
    content, draw = log.read_bytes(), random.Random(17)
    broken = 0
    for number in range(60):
        edited, at = bytearray(content), draw.randrange(len(content))
        match number % 4:
            case 0:
                edited[at] ^= 1 << draw.randrange(8)
            case 1:
                del edited[at : at + draw.choice([1, 61, 200])]
            case 2:
                del edited[at:]
            case _:
                edited[at:] = bytes(len(edited) - at)
        log.write_bytes(edited)
        surveyed = survey(data)
        assert surveyed.log is not None
        hashed = {file.target.name: file.fingerprint for file in surveyed.files}
        assert hashed[log.name] == _hash(edited)
        if surveyed.log.broken is not None:
            broken += 1
            assert surveyed.log.broken.prefix == _hash(edited[: surveyed.log.broken.position])
    assert broken > 30


def _hash(data: bytes | bytearray) -> Fingerprint:
    return Fingerprint(size=len(data), sha256=hashlib.sha256(data).hexdigest())
