"""Real Kafka starts on a backup: on nothing but meta.properties and the backup's checkpoint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.backup.verify import verify_all
from kraftool.decoders.control import ControlRecordType
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import load_state
from kraftool.reports.verify.snapshot_diff import difference
from kraftool.storage.backup_files import BackupFiles
from tests.interop import kafka
from tests.interop.starts import CLEANED, DYNAMIC, STATIC, Starts, server
from tests.support.backups import back_up
from tests.support.places import PARTITION

pytestmark = pytest.mark.interop
VERSION = "4.3.0"


@pytest.mark.parametrize("base", [STATIC, CLEANED, DYNAMIC])
def test_kafka_leads_on_nothing_but_a_backup(base: str, tmp_path: Path) -> None:
    if problem := kafka.available(VERSION):
        pytest.skip(problem)
    store = tmp_path / "store"
    with Starts(VERSION, tmp_path) as starts:
        data = starts.copy(base)
        manifest = back_up(store, data)
        assert manifest.has_own_checkpoint
        [verified] = verify_all(BackupFiles(str(store)), lambda *_: None).backups
        assert verified.is_verified
        original = load_state(str(data)).image
        meta_properties = (data / "meta.properties").read_bytes()
        shutil.rmtree(data)
        (data / PARTITION).mkdir(parents=True)
        (data / "meta.properties").write_bytes(meta_properties)
        shutil.copy(store / manifest.checkpoint.path, data / PARTITION)
        node = server(data, dynamic=base == DYNAMIC)
        # The brokers of the backup are not there, and are not to be fenced meanwhile.
        node.settings["broker.session.timeout.ms"] = "600000"
        [started] = starts.start(node, writes=True)
    assert started.outcome == "active", started.log
    assert not started.errors
    restored = load_state(str(data), at=manifest.offset)
    assert state_hash(restored.image) == manifest.state_hash == state_hash(original)
    after = load_state(str(data))
    assert after.is_whole
    assert after.image.provenance.offset > manifest.offset
    assert after.controls[ControlRecordType.LEADER_CHANGE].value["leaderId"] == 1
    assert {aspect.aspect for aspect in difference(original, after.image).aspects} <= {
        "controllers"
    }
