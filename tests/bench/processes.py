"""Runs a command on some of this machine's cores, and watches the memory of all its processes.

Owns the reading of /proc. VmHWM only rises, so that looking every tenth of a second misses nothing
but what a process did in its last moments.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_EVERY_S = 0.1
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Peaks:
    """The most memory that each part of a command had, in MB."""

    jvm: float = 0
    driver: float = 0
    """The Python that was started."""
    worker: float = 0
    """The largest of the other Pythons."""
    together: float = 0
    """All processes at one moment. Pages that forked workers share count for each of them."""


@dataclass(frozen=True, slots=True)
class Watched:
    """One run of a command."""

    wall_s: float
    cpu_s: float
    """Of all its processes; what others do on the machine does not count."""
    code: int
    stderr: str
    peaks: Peaks


def watched(command: list[str], cores: int, folder: Path, **environment: str) -> Watched:
    """Run a command on that many cores, its output thrown away."""
    usable = sorted(os.sched_getaffinity(0))
    peaks = Peaks()
    errors = folder / "stderr"
    cpu: dict[int, float] = {}
    began = time.perf_counter()
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            ["taskset", "--cpu-list", ",".join(map(str, usable[:cores])), *command],
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env=os.environ | environment,
        )
        try:
            while process.poll() is None:
                _look(process.pid, peaks, cpu)
                time.sleep(_EVERY_S)
        finally:
            process.terminate()  # unless it has ended: kraftool then ends its JVM
            process.wait()
    wall_s = time.perf_counter() - began
    return Watched(
        wall_s, sum(cpu.values()), process.returncode, errors.read_text(errors="replace"), peaks
    )


def _look(root: int, peaks: Peaks, cpu: dict[int, float]) -> None:
    together = 0.0
    for pid in _tree(root):
        cpu[pid] = max(cpu.get(pid, 0.0), cpu_s(pid))
        memory = memory_mb(pid)
        if memory is None:
            continue
        high, now = memory
        together += now
        if pid == root:
            peaks.driver = max(peaks.driver, high)
        elif _program(pid) == "java":
            peaks.jvm = max(peaks.jvm, high)
        else:
            peaks.worker = max(peaks.worker, high)
    peaks.together = max(peaks.together, together)


def _tree(root: int) -> list[int]:
    """A process and all that come from it."""
    children: dict[int, list[int]] = {}
    for path in _PROC.iterdir():
        if path.name.isdigit():
            parent = _parent(path)
            children.setdefault(parent, []).append(int(path.name))
    pids = [root]
    for pid in pids:
        pids += children.get(pid, [])
    return pids


def _parent(process: Path) -> int:
    fields = _stat(process)
    return int(fields[1]) if fields else -1


def cpu_s(pid: int) -> float:
    """Of the process alone: many a worker is killed, and nobody is told then what it used."""
    fields = _stat(_PROC / str(pid))
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def _stat(process: Path) -> list[str]:
    """The fields of /proc/PID/stat from the state on; none for what has ended."""
    try:
        # The name before them may hold anything but ends with the last bracket.
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _program(pid: int) -> str:
    """The name of its program. A child that a JVM has just forked has the name of a thread."""
    try:
        return (_PROC / str(pid) / "exe").readlink().name
    except OSError:
        return ""


def memory_mb(pid: int) -> tuple[float, float] | None:
    """VmHWM and VmRSS in MB; None for what has ended."""
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    fields = {key: value.split() for key, _, value in (line.partition(":") for line in lines)}
    if "VmHWM" not in fields:
        return None  # it has ended, and was not waited for yet
    return int(fields["VmHWM"][0]) / 1000, int(fields["VmRSS"][0]) / 1000
