"""Folders that another program filled: their files are counted, and Kafka's own are all listed."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from kraftool.commands.remote_script import remote_command
from kraftool.storage.directory import Listing, list_data_directory
from kraftool.storage.entry import Severity
from kraftool.storage.unknown_files import MOST_LISTED
from tests.commands.conftest import Run

USED = (
    "00000000000000000007.log.deleted",
    "00000000000000000007.index.swap",
    "7.log",
    "zz-not-an-offset.log",
    "zz.snapshot",
    "00000000000000000007-0000000001.checkpoint.deleted",
    "00000000000000000007-0000000001-zz.checkpoint.part",
    "zz.checkpoint",
    "quorum-state.tmp",
)
"""Kafka uses these, removes them, or does not start because of them."""


@pytest.fixture
def filled(fixtures_dir: Path, tmp_path: Path) -> Path:
    """A data directory with 1,500 files of another program, and leftovers of Kafka behind them."""
    data = tmp_path / "data"
    shutil.copytree(fixtures_dir / "kafka-4.3.0/static-single/node-1/data", data)
    partition = data / "__cluster_metadata-0"
    for name in USED:
        (partition / name).touch()
    for number in range(1000):
        (partition / f"aa-{number:04}.tmp").touch()
    for number in range(500):
        (partition / f"aa-{number:04}").touch()
        (data / f"aa-{number:04}.gz").touch()
    return data


def names(listing: Listing, folder: str) -> list[str]:
    """The files of a folder that the listing has, without the folder."""
    paths = [entry.path for entry in listing.entries]
    return [path.removeprefix(folder) for path in paths if path.startswith(folder)]


def test_files_of_another_program_are_counted_by_their_suffix(filled: Path) -> None:
    listing = list_data_directory(str(filled))
    unknown = [name for name in names(listing, "__cluster_metadata-0/") if name.startswith("aa-")]
    assert len(unknown) == MOST_LISTED
    assert unknown == sorted(unknown)
    assert unknown[:3] == ["aa-0000", "aa-0000.tmp", "aa-0001"]
    partition = filled / "__cluster_metadata-0"
    counts = {problem.name: problem.reason.split()[0] for problem in listing.problems}
    assert counts == {
        f"{partition}/*.tmp": "900",
        f"{partition}/*": "400",
        f"{filled}/*.gz": "300",
    }
    assert {problem.severity for problem in listing.problems} == {Severity.INFO}


def test_every_file_that_kafka_acts_on_is_listed_among_them(filled: Path) -> None:
    assert set(USED) <= set(names(list_data_directory(str(filled)), "__cluster_metadata-0/"))


def test_doctor_says_what_they_are(kraftool: Run, filled: Path) -> None:
    ran = kraftool("doctor", filled, "-v")
    assert "900 more files that Kafka does not know" in ran.words
    assert "__cluster_metadata-0/*.tmp" in ran.words


def test_collect_over_ssh_sends_no_more_of_them_than_a_survey_lists(filled: Path) -> None:
    ran = subprocess.run(remote_command(str(filled)), capture_output=True, check=True)
    archive = ran.stdout.partition(b"\n\n")[2]
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        sent = [name.rpartition("/")[2] for name in members.getnames()]
    assert len([name for name in sent if name.startswith("aa-")]) == MOST_LISTED
    assert set(USED) <= set(sent)
