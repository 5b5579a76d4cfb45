"""The integration tests of kafka-python, which its source distribution has.

The distribution lacks two modules of the tests. Of them, an external broker needs only a class that
starts and stops nothing: `_SERVICE`.
"""

from __future__ import annotations

import sys
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import Collection
from pathlib import Path

from tests.foreign.suite import Outcomes, Suite, SuiteFailed, run_program
from tests.interop.clusters import Cluster

_NEEDED = ("pytest", "pytest-timeout", "pytest-mock", "py", "crc32c", "lz4", "zstandard")
_TESTS = "test/integration"
_PATIENCE = ("--timeout=90", "--timeout-method=signal")
"""A test that hangs fails, and the others run: the suite's own method ends all of them."""
_SERVICE = """
class ExternalService:
    def __init__(self, host, port):
        self.host, self.port = host, port

    def open(self):
        pass

    def stop(self):
        pass


class SpawnedService:
    pass
"""


class KafkaPython(Suite):
    """Run with the client of the same distribution, in an environment of its own.

    Its tests expect that one broker has all partitions, and that its id is 0.
    """

    name = "kafka-python"
    broker_ids = (0,)
    version = "3.0.12"

    def bring(self, cache: Path) -> None:
        home = cache / f"kafka-python-{self.version}"
        self._python = home / "env" / "bin" / "python"
        self._source = home / f"kafka_python-{self.version}"
        if (home / "complete").exists():
            return
        home.mkdir(exist_ok=True)
        log = home / "build.log"
        run_program([sys.executable, "-m", "venv", "--clear", home / "env"], log)
        pip: list[str | Path] = [
            self._python,
            "-m",
            "pip",
            "--quiet",
            "--disable-pip-version-check",
        ]
        wanted = ["--no-binary", ":all:", "--no-deps", "--dest", str(home)]
        run_program([*pip, "download", *wanted, f"kafka-python=={self.version}"], log)
        with tarfile.open(home / f"{self._source.name}.tar.gz") as archive:
            archive.extractall(home, filter="data")
        (self._source / "test" / "__init__.py").touch()
        (self._source / "test" / "service.py").write_text(_SERVICE)
        run_program([*pip, "install", self._source, *_NEEDED], log)
        (home / "complete").touch()

    def run(self, cluster: Cluster, folder: Path, only: Collection[str] = ()) -> Outcomes:
        report = folder / "report.xml"
        more = {
            "KAFKA_URI": f"kafka://{cluster.nodes[0].at('BROKER')}",
            "KAFKA_VERSION": cluster.version,
            "KAFKA_ROOT": str(folder),  # must be there, though nothing in it is started
        }
        command: list[str | Path] = [
            self._python,
            "-m",
            "pytest",
            "-q",
            f"--junitxml={report}",
            *_PATIENCE,
        ]
        run_program(
            [*command, "-p", "no:cacheprovider", *(only or [_TESTS])],
            folder / "kafka-python.log",
            cwd=self._source,
            more=more,
            may_fail=True,
        )
        if not report.exists():
            raise SuiteFailed(f"pytest wrote no report; see {folder / 'kafka-python.log'}")
        return outcomes(report.read_text())


def outcomes(report: str) -> Outcomes:
    """Return the result of each test in a report of pytest, by what selects it."""
    results: dict[str, str] = {}
    for case in ET.fromstring(report).iter("testcase"):
        kinds = {child.tag for child in case}
        result = (
            "skip" if "skipped" in kinds else "fail" if kinds & {"failure", "error"} else "pass"
        )
        module = case.attrib["classname"].replace(".", "/")
        name = f"{module}.py::{case.attrib['name']}"
        if results.get(name, "pass") == "pass":  # an error of its end is a case of its own
            results[name] = result
    return results
