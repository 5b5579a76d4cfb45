"""Who leads first when real controllers start, and what simulate-election says of the same disks.

    make bench-elections
    python tests/bench/elections.py measure --version 3.9.1 --starts 10 --situation one-behind
    python tests/bench/elections.py table

`measure` prepares quorums of real Kafka, starts their processes again and again, and adds each
start to measured-elections.json. `table` predicts the same starts, and writes measured-shares.json
and the table in RESULTS.md. Run it on a machine that does little else; the load is kept beside each
start.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import factorial, prod
from pathlib import Path
from random import Random
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.raft.settings import Timing
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.reports.election.scenario import parse_scenario
from kraftool.sim.chances import Chances
from kraftool.sim.conditions import Conditions, StartPace
from kraftool.sim.run import ElectionRun

_ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_name("measured-elections.json")
SHARES = Path(__file__).with_name("measured-shares.json")
RESULTS = Path(__file__).with_name("RESULTS.md")
RUNS = 1000
"""Simulated elections behind each prediction."""
RUNS_OF_A_START = 10
"""Simulated elections with the times of one real start."""
_BEGIN, _END = "<!-- measured: begin -->", "<!-- measured: end -->"
VERSIONS = ("4.3.0", "3.9.1")
SIGNIFICANT = 0.05
"""Below this probability, the real starts contradict the simulated shares."""
FEWEST_STARTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredStarts:
    """Real starts of one situation, on one Kafka version, at one pace."""

    situation: str
    version: str
    pace: StartPace
    date: str
    signature: str
    starts: int
    led: tuple[tuple[str, int], ...]
    """By the kind of node: in how many starts one of them was the first that could commit."""
    predicted: tuple[tuple[str, float], ...]
    """By the kind of node: the simulated share of all nodes of this kind."""
    probability: float
    """Of real starts that fit the prediction no better, if the prediction is right."""
    pooled: float
    """The same for all starts of this signature at this pace, on every version."""

    @property
    def agrees(self) -> bool:
        worst = min(self.probability, self.pooled)
        return worst >= SIGNIFICANT and self.starts >= FEWEST_STARTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Quorum:
    """A quorum that was prepared once, and its starts."""

    version: str
    situation: str
    date: str
    scenario: Mapping[str, Any]
    starts: tuple[Mapping[str, Any], ...]

    @property
    def case(self) -> ElectionCase:
        return parse_scenario(yaml.safe_dump(dict(self.scenario)).encode(), self.situation).case


def read() -> list[Quorum]:
    """Return what was measured."""
    quorums = []
    for entry in json.loads(DATA.read_text()):
        scenario = entry["case"]
        nodes = {int(id_): dict(node) for id_, node in scenario["nodes"].items()}
        for node in nodes.values():
            node["log"] = {int(epoch): start for epoch, start in node["log"].items()}
        quorums.append(
            Quorum(
                version=entry["version"],
                situation=entry["situation"],
                date=entry["date"],
                scenario={**scenario, "nodes": nodes},
                starts=tuple(entry["starts"]),
            )
        )
    return quorums


def kinds(case: ElectionCase, conditions: Conditions) -> dict[int, str]:
    """Return by node how it starts: what its quorum-state says of it, and how its log compares.

    Empty where a node is anything but a voter with Kafka's default timeouts.
    """
    nodes = [node for node in case.nodes if node.id not in conditions.down]
    if any(not _is_plain(node, case) for node in nodes):
        return {}
    ends = sorted({(node.end.epoch, node.end.offset) for node in nodes}, reverse=True)
    epochs = sorted({_epoch(node) for node in nodes}, reverse=True)
    node_kinds = {}
    for node in nodes:
        kind = _state(node)
        if behind := ends.index((node.end.epoch, node.end.offset)):
            kind += f", log {behind} behind"
        if earlier := epochs.index(_epoch(node)):
            kind += f", epoch {earlier} earlier"
        node_kinds[node.id] = kind
    return node_kinds


def signature(case: ElectionCase, conditions: Conditions) -> str:
    """Return what makes two quorums the same situation; nothing for one that cannot be compared."""
    plain = Conditions()
    if (conditions.cut, conditions.delay_ms, conditions.start_within_ms, conditions.starts) != (
        plain.cut, plain.delay_ms, plain.start_within_ms, plain.starts,
    ):  # fmt: skip
        return ""
    counts = Counter(kinds(case, conditions).values())
    if not counts:
        return ""
    parts = [f"{count} {kind}" for kind, count in sorted(counts.items())]
    return f"{len(case.voters)} voters, kraft.version {case.kraft_version}: {'; '.join(parts)}"


def _is_plain(node: NodeCase, case: ElectionCase) -> bool:
    is_voter = node.is_voter and case.voters.has(node.key) and node.voters == case.voters
    return is_voter and not node.is_witness and node.settings.timing == Timing()


def _epoch(node: NodeCase) -> int:
    return max(node.election.epoch if node.election is not None else 0, node.end.epoch)


def _state(node: NodeCase) -> str:
    """Return what the node's quorum-state makes of it at its start."""
    state = node.election
    if state is None or state.epoch < node.end.epoch:
        return "unattached"
    if state.leader_id is not None:
        return "old leader" if state.leader_id == node.id else "follower"
    if state.voted is None:
        return "unattached"
    return "candidate" if state.voted.id == node.id else "voted"


