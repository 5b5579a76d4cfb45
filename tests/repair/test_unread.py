"""What cannot be got at is not taken for lost: no survey of a part of a directory.

A plan for a node whose log lies on a disk that is not mounted, or in an archive that was cut short,
would give up what is there.
"""

import errno
import os
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from kraftool.repair.document import DocumentError
from kraftool.repair.narration import complaints, is_well
from tests.repair.directories import NOW, Quorum, survey_path
from tests.support.places import PARTITION

FIXTURE = "kafka-4.3.0/dynamic-quorum"


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, FIXTURE, (2,))


def test_a_segment_behind_a_link_that_leads_nowhere_is_refused(quorum: Quorum) -> None:
    segment = quorum.segment(2)
    segment.unlink()
    segment.symlink_to("/not/mounted/00000000000000000000.log")
    with pytest.raises(KraftoolError, match="No such file") as raised:
        quorum.survey(2)
    assert str(segment) in raised.value.message


LOG = f"{PARTITION}/00000000000000000000.log"
QUORUM_STATE = f"{PARTITION}/quorum-state"
FIRST_SNAPSHOT = f"{PARTITION}/00000000000000000000-0000000000.checkpoint"


@pytest.mark.parametrize(
    "name", [LOG, QUORUM_STATE, FIRST_SNAPSHOT, "meta.properties", "bootstrap.checkpoint"]
)
@pytest.mark.parametrize(("kind", "make"), [("a pipe", os.mkfifo), ("a directory", os.mkdir)])
def test_what_is_no_file_in_the_place_of_one_is_refused(
    quorum: Quorum, name: str, kind: str, make: Callable[[Path], None]
) -> None:
    file = quorum[2] / name
    file.unlink()
    make(file)
    with pytest.raises(KraftoolError, match=f"it is {kind}, not a file") as raised:
        quorum.survey(2)
    assert str(file) in raised.value.message


def test_a_file_in_the_place_of_the_metadata_folder_is_refused(quorum: Quorum) -> None:
    shutil.rmtree(quorum.partition(2))
    quorum.partition(2).write_bytes(b"")
    with pytest.raises(KraftoolError, match="it is a file, not a directory"):
        quorum.survey(2)


def test_a_folder_in_the_place_of_a_file_of_an_archive_is_refused(
    quorum: Quorum, tmp_path: Path
) -> None:
    (quorum[2] / QUORUM_STATE).unlink()
    (quorum[2] / QUORUM_STATE).mkdir()
    with tarfile.open(tmp_path / "pod.tar", "w") as archive:
        archive.add(quorum[2], "data")
    with pytest.raises(KraftoolError, match="quorum-state: it is a directory"):
        survey_path(str(tmp_path / "pod.tar"), now_ms=NOW)


def test_in_the_metadata_folder_itself_nothing_is_passed_over(
    quorum: Quorum, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(quorum.partition(2))
    (survey,) = survey_path(".", now_ms=NOW)
    assert survey.identity.node_id == 2
    Path("quorum-state").unlink()
    os.mkfifo("quorum-state")
    with pytest.raises(KraftoolError, match="not a file"):
        survey_path(".", now_ms=NOW)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_under_another_name_hides_nothing(
    quorum: Quorum, make: Callable[[Path], None]
) -> None:
    make(quorum.partition(2) / "notes")
    assert quorum.survey(2).end.offset == 224


@pytest.fixture
def shut(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes a file one that may not be opened, whoever runs the tests."""
    real, names = os.open, set[str]()

    def refuse(path: str, *args: Any, **kwargs: Any) -> int:
        if str(path) in names:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    return lambda path: names.add(str(path))


@pytest.mark.parametrize(
    "name", [LOG, QUORUM_STATE, FIRST_SNAPSHOT, "meta.properties", "bootstrap.checkpoint"]
)
def test_a_file_that_may_not_be_read_is_neither_lost_nor_damaged(
    quorum: Quorum, shut: Callable[[Path], None], name: str
) -> None:
    shut(quorum[2] / name)
    with pytest.raises(KraftoolError, match="permission denied") as raised:
        quorum.survey(2)
    assert str(quorum[2] / name) in raised.value.message
    assert "run kraftool as that user" in raised.value.hint


@pytest.mark.parametrize("suffix", [".checkpoint", ".checkpoint.deleted"])
def test_a_snapshot_that_may_not_be_read_is_not_damaged(
    quorum: Quorum, shut: Callable[[Path], None], suffix: str
) -> None:
    newest = quorum.snapshots(2)[-1]
    file = newest.rename(newest.with_suffix(suffix))
    shut(file)
    with pytest.raises(KraftoolError, match="permission denied"):
        quorum.survey(2)


def test_an_unreadable_sector_in_a_small_file_is_no_loss(
    quorum: Quorum, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = (quorum[2] / QUORUM_STATE).stat().st_ino
    real = os.pread

    def failing(fd: int, size: int, position: int) -> bytes:
        if os.fstat(fd).st_ino == bad:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(fd, size, position)

    monkeypatch.setattr(os, "pread", failing)
    with pytest.raises(KraftoolError, match="quorum-state: cannot be read at position 0"):
        quorum.survey(2)


def test_somebody_elses_file_that_may_not_be_read_is_told(
    quorum: Quorum, shut: Callable[[Path], None]
) -> None:
    notes = quorum.partition(2) / "notes"
    notes.write_bytes(b"")
    shut(notes)
    survey = quorum.survey(2)
    assert survey.end.offset == 224
    assert [complaint for complaint in complaints(survey) if "permission denied" in complaint]


def test_a_metadata_folder_that_leads_nowhere_is_refused(quorum: Quorum) -> None:
    partition = quorum.partition(2)
    partition.rename(partition.parent.parent / "elsewhere")
    partition.symlink_to("/not/mounted")
    with pytest.raises(KraftoolError, match="it is a symbolic link to /not/mounted"):
        quorum.survey(2)


def test_an_archive_that_was_cut_short_is_refused(quorum: Quorum, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.tar", tmp_path / "cut.tar"
    with tarfile.open(whole, "w") as archive:
        archive.add(quorum[2], "data")
    (survey,) = survey_path(str(whole), now_ms=NOW)
    assert survey.end == quorum.survey(2).end
    cut.write_bytes(whole.read_bytes()[:20_000])
    with pytest.raises(KraftoolError, match="the archive ends inside"):
        survey_path(str(cut), now_ms=NOW)


def test_a_log_that_is_gone_beside_its_snapshots_is_told(quorum: Quorum) -> None:
    assert is_well(quorum.survey(2))
    quorum.segment(2).unlink()
    survey = quorum.survey(2)
    assert "there is no segment of a log next to the snapshots" in list(complaints(survey))
    assert not is_well(survey)


def test_a_name_that_is_no_utf_8_can_be_collected(quorum: Quorum, tmp_path: Path) -> None:
    (quorum.partition(2) / os.fsdecode(b"bad\xff.log")).write_bytes(b"")
    written = tmp_path / "node-2.collect"
    written.write_bytes(quorum.collected(2))
    (survey,) = collect_file.read(str(written)).surveys
    assert survey.stopping == ("bad\\udcff.log",)


def test_a_snapshot_that_was_not_hashed_is_in_no_collect_file(quorum: Quorum) -> None:
    """A plan that says that it goes could not remove it."""
    survey = quorum.survey(2)
    with pytest.raises(DocumentError, match="checkpoint is not among the files"):
        replace(survey, files=())
