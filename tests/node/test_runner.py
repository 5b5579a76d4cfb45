"""The runner with real logs: elections, commits, restarts, and that nothing promised is lost."""

import asyncio
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.segment import Damage, scan
from kraftool.node.runner import Runner
from kraftool.raft.events import Append
from tests.node.quorum import Quorum, quorum_of

pytestmark = pytest.mark.slow


async def append(leader: Runner, *values: bytes) -> int:
    """Have the leader take records for one batch, which it writes a little later; the offset of the
    last."""
    appended = await leader.order(
        Append(epoch=leader.raft.epoch, records=values, size=sum(map(len, values)))
    )
    assert appended is not None
    return appended.last_offset


async def committed(quorum: Quorum, leader: Runner, last: int) -> None:
    await quorum.until("the commit", lambda: (leader.raft.role.high_watermark or 0) > last)


def log_bytes(folder: Path) -> bytes:
    return (folder / "__cluster_metadata-0" / f"{0:020}.log").read_bytes()


def test_three_nodes_elect_commit_and_have_the_same_bytes(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()
            for number in range(50):
                last = await append(leader, b"record %d" % number, b"x" * 100)
            await committed(quorum, leader, last)
            await quorum.caught_up(leader, 1, 2, 3)

    asyncio.run(run())
    first = log_bytes(tmp_path / "node-1")
    assert len(first) > 50 * 100
    assert log_bytes(tmp_path / "node-2") == first
    assert log_bytes(tmp_path / "node-3") == first


def test_a_leader_that_is_gone_is_replaced_and_comes_back_as_a_follower(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            old = await quorum.leader()
            last = await append(old, b"before")
            await committed(quorum, old, last)
            gone, epoch = old.settings.node_id, old.raft.epoch
            await quorum.stop(gone, clean=False)
            new = await quorum.leader()
            assert new.raft.epoch > epoch
            assert new.raft.role.epoch_start_offset > last, "it has what was committed"
            after = await append(new, b"after")
            await committed(quorum, new, after)
            await quorum.start(gone)
            await quorum.caught_up(new, gone)
            assert quorum.running[gone].raft.leader_id == new.settings.node_id

    asyncio.run(run())
    assert log_bytes(tmp_path / "node-1") == log_bytes(tmp_path / "node-2")


def test_what_an_isolated_leader_appended_is_cut_off_again(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            old = await quorum.leader()
            await quorum.caught_up(old, 1, 2, 3)
            quorum.isolated.add(old.settings.node_id)
            lost = await append(old, b"nobody will have this")
            others = [node_id for node_id in quorum.ids if node_id != old.settings.node_id]
            new = await quorum.until(
                "another leader",
                lambda: next((leader for leader in quorum.leaders() if leader is not old), None),
            )
            await append(new, b"this instead")
            quorum.isolated.clear()
            await quorum.caught_up(new, *others, old.settings.node_id)
            assert lost < new.raft.log.end_offset

    asyncio.run(run())
    every = [log_bytes(tmp_path / f"node-{node_id}") for node_id in (1, 2, 3)]
    assert b"nobody will have this" not in every[0] + every[1] + every[2]
    assert every[0] == every[1] == every[2]


def test_a_witness_lets_another_win_and_never_leads(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, witnesses=(2,)) as quorum:
            for _ in range(3):
                leader = await quorum.leader()
                assert leader.settings.node_id == 1
                last = await append(leader, b"record")
                await committed(quorum, leader, last)
                await quorum.stop(1)
                await quorum.start(1)

    asyncio.run(run())


def test_without_the_witness_nothing_is_committed(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, witnesses=(2,)) as quorum:
            leader = await quorum.leader()
            await quorum.caught_up(leader, 1, 2)
            await quorum.stop(2)
            before = leader.raft.role.high_watermark
            await append(leader, b"record")
            # It has to notice that nobody fetches: check-quorum.
            await quorum.until("the leader to resign", lambda: not leader.leads)
            assert (leader.raft.role.high_watermark or before) == before

    asyncio.run(run())


def test_an_append_of_a_follower_is_refused(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            leader = await quorum.leader()
            follower = next(runner for runner in quorum.running.values() if runner is not leader)
            with pytest.raises(KraftoolError, match="lead"):
                await append(follower, b"record")

    asyncio.run(run())


def test_every_batch_on_the_disk_is_whole_after_a_restart(tmp_path: Path) -> None:
    async def run() -> None:
        async with quorum_of(tmp_path, 1, 2, 3) as quorum:
            for _ in range(3):
                leader = await quorum.leader()
                last = await append(leader, b"a", b"b", b"c")
                await committed(quorum, leader, last)
                await quorum.caught_up(leader, 1, 2, 3)
                await quorum.stop(1, 2, 3, clean=False)
                await quorum.start(1, 2, 3)
            await quorum.leader()

    asyncio.run(run())
    data = log_bytes(tmp_path / "node-1")
    parts = list(scan(lambda position, size: data[position : position + size]))
    assert not [part for part in parts if isinstance(part, Damage) or not part.is_valid]
    bases = [part.base_offset for part in parts if not isinstance(part, Damage)]
    assert bases == sorted(set(bases))
    assert len(bases) >= 6
