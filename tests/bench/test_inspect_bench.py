"""The bench of inspection measures what it says: a healthy snapshot and log, one answer of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.reports.state.load import load_state
from tests.bench import dump, inspect_state, passes
from tests.support.places import LOG, ROOT

PARTITIONS = 2_500


def test_the_snapshot_of_the_bench_is_whole_and_has_the_partitions_asked_for(
    tmp_path: Path,
) -> None:
    path = tmp_path / inspect_state.SNAPSHOT
    inspect_state.build_snapshot(path, PARTITIONS)
    state = load_state(str(path))
    assert state.is_whole
    assert state.image.topics.partitions == PARTITIONS


def test_every_record_of_the_log_of_the_bench_replays(tmp_path: Path) -> None:
    path = tmp_path / LOG
    count = inspect_state.build_log(path, 200_000)
    state = load_state(str(path))
    assert state.is_whole
    assert (state.records, state.end_offset) == (count, count)
    assert count > 3 * inspect_state.PER_TOPIC


def test_the_directory_of_the_bench_of_passes_is_one_that_every_command_reads(
    tmp_path: Path,
) -> None:
    count = passes.build_directory(tmp_path / "data", 200_000)
    assert count > 3 * inspect_state.PER_TOPIC
    for words in passes.COMMANDS:
        dump.measure(passes.command(ROOT, tmp_path / "data", *words), tmp_path)


@pytest.mark.interop
def test_both_shells_of_the_bench_print_the_same_partition(tmp_path: Path) -> None:
    inspect_state.build_snapshot(tmp_path / inspect_state.SNAPSHOT, PARTITIONS)
    commands = inspect_state.shell_commands(inspect_state.SNAPSHOT)
    printed = []
    for command in commands.values():
        text = dump.output(command, tmp_path).decode()
        printed.append(
            [line[line.index("Part") :] for line in text.splitlines() if "leader=" in line]
        )
    assert printed[0]
    assert set(printed[0]) == set(printed[1])
