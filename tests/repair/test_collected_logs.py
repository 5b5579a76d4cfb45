"""Damaged logs that are known from collect files: what their bytes would keep, and copies of them
next to the collect files."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.repair import plain_batches
from kraftool.repair.collected_logs import KeptByDirectory, kept_by_directories, relevant
from kraftool.repair.plan import LostRecords, Plan
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.request import PlanRequest, with_settings
from kraftool.reports.election.assessment import LossBound
from tests.repair.directories import EQUAL, NOW, Quorum, flip_in_batch

pytestmark = pytest.mark.slow


def damaged(root: Path, damage: dict[int, list[int]]) -> Quorum:
    """Voters with damaged batches, and no snapshot beyond them."""
    quorum = Quorum(root, EQUAL, tuple(damage))
    for node, numbers in damage.items():
        for snapshot in quorum.snapshots(node):
            if snapshot.name.startswith(f"{144:020}"):
                snapshot.unlink()
        for number in numbers:
            flip_in_batch(quorum.segment(node), number)
    return quorum


def collected(quorum: Quorum, root: Path) -> list[str]:
    files = []
    for node in quorum.directories:
        file = root / f"{node}.collect"
        file.write_bytes(quorum.collected(node))
        files.append(str(file))
    return files


def plan_of(paths: list[str], *settings: str, accept: tuple[str, ...] = ()) -> Plan:
    request = PlanRequest(surveys=(), now_ms=NOW, accepted=frozenset(accept), kafka_version="4.3.0")
    request = with_settings(request, settings)
    return plan_for(read_quorum(paths, now_ms=NOW).asked(request))


def test_a_collect_file_and_a_copy_of_its_directory_make_the_plan_of_the_directory(
    tmp_path: Path,
) -> None:
    quorum = damaged(tmp_path, {1: [-30], 3: [-20]})
    files = collected(quorum, tmp_path)
    with pytest.raises(PlanRefused, match="collect files have no bytes of a log") as refused:
        plan_of(files, "lost=2", accept=("ahead",))
    assert [name for name, _ in refused.value.archives] == [
        "node-1-data.tar.gz",
        "node-3-data.tar.gz",
    ]
    copies = []
    for node in (1, 3):
        shutil.copytree(quorum.partition(node), tmp_path / f"copy-{node}" / "__cluster_metadata-0")
        shutil.copy(quorum[node] / "meta.properties", tmp_path / f"copy-{node}")
        copies.append(str(tmp_path / f"copy-{node}"))
    plan = plan_of([*files, *copies], "lost=2")
    own = plan_of([str(quorum[1]), str(quorum[3])], "lost=2")
    assert plan.loss.verdict is LossBound.NONE
    assert (plan.hosts, plan.steps, plan.loss) == (own.hosts, own.steps, own.loss)


def test_a_copy_that_is_not_what_was_collected_is_not_joined(tmp_path: Path) -> None:
    """Kafka has run since, say: neither of the two is taken for the other."""
    quorum = damaged(tmp_path, {1: [-30], 3: [-20]})
    files = collected(quorum, tmp_path)
    flip_in_batch(quorum.segment(1), -3)
    with pytest.raises(KraftoolError, match="are the same directory, of node 1"):
        plan_of([*files, str(quorum[1])], "lost=2")


def test_a_loss_that_no_directory_prevents_asks_for_none(tmp_path: Path) -> None:
    """Both logs are damaged at one batch."""
    quorum = damaged(tmp_path, {1: [-30], 3: [-30]})
    plan = plan_of(collected(quorum, tmp_path), "lost=2", "seed=1", accept=("ahead",))
    assert plan.loss.records
    assert {risk.word for risk in plan.risks} == {"ahead"}


@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_is_what_the_directories_give(tmp_path: Path, seed: int) -> None:
    """Up to the last batch behind the damage; a plan from the directories may go further."""
    chosen = random.Random(seed)
    quorum = damaged(tmp_path, {node: chosen.sample(range(-45, -5), 2) for node in (1, 2, 3)})
    carried = read_quorum(collected(quorum, tmp_path), now_ms=NOW)
    paths = [str(directory) for directory in quorum.directories.values()]
    restored = read_quorum(paths, now_ms=NOW).restored
    kept = {
        one.host: one.end_offset for one in kept_by_directories(carried.surveys, carried.restored)
    }
    ends = {name: survey.end.offset for name, survey in restored.items()}
    assert kept == {name: end for name, end in ends.items() if name in kept}
    assert kept, "the places are apart"


def test_a_loss_that_no_word_accepts_has_its_own_hint(tmp_path: Path) -> None:
    """With the word for collect files, the same directories are not asked for again."""
    quorum = damaged(tmp_path, {1: [-30], 2: [-25], 3: [-20]})
    files = collected(quorum, tmp_path)
    with pytest.raises(PlanRefused, match="collect files have no bytes of a log") as refused:
        plan_of(files)
    assert refused.value.words == ("collect-files",)
    with pytest.raises(PlanRefused, match="is damaged too") as accepted:
        plan_of(files, accept=("collect-files",))
    assert accepted.value.hint.startswith("repair that node first")


def test_batches_that_no_collect_file_lists_may_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collect file lists the last batches only, and damage may lie far before them."""
    monkeypatch.setattr(plain_batches, "MOST_BATCHES", 8)
    quorum = damaged(tmp_path, {1: [-30], 3: [-20]})
    files = collected(quorum, tmp_path)
    carried = read_quorum(files, now_ms=NOW)
    kept = kept_by_directories(carried.surveys, carried.restored)
    assert [(one.host, one.sources, one.is_listed) for one in kept] == [
        ("node-1", ("node-3",), False),
        ("node-3", ("node-1",), False),
    ]
    with pytest.raises(PlanRefused, match=r"kraftool may keep offset.*node-3 may have"):
        plan_of(files, "lost=2", accept=("ahead",))


def test_only_what_the_plan_gives_up_is_relevant() -> None:
    kept = KeptByDirectory(host="node-1", first_offset=50, end_offset=60, sources=("node-3",))
    around = [
        LostRecords(host="node-1", first_offset=first, end_offset=first + 10) for first in (20, 80)
    ]
    assert relevant([kept], around) == ()
    assert relevant([kept], [*around, replace(around[0], end_offset=51)]) == (kept,)
