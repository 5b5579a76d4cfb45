"""Recover's verdicts and outcomes on generated incidents, compared with the truth.

The verdict must never be better than the truth. How often the outcome is worse than the best that
any choice of the given files yields is counted, and printed with `-s`.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from kraftool.reports.election.assessment import LossBound
from tests.repair.incident_trials import Trial, Verdict, tried
from tests.repair.incidents import Harm, Incident, NoIncident

pytestmark = pytest.mark.slow

SEEDS = int(os.environ.get("KRAFTOOL_INCIDENTS", "70"))
"""About three of four seeds make an incident."""
WIDE_SEEDS = SEEDS // 2
SOAKED = 2000
MOST_WORSE = 0.02
"""The share of incidents in which recover may give up more than the best possible."""
_NOT_BEST = (Verdict.WORSE, Verdict.REFUSED, Verdict.NO_LEADER)


def trials(seeds: Iterable[int], root: Path, most: int, *, is_wide: bool = False) -> list[Trial]:
    collected: list[Trial] = []
    for seed in seeds:
        if len(collected) == most:
            break
        folder = root / str(seed)
        try:
            incident = Incident.made(seed, folder, is_wide=is_wide)
            if not incident.has_swapped_mounts:
                collected.append(tried(incident))
        except NoIncident:
            continue
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return collected


def table(results: Iterable[Trial]) -> str:
    """The counts, by the verdict and by what happened."""
    counts: Counter[Verdict] = Counter()
    by_harm: dict[Harm, Counter[Verdict]] = {}
    alarms = 0
    for trial in results:
        counts[trial.verdict] += 1
        alarms += trial.is_alarm
        for harm in trial.incident.kinds:
            by_harm.setdefault(harm, Counter())[trial.verdict] += 1
    lines = [f"{counts.total()} incidents; {alarms} losses announced that did not happen"]
    lines += [f"  {verdict.value:48} {counts[verdict]:5}" for verdict in Verdict]
    for harm in sorted(by_harm):
        kinds = ", ".join(f"{kind.name.lower()} {by_harm[harm][kind]}" for kind in by_harm[harm])
        lines.append(f"  {harm:20} {kinds}")
    return "\n".join(lines)


def _hold(results: list[Trial], most_worse: float) -> None:
    print(table(results))
    better = [trial for trial in results if trial.verdict in (Verdict.BETTER, Verdict.HIDDEN)]
    assert not better, "\n".join(map(str, better))
    worse = [trial for trial in results if trial.verdict in _NOT_BEST]
    assert len(worse) <= most_worse * len(results), "\n".join(map(str, worse))


def test_no_verdict_is_better_than_the_truth(tmp_path: Path) -> None:
    _hold(trials(range(SEEDS), tmp_path, SEEDS), MOST_WORSE)


def test_no_verdict_about_a_wide_incident_is_better_than_the_truth(tmp_path: Path) -> None:
    """With damaged small files and checkpoints, snapshots without logs, combined nodes, and several
    log directories."""
    _hold(trials(range(WIDE_SEEDS), tmp_path, WIDE_SEEDS, is_wide=True), MOST_WORSE)


@pytest.mark.parametrize("seed", [12187, 12314, 12709, 13351, 14547])
def test_nothing_is_called_lossless_that_an_old_copy_may_have_lost(
    seed: int, tmp_path: Path
) -> None:
    """One voter is lost or old, and another forgot what the two had committed: nothing in the files
    shows it."""
    (trial,) = trials([seed], tmp_path, 1)
    assert trial.verdict is Verdict.BEST, str(trial)
    assert {*trial.losses} == {LossBound.POSSIBLE}


def test_a_torn_log_behind_a_snapshot_is_no_lost_log(tmp_path: Path) -> None:
    """There was no way out: the refusal advised lost=1, and then refused the same."""
    (trial,) = trials([13527], tmp_path, 1)
    assert trial.verdict is Verdict.BEST, str(trial)


@pytest.mark.soak
def test_two_thousand_incidents(tmp_path: Path) -> None:
    _hold(trials(range(10_000, 20_000), tmp_path, SOAKED), MOST_WORSE)
