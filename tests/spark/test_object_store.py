"""A fleet in an object store: what is read over S3's own protocol is what is read from the disk.

moto serves the protocol, s3fs speaks it. Other stores are fsspec's in the same way, and not tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest

from kraftool.arrow import search
from kraftool.arrow.entries import EntryReader
from kraftool.arrow.fleet import FleetFile, with_batches
from kraftool.arrow.narrowing import Narrowing
from kraftool.arrow.search import find_fleet
from kraftool.arrow.search_steps import SearchResult, SearchStep
from kraftool.arrow.splits import Split
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.listing import ListingJob
from kraftool.storage.remote import RemoteFiles
from tests.spark.audit_cases import LOG as PATH_OF_LOG
from tests.spark.audit_cases import VOTERS, audited, edit_meta, quorum, replace_batch
from tests.spark.tables_support import read_tables, run
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FIXTURE = FIXTURES / "kafka-4.3.0/dynamic-quorum"
SECRET = "canary-of-the-store"


@pytest.fixture(scope="module")
def diverged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quorum of which one node has other records, with directory ids of its own."""
    folder = quorum(tmp_path_factory.mktemp("diverged") / "c2", "AAAAAAAAAAAAAAAAAAAAAw")
    for id, last in zip(VOTERS, "Agw", strict=True):
        edit_meta(folder / f"node-{id}", "directory.id", 21 * "D" + last)
    replace_batch(folder / "node-3" / PATH_OF_LOG, 60)
    return folder


@pytest.fixture(scope="module")
def store(diverged: Path) -> Iterator[dict[str, Any]]:
    """fsspec's options for a store that holds the fixture as s3://fleet/c1, and s3://fleet/c2."""
    server_module = pytest.importorskip("moto.server", reason="pip install 'moto[server]'")
    s3fs = pytest.importorskip("s3fs", reason="pip install s3fs")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    options = {
        "key": "AKIACANARY",
        "secret": SECRET,
        "client_kwargs": {"endpoint_url": f"http://{host}:{port}", "region_name": "us-east-1"},
    }
    files = s3fs.S3FileSystem(**options, skip_instance_cache=True)
    files.call_s3("create_bucket", Bucket="fleet")
    for name, folder in (("c1", FIXTURE), ("c2", diverged)):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                files.pipe(f"fleet/{name}/{path.relative_to(folder)}", path.read_bytes())
    yield options
    server.stop()


def _rows(files: Iterator[FleetFile]) -> list[tuple[Any, ...]]:
    entries = EntryReader(Narrowing())
    return [
        (
            file.directory.cluster_id,
            file.directory.node_id,
            file.relative,
            record.record,
            record.data,
        )
        for file in files
        for entry in entries.of(Split(file=file))
        for record in getattr(entry, "records", ())
    ]


def test_a_bucket_gives_the_records_that_the_disk_gives(store: dict[str, Any]) -> None:
    there = find_fleet(["s3://fleet/c1"], options=store)
    here = find_fleet([str(FIXTURE)])
    assert not there.problems
    rows = _rows(with_batches(there, snapshots=True))
    assert rows == _rows(with_batches(here, snapshots=True))
    assert {row[1] for row in rows} == {1, 2, 3, 4, 11, 12}, "controllers and brokers"


def test_a_pattern_in_a_bucket_chooses_directories(store: dict[str, Any]) -> None:
    fleet = find_fleet(["s3://fleet/*/node-[12]/data"], options=store)
    assert {file.directory.node_id for file in fleet.files} == {1, 2}


@pytest.mark.parametrize("root", ["s3://fleet/c1", "s3://fleet/c1/node-*"])
def test_folders_of_a_bucket_are_looked_into_at_the_same_time(
    store: dict[str, Any], monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    with monkeypatch.context() as alone:
        alone.setattr(RemoteFiles, "takes_threads", False)
        expected = find_fleet([root], options=store)
    real, together = RemoteFiles.listed, Barrier(2)

    def listed(files: RemoteFiles, path: str = "") -> Any:
        if files.shown(path).endswith(("/node-1", "/node-2")):
            together.wait(timeout=60)  # else it breaks: nobody else is looking
        return real(files, path)

    monkeypatch.setattr(RemoteFiles, "listed", listed)
    assert find_fleet([root], options=store) == expected
    assert len({file.directory.name for file in expected.files}) == 7


def test_what_is_wrong_with_a_store_is_said_without_its_credentials(store: dict[str, Any]) -> None:
    with pytest.raises(KraftoolError) as missing:
        find_fleet(["s3://fleet/nowhere"], options=store)
    assert "s3://fleet/nowhere: no such file or directory" in missing.value.message
    dead = {**store, "client_kwargs": {"endpoint_url": "http://127.0.0.1:9"}}
    with pytest.raises(KraftoolError) as refused:
        find_fleet([f"s3://AKIACANARY:{SECRET}@fleet/c1"], options=dead)
    assert "s3://fleet/c1" in refused.value.message
    for error in (missing.value, refused.value):
        assert SECRET not in str(error) + error.hint
        assert "AKIACANARY" not in str(error) + error.hint


def _without_names(value: Any, *folders: Path) -> Any:
    """With one name for both places, and without what a copy cannot have."""
    if isinstance(value, dict):
        return {
            key: _without_names(item, *folders)
            for key, item in value.items()
            if key not in ("seconds", "taskSeconds", "bytesRead", "commands")
        }
    if isinstance(value, list):
        return [_without_names(item, *folders) for item in value]
    if isinstance(value, str):
        for number, folder in enumerate((FIXTURE, *folders), 1):
            value = value.replace(f"s3://fleet/c{number}", "FLEET").replace(str(folder), "FLEET")
    return value


def test_an_audit_of_a_bucket_says_what_one_of_the_disk_says(
    spark: SparkSession,
    store: dict[str, Any],
    diverged: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The folders of the bucket are listed by a job, and logs that differ are read once more."""
    here = audited(spark, f"{FIXTURE}/node-[23]/data", diverged).document
    monkeypatch.setattr(search, "JOB_FROM", 2)
    listed, jobs = ListingJob.__call__, list[int]()

    def counted(job: ListingJob, steps: Sequence[SearchStep]) -> list[SearchResult]:
        jobs.append(len(steps))
        return listed(job, steps)

    monkeypatch.setattr(ListingJob, "__call__", counted)
    roots = ("s3://fleet/c1/node-[23]/data", "s3://fleet/c2")
    there = audited(spark, *roots, storage=store).document
    assert jobs
    assert there["counts"]["directoryCount"] == 2 + len(VOTERS)
    assert there["divergences"] != []
    text = str(there)
    assert SECRET not in text
    assert "AKIACANARY" not in text
    assert "kraftool-copy-" not in text
    for document in (there, here):
        del document["run"]
    assert _without_names(there, diverged) == _without_names(here, diverged)


def test_tables_of_a_bucket_are_those_of_the_disk(store: dict[str, Any], tmp_path: Path) -> None:
    report = run("s3://fleet/c1", tmp_path / "there", storage=store, snapshots=True)
    expected = run(FIXTURE, tmp_path / "here", snapshots=True)
    assert (report.directories, report.unreadable) == (expected.directories, ())
    there, here = (
        {name: sorted(map(_without_names, rows)) for name, rows in read_tables(tmp_path / folder,
         without=frozenset({"noticed", "modified", "identity"})).items()}
        for folder in ("there", "here")
    )  # fmt: skip
    assert there == here
    assert not run("s3://fleet/c1", tmp_path / "there", storage=store, snapshots=True).is_new
    for path in (tmp_path / "there").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