# --- measuring --------------------------------------------------------------------------------


def measure(version: str, situation: str, starts: int) -> None:
    """Prepare a quorum, start it so often at each pace, and keep what was seen."""
    from tests.interop import real_elections

    chance = Random()
    with (
        tempfile.TemporaryDirectory(prefix="kraftool-elections-") as folder,
        real_elections.prepared(
            version, real_elections.SITUATIONS[situation], Path(folder)
        ) as cluster,
    ):
        scenario = real_elections.as_scenario(real_elections.case_of(cluster))
        seen = []
        for pace, plan in real_elections.PACES.items():
            for number in range(starts):
                election = real_elections.start(cluster, plan(chance, sorted(cluster.nodes)))
                seen.append({"pace": pace, **real_elections.as_json(election)})
                sys.stdout.write(
                    f"{version} {situation}, {pace} {number + 1} of {starts}: {election.leader}"
                    f" leads epoch {election.epoch} after {election.at_ms} ms,"
                    f" load {election.load:.1f}\n"
                )
                sys.stdout.flush()
    entries = json.loads(DATA.read_text()) if DATA.exists() else []
    date = datetime.now(UTC).date().isoformat()
    entries.append(
        {"version": version, "situation": situation, "date": date, "case": scenario, "starts": seen}
    )
    DATA.write_text(as_text(entries))


def as_text(entries: list[dict[str, Any]]) -> str:
    """Return the data file: a line for each start."""
    parts = []
    for entry in entries:
        starts = ",\n".join(
            "  " + json.dumps(start, separators=(",", ":")) for start in entry["starts"]
        )
        head = json.dumps({**entry, "starts": []})
        parts.append(f"{head[:-2]}\n{starts}\n]}}")
    return "[" + ",\n".join(parts) + "]\n"


# --- predicting -------------------------------------------------------------------------------


def predicted(case: ElectionCase, pace: StartPace, runs: int = RUNS) -> dict[str, float]:
    """Return by the kind of node how often one of them is the first leader of a simulation."""
    conditions = Conditions()
    kind = kinds(case, conditions)
    wins: Counter[str] = Counter(dict.fromkeys(kind.values(), 0))
    for seed in range(runs):
        leader = ElectionRun(case, conditions, seed, pace=pace).go().leader
        if leader is not None:
            wins[kind[leader]] += 1
    return {node: count / runs for node, count in sorted(wins.items())}


