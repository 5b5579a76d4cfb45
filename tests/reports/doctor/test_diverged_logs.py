"""Other bytes at the same offset, in another epoch or in the same; logs of which one is shorter."""

from __future__ import annotations

from pathlib import Path

from kraftool.reports.findings.finding import Severity
from tests.reports.doctor.cases import STAMP, Log, begun, found, level, node, one, topic


def grown(*steps: int) -> Log:
    """A log with a NoOp of each of these epochs."""
    log = begun()
    for epoch in steps:
        log.noops(epoch, 1)
    return log


def test_another_epoch_at_the_same_offset_is_a_divergence(tmp_path: Path) -> None:
    behind = node(tmp_path / "a", grown(1, 1, 1), 1)
    ahead = node(tmp_path / "b", grown(1, 2, 2), 2, epoch=2)
    diagnosis = one("KT-LOG-DIVERGED", behind, ahead)
    assert (diagnosis.finding.offset, diagnosis.finding.file) == (4, str(behind))
    assert diagnosis.commands[1] == f"kraftool dump-log {behind} --offsets 4.."
    assert not found("KT-SIG-SAME-PLACE", behind, ahead)


def test_the_tail_of_a_leader_that_was_stopped_is_no_error(tmp_path: Path) -> None:
    """If it alone has it; where two have it, or another is as far, it may have been committed."""
    stopped = grown(1).data_batch(level(29), topic())
    tail = node(tmp_path / "a", stopped, 1)
    others = [node(tmp_path / f"o{voter}", grown(1, 2, 2), voter, epoch=2) for voter in (2, 3)]
    assert one("KT-LOG-DIVERGED", tail, *others).finding.severity is Severity.INFO
    assert one("KT-LOG-DIVERGED", tail, others[0]).finding.severity is Severity.WARNING
    again = node(tmp_path / "b", stopped, 4)
    diagnoses = found("KT-LOG-DIVERGED", tail, again, *others)
    assert {diagnosis.finding.severity for diagnosis in diagnoses} == {Severity.ERROR}


def test_other_bytes_in_the_same_epoch_are_named(tmp_path: Path) -> None:
    paths = (
        node(tmp_path / "a", begun().data_batch(level(29), topic()), 1),
        node(tmp_path / "b", begun().data_batch(level(30), topic()), 2),
    )
    diagnosis = one("KT-SIG-SAME-PLACE", *paths)
    assert (diagnosis.finding.offset, "same epoch 1" in diagnosis.finding.text) == (3, True)


def test_a_shorter_log_is_no_divergence(tmp_path: Path) -> None:
    paths = node(tmp_path / "a", grown(1), 1), node(tmp_path / "b", grown(1, 1, 2), 2, epoch=2)
    assert not found("KT-LOG-DIVERGED", *paths)
    assert not found("KT-SIG-SAME-PLACE", *paths)


def test_a_log_that_was_cleaned_is_compared_from_where_it_begins(tmp_path: Path) -> None:
    whole = node(tmp_path / "a", grown(1, 1, 1, 1), 1)
    cleaned = node(tmp_path / "b", grown(1, 1, 1, 1), 2)
    log = cleaned / "__cluster_metadata-0" / f"{0:020}.log"
    size = len(begun().data)
    (log.parent / f"{3:020}.log").write_bytes(log.read_bytes()[size:])
    log.unlink()
    assert not found("KT-LOG-DIVERGED", whole, cleaned)
    assert not found("KT-SIG-SAME-PLACE", whole, cleaned)


def test_what_most_have_is_what_the_others_are_held_against(tmp_path: Path) -> None:
    """The one that goes furthest is the altered one."""
    altered = begun().data_batch(level(29), topic())
    altered.noops(1, 3)
    paths = [node(tmp_path / "a", altered, 1)]
    same = begun().data_batch(level(30), topic())
    paths += [node(tmp_path / name, same, id) for name, id in (("b", 2), ("c", 3))]
    diagnosis = one("KT-SIG-SAME-PLACE", *paths)
    assert diagnosis.directory == str(paths[0])
    assert f"other records than {paths[1]} and {paths[2]}" in diagnosis.finding.text
    assert diagnosis.finding.advice.startswith(f"{paths[1]} and {paths[2]} agree")


def test_of_one_against_one_neither_is_known_to_be_right(tmp_path: Path) -> None:
    paths = (
        node(tmp_path / "a", begun().data_batch(level(29), topic()), 1),
        node(tmp_path / "b", begun().data_batch(level(30), topic()), 2),
    )
    diagnosis = one("KT-SIG-SAME-PLACE", *paths)
    assert diagnosis.finding.advice.startswith("nothing here shows which side is right")


def test_an_epoch_alone_that_differs_is_said(tmp_path: Path) -> None:
    paths = node(tmp_path / "a", grown(1, 1, 1), 1), node(tmp_path / "b", grown(1, 1, 1), 2)
    log = paths[0] / "__cluster_metadata-0" / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    size = (len(data) - len(begun().data)) // 3
    at = len(begun().data) + size + 12
    data[at : at + 4] = (2).to_bytes(4, "big")
    log.write_bytes(bytes(data))
    diagnosis = one("KT-LOG-DIVERGED", *paths)
    assert "the same records in another epoch than" in diagnosis.finding.text
    assert "no CRC covers" in diagnosis.finding.advice


def test_a_log_that_has_nothing_in_common_is_not_to_be_deleted(tmp_path: Path) -> None:
    other = begun(stamp=STAMP + 5)
    diagnosis = one(
        "KT-SIG-SAME-PLACE", node(tmp_path / "a", begun(), 1), node(tmp_path / "b", other, 2)
    )
    assert diagnosis.finding.text.endswith("the logs have nothing in common")
    assert "Delete nothing" in diagnosis.finding.advice
