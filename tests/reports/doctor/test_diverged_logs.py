"""Other bytes at the same offset, in another epoch or in the same; logs of which one is shorter."""

from __future__ import annotations

from pathlib import Path

from tests.reports.doctor.cases import Log, begun, found, level, node, one, topic


def grown(*steps: int) -> Log:
    """A log with a NoOp of each of these epochs."""
    log = begun()
    for epoch in steps:
        log.noops(epoch, 1)
    return log


def test_another_epoch_at_the_same_offset_is_a_divergence(tmp_path: Path) -> None:
    behind = node(tmp_path / "a", grown(1, 1, 1), 1)
    ahead = node(tmp_path / "b", grown(1, 2, 2), 2, epoch=2)
    told = one("KT-LOG-DIVERGED", behind, ahead)
    assert (told.finding.offset, told.finding.file) == (4, str(behind))
    assert told.commands[1] == f"kraftool dump-log {behind} --offsets 4.."
    assert not found("KT-SIG-SAME-PLACE", behind, ahead)


def test_other_bytes_in_the_same_epoch_are_named(tmp_path: Path) -> None:
    paths = (
        node(tmp_path / "a", begun().data_batch(level(29), topic()), 1),
        node(tmp_path / "b", begun().data_batch(level(30), topic()), 2),
    )
    told = one("KT-SIG-SAME-PLACE", *paths)
    assert (told.finding.offset, "same epoch 1" in told.finding.text) == (3, True)


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
