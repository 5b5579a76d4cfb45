"""A manifest may come from anybody: whatever it says leads to a finding, and to no other file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.backup.listing import list_backups
from kraftool.backup.prune import Retention, prune
from kraftool.backup.verify import verify_all, verify_one
from kraftool.decoders.errors import KraftoolError
from kraftool.storage.backup_files import MANIFEST, BackupFiles
from kraftool.storage.paths import open_path
from tests.reports.state_logs import Logs, level, topic
from tests.support.backups import FIRST, FIRST_MS, HOUR_MS, back_up

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two backups of different states."""
    store = tmp_path / "store"
    logs = Logs(tmp_path / "data")
    logs.segment(0, [level()], [topic("a")])
    back_up(store, logs.path)
    logs.segment(2, [topic("b")])
    back_up(store, logs.path, now_ms=FIRST_MS + HOUR_MS)
    return store


def findings_of(store: Path) -> list[str]:
    """The codes that list and verify report; both have to say the same of a manifest."""
    listed = [finding.code for finding in list_backups(str(store)).findings]
    verified = verify_all(BackupFiles(str(store)), lambda *_: None)
    assert [finding.code for finding in verified.findings] == listed
    return listed


def newest_manifest(store: Path) -> Path:
    return sorted(store.glob(f"*/{MANIFEST}"))[-1]


def _checkpoint(**changes: object) -> Change:
    return lambda document: document["checkpoint"].update(changes)


_OTHER = "../../../etc/passwd"
CHANGES: dict[str, Change] = {
    "a path out of the store": _checkpoint(path=_OTHER),
    "an absolute path": _checkpoint(path="/etc/passwd"),
    "a path that goes up": _checkpoint(path=f"{FIRST}/../{FIRST}/{0:020}-{1:010}.checkpoint"),
    "a path with a NUL": _checkpoint(path=f"{FIRST}/{2:020}-{1:010}.checkpoint\0"),
    "a path with a line break": _checkpoint(path=f"{FIRST}/{2:020}-{1:010}.checkpoint\n"),
    "digits of another script": _checkpoint(path=f"{FIRST}/{'٢' * 20}-{1:010}.checkpoint"),
    "a path that is a number": _checkpoint(path=7),
    "no path": lambda document: document["checkpoint"].pop("path"),
    "no checkpoint": lambda document: document.pop("checkpoint"),
    "a checkpoint that is a list": lambda document: document.update(checkpoint=[]),
    "an offset that is not that of the file": _checkpoint(offset=1),
    "a negative offset": _checkpoint(offset=-1),
    "an epoch that is not that of the file": _checkpoint(epoch=9),
    "a size that is a text": _checkpoint(size="much"),
    "a hash with escapes": _checkpoint(sha256="\x1b[2J"),
    "a key that is not known in the checkpoint": _checkpoint(more=1),
    "another name": lambda document: document.update(name=FIRST),
    "another kind": lambda document: document.update(kind="kraftool plan"),
    "an offset below that of its checkpoint": lambda document: document.update(offset=0),
    "an offset that is a truth": lambda document: document.update(offset=True),
    "an offset that is a fraction": lambda document: document.update(offset=2.5),
    "an offset of 2^70": lambda document: document.update(offset=1 << 63),
    "a state hash with escapes": lambda document: document.update(stateHash="\x1b]0;x\x07"),
    "a state hash in capitals": lambda document: document.update(stateHash="A" * 64),
    "a count that is missing": lambda document: document.pop("topicCount"),
    "voters that are texts": lambda document: document.update(voterKeys=["1"]),
    "features that are numbers": lambda document: document.update(features=[1]),
    "a host of a megabyte": lambda document: document.update(host="x" * 500_000),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_manifest_that_says_what_none_can_is_a_finding(change: Change, store: Path) -> None:
    path = newest_manifest(store)
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))
    assert findings_of(store) == ["KT-BAK-MANIFEST"]
    report = verify_one(BackupFiles(str(store)), path.parent.name)
    assert [finding.code for finding in report.all_findings] == ["KT-BAK-MANIFEST"]


