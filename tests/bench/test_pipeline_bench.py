"""The bench of the pipelines measures what it says: sets of a size, and the memory of processes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from kraftool.reports.state.load import load_state
from tests.bench import pipeline, processes

pytestmark = pytest.mark.slow

PYTHON = sys.executable
SIZE = 24_000_000


@pytest.mark.parametrize("is_even", [True, False], ids=["even", "uneven"])
def test_a_set_has_the_size_asked_for_and_as_many_records_as_its_logs(
    is_even: bool, tmp_path: Path
) -> None:
    made = pipeline.make_set(tmp_path, SIZE, is_even=is_even)
    assert 0.95 * SIZE < made.size < 1.5 * SIZE
    assert len(made.directories) == pipeline.CLUSTERS * pipeline.NODES
    ends = {path: load_state(str(path)).end_offset for path in made.directories[-4:]}
    for directory, end in ends.items():
        assert pipeline._end_offset(directory) == end
    first, *_, last = (
        sum(path.stat().st_size for path in directory.rglob("*.log"))
        for directory in made.directories
    )
    assert (last > 5 * first) is not is_even
    # About 100 bytes a record, so that 2 GB are 20 million.
    assert 80 < made.size / made.records < 125


def test_the_memory_of_each_part_of_a_process_tree_is_told(tmp_path: Path) -> None:
    child = "data = bytearray(60_000_000); import time; time.sleep(0.5)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    run = processes.watched([PYTHON, "-c", parent], 1, tmp_path)
    assert run.code == 0
    assert run.stderr == ""
    assert 60 < run.peaks.worker < 120
    assert 0 < run.peaks.driver < 60
    assert run.peaks.together > run.peaks.worker
    assert run.peaks.jvm == 0


def test_a_command_that_fails_is_told_with_its_words(tmp_path: Path) -> None:
    run = processes.watched([PYTHON, "-c", "raise SystemExit('no')"], 1, tmp_path)
    assert run.code == 1
    assert run.stderr.strip() == "no"


def test_sizes_are_read_as_people_write_them() -> None:
    assert pipeline.size_of("2GB") == 2_000_000_000
    assert pipeline.size_of("100 MB".replace(" ", "")) == 100_000_000
    with pytest.raises(argparse.ArgumentTypeError):
        pipeline.size_of("many")
