"""A backup has the state of its directory, up to its offset, or it is not made."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from kraftool.backup.create import NotWholeError
from kraftool.backup.manifest import Manifest
from kraftool.backup.verify import verify_all
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.control import ControlRecordType, encode_key, encode_value
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import load_state
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.backup_files import MANIFEST, BackupFiles
from kraftool.storage.paths import open_path
from tests.reports.state_logs import BEGIN, END, NO_OP, Logs, level, stamp, topic
from tests.support.backups import FIRST, FIRST_MS, HOUR_MS, NODE, back_up
from tests.support.copies import writable
from tests.support.places import FIXTURES, LOG, PARTITION, fixture_name

DIRECTORIES = [
    path.parent
    for path in sorted(FIXTURES.glob(f"kafka-*/*/node-*/data*/{PARTITION}"))
    if any(path.glob("*.log"))
]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def the_codes(store: Path) -> list[str]:
    """The findings of all backups in a store."""
    report = verify_all(BackupFiles(str(store)), lambda *_: None)
    return [finding.code for finding in report.all_findings]


def checkpoint(store: Path, manifest: Manifest) -> Path:
    return store / manifest.checkpoint.path


@pytest.mark.parametrize("directory", DIRECTORIES, ids=fixture_name)
def test_a_backup_has_the_state_of_the_directory(directory: Path, store: Path) -> None:
    manifest = back_up(store, directory)
    loaded = load_state(str(directory))
    at_the_end = loaded.image.provenance
    assert manifest.state_hash == state_hash(loaded.image)
    assert (manifest.offset, manifest.epoch) == (at_the_end.offset, at_the_end.last_epoch)
    file = checkpoint(store, manifest)
    assert file.name == f"{manifest.offset:020}-{manifest.epoch:010}.checkpoint"
    report = verify_snapshots([open_path(str(file))])
    assert not report.all_findings
    assert [row.state_hash for row in report.rows] == [manifest.state_hash]
    assert the_codes(store) == []


def test_every_fixture_of_a_node_is_backed_up() -> None:
    assert len(DIRECTORIES) > 60
    assert {path.relative_to(FIXTURES).parts[0] for path in DIRECTORIES} == {
        path.name for path in FIXTURES.glob("kafka-*")
    }


def test_of_a_large_store_only_the_newest_manifest_is_read(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hour in range(3):
        back_up(store, FIXTURES / NODE, now_ms=FIRST_MS + hour * HOUR_MS)
    read: list[str] = []
    document = BackupFiles.manifest

    def counted(files: BackupFiles, name: str) -> dict[str, Any]:
        read.append(name)
        return document(files, name)

    monkeypatch.setattr(BackupFiles, "manifest", counted)
    manifest = back_up(store, FIXTURES / NODE, now_ms=FIRST_MS + 3 * HOUR_MS)
    assert not manifest.has_own_checkpoint
    assert read == ["2026-12-01T02-00-00Z"]


def test_a_manifest_says_what_the_backup_has(store: Path) -> None:
    """As fixtures/kafka-4.3.0/dynamic-quorum/SOURCE and the state of its node 2 have it."""
    manifest = back_up(store, FIXTURES / NODE)
    assert manifest.name == FIRST
    assert manifest.cluster_id == "xxuyFdGYSvOPfcYJRNjaMA"
    assert (manifest.offset, manifest.epoch) == (224, 3)
    assert (manifest.metadata_version, manifest.kraft_version) == (30, 1)
    assert {feature.name: feature.level for feature in manifest.features} == {
        "group.version": 1,
        "streams.version": 1,
        "transaction.version": 2,
        "eligible.leader.replicas.version": 1,
        "share.version": 1,
    }
    assert [str(key) for key in manifest.voter_keys] == [
        "2@vuSe5hpCRzWlSfeete_vAw",
        "3@2Z8JApBiRl-Vj1-Gz3rfbg",
        "4@6Zz9f7_tnXU2JaSjHqPdiQ",
    ]
    assert manifest.is_committed is None, "files do not say it"
    assert manifest.has_secrets
    assert not manifest.is_encrypted
    assert manifest.has_own_checkpoint


def test_a_backup_at_an_offset_has_the_state_before_it(store: Path) -> None:
    whole = back_up(store, FIXTURES / NODE)
    earlier = back_up(store, FIXTURES / NODE, at=164, now_ms=1)
    kept = load_state(str(FIXTURES / NODE), at=164)
    assert earlier.offset == 164
    assert earlier.state_hash == state_hash(kept.image) != whole.state_hash
    assert the_codes(store) == []


def test_no_backup_is_made_inside_of_a_batch(tmp_path: Path, store: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [topic("a"), topic("b"), topic("c")])
    with pytest.raises(NotWholeError, match="at offset 3: it is inside of a batch") as caught:
        back_up(store, logs.path, at=3)
    assert caught.value.hint == "name 1 or 4"
    assert not store.exists()


# --- transactions ---------------------------------------------------------------------------------


def test_a_backup_ends_before_a_transaction_that_is_open(tmp_path: Path, store: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [topic("a")], [BEGIN], [topic("half")], [NO_OP])
    manifest = back_up(store, logs.path)
    assert (manifest.offset, manifest.topics) == (2, 1)
    assert manifest.state_hash == state_hash(load_state(logs.path, at=2).image)
    assert the_codes(store) == []


def test_a_backup_has_no_control_record_behind_its_end(tmp_path: Path, store: Path) -> None:
    """A change of the voters may come while a transaction is open."""
    logs = Logs(tmp_path / "data")
    segment = logs.segment(0, [level()], [topic("a")], [BEGIN], [topic("half")])
    kind = ControlRecordType.KRAFT_VERSION
    record = encode_key(kind), encode_value(kind, {"version": 0, "kRaftVersion": 1})
    change = encode_batch([record], base_offset=4, epoch=1, timestamp=stamp(1, 4), control=True)
    segment.write_bytes(segment.read_bytes() + change)
    assert load_state(logs.path).controls[kind].value["kRaftVersion"] == 1
    manifest = back_up(store, logs.path)
    assert (manifest.offset, manifest.kraft_version) == (2, 0)


def test_a_backup_has_a_transaction_that_ended(tmp_path: Path, store: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [BEGIN], [topic("a"), topic("b")], [END])
    manifest = back_up(store, logs.path)
    assert (manifest.offset, manifest.topics) == (5, 2)


def test_a_backup_at_an_offset_in_a_transaction_ends_before_it(tmp_path: Path, store: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [BEGIN], [topic("a")], [topic("b")], [END])
    manifest = back_up(store, logs.path, at=3)
    assert (manifest.offset, manifest.topics) == (1, 0)


def test_an_aborted_transaction_is_not_in_the_backup(store: Path) -> None:
    """SOURCE of the fixture says that the topic never-was was aborted."""
    directory = FIXTURES / "built/aborted-transaction/node-1/data"
    manifest = back_up(store, directory)
    topics = load_state(str(store / manifest.name)).image.topics.by_name
    assert "plain" in topics
    assert "never-was" not in topics


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "absurd-batch-length",
        "flipped-bit-in-record",
        "garbage-log",
        "newer-record-version",
        "truncated-snapshot",
        "unknown-record-type",
        "zero-filled-middle",
    ],
)
def test_no_backup_is_made_of_a_log_that_cannot_be_read_whole(name: str, store: Path) -> None:
    with pytest.raises(NotWholeError, match="no backup is made"):
        back_up(store, FIXTURES / "damaged" / name)
    assert not store.exists()


def test_a_torn_tail_is_what_a_kill_leaves_and_no_damage(store: Path) -> None:
    """The last batch is cut, which no leader had committed by this node."""
    assert back_up(store, FIXTURES / "damaged/torn-tail").offset == 30


def test_no_backup_is_made_of_a_log_without_its_beginning(tmp_path: Path, store: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(7, [level()], [topic("a")])
    with pytest.raises(NotWholeError, match="what came before is in no snapshot"):
        back_up(store, logs.path)
    assert not store.exists()


def test_no_backup_is_made_before_there_is_a_metadata_version(tmp_path: Path, store: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [NO_OP])
    with pytest.raises(NotWholeError, match=r"no metadata\.version yet"):
        back_up(store, logs.path)


def test_two_clusters_are_not_mixed(store: Path) -> None:
    back_up(store, FIXTURES / NODE)
    before = sorted(store.rglob("*"))
    with pytest.raises(NotWholeError, match="has backups of another cluster"):
        back_up(store, FIXTURES / "kafka-4.3.0/static-single/node-1/data", now_ms=HOUR_MS)
    assert sorted(store.rglob("*")) == before


def test_a_file_without_a_cluster_id_does_not_hide_the_other_cluster(store: Path) -> None:
    """A checkpoint by itself does not say of which cluster it is."""
    first = back_up(store, FIXTURES / NODE)
    assert not back_up(store, store / first.checkpoint.path).cluster_id
    with pytest.raises(NotWholeError, match="has backups of another cluster"):
        back_up(store, FIXTURES / "kafka-4.3.0/static-single/node-1/data")


# --- the files ------------------------------------------------------------------------------------


def test_an_unchanged_state_costs_only_a_manifest(store: Path) -> None:
    first = back_up(store, FIXTURES / NODE)
    second = back_up(store, FIXTURES / NODE)
    assert second.name == f"{FIRST}-2"
    assert second.checkpoint == first.checkpoint
    assert [path.name for path in (store / second.name).iterdir()] == [MANIFEST]
    assert the_codes(store) == []
    of_both = [load_state(str(store / name)).image for name in (first.name, second.name)]
    assert state_hash(of_both[0]) == state_hash(of_both[1])


def test_no_ops_do_not_change_the_state(tmp_path: Path, store: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [topic("a")])
    first = back_up(store, logs.path)
    logs.segment(2, [NO_OP], [NO_OP])
    second = back_up(store, logs.path)
    assert (second.offset, second.checkpoint) == (4, first.checkpoint)
    logs.segment(4, [topic("b")])
    assert back_up(store, logs.path).has_own_checkpoint


def test_a_damaged_checkpoint_is_not_used_again(store: Path) -> None:
    first = back_up(store, FIXTURES / NODE)
    file = checkpoint(store, first)
    file.write_bytes(file.read_bytes()[:-1])
    second = back_up(store, FIXTURES / NODE)
    assert second.has_own_checkpoint
    assert the_codes(store) == ["KT-BAK-CHECKPOINT"]


def test_a_backup_without_secrets_does_not_use_a_checkpoint_that_has_some(store: Path) -> None:
    """The state of this log has none, so that both have the same hash."""
    directory = FIXTURES / "kafka-4.3.0/many-partitions/node-1/data"
    whole = back_up(store, directory)
    without = back_up(store, directory, with_secrets=False)
    assert without.state_hash == whole.state_hash
    assert without.has_own_checkpoint
    assert without.checkpoint.path != whole.checkpoint.path


def test_backups_of_one_second_are_in_order(tmp_path: Path, store: Path) -> None:
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()])
    names = []
    for number in range(11):
        logs.segment(1 + number, [topic(f"t{number}")])
        names.append(back_up(store, logs.path).name)
    assert names == [FIRST, *(f"{FIRST}-{number}" for number in range(2, 12))]
    assert BackupFiles(str(store)).names() == names


def test_two_that_begin_at_once_do_not_share_a_folder(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither sees the other before it has chosen its name."""
    monkeypatch.setattr(BackupFiles, "names", lambda _: [])
    names = [back_up(store, FIXTURES / NODE).name for _ in range(3)]
    monkeypatch.undo()
    assert names == [FIRST, f"{FIRST}-2", f"{FIRST}-3"]
    assert the_codes(store) == []


def test_only_the_owner_can_read_a_backup(store: Path) -> None:
    before = os.umask(0)
    try:
        back_up(store, FIXTURES / NODE)
    finally:
        os.umask(before)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in store.rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (store, store / FIRST)} == {0o700}


def test_a_folder_that_is_there_keeps_its_mode(store: Path) -> None:
    store.mkdir(mode=0o750)
    before = stat.S_IMODE(store.stat().st_mode)
    back_up(store, FIXTURES / NODE)
    assert stat.S_IMODE(store.stat().st_mode) == before


def test_the_directory_is_not_changed(tmp_path: Path, store: Path) -> None:
    directory = writable(FIXTURES / NODE, tmp_path / "data")
    before = {path: path.stat().st_mtime_ns for path in directory.rglob("*")}
    log = (directory / PARTITION / LOG).read_bytes()
    back_up(store, directory)
    assert {path: path.stat().st_mtime_ns for path in directory.rglob("*")} == before
    assert (directory / PARTITION / LOG).read_bytes() == log
