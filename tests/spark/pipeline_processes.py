"""A pipeline as a process of its own: started, waited for, ended by signals, and what it leaves."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import TypeVar

from tests.support.places import ROOT

PATIENCE_S = 120
_MOMENT_S = 60
LITTLE_MEMORY = ("--conf=spark.driver.memory=600m",)
SMALL = ("--master=local[2]", *LITTLE_MEMORY)


class To(Enum):
    """Which processes get a signal."""

    ITSELF = "as kill(1) does it"
    GROUP = "as a terminal and timeout(1) do it"
    ALL = "as systemd does it; Spark's Python workers have a group of their own"


class Pipeline:
    """A run of `kraftool pipeline`, with a temporary folder and a process group of its own."""

    def __init__(
        self,
        folder: Path,
        *arguments: object,
        environment: Mapping[str, str] = os.environ,
        program: Sequence[str] = ("-m", "kraftool", "pipeline"),
    ) -> None:
        folder.mkdir(parents=True)
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.stdout, self.stderr = folder / "stdout", folder / "stderr"
        command = [sys.executable, *program, *map(str, arguments)]
        own = {"TMPDIR": str(self.temporary), "PYTHONPATH": str(ROOT)}
        with self.stdout.open("wb") as out, self.stderr.open("wb") as err:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=err, env={**environment, **own}, start_new_session=True
            )

    def wait_for(self, what: str, probe: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not probe():
            errors = self.stderr.read_text()
            assert self.process.poll() is None, (
                f"{what}: ended with {self.process.poll()}: {errors}"
            )
            assert time.monotonic() < deadline, f"{what}: in vain; {errors}"
            time.sleep(0.05)

    def end(self, number: signal.Signals, to: To = To.ITSELF) -> int:
        """Send it a signal, and wait for its end."""
        match to:
            case To.ITSELF:
                self.process.send_signal(number)
            case To.GROUP:
                os.killpg(self.process.pid, number)
            case To.ALL:
                for process in self.processes():
                    with suppress(ProcessLookupError):
                        os.kill(process, number)
        return self.process.wait(PATIENCE_S)

    def processes(self) -> dict[int, str]:
        """All that come from it and run, with what they are called by."""
        by_pid = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                fields = (path / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == self.process.pid and fields[0] != "Z":
                    by_pid[int(path.name)] = (path / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
        return by_pid

    def leftovers(self) -> list[str]:
        """Processes of its session, and temporary files. A worker that was begun as the JVM ended
        notices that a moment later."""
        deadline = time.monotonic() + _MOMENT_S
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)
        left = [path.name for path in self.temporary.iterdir()]
        return left + [process[:100] for process in self.processes().values()]


Run = TypeVar("Run", bound=Pipeline)


@contextmanager
def ended(pipeline: Run) -> Iterator[Run]:
    """Kill what did not end by itself."""
    try:
        yield pipeline
    finally:
        if pipeline.process.poll() is None:
            os.killpg(pipeline.process.pid, signal.SIGKILL)
            pipeline.process.wait()