RAW = {
    "nothing": b"",
    "no JSON": b"\x00\x01",
    "not UTF-8": b'{"kind": "\xff\xfe"}',
    "half of one": b'{"kind": "kraftool backup"',
    "a list": b"[]",
    "null": b"null",
    "deep": b"[" * 100_000,
    "huge": b'{"kind": "kraftool backup", "x": "' + b"x" * (2 << 20) + b'"}',
    "only its kind": b'{"kind": "kraftool backup"}',
}


@pytest.mark.parametrize("data", RAW.values(), ids=RAW.keys())
def test_bytes_that_are_no_manifest_are_a_finding(data: bytes, store: Path) -> None:
    path = newest_manifest(store)
    path.write_bytes(data)
    assert findings_of(store) == ["KT-BAK-MANIFEST"]
    with pytest.raises(KraftoolError):
        open_path(str(path.parent))


@pytest.mark.parametrize(
    "member", ["createdMs", "lastTimestampMs", "metadataVersion", "topicCount"]
)
@pytest.mark.parametrize("value", [-(1 << 63) + 1, (1 << 63) - 1])
def test_numbers_without_bounds_are_shown_as_they_are(member: str, value: int, store: Path) -> None:
    path = newest_manifest(store)
    document = json.loads(path.read_bytes())
    document[member] = value
    path.write_text(json.dumps(document))
    assert findings_of(store) == []


def test_what_a_newer_kraftool_adds_does_not_matter(store: Path) -> None:
    path = newest_manifest(store)
    document = json.loads(path.read_bytes())
    document["addedLater"] = {"x": 1}
    path.write_text(json.dumps(document))
    assert findings_of(store) == []


def test_a_damaged_manifest_is_never_removed_nor_the_checkpoint_that_it_names(store: Path) -> None:
    """Somebody may still repair it."""
    first, second = BackupFiles(str(store)).names()
    manifest = store / first / MANIFEST
    manifest.write_text(manifest.read_text().replace('"topicCount"', '"topics"'))
    keep = Retention(newest=1, days=None, now_ms=FIRST_MS + 1000 * HOUR_MS)
    report = prune(BackupFiles(str(store)), keep, lambda *_: None, dry_run=False)
    assert (report.kept_backups, report.removed_backups) == ((second,), ())
    assert len(list((store / first).iterdir())) == 2


def test_a_folder_with_the_name_of_no_time_is_left_alone(store: Path) -> None:
    odd = store / "2026-99-99T99-99-99Z"
    odd.mkdir()
    (store / "2025-01-01T00-00-00Z").write_bytes(b"a file")
    nested = store / "2025-02-02T00-00-00Z" / "folder"
    nested.mkdir(parents=True)
    assert findings_of(store) == ["KT-BAK-UNFINISHED", "KT-BAK-UNFINISHED"]
    keep = Retention(newest=2, days=None, now_ms=FIRST_MS + 1000 * HOUR_MS)
    prune(BackupFiles(str(store)), keep, lambda *_: None, dry_run=False)
    assert odd.exists()
    assert nested.exists()
    assert (store / "2025-01-01T00-00-00Z").read_bytes() == b"a file"


def test_a_manifest_cannot_have_another_backups_checkpoint_removed(store: Path) -> None:
    """The older one is to go, and names the checkpoint of the newer one."""
    first, second = BackupFiles(str(store)).names()
    document = json.loads((store / first / MANIFEST).read_bytes())
    newer = json.loads((store / second / MANIFEST).read_bytes())
    document |= {"checkpoint": newer["checkpoint"], "offset": newer["offset"]}
    (store / first / MANIFEST).write_text(json.dumps(document))
    keep = Retention(newest=1, days=None, now_ms=FIRST_MS)
    report = prune(BackupFiles(str(store)), keep, lambda *_: None, dry_run=False)
    assert report.removed_backups == (first,)
    verified = verify_all(BackupFiles(str(store)), lambda *_: None)
    assert [backup.is_verified for backup in verified.backups] == [True]