class _Timed(ElectionRun):
    """A run whose nodes start, and listen, when real ones did."""

    def __init__(
        self, case: ElectionCase, seed: int, times: Mapping[int, tuple[int, int | None]]
    ) -> None:
        self._times = times
        super().__init__(case, Conditions(), seed)

    def _start_times(self, ids: list[int], pace: StartPace) -> dict[int, int]:
        return {id_: self._times[id_][0] for id_ in ids}

    def _listens_after(self, id_: int, start_ms: int) -> None:
        super()._listens_after(id_, start_ms)
        measured = self._times[id_][1]
        if measured is not None:
            self._listening_ms[id_] = measured


def given_times(quorum: Quorum, pace: StartPace, runs: int = RUNS_OF_A_START) -> dict[str, float]:
    """Return by the kind of node how many of the starts it would have won, given their times."""
    case = quorum.case
    kind = kinds(case, Conditions())
    wins: Counter[str] = Counter(dict.fromkeys(kind.values(), 0))
    for start in quorum.starts:
        if start["pace"] != pace.value:
            continue
        seen = {int(id_): (raft, listens) for id_, (_, raft, listens) in start["nodes"].items()}
        first = min(raft for raft, _ in seen.values() if raft is not None)
        times = {}
        for id_ in kind:
            raft, listens = seen.get(id_, (None, None))
            # A node without a first step was too late for this election.
            raft = start["atMs"] if raft is None else raft
            times[id_] = (raft - first, None if listens is None else listens - first)
        for seed in range(runs):
            leader = _Timed(case, seed, times).go().leader
            if leader is not None:
                wins[kind[leader]] += 1
    return {name: count / runs for name, count in wins.items()}


def can_lead(case: ElectionCase) -> tuple[int, ...]:
    return Chances(case).leaders(Conditions())


def probability(led: Mapping[str, int], shares: Mapping[str, float]) -> float:
    """Return how probable it is that starts fit the shares as badly as these, or worse.

    The exact multinomial test. A simulated share of 0 counts as half a run of all.
    """
    names = sorted(shares)
    floor = 0.5 / RUNS
    weights = [max(shares[name], floor) for name in names]
    weights = [weight / sum(weights) for weight in weights]

    def mass(counts: tuple[int, ...]) -> float:
        ways = factorial(sum(counts)) / prod(map(factorial, counts))
        return ways * prod(w**n for w, n in zip(weights, counts, strict=True))

    own = mass(tuple(led.get(name, 0) for name in names))
    return sum(
        chance
        for counts in _splits(sum(led.values()), len(names))
        if (chance := mass(counts)) <= own * (1 + 1e-9)
    )


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1):
            yield (first, *rest)


def evaluated(quorums: list[Quorum]) -> list[MeasuredStarts]:
    """Return each situation, version and pace with its prediction, and how well that fits."""
    cases: dict[str, ElectionCase] = {}
    led: dict[tuple[str, str, StartPace, str], Counter[str]] = {}
    dates: dict[tuple[str, str], str] = {}
    for quorum in quorums:
        case = quorum.case
        of = signature(case, Conditions())
        assert of, f"{quorum.situation} on {quorum.version} is a situation that can be compared"
        cases.setdefault(of, case)
        dates[quorum.situation, quorum.version] = quorum.date
        kind = kinds(case, Conditions())
        for pace in StartPace:
            counts = led.setdefault((quorum.situation, quorum.version, pace, of), Counter())
            counts.update(dict.fromkeys(kind.values(), 0))
            counts.update(
                kind[start["leader"]] for start in quorum.starts if start["pace"] == pace.value
            )
    wanted = [(of, pace) for of in cases for pace in StartPace]
    with ProcessPoolExecutor() as pool:
        predictions = pool.map(
            predicted, (cases[of] for of, _ in wanted), (pace for _, pace in wanted)
        )
        shares = dict(zip(wanted, predictions, strict=True))
    pooled: dict[tuple[str, StartPace], Counter[str]] = defaultdict(Counter)
    for (_, _, pace, of), counts in led.items():
        pooled[of, pace].update(counts)
    rows = [
        MeasuredStarts(
            situation=situation,
            version=version,
            pace=pace,
            date=dates[situation, version],
            signature=of,
            starts=sum(counts.values()),
            led=tuple(sorted(counts.items())),
            predicted=tuple(shares[of, pace].items()),
            probability=round(probability(counts, shares[of, pace]), 3),
            pooled=round(probability(pooled[of, pace], shares[of, pace]), 3),
        )
        for (situation, version, pace, of), counts in led.items()
    ]
    order = list(VERSIONS)
    return sorted(rows, key=lambda row: (row.signature, row.situation, order.index(row.version)))


