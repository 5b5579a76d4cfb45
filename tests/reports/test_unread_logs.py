"""Logs that could not be read, or of which only a snapshot is left, are not taken for empty ones.

Root may read everything, so links that lead nowhere stand for files that kraftool may not read.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, seal
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.directory.report import read_location
from kraftool.reports.doctor.quorum_advice import wiped_voters
from kraftool.reports.election.assessment import QuorumSafety, assess
from kraftool.reports.election.assessment_words import sentences
from kraftool.reports.election.read import read_case
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.paths import open_path
from tests.reports.doctor.cases import PARTITION, Log, begun, doctor, found, leader, level, node

_MISSING, _END_LOST = log_kinds.MISSING.code, log_kinds.END_LOST.code


def quorum(path: Path) -> list[Path]:
    """Three voters with the same log, from offset 0 to 3."""
    return [node(path / str(id), begun().data_batch(level()), id) for id in (1, 2, 3)]


def hide(directory: Path) -> None:
    """Make the log unreadable."""
    for segment in (directory / PARTITION).glob("*.log"):
        segment.unlink()
        segment.symlink_to(segment.name)


def told(*paths: Path) -> str:
    return " ".join(sentences(assess(read_case([str(path) for path in paths]))))


@pytest.mark.parametrize("release", ["4.1.1", "4.3.0", "4.4.0"])
def test_a_majority_of_voters_that_lost_their_logs_may_have_committed_anything(
    fixtures_dir: Path, tmp_path: Path, release: str
) -> None:
    """The third voter has committed records beyond their snapshots: lost if they lead."""
    fixture = fixtures_dir / f"kafka-{release}/upgrade"
    paths = [
        shutil.copytree(fixture / f"node-{id}/data", tmp_path / str(id), copy_function=shutil.copy)
        for id in (1, 2, 3)
    ]
    assert assess(read_case([str(path) for path in paths])).loss is not None
    for path in paths[:2]:
        path.joinpath(PARTITION).chmod(0o755)
        for segment in (path / PARTITION).glob("*.log"):
            segment.unlink()
    assert found(_MISSING, *paths)
    assessment = assess(read_case([str(path) for path in paths]))
    assert assessment.state is not QuorumSafety.SAFE
    text = " ".join(sentences(assessment))
    assert "Nothing was committed from" not in text
    assert text.count("and no log.") == 2
    assert "can be lost, which may be committed" in text


def test_a_log_that_could_not_be_read_is_not_called_empty(tmp_path: Path) -> None:
    paths = quorum(tmp_path)
    hide(paths[2])
    assert "Voter 3 has a log that could not be read." in told(*paths)
    (advice,) = wiped_voters(read_case([str(path) for path in paths]))
    assert advice == "kraftool could not read the log of node 3, and cannot judge this node."
    report = doctor(*paths)
    codes = {item.finding.code for section in report.sections for item in section.diagnoses}
    assert "KT-DIR-READ" in codes
    assert "KT-SIG-WIPED-VOTER" not in codes


def test_all_logs_unread_are_no_new_quorum(tmp_path: Path) -> None:
    paths = quorum(tmp_path)
    for path in paths:
        hide(path)
    assert assess(read_case([str(path) for path in paths])).state is not QuorumSafety.SAFE


def test_a_partition_that_could_not_be_listed_shows_neither_a_missing_log_nor_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = node(tmp_path / "1", begun(), 1)
    forbid(monkeypatch, path / PARTITION)
    report = read_location(open_path(str(path)))
    assert {finding.code for finding in report.all_findings} == {"KT-DIR-READ"}
    assert "Voter 1 has an empty log" not in told(path)


def test_a_folder_that_may_not_be_listed_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid(monkeypatch, tmp_path)
    with pytest.raises(KraftoolError, match="cannot be listed: permission denied"):
        open_path(str(tmp_path))


def forbid(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Deny access to a folder as missing permissions do for users other than root."""
    scandir, access = os.scandir, os.access

    def shut(path: Any = ".") -> Iterator[os.DirEntry[str]]:
        if Path(path).is_relative_to(folder):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    def may(path: Any, mode: int) -> bool:
        return not Path(path).is_relative_to(folder) and access(path, mode)

    monkeypatch.setattr(os, "scandir", shut)
    monkeypatch.setattr(os, "access", may)


