"""The runs of a simulated election, in this process or in several.

Owns the processes and which of them gets which seeds. Outcomes come in the order of their seeds, so
that a report is the same whatever the number of processes.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.election.case import ElectionCase
from kraftool.sim.conditions import Conditions
from kraftool.sim.replica import disks_of
from kraftool.sim.run import ElectionRun, Outcome

_RUNS_OF_A_TASK = 20
_LEAST_RUNS = 200
"""A process for fewer runs costs more time than it saves."""
_MOST_PROCESSES = 64


class Runs:
    """All runs of one case under the same conditions."""

    def __init__(self, case: ElectionCase, conditions: Conditions, until_ms: int) -> None:
        self.case, self.conditions, self.until_ms = case, conditions, until_ms
        self._disks = disks_of(case)

    def start(self, seed: int, *, watched: bool = False) -> ElectionRun:
        return ElectionRun(
            self.case,
            self.conditions,
            seed,
            pace=self.conditions.pace_of(seed),
            watched=watched,
            until_ms=self.until_ms,
            disks=self._disks,
        )

    def outcomes(self, seeds: range, jobs: int = 1) -> Generator[Outcome]:
        """The outcome of each seed, in order. `jobs` 0 takes all processors."""
        count = _processes(jobs, len(seeds))
        if count > 1:
            return self._in_parallel(seeds, count)
        return (self.played(seed) for seed in seeds)

    def played(self, seed: int) -> Outcome:
        """The outcome of one run. It makes few reference cycles, which are looked for after it."""
        is_enabled = gc.isenabled()
        gc.disable()
        try:
            return self.start(seed).go()
        finally:
            if is_enabled:
                gc.enable()

    def _in_parallel(self, seeds: range, jobs: int) -> Generator[Outcome]:
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool
        from multiprocessing import active_children, get_context

        pool = ProcessPoolExecutor(
            jobs, mp_context=get_context("fork"), initializer=_start_worker, initargs=(self,)
        )
        before = set(active_children())
        size = _RUNS_OF_A_TASK
        slices = (seeds[at : at + size] for at in range(0, len(seeds), size))
        waiting: deque[Future[list[Outcome]]] = deque()
        is_over = False
        try:
            # The first task starts the workers. They inherit that SIGINT is blocked: Ctrl-C reaches
            # every process of the terminal, and only this one ends the runs.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            waiting.append(pool.submit(_run, next(slices)))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            for seed_slice in slices:
                waiting.append(pool.submit(_run, seed_slice))
                if len(waiting) > 2 * jobs:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
            is_over = True
        except BrokenProcessPool:
            raise KraftoolError(
                "a helper process was killed, so the runs are incomplete",
                hint="give it more memory, or use --jobs 1",
            ) from None
        finally:
            if not is_over:  # interrupted, or no more outcomes are needed
                for worker in set(active_children()) - before:
                    worker.terminate()
            pool.shutdown(cancel_futures=True)


def _processes(jobs: int, runs: int) -> int:
    from multiprocessing import get_all_start_methods

    if "fork" not in get_all_start_methods():
        return 1  # only a forked process has the case without a copy
    available = jobs or len(os.sched_getaffinity(0))
    return min(available, runs // _LEAST_RUNS, _MOST_PROCESSES)


_runs: Runs | None = None
"""Of a worker process."""


def _start_worker(runs: Runs) -> None:
    from kraftool.reports.logs.processes import start_worker

    global _runs
    start_worker()
    _runs = runs


def _run(seeds: range) -> list[Outcome]:
    assert _runs is not None, "a worker process has them from its start"
    return [_runs.played(seed) for seed in seeds]
