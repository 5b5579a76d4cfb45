"""A bundle may come from anybody: whatever is in it, no file outside its scratch folder changes."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.bundle_files import MANIFEST
from kraftool.storage.bundle_names import bundle_place, each_node
from kraftool.storage.paths import open_path
from tests.support.bundles import as_new_process, bundle_of
from tests.support.places import FIXTURES

NODE = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"
Change = Callable[[dict[str, Any]], object]


@pytest.fixture(autouse=True)
def new_process() -> Iterator[None]:
    with as_new_process():
        yield


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("good") / "case.zip"
    bundle_of(NODE, file=file)
    return file


def changed(good: Path, folder: Path, change: Change, extra: dict[str, bytes] | None = None) -> str:
    """The bundle with another manifest, and with more files."""
    file = folder / "changed.zip"
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == MANIFEST:
                manifest = json.loads(content)
                change(manifest)
                content = json.dumps(manifest).encode()
            new.writestr(name, content)
        for name, content in (extra or {}).items():
            new.writestr(name, content)
    return str(file)


def open_all(file: str) -> None:
    for path in each_node([file]):
        open_path(path)


def refusal(file: str) -> str:
    with pytest.raises(KraftoolError) as refused:
        open_all(file)
    return f"{refused.value.message} {refused.value.hint}"


def of_node(**members: object) -> Change:
    return lambda manifest: manifest["nodes"][0].update(members)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda manifest: manifest.update(kind="other"), "no bundle of kraftool"),
        (lambda manifest: manifest.update(formatVersion=2), "another version"),
        (of_node(name="../up"), "no name of its own"),
        (of_node(name=7), "no name of its own"),
        (of_node(directory="../../etc"), "cannot be one"),
        (of_node(directory="/../../etc"), "no path of a data directory"),
        (of_node(directory=7), "no list of texts"),
        (of_node(logDirs=["/a" * 100]), "cannot be one"),
        (of_node(otherFolders=["/../x"]), "no path of a data directory"),
        (of_node(pipes=["relative"]), "cannot be one"),
        (of_node(running="/x"), "no list of texts"),
        (lambda manifest: manifest.update(nodes=[]), "no node"),
    ],
)
def test_a_manifest_that_cannot_be(good: Path, tmp_path: Path, change: Change, words: str) -> None:
    file = changed(good, tmp_path, change)
    if words == "no node":
        assert each_node([file]) == []
        with pytest.raises(KraftoolError, match=words):
            open_path(file)
        return
    assert words in refusal(file)


@pytest.mark.parametrize(
    "name", ["node-2/files/../../../../escaped", "node-2/files/" + "d/" * 100 + "deep"]
)
def test_a_file_stays_in_its_folder(good: Path, tmp_path: Path, name: str) -> None:
    file = changed(good, tmp_path, lambda manifest: None, {name: b"x"})
    assert "no path of a data directory" in (words := refusal(file)) or "is damaged" in words
    assert not list(tmp_path.rglob("escaped"))


def test_settings_cannot_lead_to_files_of_this_host(good: Path, tmp_path: Path) -> None:
    settings = ["node.id=2", r"log.dirs=/a\,/etc"]
    change = of_node(properties="/etc/kafka/server.properties", settingLines=settings)
    assert "files/a, which is not there" in refusal(changed(good, tmp_path, change))


def test_a_file_that_is_in_it_twice(good: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(good) as bundle:
        name = next(name for name in bundle.namelist() if name.endswith("quorum-state"))
    with pytest.warns(UserWarning, match="Duplicate"):
        file = changed(good, tmp_path, lambda manifest: None, {name: b"{}"})
    assert "is in it twice" in refusal(file)


def test_more_than_the_disk_has(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1000))
    assert "1000 bytes are free" in refusal(str(good))


@pytest.mark.parametrize("at", [10, 400, 5_000, -10, -200])
def test_a_damaged_file(good: Path, tmp_path: Path, at: int) -> None:
    """It is refused with its name, or what is damaged is not what was asked for."""
    data = bytearray(good.read_bytes())
    for place in range(at, min(at + 8, 0) if at < 0 else at + 8):
        data[place] ^= 0xFF
    file = tmp_path / "damaged.zip"
    file.write_bytes(data)
    refused = []
    try:
        open_all(str(file))
    except KraftoolError as error:
        refused.append(error.message)
    assert all(str(file) in message for message in refused)


def test_another_zip_is_none(tmp_path: Path) -> None:
    file = tmp_path / "other.zip"
    with zipfile.ZipFile(file, "w") as other:
        other.writestr("a", b"b")
    assert "no bundle of kraftool" in refusal(str(file))


def test_a_bundle_is_unpacked_once_and_gone_at_the_end(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import atexit

    ends: list[Callable[[], object]] = []
    monkeypatch.setattr(atexit, "register", ends.append)
    first, second = (open_path(f"{good}:node-2") for _ in range(2))
    assert first.directory == second.directory
    assert bundle_place(f"{good}:node-2") == (str(good), "node-2")
    assert Path(first.directory).is_dir()
    for end in ends:
        end()
    assert not Path(first.directory).exists()