# --- what is written --------------------------------------------------------------------------


def shares() -> list[MeasuredStarts]:
    """Return what was measured beside what was predicted for it."""
    return [
        MeasuredStarts(
            **{
                **row,
                "pace": StartPace(row["pace"]),
                "led": tuple(row["led"].items()),
                "predicted": tuple(row["predicted"].items()),
            }
        )
        for row in json.loads(SHARES.read_text())
    ]


def as_lines(rows: list[MeasuredStarts]) -> str:
    """Return the file of the shares: a line for each situation, version and pace."""
    lines = (
        " " + json.dumps({**asdict(row), "led": dict(row.led), "predicted": dict(row.predicted)})
        for row in rows
    )
    return "[\n" + ",\n".join(lines) + "\n]\n"


def table(rows: list[MeasuredStarts], quorums: list[Quorum]) -> str:
    """Return the table of RESULTS.md."""
    with ProcessPoolExecutor() as pool:
        timed = [
            [
                pool.submit(given_times, quorum, row.pace)
                for quorum in quorums
                if (quorum.situation, quorum.version) == (row.situation, row.version)
            ]
            for row in rows
        ]
        expected = [sum((Counter(part.result()) for part in parts), Counter()) for parts in timed]
    lines = [
        "| situation | Kafka | start | starts | led | predicted | given times | real | fits |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row, times in zip(rows, expected, strict=True):
        shares = dict(row.predicted)
        for number, (name, count) in enumerate(row.led):
            head = f"{row.situation} | {row.version} | {row.pace} | {row.starts}"
            fits = f"{'yes' if row.agrees else 'no'} ({row.probability:.2f}, {row.pooled:.2f})"
            lines.append(
                f"| {head if not number else ' | | | '} | {name} |"
                f" {100 * shares[name]:.0f}% | {times[name]:.0f} | {count} |"
                f" {fits if not number else ''} |"
            )
    return "\n".join(lines)


def with_table(text: str, shown: str) -> str:
    begin, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    return f"{text[:begin]}\n{shown}\n{text[end:]}"


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = options.add_subparsers(dest="what", required=True)
    wanted = what.add_parser("measure", help="start real quorums")
    wanted.add_argument("--version", action="append", help="of Kafka (default: each of the table)")
    wanted.add_argument("--situation", action="append", help="default: all")
    wanted.add_argument("--starts", type=int, default=10, help="at each pace (default 10)")
    what.add_parser("table", help="compare what was measured with the simulation")
    given = options.parse_args()
    if given.what == "table":
        quorums = read()
        rows = evaluated(quorums)
        SHARES.write_text(as_lines(rows))
        shown = table(rows, quorums)
        RESULTS.write_text(with_table(RESULTS.read_text(), shown))
        sys.stdout.write(f"{shown}\n")
        return 0
    from tests.interop import kafka, real_elections

    versions = given.version or VERSIONS
    if problem := kafka.available(*versions):
        sys.stderr.write(f"{problem}\n")
        return 3
    for version in versions:
        for situation in given.situation or real_elections.SITUATIONS:
            measure(version, situation, given.starts)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
