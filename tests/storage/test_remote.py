"""Files behind URLs: ranged reads, listing, and that nothing to log in with is ever shown."""

from __future__ import annotations

import uuid

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.remote import RemoteFiles, is_url, shown_url, without_secrets


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://bucket/logs", "s3://bucket/logs"),
        ("s3://AKIAKEY:secret@bucket/logs", "s3://bucket/logs"),
        ("s3://AKIAKEY:sec/ret+x@bucket/logs", "s3://bucket/logs"),
        ("https://token@host/x", "https://host/x"),
        ("https://host/x?sig=abc&se=1", "https://host/x"),
        ("abfss://logs@account.dfs.core.windows.net/x", "abfss://logs@account.dfs.core.windows.net/x"),
        ("hdfs://host:8020/x", "hdfs://host:8020/x"),
        ("simplecache::s3://k:s@bucket/x", "simplecache::s3://bucket/x"),
        ("memory://a/0000?.log", "memory://a/0000?.log"),
        ("/var/lib/kafka/a@b", "/var/lib/kafka/a@b"),
    ],
)  # fmt: skip
def test_a_url_is_shown_without_what_logs_in(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_local_paths_are_no_urls() -> None:
    assert is_url("s3://x")
    assert is_url("simplecache::s3://x")
    assert not is_url("/var/lib/kafka")
    assert not is_url("C:/kafka")
    assert not is_url("data/node-1")


def test_a_message_of_a_library_loses_the_secrets_of_the_url() -> None:
    url = "s3://AKIAKEY:sec/ret@bucket/logs?token=tok123"
    message = f"403 for {url}: key AKIAKEY, secret sec/ret, token tok123"
    masked = without_secrets(message, url)
    assert "bucket" in masked
    for secret in ("AKIAKEY", "sec/ret", "tok123"):
        assert secret not in masked


def _memory() -> tuple[str, RemoteFiles]:
    fsspec = pytest.importorskip("fsspec")
    root = f"/{uuid.uuid4().hex}"
    store = fsspec.filesystem("memory")
    store.pipe(f"{root}/data/__cluster_metadata-0/00000000000000000000.log", b"0123456789")
    store.pipe(f"{root}/data/meta.properties", b"version=1\n")
    return f"memory:/{root}", RemoteFiles(f"memory:/{root}")


def test_a_folder_is_listed_and_patterns_are_matched() -> None:
    url, files = _memory()
    assert [(item.name, item.is_folder) for item in files.listed("data")] == [
        ("__cluster_metadata-0", True),
        ("meta.properties", False),
    ]
    assert files.glob("data/*/*.log") == ["data/__cluster_metadata-0/00000000000000000000.log"]
    assert files.shown("data/meta.properties") == f"{url}/data/meta.properties"
    assert files.item("data/nothing") is None


def test_a_read_beyond_the_end_is_short_and_never_asks_the_store() -> None:
    _, files = _memory()
    with files.open("data/__cluster_metadata-0/00000000000000000000.log") as source:
        assert source.size() == 10
        assert source.read_at(2, 3) == b"234"
        assert source.read_at(8, 100) == b"89"
        assert source.read_at(10, 1) == b""
        assert source.read_at(1000, 1) == b""


def test_what_is_not_there_or_no_file_is_said_by_its_url() -> None:
    url, files = _memory()
    with pytest.raises(KraftoolError, match=f"{url}/nothing: no such file"):
        files.open("nothing")
    with pytest.raises(KraftoolError, match="is a directory"):
        files.open("data")
    with pytest.raises(KraftoolError, match="no such file"):
        files.listed("nothing")


def test_a_store_that_cannot_be_opened_is_named_without_its_secrets() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(KraftoolError) as caught:
        RemoteFiles("nosuchstore://user:hunter22@host/x")
    assert "host/x" in caught.value.message
    assert "hunter22" not in str(caught.value) + caught.value.hint
