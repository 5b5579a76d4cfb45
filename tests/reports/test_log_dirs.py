"""The other directories of log.dirs: what keeps Kafka from starting is found, and nothing else.

What Kafka does with each is in tests/interop/start_claims_files.py.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from kraftool.reports.directory.report import read_location
from kraftool.storage.paths import open_path

OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAw"


@pytest.fixture
def settings(fixtures_dir: Path, tmp_path: Path) -> Path:
    """server.properties of a real controller, with a second directory of its own."""
    source = fixtures_dir / "kafka-4.3.0/static-single/node-1"
    shutil.copytree(source / "data", tmp_path / "data")
    second = tmp_path / "second"
    second.mkdir()
    own = (source / "data/meta.properties").read_text()
    (second / "meta.properties").write_text(re.sub(r"(?m)(?<=^directory\.id=).*", OTHER_ID, own))
    path = tmp_path / "server.properties"
    text = (source / "server.properties").read_text()
    path.write_text(re.sub(r"(?m)(?<=^log\.dirs=).*", f"{tmp_path / 'data'},{second}", text))
    return path


def found(settings: Path) -> list[tuple[str, str, str]]:
    """The codes of what is found in the second directory, with the field and the sentence."""
    report = read_location(open_path(str(settings)))
    name = str(settings.parent / "second" / "meta.properties")
    return [
        (finding.code, finding.field, finding.text)
        for finding in report.all_findings
        if finding.file == name
    ]


def edit(settings: Path, key: str, value: str) -> None:
    path = settings.parent / "second" / "meta.properties"
    path.write_text(re.sub(rf"(?m)(?<=^{re.escape(key)}=).*", value, path.read_text()))


def test_a_second_directory_of_the_node_is_fine(settings: Path) -> None:
    assert found(settings) == []


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("cluster.id", OTHER_ID, "a directory of another cluster"),
        ("node.id", "7", "a directory of another node, 7, beside one of node 1"),
    ],
)
def test_a_directory_of_another_cluster_or_node_is_an_error(
    settings: Path, key: str, value: str, words: str
) -> None:
    edit(settings, key, value)
    [(code, field, text)] = found(settings)
    assert (code, field) == ("KT-DIR-LOG-DIR", key)
    assert words in text


def test_a_copy_of_the_first_directory_is_an_error(settings: Path) -> None:
    folder = settings.parent
    shutil.copy(folder / "data/meta.properties", folder / "second")
    [(code, field, _)] = found(settings)
    assert (code, field) == ("KT-DIR-LOG-DIR", "directory.id")


@pytest.mark.parametrize("whole", [False, True], ids=["file", "directory"])
def test_what_is_missing_is_an_error_that_says_how_much(settings: Path, whole: bool) -> None:
    second = settings.parent / "second"
    if whole:
        shutil.rmtree(second)
    else:
        (second / "meta.properties").unlink()
    [(code, _, text)] = found(settings)
    assert code == "KT-DIR-LOG-DIR"
    assert text.endswith("does not exist" if whole else "has no meta.properties")


def test_an_unreadable_file_takes_the_directory_offline(settings: Path) -> None:
    edit(settings, "version", "9")
    [(code, _, _)] = found(settings)
    assert code == "KT-DIR-LOG-DIR-OFFLINE"


def test_of_an_unformatted_node_the_others_are_compared(settings: Path) -> None:
    """Without its own meta.properties the configuration says which node it is."""
    (settings.parent / "data/meta.properties").unlink()
    assert found(settings) == []
    edit(settings, "node.id", "7")
    assert [field for _, field, _ in found(settings)] == ["node.id"]
