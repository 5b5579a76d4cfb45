#!/usr/bin/env python3
"""Measure what the tests cost: minutes of CPU and of wall time for each directory or file.

`make test` loads this module as a pytest plugin. At the end it prints for each target its minutes
of CPU, its tests, and what they proved: what they counted with tests/support/proof.py.

It adds three properties to each test of a JUnit file, too: the CPU seconds of the test and of its
processes, the wall seconds, and the resident memory of the worker after the test. A JVM that runs
on, since tests share it, counts for each of them with what it took meanwhile. `make test-minutes`
writes such a file, which this module then reads:

    tools/test_minutes.py junit.xml            the directories, the most expensive first
    tools/test_minutes.py junit.xml --files    the files
    tools/test_minutes.py junit.xml --tests 40 the 40 most expensive tests
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support import proof, targets

_BEGAN = pytest.StashKey[tuple[float, float]]()
_NAMED_UP_TO = 8
"""So many names are printed; of more, their number."""


def _cpu(item: pytest.Item) -> float:
    """The CPU seconds of this process, its children that have ended, and the JVMs that run."""
    times = os.times()
    ended = times.user + times.system + times.children_user + times.children_system
    has_processes = any(map(item.get_closest_marker, ("interop", "spark")))
    return ended + (_cpu_of_running() if has_processes else 0)


def _cpu_of_running() -> float:
    """The CPU seconds of this process's descendants. Reading /proc takes milliseconds."""
    children: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            fields = path.read_text().rpartition(")")[2].split()
            pid = int(path.parent.name)
            children.setdefault(int(fields[1]), []).append(pid)
            seconds[pid] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    running, total = [*children.get(os.getpid(), ())], 0.0
    while running:
        pid = running.pop()
        total += seconds[pid]
        running += children.get(pid, ())
    return total


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    item.stash[_BEGAN] = (_cpu(item), time.monotonic())
    target = targets.target_of({marker.name for marker in item.iter_markers()})
    item.user_properties.append(("target", target))
    proof.taken()
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    # The report copies the properties, so they are added before it is made.
    if call.when == "teardown":
        cpu, wall = item.stash[_BEGAN]
        item.user_properties += [
            ("cpu_s", round(_cpu(item) - cpu, 3)),
            ("wall_s", round(time.monotonic() - wall, 3)),
            ("resident_mb", round(_resident_mb())),
            ("file", item.nodeid.partition("::")[0]),
            ("proof", json.dumps(proof.taken())),
        ]
    return (yield)


@dataclass(slots=True)
class _Target:
    """What is known of a target at the end of a run."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    cpu_s: float = 0.0
    proved: Counter[str] = field(default_factory=Counter)
    names: dict[str, set[str]] = field(default_factory=dict)

    def add(self, report: pytest.TestReport) -> None:
        self.failed += report.failed
        self.skipped += report.skipped
        self.passed += report.passed and report.when == "call"
        properties = dict(report.user_properties)
        if report.when != "teardown":
            return
        self.cpu_s += float(str(properties.get("cpu_s", 0)))
        for what, value in json.loads(str(properties.get("proof", "{}"))).items():
            if isinstance(value, int):
                self.proved[what] += value
            else:
                self.names.setdefault(what, set()).update(value)

    def line(self, name: str) -> str:
        counts = [f"{self.passed} passed"]
        counts += [f"{self.failed} FAILED"] * bool(self.failed)
        counts += [f"{self.skipped} skipped"] * bool(self.skipped)
        proved = [f"{number:,} {what}" for what, number in sorted(self.proved.items())]
        proved += [
            f"{what} {', '.join(sorted(names))}"
            if len(names) <= _NAMED_UP_TO
            else f"{len(names):,} {what}"
            for what, names in sorted(self.names.items())
        ]
        minutes = f"{name:<11}{self.cpu_s / 60:6.1f} min of CPU"
        return f"{minutes}  {', '.join(counts)}" + (f"; {'; '.join(proved)}" if proved else "")


_TARGETS: dict[str, _Target] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    target = dict(report.user_properties).get("target")
    if target is not None:
        _TARGETS.setdefault(str(target), _Target()).add(report)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a line for each target, and add it to the file that KRAFTOOL_TARGETS names."""
    lines = [_TARGETS[name].line(name) for name in targets.TARGETS if name in _TARGETS]
    terminalreporter.section("minutes and proof of each target")
    for line in lines:
        terminalreporter.line(line)
    if path := os.environ.get("KRAFTOOL_TARGETS"):
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    file: str
    name: str
    cpu_s: float
    wall_s: float
    resident_mb: float

    @property
    def directory(self) -> str:
        return str(Path(self.file).parent)

    @property
    def test(self) -> str:
        return f"{self.file}::{self.name}"


def read(junit: Path) -> list[Cost]:
    """The tests of a JUnit file that this plugin measured."""
    costs = []
    for case in ET.parse(junit).iter("testcase"):
        values = {
            attribute.get("name"): attribute.get("value", "") for attribute in case.iter("property")
        }
        if "cpu_s" in values:
            costs.append(
                Cost(
                    file=values["file"],
                    name=case.get("name", ""),
                    cpu_s=float(values["cpu_s"]),
                    wall_s=float(values["wall_s"]),
                    resident_mb=float(values["resident_mb"]),
                )
            )
    return costs


def table(costs: list[Cost], group: Callable[[Cost], str], limit: int | None) -> str:
    groups: dict[str, list[Cost]] = {}
    for cost in costs:
        groups.setdefault(group(cost), []).append(cost)
    rows = [
        (
            sum(cost.cpu_s for cost in members) / 60,
            sum(cost.wall_s for cost in members) / 60,
            len(members),
            max(cost.resident_mb for cost in members),
            name,
        )
        for name, members in groups.items()
    ]
    rows.sort(reverse=True)
    resident = max((row[3] for row in rows), default=0)
    cpu, wall = sum(row[0] for row in rows), sum(row[1] for row in rows)
    total = (cpu, wall, len(costs), resident, "all")
    lines = ["{:7.2f} {:9.2f} {:7} {:12.0f}  {}".format(*row) for row in [*rows[:limit], total]]
    return "\n".join(["CPU min  wall min   tests  resident MB", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description="List what the tests of a JUnit file cost.")
    parser.add_argument("junit", type=Path, help="JUnit file of a run with -p tools.test_minutes")
    parser.add_argument("--files", action="store_true", help="list files, not directories")
    parser.add_argument("--tests", type=int, metavar="N", help="list the N most expensive tests")
    options = parser.parse_args()
    costs = read(options.junit)
    if options.tests:
        print(table(costs, lambda cost: cost.test, options.tests))
    else:
        print(table(costs, lambda cost: cost.file if options.files else cost.directory, None))


if __name__ == "__main__":
    main()
