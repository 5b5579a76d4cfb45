"""What is found of a directory: each finding with its place, and what to do about it.

Directories are those that real Kafka left, copied and then changed in one respect.
"""

import shutil
import struct
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import meta_properties
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.wire import ZERO_UUID
from kraftool.directory.file_report import ReadOptions
from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.directory.report import DumpReport, read_location
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import AREAS, KINDS
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.storage.paths import open_path
from tests.support.copies import let_change
from tests.support.places import LOG, PARTITION

KEEP_OUT = shutil.ignore_patterns("*-[0-9]", "*-delete")

Copy = Callable[[str], Path]


@pytest.fixture
def copy(fixtures_dir: Path, tmp_path: Path) -> Copy:
    """A data directory of real Kafka that may be changed."""

    def make(path: str) -> Path:
        target = tmp_path / f"copy-{len(list(tmp_path.iterdir()))}"
        shutil.copytree(fixtures_dir / path, target, ignore=KEEP_OUT)
        shutil.copytree(fixtures_dir / path / PARTITION, target / PARTITION)
        return let_change(target)

    return make


@pytest.fixture
def dynamic(copy: Copy) -> Path:
    return copy("kafka-4.3.0/dynamic-quorum/node-2/data")


def read(path: Path | str, **options: Any) -> DumpReport:
    return read_location(open_path(str(path)), ReadOptions(**options))


def judged(path: Path | str) -> JudgedDirectory:
    (report,) = read(path).directories
    return report


def one(path: Path | str) -> NodeDirectory:
    return judged(path).directory


def codes(path: Path, *, least: Severity = Severity.WARNING) -> list[str]:
    worth = {Severity.ERROR, least} if least is not Severity.INFO else set(Severity)
    return [finding.code for finding in judged(path).findings if finding.severity in worth]


def found(path: Path, code: str) -> Finding:
    (finding,) = [finding for finding in judged(path).findings if finding.code == code]
    return finding


# The summary.


def test_every_directory_that_real_kafka_left_is_free_of_errors(fixtures_dir: Path) -> None:
    directories = sorted(fixtures_dir.glob("kafka-*/*/node-*/data*"))
    for directory in directories:
        findings = [
            finding for finding in read(directory).all_findings if finding.code not in _EXPECTED
        ]
        odd = [finding for finding in findings if finding.severity is not Severity.INFO]
        assert not odd, (directory, odd)
    assert len(directories) >= 40


_EXPECTED = {"KT-DIR-NOT-A-VOTER", "KT-LOG-FALSE-UPGRADE"}
"""The removed voters of the dynamic quorums, and the upgrade that 3.9.1 only claimed."""


