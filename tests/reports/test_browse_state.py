"""States one after the other, in any order, are those that reading each from its start gives."""

import random
import shutil
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.segment import scan
from kraftool.image.state_hash import state_hash
from kraftool.reports.browse import history as history_module
from kraftool.reports.browse.history import StateHistory
from kraftool.reports.browse.state_changes import difference
from kraftool.reports.browse.state_tree import StateTree
from kraftool.reports.logs.query import GoTo
from kraftool.reports.state.diff import ChangeType, changes
from kraftool.reports.state.load import load_state
from kraftool.reports.state.shell.tree import shell_tree
from kraftool.reports.state.shell.walk import find_lines, tree_lines
from kraftool.watching.result import Failed, attempt
from tests.support.places import FIXTURES, LOG, fixture_name

DYNAMIC = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data"
NODES = [
    DYNAMIC,
    FIXTURES / "built/aborted-transaction/node-1/data",
    FIXTURES / "kafka-4.3.0/log-cleaning/node-1/data",
    FIXTURES / "kafka-3.9.1/upgrade/node-1/data",
]


@pytest.mark.parametrize("stride", [50_000, 17])
@pytest.mark.parametrize("path", NODES, ids=fixture_name)
def test_each_offset_has_the_state_that_loading_it_alone_gives(
    path: Path, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "STRIDE", stride)
    history = StateHistory.open(str(path))
    offsets = list(range(history.bounds.first, history.bounds.last + 1))
    chosen = random.Random(8).sample(offsets, min(len(offsets), 60))
    for offset in [*chosen, history.bounds.last]:
        wanted = attempt(partial(load_state, str(path), at=offset))
        moment = attempt(partial(history.at, offset))
        if isinstance(wanted, Failed) or isinstance(moment, Failed):
            assert moment == wanted
            continue
        assert state_hash(moment.image) == state_hash(wanted.image), offset
        assert moment.image.provenance == wanted.image.provenance
        assert moment.open_transaction == wanted.open_transaction
        assert moment.end_offset == offset


def test_a_state_near_one_that_was_seen_is_read_without_the_log_before_it() -> None:
    history = StateHistory.open(str(DYNAMIC))
    history.at(60)
    reached: list[int] = []
    history.at(62, lambda name, position: reached.append(position))
    batches = _batches()
    before = next(batch for batch in batches if batch.last_offset >= 60)
    assert reached
    assert min(reached) > before.position


def test_a_state_is_left_where_its_progress_raises() -> None:
    class EnoughError(Exception):
        pass

    def enough(name: str, position: int) -> None:
        raise EnoughError

    history = StateHistory.open(str(DYNAMIC))
    with pytest.raises(EnoughError):
        history.at(50, enough)
    assert history.at(50).end_offset == 50


def _batches() -> list[RecordBatch]:
    data = (DYNAMIC / "__cluster_metadata-0" / LOG).read_bytes()
    parts = scan(lambda at, size: data[at : at + size])
    return [part for part in parts if isinstance(part, RecordBatch)]


def _written(some: list[RecordBatch], epoch: int | None = None) -> bytes:
    if epoch is None:
        return b"".join(batch.data for batch in some)
    return b"".join(batch.data[:12] + epoch.to_bytes(4, "big") + batch.data[16:] for batch in some)


def test_a_log_that_grows_is_read_on_and_one_that_was_cut_is_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    batches = _batches()
    (folder / LOG).write_bytes(_written(batches[:30]))
    history = StateHistory.open(str(folder))
    middle, end = batches[20].last_offset + 1, batches[29].last_offset + 1
    kept, old = history.at(middle), history.at(None)
    assert old.end_offset == end

    with (folder / LOG).open("ab") as out:
        out.write(_written(batches[30:40]))
    assert history.refresh().last == batches[39].last_offset + 1
    assert history.at(middle) is kept
    newest = history.at(None)
    assert state_hash(newest.image) == state_hash(load_state(str(folder)).image)

    (folder / LOG).write_bytes(_written(batches[:25]) + _written(batches[25:30], epoch=9))
    assert history.refresh().last == end
    assert history.at(middle) is kept
    assert history.at(end) is not old
    assert history.at(end).image.provenance.last_epoch == 9


