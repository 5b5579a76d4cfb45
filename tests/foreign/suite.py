"""What a foreign suite is: how its programs are brought, and how they run against a cluster.

Owns the folder in which suites are kept: KRAFTOOL_FOREIGN_CACHE, by default
~/.cache/kraftool-foreign. Nothing of them is in this repository.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from tests.foreign.cluster import BROKERS
from tests.interop.clusters import Cluster

Outcomes = Mapping[str, str]
"""The outcome of each test, by its name."""


class SuiteFailed(AssertionError):
    """A suite could not be brought, or did not run to its end."""


class Suite(ABC):
    """Tests of somebody else's, or calls of ours, that run against a cluster."""

    name: str
    version = ""
    """The release that is brought; empty for what is in this repository."""
    programs: tuple[str, ...] = ()
    """What has to be on the PATH."""
    broker_ids: Sequence[int] = BROKERS
    may_run_again = True
    """Its tests can run one by one: those that differ run again, since some fail by chance."""

    def problem(self) -> str | None:
        """Return why the suite cannot run here; None if it can."""
        missing = [program for program in self.programs if shutil.which(program) is None]
        return f"{self.name} needs {', '.join(missing)} on the PATH" if missing else None

    def may_differ(self, kafka: str, kraftool: str) -> bool:
        """Return True for a difference that `expected.txt` may explain."""
        return True

    @abstractmethod
    def bring(self, cache: Path) -> None:
        """Download and build what is not in the cache yet."""

    @abstractmethod
    def run(self, cluster: Cluster, folder: Path, only: Collection[str] = ()) -> Outcomes:
        """Run the tests, or only some; logs go to a folder."""


def suites_folder() -> Path:
    """Return the folder that keeps all suites."""
    given = os.environ.get("KRAFTOOL_FOREIGN_CACHE")
    folder = Path(given) if given else Path.home() / ".cache" / "kraftool-foreign"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run_program(
    command: Sequence[str | Path],
    log: Path,
    *,
    cwd: Path | None = None,
    more: Mapping[str, str] | None = None,
    timeout_s: float = 3_600,
    may_fail: bool = False,
) -> str:
    """Run a program and return its output, which is also in its log. `more`: variables of its
    environment."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as sink:
        try:
            done = subprocess.run(
                [*map(str, command)],
                cwd=cwd,
                env={**os.environ, **(more or {})},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            raise SuiteFailed(f"{command[0]} took longer than {timeout_s:g} s; see {log}") from late
    output = log.read_text(errors="replace")
    if done.returncode and not may_fail:
        words = " ".join(map(str, command))
        raise SuiteFailed(f"{words} exited with {done.returncode}:\n{output[-3000:]}")
    return output