def test_a_snapshot_of_a_later_offset_overrides_the_log(copy: Copy, fixtures_dir: Path) -> None:
    """node-1 was removed early; a later snapshot of node-2 is what it would fetch."""
    target = copy("kafka-4.3.0/dynamic-quorum/node-1/data") / PARTITION
    later = "00000000000000000203-0000000003.checkpoint"
    source = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data" / PARTITION / later
    shutil.copy(source, target)
    before = one(fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-1/data").summary
    after = judged(target.parent)
    assert (before.brokers, after.directory.summary.brokers) == ((11, 12), (11,))
    assert "KT-SNAP-AHEAD" in [finding.code for finding in after.findings]


# Findings.


def test_a_voter_with_another_directory_id_is_stale(dynamic: Path) -> None:
    meta = dynamic / "meta.properties"
    meta.write_text(meta.read_text().replace("vuSe5hpCRzWlSfeete_vAw", "AAAAAAAAAAAAAAAAAAAAZw"))
    finding = found(dynamic, "KT-DIR-STALE-VOTER")
    assert finding.severity is Severity.ERROR
    assert finding.expected == "vuSe5hpCRzWlSfeete_vAw"
    assert finding.found == "AAAAAAAAAAAAAAAAAAAAZw"


def test_a_controller_that_was_removed_is_told_and_a_broker_is_not(fixtures_dir: Path) -> None:
    scenario = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    removed = found(scenario / "node-1/data", "KT-DIR-NOT-A-VOTER")
    assert removed.severity is Severity.INFO
    assert "no longer one of the voters 2, 3, 4" in removed.text
    everything = codes(scenario / "node-11/data-a", least=Severity.INFO)
    assert "KT-DIR-NOT-A-VOTER" not in everything


@pytest.mark.parametrize("data", [b"", b"{", b"garbage\n", b'{"leaderId":1}\n', b"\n{}"])
def test_an_unreadable_quorum_state_is_never_to_be_deleted(dynamic: Path, data: bytes) -> None:
    (dynamic / PARTITION / "quorum-state").write_bytes(data)
    report = judged(dynamic)
    finding = next(finding for finding in report.findings if finding.code == "KT-DIR-QUORUM-STATE")
    assert "never delete it" in finding.advice
    assert finding.undecoded
    assert report.directory.summary.quorum_state is None
    assert report.directory.summary.leader_change is not None, "the rest is still told"


def test_no_advice_tells_to_delete_quorum_state() -> None:
    for kind in KINDS.values():
        if "QUORUM-STATE" in kind.code:
            assert "delete it:" not in kind.advice
            assert not kind.advice.startswith("delete")


def test_codes_are_of_one_form_and_say_what_they_mean() -> None:
    areas = {"KT-DIR", "KT-LOG", "KT-SNAP"}
    assert areas <= {"-".join(code.split("-")[:2]) for code in KINDS} <= set(AREAS)
    for code, kind in KINDS.items():
        assert code == kind.code == code.upper()
        assert kind.meaning.endswith("."), code


def test_a_missing_quorum_state_matters_once_there_is_a_log(dynamic: Path) -> None:
    (dynamic / PARTITION / "quorum-state").unlink()
    assert "KT-DIR-QUORUM-STATE-MISSING" in codes(dynamic)
    for file in (dynamic / PARTITION).iterdir():
        if not file.name.startswith(f"{0:020}-"):
            file.unlink()
    assert codes(dynamic) == [], "freshly formatted"


def test_a_quorum_state_below_the_logs_epoch_is_told(dynamic: Path) -> None:
    file = dynamic / PARTITION / "quorum-state"
    file.write_text(file.read_text().replace('"leaderEpoch":3', '"leaderEpoch":2'))
    finding = found(dynamic, "KT-DIR-QUORUM-STATE-BEHIND")
    assert (finding.expected, finding.found) == ("3 or more", "2")


def test_a_torn_tail_is_a_warning_and_in_the_middle_an_error(copy: Copy) -> None:
    target = copy("kafka-4.3.0/log-cleaning/node-1/data")
    first, last = sorted((target / PARTITION).glob("*.log"))
    last.write_bytes(last.read_bytes()[:-5])
    assert found(target, "KT-LOG-TORN-TAIL").severity is Severity.WARNING
    first.write_bytes(first.read_bytes()[:-5])
    finding = found(target, "KT-LOG-DAMAGE")
    assert finding.severity is Severity.ERROR
    assert "another segment follows" in finding.text
    assert "KT-LOG-GAP" in codes(target)


def test_a_torn_tail_of_a_running_node_is_no_finding(
    dynamic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftool.directory import reading
    from kraftool.storage.lock import Lock, LockState

    log = dynamic / PARTITION / LOG
    log.write_bytes(log.read_bytes()[:-5])
    monkeypatch.setattr(reading, "lock_holder", lambda path: Lock(LockState.HELD, 7))
    finding = found(dynamic, "KT-LOG-TORN-TAIL")
    assert finding.severity is Severity.INFO
    assert not finding.undecoded


def test_damage_says_where_kafka_would_cut_and_what_goes_with_it(dynamic: Path) -> None:
    log = dynamic / PARTITION / LOG
    for snapshot in (dynamic / PARTITION).glob("*.checkpoint"):
        snapshot.unlink()
    data = bytearray(log.read_bytes())
    second = struct.unpack_from(">i", data, 8)[0] + 12
    data[second + 80] ^= 1
    log.write_bytes(data)
    report = judged(dynamic)
    finding = next(finding for finding in report.findings if finding.code == "KT-LOG-CRC")
    assert (finding.position, finding.undecoded) == (second + 17, True)
    assert report.directory.summary.log is not None
    cut = report.directory.summary.log.intact_end
    assert 0 < cut < 224
    assert f"cuts the log at offset {cut}" in finding.advice
    assert f"{224 - cut} offsets" in finding.advice


def test_a_gap_between_segments_is_an_error(copy: Copy) -> None:
    target = copy("kafka-4.3.0/log-cleaning/node-1/data")
    _, last = sorted((target / PARTITION).glob("*.log"))
    data = bytearray(last.read_bytes())
    base = int.from_bytes(data[:8], "big")
    data[:8] = (base + 5).to_bytes(8, "big")
    last.write_bytes(data)
    assert {"KT-LOG-GAP", "KT-LOG-FILE-NAME"} <= set(codes(target))


def test_an_epoch_that_goes_back_is_an_error(tmp_path: Path) -> None:
    record = [(None, b"\x01\x14\x00\x00")]
    batches = [
        encode_batch(record, base_offset=offset, epoch=epoch, timestamp=1)
        for offset, epoch in enumerate((3, 4, 3))
    ]
    path = tmp_path / LOG
    path.write_bytes(b"".join(batches))
    (finding,) = read(path).findings
    assert finding.code == "KT-LOG-EPOCH-BACK"
    assert (finding.position, finding.offset) == (2 * len(batches[0]) + 12, 2)


def test_a_log_that_begins_later_needs_a_snapshot(copy: Copy) -> None:
    target = copy("kafka-4.3.0/log-cleaning/node-1/data")
    for file in (target / PARTITION).glob("*.checkpoint"):
        file.rename(f"{file}.deleted")
    finding = found(target, "KT-SNAP-MISSING")
    assert finding.offset == 63
    assert "Remove .deleted from its name" in finding.advice
    for file in (target / PARTITION).glob("*.deleted"):
        file.unlink()
    assert ".checkpoint of another node" in found(target, "KT-SNAP-MISSING").advice


def test_a_damaged_newest_snapshot_may_go_only_where_the_log_is_whole(copy: Copy) -> None:
    whole = copy("kafka-4.3.0/dynamic-quorum/node-2/data")
    cleaned = copy("kafka-4.3.0/log-cleaning/node-1/data")
    alone = copy("kafka-3.7.2/log-cleaning/node-1/data")
    for older in sorted((alone / PARTITION).glob("*.checkpoint"))[:-1]:
        older.unlink()
    for target, words in (
        (whole, "Kafka then uses the one at 153"),
        (cleaned, "Kafka then uses the one at 113"),
        (alone, "of another node"),
    ):
        newest = sorted((target / PARTITION).glob("*.checkpoint"))[-1]
        newest.write_bytes(newest.read_bytes()[:300])
        findings = [
            finding for finding in judged(target).findings if finding.code.startswith("KT-SNAP")
        ]
        assert {finding.code for finding in findings} == {"KT-SNAP-DAMAGE"}, (
            "of a cut file, one thing"
        )
        assert all(words in finding.advice for finding in findings)


def test_a_wrong_leader_epoch_checkpoint_is_compared_with_the_log(dynamic: Path) -> None:
    file = dynamic / PARTITION / "leader-epoch-checkpoint"
    right = file.read_text()
    for wrong in (right.replace("2 43", "2 44"), right.replace("3\n1 0\n", "2\n")):
        assert wrong != right
        file.write_text(wrong)
        finding = found(dynamic, "KT-DIR-EPOCHS-DIFFER")
        assert "delete it" in finding.advice
    file.unlink()
    assert codes(dynamic) == ["KT-DIR-EPOCHS-MISSING"], "Kafka recreates it"


def test_an_archive_that_ends_early_may_have_had_the_epochs(dynamic: Path, tmp_path: Path) -> None:
    partition, archive = dynamic / PARTITION, tmp_path / "part.tar"
    with tarfile.open(archive, "w") as packed:
        packed.add(partition / LOG, f"data/{PARTITION}/{LOG}")
        ends = packed.offset
    archive.write_bytes(archive.read_bytes()[: ends - 512])
    codes = [finding.code for report in read(archive).directories for finding in report.findings]
    assert "KT-DIR-EPOCHS-MISSING" not in codes
    assert codes, "it says that the archive ends early"


def test_leftovers_are_listed_and_not_looked_into(dynamic: Path) -> None:
    (dynamic / PARTITION / "quorum-state.tmp").write_bytes(b"garbage")
    part = f"{300:020}-{3:010}-12345.checkpoint.part"
    (dynamic / PARTITION / part).write_bytes(b"garbage")
    assert codes(dynamic) == []
    assert codes(dynamic, least=Severity.INFO).count("KT-DIR-LEFTOVER") == 2


def test_a_reserved_directory_id_is_refused(dynamic: Path) -> None:
    """Kafka 4.3.0: Invalid reserved directory ID."""
    meta = dynamic / "meta.properties"
    old = meta_properties.decode(meta.read_bytes())[0].directory_id
    assert old is not None
    meta.write_text(meta.read_text().replace(old, ZERO_UUID))
    finding = found(dynamic, "KT-DIR-META")
    assert (finding.field, finding.found) == ("directory.id", ZERO_UUID)


def test_meta_properties_missing_or_of_version_0(dynamic: Path) -> None:
    meta = dynamic / "meta.properties"
    meta.write_text("version=0\nbroker.id=2\ncluster.id=x\n")
    assert {"KT-DIR-META-V0", "KT-DIR-NO-DIRECTORY-ID"} <= set(codes(dynamic, least=Severity.INFO))
    assert "KT-DIR-META-V0" not in codes(dynamic)  # a migrated broker keeps version 0
    meta.write_text("version=0\nnode.id=2\ncluster.id=x\n")  # "node ID not found" says 4.3.0
    assert found(dynamic, "KT-DIR-META").field == "broker.id"
    meta.write_bytes(b"\xef\xbb\xbfversion=1\nnode.id=2\ncluster.id=x\n")
    assert "byte order mark" in found(dynamic, "KT-DIR-META").text
    assert "KT-DIR-META-V0" not in codes(dynamic, least=Severity.INFO)
    meta.unlink()
    assert "KT-DIR-META-MISSING" in codes(dynamic)


def test_a_directory_of_another_node_than_configured_is_told(copy: Copy, tmp_path: Path) -> None:
    data = copy("kafka-4.3.0/dynamic-quorum/node-2/data")
    server = tmp_path / "server.properties"
    server.write_text(f"node.id=3\nprocess.roles=controller\nlog.dirs={data}\n")
    (report,) = read(server).directories
    assert "KT-DIR-NODE-ID" in [finding.code for finding in report.findings]


def test_another_topic_id_is_told(dynamic: Path) -> None:
    file = dynamic / PARTITION / "partition.metadata"
    file.write_text("version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAZw")
    assert found(dynamic, "KT-DIR-TOPIC-ID").found == "AAAAAAAAAAAAAAAAAAAAZw"


def test_an_index_that_points_beyond_its_segment_is_told(dynamic: Path) -> None:
    file = dynamic / PARTITION / f"{0:020}.index"
    file.write_bytes(file.read_bytes() + struct.pack(">ii", 223, 1 << 20))
    finding = found(dynamic, "KT-LOG-INDEX-DIFFERS")
    assert (finding.found, finding.undecoded) == (str(1 << 20), False)


# Files.


def test_a_segment_of_another_topic_is_no_damaged_metadata_log(fixtures_dir: Path) -> None:
    paths = fixtures_dir.glob(f"kafka-4.3.0/static-single/node-1/data/orders-b-0/{LOG}")
    report = read(next(paths))
    assert [finding.code for finding in report.findings] == ["KT-LOG-NOT-METADATA"]
    assert report.findings[0].severity is Severity.INFO


def test_a_topics_folder_is_one_also_by_the_name_of_where_we_are(
    fixtures_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(fixtures_dir / "kafka-4.3.0/static-single/node-1/data/orders-b-0")
    assert [finding.code for finding in judged(".").findings] == ["KT-LOG-NOT-METADATA"]


def test_an_upgrade_of_kraft_version_that_never_happened_is_told(fixtures_dir: Path) -> None:
    # Kafka 3.9.1 answered `kafka-features upgrade --feature kraft.version=1` with success.
    false = judged(fixtures_dir / "kafka-3.9.1/upgrade/node-1/data")
    assert "KT-LOG-FALSE-UPGRADE" in [finding.code for finding in false.findings]
    true = judged(fixtures_dir / "kafka-4.3.0/upgrade/node-1/data")
    assert "KT-LOG-FALSE-UPGRADE" not in [finding.code for finding in true.findings]