def test_a_time_and_an_epoch_are_offsets() -> None:
    history = StateHistory.open(str(DYNAMIC))
    third = next(batch for batch in _batches() if batch.epoch == 3)
    assert history.offset_of(GoTo("epoch", 3)) == third.base_offset
    assert history.offset_of(GoTo("time", third.header.max_timestamp)) == third.base_offset
    assert history.offset_of(GoTo("offset", 7)) == 7
    assert history.offset_of(GoTo("epoch", 99)) == history.bounds.last


def test_the_whole_tree_opened_is_the_tree_of_the_shell() -> None:
    image = load_state(str(DYNAMIC)).image
    tree = StateTree(image)
    closed = tree.rows()
    assert all(not tree_row.is_open for tree_row in closed)
    while branches := [row for row in tree.rows() if row.is_directory and not row.is_open]:
        for branch in branches:
            tree.toggle(branch.path)
    lines = []
    for row in tree.rows():
        lines.append("  " * (row.depth + 2) + f"{row.name}:")
        if not row.is_directory:
            lines.append("  " * (row.depth + 3) + row.text())
    whole = list(tree_lines(shell_tree(image), 1))
    begin = whole.index("  image:") + 1
    assert lines == whole[begin : begin + len(lines)]
    for tree_row in closed:
        if tree_row.is_directory:
            tree.toggle(tree_row.path)
    assert [row.path for row in tree.rows()] == [path.path for path in closed]


def test_a_search_finds_all_that_has_the_words_in_branches_that_are_closed() -> None:
    image = load_state(str(DYNAMIC)).image
    tree = StateTree(image)
    everything = [line for line in find_lines(shell_tree(image), "/") if line.startswith("/image/")]
    wanted = [path for path in everything if "orders-a" in path.rpartition("/")[2]]
    hits = [path for path in tree.find("orders-a") if path is not None]
    assert set(wanted) <= {"/image/" + "/".join(path) for path in hits}
    assert hits == [path for path in tree.find("ORDERS-A") if path is not None]
    # On from each one comes the next, and back from each the one before it.
    for here, following in pairwise(hits):
        assert next(path for path in tree.find("orders-a", here) if path) == following
        assert next(path for path in tree.find_before("orders-a", following) if path) == here
    assert [path for path in tree.find("no such thing") if path] == []
    tree.reveal(hits[-1])
    assert hits[-1] in [row.path for row in tree.rows()]


def test_no_line_of_the_tree_shows_a_secret() -> None:
    tree = StateTree(load_state(str(DYNAMIC)).image)
    lines = []
    for path in tree.find(""):
        if path is not None:
            tree.reveal(path)
    lines = [row.text() for row in tree.rows() if not row.is_directory]
    assert any("password" in row.name for row in tree.rows())
    assert not [line for line in lines if "CANARY" in line]


def test_a_difference_has_all_changes_under_their_kinds() -> None:
    history = StateHistory.open(str(DYNAMIC))
    old, new = history.at(85), history.at(None)
    diff = difference(old, new)
    assert diff.total == sum(1 for _ in changes(old.image, new.image))
    assert list(diff.kept) == list(changes(old.image, new.image))
    heads = [row for row in diff.rows if row.depth == 0]
    signs = [row.sign for row in diff.rows if row.depth == 1]
    added = sum(count[ChangeType.ADDED] for count in diff.counts.by_kind.values())
    assert added == signs.count("+")
    assert len(heads) == len(diff.counts.by_kind)
    assert difference(new, new).total == 0


def test_a_damaged_log_has_states_up_to_the_damage_and_says_so_behind_it(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "damaged/flipped-bit-in-record", tmp_path / "one")
    history = StateHistory.open(str(tmp_path / "one"))
    state = history.at(None)
    assert state.findings
    assert state.end_offset < history.bounds.last
    with pytest.raises(KraftoolError, match="is damaged"):
        history.at(history.bounds.last - 1)
    assert history.at(state.end_offset).end_offset == state.end_offset
