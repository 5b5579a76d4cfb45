"""Quorums with a known past: who led, who took which records, and what was truly committed.

A model of Raft that is small enough to be right at sight: logs are lists of epochs, a leader needs
the votes of a majority whose logs are no better, and a record is committed once a majority has it
in its leader's epoch. Directories are then lost, emptied or replaced by older copies.
"""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from kraftool.decoders import control
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.framing import encode_record
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.scenario import parse_scenario

LOST, EMPTIED, OLD_COPY = "lost", "emptied", "old copy"
CLUSTER = "aGlzdG9yeS1vZi1xdW9ydQ"


def _directory(node: int) -> str:
    return f"node-{node}-AAAAAAAAAAAAAAA"[:21] + "A"


def hurt(history: History, seed: int, most: int = 3) -> dict[int, str]:
    """What happens to some voters, and to the broker."""
    chance = random.Random(seed)
    voters = chance.sample(list(history.ids), chance.randint(0, most))
    incidents = {voter: chance.choice([LOST, EMPTIED, OLD_COPY]) for voter in voters}
    if chance.random() < 0.5:
        incidents[history.broker] = LOST
    return incidents


@dataclass(slots=True)
class Disk:
    """What one node has: the epoch of each record, and its quorum-state."""

    log: list[int] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    epoch: int = 0
    leader: int | None = None

    def copy(self) -> Disk:
        return Disk(list(self.log), list(self.times), self.epoch, self.leader)

    @property
    def rank(self) -> tuple[int, int]:
        return (self.log[-1] if self.log else 0, len(self.log))


