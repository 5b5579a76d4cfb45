"""The printed next steps of generated incidents, followed literally to their end.

A robot takes the command that the doctor prints, the options that each refusal names, and the steps
of each plan. It must not come back to where it was, every printed command must run, and no record
may be lost that another printed way keeps.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.interop import kafka
from tests.repair.incidents import Incident, NoIncident
from tests.repair.robot import Robot, Stuck, better_way

pytestmark = pytest.mark.slow

SEEDS = int(os.environ.get("KRAFTOOL_ROBOT", "32"))
"""About three of four seeds make an incident."""
WIDE_SEEDS = SEEDS // 4
"""Of incidents of every layout, with damaged checkpoints and small files."""
WITH_NODES = 6
"""In so many incidents of a lost majority our own nodes start, by the rehearsal that is printed."""


def harms(
    seeds: Iterable[int], root: Path, starts: str, most: int, *, is_wide: bool = False
) -> list[str]:
    """Walk over the incidents of seeds, and return what went wrong."""
    problems, started, walked = [], 0, 0
    for seed in seeds:
        folder = root / str(seed)
        try:
            incident = Incident.made(seed, folder, is_wide=is_wide)
        except NoIncident:
            continue
        if incident.has_swapped_mounts:  # a person has to swap them
            continue
        robot = Robot(incident, starts=starts if started < most else None)
        walked += 1
        try:
            lost = robot.walk()
            better = better_way(seed, folder, robot, lost) if lost else ""
        except Stuck as error:
            problems.append(f"{error}\n{robot}")
        else:
            problems += [f"loses {len(lost or ())}\n{robot}\n{better}"] if better else []
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        started += robot.rehearsals
    assert walked, "no seed makes an incident"
    return problems


def test_each_printed_step_leads_on(tmp_path: Path) -> None:
    problems = harms(range(SEEDS), tmp_path, "", WITH_NODES)
    assert not problems, "\n\n".join(problems)


def test_each_printed_step_leads_on_in_every_layout(tmp_path: Path) -> None:
    problems = harms(range(WIDE_SEEDS), tmp_path, "", 0, is_wide=True)
    assert not problems, "\n\n".join(problems)


def test_an_old_voter_without_metadata_has_nothing_to_move_away(tmp_path: Path) -> None:
    """It was emptied, and the command for its return moved a folder that is not there."""
    Robot(Incident.made(12, tmp_path, is_wide=True)).walk()


@pytest.mark.parametrize("seed", [101, 206])
def test_a_copied_source_that_is_repaired_too_is_copied_whole(seed: int, tmp_path: Path) -> None:
    """The printed tar took only the files that the other node's edits use, and apply refused it."""
    assert Robot(Incident.made(seed, tmp_path)).walk() == set()


def test_a_copied_source_has_its_bootstrap_checkpoint(tmp_path: Path) -> None:
    """Another edit of the plan moves it away there, and apply missed it in the copy."""
    Robot(Incident.made(218, tmp_path, is_wide=True)).walk()


def test_a_directory_whose_meta_properties_names_a_cluster_alone_is_found_in_its_plan(
    tmp_path: Path,
) -> None:
    """apply said that the plan is not for the directory, of which it had been made."""
    assert Robot(Incident.made(93, tmp_path, is_wide=True)).walk() == set()


def test_a_lost_voter_is_not_to_be_declared_lost_again(tmp_path: Path) -> None:
    """With --set lost=1 the refusal still said: declare the voters without a log lost."""
    robot = Robot(Incident.made(3, tmp_path))
    assert robot.walk() is None
    assert "--set lost" not in robot.log[-1]


@pytest.mark.soak
def test_a_thousand_incidents(tmp_path: Path) -> None:
    problems = harms(range(20_000, 21_300), tmp_path, "", 40)
    problems += harms(range(22_000, 22_700), tmp_path, "", 0, is_wide=True)
    assert not problems, "\n\n".join(problems)


@pytest.mark.soak
@pytest.mark.interop
@pytest.mark.parametrize("version", [kafka.TOOLS_VERSION, "3.9.1"])
def test_real_kafka_starts_where_the_printed_steps_lead(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if problem := kafka.available(version):
        pytest.skip(problem)
    monkeypatch.setenv("KAFKA_HEAP_OPTS", kafka.light(version))
    options = f" --timeout 300 --kafka {kafka.home(version)}"
    problems = harms(range(300, 420), tmp_path, options, 12)
    assert not problems, "\n\n".join(problems)
