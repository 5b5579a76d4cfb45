"""verify-log over what real Kafka left, healthy and damaged, as directories and as streams."""

import io
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from kraftool.decoders import framing
from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.segment import scan
from kraftool.reports.directory.report import read_location
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.verify.log import LogVerification, verify_logs
from kraftool.storage.paths import open_path
from tests.interop import kafka
from tests.reports.snapshot_cases import SCRAM_LOST
from tests.support.copies import writable
from tests.support.places import FIXTURES, PARTITION

HEALTHY = sorted([*FIXTURES.glob("kafka-*/*/node-*/data*"), *FIXTURES.glob("built/*/node-*/data")])

DAMAGED = {
    "absurd-array-length": {"KT-LOG-RECORDS"},
    "absurd-batch-length": {"KT-LOG-DAMAGE"},
    "absurd-record-length": {"KT-LOG-RECORDS"},
    "broken-quorum-state": {"KT-DIR-QUORUM-STATE"},
    "broken-text-files": {"KT-DIR-EPOCHS", "KT-DIR-META", "KT-DIR-TOPIC-ID"},
    "empty-files": {
        "KT-LOG-PRODUCER-STATE",
        "KT-SNAP-FORM",
        "KT-DIR-TOPIC-ID",
        "KT-DIR-QUORUM-STATE",
    },
    "flipped-bit-in-crc": {"KT-LOG-CRC"},
    "flipped-bit-in-header": {"KT-LOG-CRC"},
    "flipped-bit-in-record": {"KT-LOG-CRC"},
    "garbage-index": {"KT-LOG-INDEX"},
    "garbage-log": {"KT-LOG-DAMAGE"},
    "negative-batch-length": {"KT-LOG-DAMAGE"},
    "newer-record-version": {"KT-LOG-UNKNOWN-TYPE"},
    "newer-secret-version": {"KT-LOG-UNKNOWN-TYPE"},
    "snapshot-without-footer": {"KT-SNAP-FORM"},
    "torn-header": {"KT-LOG-TORN-TAIL"},
    "torn-tail": {"KT-LOG-TORN-TAIL"},
    "truncated-snapshot": {"KT-SNAP-DAMAGE"},
    "unknown-record-type": {"KT-LOG-UNKNOWN-TYPE"},
    "wrong-cluster-id": {"KT-DIR-CLUSTER-ID", "KT-DIR-SAME-DIRECTORY-ID"},
    "wrong-file-name": {"KT-SNAP-FILE-NAME"},
    "zero-filled-middle": {"KT-LOG-DAMAGE"},
    "zero-filled-tail": {"KT-LOG-ZERO-TAIL"},
}


FALSE_UPGRADES = {f"kafka-3.9.1/upgrade/node-{id}/data" for id in (1, 2, 3, 11)}
"""With SCRAM_LOST, what Kafka itself did wrong: KT-SNAP-SCRAM-LOST."""


def verify(*paths: Path) -> LogVerification:
    return verify_logs([open_path(str(path)) for path in paths])


def above_info(report: LogVerification) -> list[Finding]:
    return [finding for finding in report.rows if finding.severity is not Severity.INFO]


# --- real Kafka ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", HEALTHY, ids=lambda path: "/".join(path.relative_to(FIXTURES).parts)
)
def test_nothing_that_real_kafka_left_is_above_info_but_what_it_does_wrong(path: Path) -> None:
    report = verify(path)
    node = "/".join((*path.relative_to(FIXTURES).parts[:3], "data"))
    known = {"KT-LOG-FALSE-UPGRADE"} if node in FALSE_UPGRADES else set()
    known |= {"KT-SNAP-SCRAM-LOST"} if node in SCRAM_LOST else set()
    assert {finding.code for finding in above_info(report)} - {"KT-DIR-NOT-A-VOTER"} == known
    if (path / PARTITION).is_dir():
        checked = report.verified[0].checked
        assert checked.replayed_to == checked.end_offset, "every record was replayed"
        assert not [finding for finding in report.rows if finding.code == "KT-LOG-NOT-CHECKED"]


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
def test_a_slow_follower_left_headers_with_the_time_of_a_later_batch(version: str) -> None:
    """Without such headers the fixture would not show that they give no finding."""
    path = FIXTURES / f"kafka-{version}/slow-follower/node-1/data"
    (judged,) = read_location(open_path(str(path))).directories
    directory = judged.directory
    (segment,) = [file for file in directory.files if file.file.endswith(".log") and file.log]
    batches = scan(lambda at, size: Path(segment.file).read_bytes()[at : at + size])
    times = {
        batch.last_offset + 1: batch.header.max_timestamp
        for batch in batches
        if isinstance(batch, RecordBatch)
    }
    later = [
        snapshot
        for snapshot in directory.summary.snapshots
        if snapshot.offset and snapshot.timestamp != times[snapshot.offset]
    ]
    assert len(later) == 4
    assert {snapshot.timestamp for snapshot in later} <= set(times.values())