@dataclass(slots=True)
class History:
    """A quorum of voters from 1 on, and a broker behind them that never votes."""

    chance: random.Random
    voters: int
    disks: dict[int, Disk] = field(default_factory=dict)
    copies: dict[int, list[Disk]] = field(default_factory=dict)
    committed: list[int] = field(default_factory=list)
    leader: int | None = None
    epoch: int = 0
    now_ms: int = 1_700_000_000_000
    fetched_ms: dict[int, int] = field(default_factory=dict)
    leads: dict[int, int] = field(default_factory=dict)

    @classmethod
    def played(cls, seed: int, voters: int, steps: int = 150) -> History:
        made = cls(random.Random(seed), voters)
        made.disks = {node_id: Disk() for node_id in range(1, voters + 2)}
        made.copies = {disk: [] for disk in made.disks}
        made._elect()
        for _ in range(steps):
            made._step()
        return made

    @property
    def broker(self) -> int:
        return self.voters + 1

    @property
    def ids(self) -> range:
        return range(1, self.voters + 1)

    @property
    def majority(self) -> int:
        return self.voters // 2 + 1

    def _step(self) -> None:
        self.now_ms += self.chance.randint(1, 500)
        self._check_quorum()
        what = self.chance.random()
        if what < 0.08:
            self._elect()
        elif what < 0.35:
            self._append(self.chance.randint(1, 4))
        elif what < 0.42:
            node = self.chance.choice(list(self.disks))
            self.copies[node].append(self.disks[node].copy())
        else:
            self._fetch(self.chance.choice(list(self.disks)))

    def _check_quorum(self) -> None:
        """A leader that a majority has not fetched from for 3 s resigns, as Kafka's does."""
        heard = [self.now_ms - self.fetched_ms.get(node_id, 0) < 3000 for node_id in self.ids]
        if self.leader is not None and sum(heard) + 1 < self.majority + heard[self.leader - 1]:
            self.leader = None

    def _elect(self) -> None:
        up = self.chance.sample(list(self.ids), self.chance.randint(self.majority, self.voters))
        able = [
            node_id
            for node_id in up
            if sum(self.disks[one].rank <= self.disks[node_id].rank for one in up) >= self.majority
        ]
        if not able:
            return
        self.epoch += 1
        self.leader = self.leads[self.epoch] = self.chance.choice(able)
        self.fetched_ms = dict.fromkeys(self.ids, self.now_ms)
        for node_id in up:
            self.disks[node_id].epoch, self.disks[node_id].leader = self.epoch, self.leader
        self._append(1)

    def _append(self, count: int) -> None:
        if self.leader is not None:
            self.disks[self.leader].log += [self.epoch] * count
            self.disks[self.leader].times += [self.now_ms] * count

    def _fetch(self, node: int) -> None:
        if self.leader is None or node == self.leader:
            return
        disk, theirs = self.disks[node], self.disks[self.leader].log
        disk.epoch, disk.leader = self.epoch, self.leader
        same = 0
        while same < min(len(disk.log), len(theirs)) and disk.log[same] == theirs[same]:
            same += 1
        upto = self.chance.randint(same, len(theirs))
        disk.log, disk.times = theirs[:upto], self.disks[self.leader].times[:upto]
        self.fetched_ms[node] = self.now_ms
        self._commit()

    def _commit(self) -> None:
        assert self.leader is not None, "somebody was fetched from"
        theirs = self.disks[self.leader].log
        for end in range(len(theirs), len(self.committed), -1):
            having = sum(self.disks[node_id].log[:end] == theirs[:end] for node_id in self.ids)
            if theirs[end - 1] == self.epoch and having >= self.majority:
                self.committed = theirs[:end]
                return

    # --- incidents ----------------------------------------------------------------------------

    def after(self, incidents: dict[int, str]) -> dict[int, Disk]:
        """The directories that are left; those that are lost are not among them."""
        disks = {}
        for node, disk in self.disks.items():
            what = incidents.get(node, "")
            if what == OLD_COPY and self.copies[node]:
                disks[node] = self.chance.choice(self.copies[node])
            elif what == EMPTIED:
                disks[node] = Disk()
            elif what != LOST:
                disks[node] = disk
        return disks

    def case(self, disks: dict[int, Disk]) -> ElectionCase:
        """The same as simulate-election and recover read it."""
        text = [f"voters: {list(self.ids)}", "kraftVersion: 0", "nodes:"]
        for node, disk in disks.items():
            log = disk.log
            starts = {epoch: at for at, epoch in enumerate(log) if at == 0 or log[at - 1] != epoch}
            election = f"epoch: {disk.epoch}"
            election += f", leader: {disk.leader}" if disk.leader is not None and disk.epoch else ""
            begins = ", ".join(f"{epoch}: {at}" for epoch, at in starts.items())
            text.append(f"  {node}: {{log: {{{begins}}}, end: {len(log)}, {election}}}")
        case = parse_scenario("\n".join(text).encode(), "history").case
        for node, disk in disks.items():
            before = case.by_id[node]
            changed = replace(
                before.log,
                leaders=tuple((epoch, self.leads[epoch]) for epoch in sorted({*disk.log})),
                last_timestamp_ms=disk.times[-1] if disk.times else -1,
            )
            case = case.with_node(replace(before, log=changed))
        return case

    def written(self, disks: dict[int, Disk], root: Path) -> list[str]:
        """The same as data directories of static voters; their paths."""
        return [str(self._write(root / f"node-{node}", node, disks[node])) for node in disks]

    def _write(self, folder: Path, node: int, disk: Disk) -> Path:
        partition = folder / "__cluster_metadata-0"
        partition.mkdir(parents=True)
        (folder / "meta.properties").write_text(
            f"version=1\nnode.id={node}\ncluster.id={CLUSTER}\ndirectory.id={_directory(node)}\n"
        )
        state = {
            "clusterId": "",
            "leaderId": -1 if disk.leader is None else disk.leader,
            "leaderEpoch": disk.epoch,
            "votedId": -1,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter_id} for voter_id in self.ids],
            "data_version": 0,
        }
        if disk.epoch:
            (partition / "quorum-state").write_text(json.dumps(state))
        (partition / f"{0:020}.log").write_bytes(b"".join(self._batches(disk)))
        return folder

    def _batches(self, disk: Disk) -> Iterator[bytes]:
        for offset, (epoch, at) in enumerate(zip(disk.log, disk.times, strict=True)):
            begins = offset == 0 or disk.log[offset - 1] != epoch
            pair: tuple[bytes | None, bytes] = (None, encode_record("NoOpRecord", 0, {}))
            if begins:
                change = {"version": 0, "leaderId": self.leads[epoch], "voters": [
                    {"voterId": voter} for voter in self.ids], "grantingVoters": []}  # fmt: skip
                kind = ControlRecordType.LEADER_CHANGE
                pair = (control.encode_key(kind), control.encode_value(kind, change))
            yield encode_batch(
                [pair], base_offset=offset, epoch=epoch, timestamp=at, control=begins
            )

    def can_lose(
        self, disks: dict[int, Disk], *, is_shown: bool = False, among: Collection[int] = ()
    ) -> bool:
        """Whether any set of voters can elect a leader that lacks a committed record; a voter whose
        directory is lost comes back with an empty log. `is_shown`: only records count that another
        directory still shows. `among`: only these voters start."""
        back = {voter_id: disks.get(voter_id, Disk()) for voter_id in self.ids}
        shown = 0
        for disk in disks.values():
            end = 0
            while end < min(len(disk.log), len(self.committed)):
                if disk.log[end] != self.committed[end]:
                    break
                end += 1
            shown = max(shown, end)
        wanted = self.committed[:shown] if is_shown else self.committed
        for group in combinations(among or self.ids, self.majority):
            for node in group:
                rank = back[node].rank
                wins = all(back[one].rank <= rank for one in group)
                if wins and back[node].log[: len(wanted)] != wanted:
                    return True
        return False