def test_a_log_whose_newest_segment_is_gone_is_not_called_whole(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    """Kafka 4.3.0 starts on it without the records that the node confirmed, and reports nothing."""
    path = tmp_path / "1"
    shutil.copytree(fixtures_dir / "kafka-4.3.0/log-cleaning/node-1/data", path)
    partition = path / PARTITION
    partition.chmod(0o755)
    assert not found(_END_LOST, path)
    segments = sorted(partition.glob("*.log"))
    base = int(segments[-1].stem)
    segments[-1].unlink()
    (diagnosis,) = found(_END_LOST, path)
    assert diagnosis.finding.offset == base
    assert f"the log ends at {base}, but there is an index of a segment" in diagnosis.finding.text
    for left in partition.glob(f"{base:020}.*index"):
        left.unlink()
    assert not found(_END_LOST, path)


def test_a_log_that_lost_all_its_batches_is_not_called_new(tmp_path: Path) -> None:
    path = node(tmp_path / "1", Log(), 1)
    assert not found(_END_LOST, path)
    (path / PARTITION / "leader-epoch-checkpoint").write_text("0\n2\n1 0\n2 5\n")
    (diagnosis,) = found(_END_LOST, path)
    assert diagnosis.finding.text == "the log ends at 0, but epoch 2 begins at 5"


def test_verify_log_reports_a_lost_end_of_a_log_with_other_findings(tmp_path: Path) -> None:
    """verify-log adds findings to segments that are whole. dump and doctor do not."""
    batch = RecordBatch.read(Log().data_batch(level()).data)
    log = begun()
    header = batch.header._replace(base_offset=log.end, attributes=0x10)
    log.data += seal(header, batch.data[HEADER_SIZE:])
    path = node(tmp_path / "1", log, 1)
    (path / PARTITION / "leader-epoch-checkpoint").write_text("0\n2\n1 0\n2 5\n")
    (diagnosis,) = found(_END_LOST, path)
    location = open_path(str(path))
    assert diagnosis.finding in read_location(location).all_findings
    verified = verify_logs([location]).rows
    assert diagnosis.finding in verified
    assert log_kinds.BATCH_FORM.code in {finding.code for finding in verified}


def test_an_epoch_beyond_the_end_of_its_log_makes_a_voter_doubtful(tmp_path: Path) -> None:
    paths = quorum(tmp_path)
    longer = begun().data_batch(level()).control(2, leader(1, (1, 2, 3)))
    (paths[0] / PARTITION / f"{0:020}.log").write_bytes(longer.data)
    epochs = paths[1] / PARTITION / "leader-epoch-checkpoint"
    epochs.write_text("0\n2\n1 0\n2 4\n")
    assert not found(_END_LOST, paths[1])  # Kafka writes the start of an epoch before its batch
    epochs.write_text("0\n2\n1 0\n2 5\n")
    (diagnosis,) = found(_END_LOST, paths[1])
    assert diagnosis.finding.text == "the log ends at 4, but epoch 2 begins at 5"
    assert "Voter 2 lost the end of its log" in told(*paths)


def without_log(source: Path, target: Path) -> Path:
    """A voter whose .log files are deleted, and all of its snapshots."""
    path = Path(shutil.copytree(source, target, copy_function=shutil.copy))
    partition = path / PARTITION
    partition.chmod(0o755)
    for file in (*partition.glob("*.log"), *partition.glob("*.checkpoint")):
        file.unlink()
    return path


@pytest.mark.parametrize(
    ("left", "trace"),
    [
        ("*", "leader-epoch-checkpoint has epoch 6 from offset "),
        ("leader-epoch-checkpoint", "leader-epoch-checkpoint has epoch 6 from offset "),
        ("*.index", "00000000000000000000.index belongs to a segment"),
        ("*.snapshot", "00000000000000000160.snapshot belongs to a segment"),
    ],
)
def test_other_files_show_that_a_log_is_gone(
    fixtures_dir: Path, tmp_path: Path, left: str, trace: str
) -> None:
    """Kafka 4.3.0 starts on it with an empty log, and its vote counts."""
    path = without_log(fixtures_dir / "kafka-4.3.0/upgrade/node-2/data", tmp_path / "1")
    for file in (path / PARTITION).iterdir():
        if not file.match(left) and file.name != "quorum-state":
            file.unlink()
    (diagnosis,) = found(_MISSING, path)
    assert diagnosis.finding.severity == "warning"
    assert f"there is no .log file, but {trace}" in diagnosis.finding.text
    assert not found("KT-LOG-NONE", path)


def test_quorum_state_alone_shows_no_lost_log(fixtures_dir: Path, tmp_path: Path) -> None:
    """An operator writes it into an empty directory, so that a voter keeps its promise."""
    path = without_log(fixtures_dir / "kafka-4.3.0/upgrade/node-2/data", tmp_path / "1")
    for file in (path / PARTITION).iterdir():
        if file.name != "quorum-state":
            file.unlink()
    assert not found(_MISSING, path)
    assert found("KT-LOG-NONE", path)


def test_voters_that_all_lost_their_logs_are_no_new_quorum(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    """The files quorum-state name them as voters."""
    quorum = fixtures_dir / "kafka-3.7.2/static-quorum"
    paths = [without_log(quorum / f"node-{id}/data", tmp_path / str(id)) for id in (1, 2, 3)]
    assessment = assess(read_case([str(path) for path in paths]))
    assert assessment.state is not QuorumSafety.SAFE
    assert [voter.reason for voter in assessment.forgetful] == ["lost its log"] * 3