def test_there_are_fixtures_of_every_version() -> None:
    assert len(HEALTHY) > 40
    folders = {path.relative_to(FIXTURES).parts[0] for path in HEALTHY}
    assert folders == {"built", *(f"kafka-{version}" for version in kafka.VERSIONS)}


def test_the_nodes_of_one_cluster_are_verified_together() -> None:
    nodes = FIXTURES / "kafka-4.3.0/dynamic-quorum"
    report = verify(*sorted(nodes.glob("node-*/data")))
    odd = {finding.code for finding in above_info(report)} - {"KT-DIR-NOT-A-VOTER"}
    assert odd == {"KT-SNAP-SCRAM-LOST"}, "of node 4"
    assert len(report.verified) == 5
    other = FIXTURES / "kafka-4.3.0/static-single/node-1/data"
    codes = [finding.code for finding in verify(nodes / "node-2/data", other).findings]
    assert codes == ["KT-DIR-CLUSTER-ID"]


@pytest.mark.parametrize("version", ["kafka-4.3.0", "kafka-3.7.2"])
def test_a_log_that_was_cleaned_is_replayed_from_the_oldest_snapshot_that_covers_its_start(
    version: str,
) -> None:
    checked = verify(FIXTURES / version / "log-cleaning/node-1/data").verified[0].checked
    assert checked.start_offset == 63
    assert checked.replayed_from is not None
    assert 63 < checked.replayed_from < (checked.replayed_to or 0)


# --- damaged ------------------------------------------------------------------------------------


def test_every_damaged_fixture_has_its_codes() -> None:
    assert set(DAMAGED) == {path.parent.name for path in FIXTURES.glob("damaged/*/SOURCE")}


@pytest.mark.parametrize("name", sorted(DAMAGED))
def test_damage_is_found_by_its_code_and_by_no_other(name: str) -> None:
    case = FIXTURES / "damaged" / name
    files = [path for path in sorted(case.iterdir()) if path.name != "SOURCE"]
    if files[0].is_dir():
        findings = above_info(verify(*files))
    else:
        findings = [finding for file in files for finding in above_info(verify(file))]
    assert {finding.code for finding in findings} == DAMAGED[name]


@pytest.mark.parametrize("path", HEALTHY[:3], ids=str)
@pytest.mark.parametrize("cut", [5, 700])
def test_all_that_a_dump_finds_is_found(path: Path, cut: int, tmp_path: Path) -> None:
    target = writable(path, tmp_path / "data")
    log = next((target / PARTITION).glob("*.log"))
    data = bytearray(log.read_bytes()[:-cut])
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    (target / "meta.properties").unlink()
    dumped = {finding.code for finding in read_location(open_path(str(target))).all_findings}
    assert dumped <= {finding.code for finding in verify(target).rows}
    assert {"KT-LOG-TORN-TAIL", "KT-DIR-META-MISSING"} <= dumped


def test_damage_says_how_many_offsets_kafka_would_cut(tmp_path: Path) -> None:
    target = writable(FIXTURES / "kafka-4.3.0/static-single/node-1/data", tmp_path / "data")
    for path in (target / PARTITION).glob("*.checkpoint"):
        path.unlink()
    log = target / PARTITION / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    data[1300] ^= 1
    log.write_bytes(data)
    end = verify(target).verified[0].checked.end_offset
    (finding,) = [finding for finding in above_info(verify(target)) if finding.code == "KT-LOG-CRC"]
    assert end is not None
    assert finding.offset is not None
    assert f"it cuts the log at offset {finding.offset}" in finding.advice
    assert f"{end - finding.offset} offsets are lost with it" in finding.advice


