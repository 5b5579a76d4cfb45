"""The tests of franz-go's client, a Go module: producers, groups, transactions and share groups."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from tests.foreign.cluster import addresses
from tests.foreign.suite import Outcomes, Suite, run_program
from tests.interop.clusters import Cluster

_PACKAGE = "github.com/twmb/franz-go/pkg/kgo"
_RECORDS = 20_000
"""Of each test that produces and consumes; 500,000 by default."""
_RESULT = re.compile(r"--- (PASS|FAIL|SKIP): (\S+)")


class Kgo(Suite):
    """The tests that are in the module, those without a cluster included."""

    name = "kgo"
    version = "v1.22.3"
    programs = ("go",)

    def bring(self, cache: Path) -> None:
        """Compile the module's tests, in a module of its own that requires it."""
        self._program = cache / f"kgo-{self.version}" / "kgo.test"
        if self._program.exists():
            return
        folder = self._program.parent
        folder.mkdir(exist_ok=True)
        (folder / "go.mod").write_text("module foreign\n\ngo 1.26\n")
        log = folder / "build.log"
        run_program(["go", "get", "-t", f"{_PACKAGE}@{self.version}"], log, cwd=folder)
        made = folder / "made"
        run_program(["go", "test", "-c", "-o", made, _PACKAGE], log, cwd=folder)
        made.rename(self._program)

    def run(self, cluster: Cluster, folder: Path, only: Collection[str] = ()) -> Outcomes:
        command = [str(self._program), "-test.v", "-test.timeout=50m"]
        if only:
            # A part of a test runs with all of it.
            tests = sorted({re.escape(name.partition("/")[0]) for name in only})
            command.append(f"-test.run=^({'|'.join(tests)})$")
        more = {
            "KGO_SEEDS": addresses(cluster, "BROKER"),
            "KGO_TEST_RF": "3",
            "KGO_TEST_RECORDS": str(_RECORDS),
            "KGO_LOG_LEVEL": "none",
        }
        output = run_program(command, folder / "kgo.log", cwd=folder, more=more, may_fail=True)
        return outcomes(output)


def outcomes(output: str) -> Outcomes:
    """Return the result of each test in the output of `go test`."""
    return {name: result.lower() for result, name in _RESULT.findall(output)}
