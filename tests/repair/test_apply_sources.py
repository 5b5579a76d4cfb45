"""What a plan takes from a host that it was applied to, and what says that a node has run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.repair.disk import RepairRefused
from kraftool.repair.plan import DirectoryIdentity, HostPlan, HostRole, Piece
from kraftool.repair.plan_file import target_of
from kraftool.repair.verify import check_directory
from tests.repair.repair_cases import (
    apply,
    copied,
    jump_directory,
    jump_plan,
    log_left,
    plan_of,
    removal,
    unchanged,
    undo,
    written,
)
from tests.support.places import PARTITION


def test_a_source_may_be_the_folder_of_a_host_that_the_plan_was_applied_to(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    """Its changed files are read from the originals, unless a node has run on it since."""
    fleet = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum"
    source = copied(fleet / "node-3" / "data", tmp_path / "three")
    target = copied(fleet / "node-2" / "data", tmp_path / "two")
    snapshot = target_of(f"{171:020}-{3:010}.checkpoint")
    original = (source / PARTITION / snapshot.name).read_bytes()
    (target / PARTITION / snapshot.name).unlink(missing_ok=True)
    taken = replace(
        written(target, snapshot, original),
        pieces=(Piece(file=snapshot, source="node-3", end=len(original)),),
    )
    removed = removal(source, snapshot.name)
    two, three = (
        HostPlan(
            name=f"node-{node_id}",
            role=HostRole.VOTER,
            identity=DirectoryIdentity(node_id=node_id),
            expected=log_left(directory, edit),
            edits=(edit, removal(directory, "leader-epoch-checkpoint")),
        )
        for node_id, directory, edit in ((2, target, taken), (3, source, removed))
    )
    plan = plan_of(two, three)
    apply(plan, source)
    assert not (source / PARTITION / snapshot.name).exists()
    log = source / PARTITION / f"{0:020}.log"
    before = log.read_bytes()
    log.write_bytes(before + bytes(10))
    with unchanged(target), pytest.raises(RepairRefused) as refused:
        apply(plan, target, sources={"node-3": str(source)})
    assert "--source node-3=PATH, a copy" in refused.value.hint
    assert "before node-3 was started" in refused.value.hint
    log.write_bytes(before)
    apply(plan, target, sources={"node-3": str(source)})
    assert (target / PARTITION / snapshot.name).read_bytes() == original


def test_an_index_that_a_start_wrote_says_that_a_node_has_run(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    """Before the plan is applied, and afterwards, where undo still works."""
    directory = jump_directory(fixtures_dir, tmp_path / "data")
    plan = jump_plan(directory)
    index = directory / PARTITION / f"{0:020}.timeindex"
    before = index.read_bytes()
    index.write_bytes(bytes(24))
    with unchanged(directory), pytest.raises(RepairRefused, match="a node has run on") as refused:
        apply(plan, directory)
    assert "timeindex" not in refused.value.message
    index.write_bytes(before)
    apply(plan, directory)
    index.write_bytes(bytes(24))
    findings = check_directory(plan, str(directory)).findings
    assert [finding.code for finding in findings if finding.file.endswith("timeindex")] == []
    assert "KT-REC-MOVED-ON" in {finding.code for finding in findings}
    assert "KT-REC-NOT-AS-PLANNED" not in {finding.code for finding in findings}
    undo(plan, directory)
    assert index.read_bytes() == before