def test_with_a_snapshot_beyond_the_damage_kafka_wipes_the_log(tmp_path: Path) -> None:
    source = FIXTURES / "kafka-4.3.0/static-single/node-1/data"
    target = writable(source, tmp_path / "data")
    log = target / PARTITION / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    data[1300] ^= 1
    log.write_bytes(data)
    end = verify(source).verified[0].checked.end_offset
    newest = max(int(path.name[:20]) for path in (target / PARTITION).glob("*.checkpoint"))
    (finding,) = [finding for finding in above_info(verify(target)) if finding.code == "KT-LOG-CRC"]
    assert f"deletes the whole log and continues from the snapshot at {newest}" in finding.advice
    assert end is not None
    assert f"{end - newest} offsets after the snapshot are lost" in finding.advice


def test_a_torn_tail_is_a_warning_and_info_while_kafka_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftool.directory import reading
    from kraftool.storage.lock import Lock, LockState

    target = writable(FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data", tmp_path / "data")
    log = target / PARTITION / f"{0:020}.log"
    log.write_bytes(log.read_bytes()[:-5])
    assert [finding.code for finding in above_info(verify(target))] == ["KT-LOG-TORN-TAIL"]
    monkeypatch.setattr(reading, "lock_holder", lambda path: Lock(LockState.HELD, 7))
    report = verify(target)
    assert report.verified[0].is_live
    assert not above_info(report)
    assert "KT-LOG-TORN-TAIL" in {finding.code for finding in report.rows}


# --- streams ------------------------------------------------------------------------------------


def archive(source: Path, target: Path, *, turned: bool) -> Path:
    files = sorted((path for path in source.rglob("*") if path.is_file()), reverse=turned)
    with tarfile.open(target, "w") as tar:
        for file in files:
            tar.add(file, arcname=f"data/{file.relative_to(source)}")
    return target


@pytest.mark.parametrize("turned", [False, True], ids=["in order", "turned"])
@pytest.mark.parametrize(
    "scenario", ["kafka-4.3.0/dynamic-quorum/node-2", "kafka-4.3.0/log-cleaning/node-1"]
)
def test_a_stream_is_verified_in_whatever_order_its_files_come(
    scenario: str, turned: bool, tmp_path: Path
) -> None:
    stream = archive(FIXTURES / scenario / "data", tmp_path / "data.tar", turned=turned)
    report = verify(stream)
    assert not above_info(report)
    checked = report.verified[0].checked
    whole = checked.replayed_to == checked.end_offset
    unchecked = [finding for finding in report.rows if finding.code == "KT-LOG-NOT-CHECKED"]
    assert whole or unchecked, "what was not replayed is said"
    # In the order of names the segment comes before the snapshot that covers its start.
    assert whole is (turned or "log-cleaning" not in scenario)
    if not whole:
        assert {finding.offset for finding in unchecked} >= {63}, "the log's start"


@pytest.mark.parametrize("turned", [False, True], ids=["index first", "segment first"])
def test_an_index_of_a_stream_is_compared_wherever_it_comes(turned: bool, tmp_path: Path) -> None:
    target = writable(FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data", tmp_path / "data")
    index = target / PARTITION / f"{0:020}.index"
    index.write_bytes((10).to_bytes(4, "big") + (1000).to_bytes(4, "big"))
    files = {path: path.read_bytes() for path in sorted(target.rglob("*")) if path.is_file()}
    names = sorted(files, key=lambda path: (path.suffix == ".index") is turned)
    stream = tmp_path / "data.tar"
    with tarfile.open(stream, "w") as tar:
        for name in names:
            info = tarfile.TarInfo(f"data/{name.relative_to(target)}")
            info.size = len(files[name])
            tar.addfile(info, io.BytesIO(files[name]))
    findings = above_info(verify(stream))
    assert {finding.code for finding in findings} == {"KT-LOG-INDEX-DIFFERS"}


# --- memory -------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    value = {"resourceType": 2, "resourceName": "t", "name": "note", "value": "x" * 100_000}
    record = framing.encode_record("ConfigRecord", 0, value)
    peaks = []
    for count in (40, 400):
        path = tmp_path / f"{count}" / f"{0:020}.log"
        path.parent.mkdir()
        with path.open("wb") as file:
            for offset in range(count):
                file.write(encode_batch([(None, record)], base_offset=offset, epoch=1, timestamp=1))
        tracemalloc.start()
        report = verify(path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert report.verified[0].checked.replayed_to == count
    assert peaks[1] < peaks[0] + (1 << 20), peaks
