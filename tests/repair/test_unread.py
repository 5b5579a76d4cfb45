"""What cannot be got at is not taken for lost: no survey of a part of a directory.

A plan for a node whose log lies on a disk that is not mounted, or in an archive that was cut short,
would give up what is there.
"""

import os
import tarfile
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from kraftool.repair.narration import complaints, is_well
from kraftool.repair.surveying import survey_path
from tests.repair.directories import NOW, Quorum

FIXTURE = "kafka-4.3.0/dynamic-quorum"


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, FIXTURE, (2,))


def test_a_segment_behind_a_link_that_leads_nowhere_is_refused(quorum: Quorum) -> None:
    segment = quorum.segment(2)
    segment.unlink()
    segment.symlink_to("/not/mounted/00000000000000000000.log")
    with pytest.raises(KraftoolError, match="No such file") as told:
        quorum.survey(2)
    assert str(segment) in told.value.message


@pytest.mark.parametrize("name", ["00000000000000000000.log", "quorum-state"])
def test_a_pipe_in_the_place_of_a_file_is_refused(quorum: Quorum, name: str) -> None:
    file = quorum.partition(2) / name
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(KraftoolError, match="no regular file"):
        quorum.survey(2)


def test_a_pipe_of_another_name_hides_nothing(quorum: Quorum) -> None:
    os.mkfifo(quorum.partition(2) / "notes")
    assert quorum.survey(2).end.offset == 224


def test_a_metadata_folder_that_leads_nowhere_is_refused(quorum: Quorum) -> None:
    partition = quorum.partition(2)
    partition.rename(partition.parent.parent / "elsewhere")
    partition.symlink_to("/not/mounted")
    with pytest.raises(KraftoolError, match="cannot be read"):
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
    assert "there is no segment of a log beside the snapshots" in list(complaints(survey))
    assert not is_well(survey)


def test_a_name_that_is_no_utf_8_can_be_collected(quorum: Quorum, tmp_path: Path) -> None:
    (quorum.partition(2) / os.fsdecode(b"bad\xff.log")).write_bytes(b"")
    written = tmp_path / "node-2.collect"
    written.write_bytes(collect_file.encode((quorum.survey(2),)))
    (survey,) = collect_file.read(str(written))
    assert survey.stopping == ("bad\\udcff.log",)
