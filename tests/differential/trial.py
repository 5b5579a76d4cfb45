"""One trial: a seed gives a beginning and steps, and both nodes have to agree after each.

Owns the run, what is done about tolerated differences, and the search for fewer steps that still
show a failure.
"""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.differential.compare import Difference, differences
from tests.differential.coverage import situations
from tests.differential.kafka_client import KafkaClient
from tests.differential.outcome import Outcome
from tests.differential.pair import Pair
from tests.differential.random_start import random_start
from tests.differential.random_steps import RandomSteps
from tests.differential.start import Start
from tests.differential.steps import Step, describe
from tests.differential.tolerated import After, explained

STEPS = 120
"""Of a trial that no difference ends."""
_MOST_RESTARTS = 5
"""After so many restarts in a row that differ again, a trial ends."""
SHRINKING_S = 20.0
_LONGEST_REASON = 300
MEMORY = Path("/dev/shm")


@dataclass(slots=True, kw_only=True)
class Result:
    """The result of a trial."""

    start: Start
    steps: list[Step] = field(default_factory=list)
    unexplained: list[Difference] = field(default_factory=list)
    tolerated: Counter[str] = field(default_factory=Counter)
    both_stopped: Counter[str] = field(default_factory=Counter)
    """Steps in which both nodes stopped, by the two reasons."""
    seen: Counter[str] = field(default_factory=Counter)
    """Steps by situation."""

    def kind(self) -> str:
        """Return what fails, without offsets and epochs."""
        return "; ".join(sorted({difference.where for difference in self.unexplained}))


@contextmanager
def directory() -> Iterator[Path]:
    """A directory in memory where the machine has one: a trial syncs its files all the time."""
    path = Path(tempfile.mkdtemp(prefix="differential-", dir=MEMORY if MEMORY.exists() else None))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def run_seed(kafka: KafkaClient, seed: int, steps: int = STEPS) -> Result:
    """Run the trial of a seed to its end, or to the first difference that nothing explains."""
    random = Random(seed)
    start, cast = random_start(random)
    with directory() as path:
        pair = Pair(kafka, start, path)
        chooser = RandomSteps(random, cast, pair)
        return _run(pair, Result(start=start), (chooser.next for _ in range(steps)))


def replay(kafka: KafkaClient, start: Start, steps: Sequence[Step]) -> Result:
    """Run given steps."""
    with directory() as path:
        chosen = (lambda step=step: step for step in steps)
        return _run(Pair(kafka, start, path), Result(start=start), chosen)


def _run(pair: Pair, result: Result, chosen: Iterator[Callable[[], Step]]) -> Result:
    try:
        last = _agree(pair, result, pair.start(), None, None)
        for choose in chosen:
            if last is None or pair.node is None:
                break
            step = choose()
            result.steps.append(step)
            outcomes = pair.run(step)
            if outcomes is not None:
                before, (ours, _) = last, outcomes
                if ours.state and before.state:
                    result.seen.update(situations(step, before, ours))
                last = _agree(pair, result, outcomes, step, last)
                if last is not None and last.is_down:
                    break
        return result
    finally:
        pair.stop()


def _agree(
    pair: Pair,
    result: Result,
    outcomes: tuple[Outcome, Outcome],
    step: Step | None,
    before: Outcome | None,
) -> Outcome | None:
    """Compare, and bring both nodes together again where they may differ. Return what kraftool's
    node did last; None if the trial is over."""
    for restarts in itertools.count():
        ours, theirs = outcomes
        observed = differences(ours, theirs, step, before, pair.setup.settings)
        entries, result.unexplained = explained(observed)
        result.tolerated.update(entry.name for entry in entries)
        if result.unexplained:
            return None
        have_stopped = bool(ours.fatal and theirs.fatal)
        if have_stopped:
            reasons = f"kraftool: {ours.fatal}; Kafka: {theirs.fatal}"
            result.both_stopped[re.sub(r"\d+", "N", reasons)[:_LONGEST_REASON]] += 1
        if not have_stopped and all(entry.after is After.AS_IT_IS for entry in entries):
            return ours
        if restarts == _MOST_RESTARTS or (pair.setup.settings.node_id is None and have_stopped):
            return None
        chance = step.chance if step is not None else pair.setup.chance
        outcomes = pair.reunite(
            chance + restarts,
            from_kafka=all(entry.after is not After.FROM_KRAFTOOL for entry in entries),
        )
        step, before = None, None
    return None


def shrink(kafka: KafkaClient, failed: Result) -> Result:
    """Return the failure with fewer steps, as far as replays of some seconds find one."""
    best, end = failed, time.monotonic() + SHRINKING_S
    size = len(best.steps) // 2
    while size and time.monotonic() < end:
        at = 0
        while at < len(best.steps) - 1 and time.monotonic() < end:
            fewer = [*best.steps[:at], *best.steps[at + size :]]
            replayed = replay(kafka, best.start, fewer)
            if replayed.unexplained and replayed.kind() == failed.kind():
                best = replayed
            else:
                at += size
        size //= 2
    return best


def report(seed: int | str, failed: Result) -> str:
    """Return the failure as text: the beginning, the steps, and both answers to the last one."""
    start = failed.start
    settings = start.settings
    log = [f"{stored.id.offset}@{stored.id.epoch}" for stored in (*start.before, *start.after)]
    lines = [
        f"seed {seed}: {failed.kind()}",
        f"  node {settings.key}, static voters {sorted(settings.static_voters.ids)}",
        f"  {len(start.batches)} batches, snapshots {log}, stored {start.election}",
        f"  {settings}",
        *(f"  {describe(step)}" for step in failed.steps),
        *(f"    {difference}" for difference in failed.unexplained),
        f"  Replay: make differential SEEDS={seed}",
    ]
    return "\n".join(lines)
