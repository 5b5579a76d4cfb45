"""The tests of librdkafka, a C library: its admin client above all.

The crate `rdkafka-sys` has the library's source with its tests.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection
from pathlib import Path

from tests.foreign.cluster import addresses
from tests.foreign.suite import Outcomes, Suite, run_program
from tests.interop.clusters import Cluster

_TESTS = ("0007", "0033", "0044", "0081", "0103", "0109", "0112", "0121", "0129", "0140")
"""Topics that are created by a fetch, that grow, go and come; the admin client; transactions; the
identity of the cluster."""
_WITHOUT = ("sasl", "ssl", "gssapi", "zstd", "curl")
_RESULT = re.compile(r"\| (\d{4}_\w+) +\| +(PASSED|FAILED|SKIPPED) +\|")
_PART = re.compile(r"\[(\d{4}_\w+) .*?\[ (\w+)(?::\d+)?(.*?): PASS ")
_OUTCOMES = {"PASSED": "pass", "FAILED": "fail", "SKIPPED": "skip"}


class Librdkafka(Suite):
    """Those of its tests that need what controllers decide."""

    name = "librdkafka"
    version = "4.10.0+2.12.1"
    programs = ("cargo", "make", "gcc", "g++")

    def bring(self, cache: Path) -> None:
        """Build the library, and the program of its tests."""
        home = cache / f"librdkafka-{self.version}"
        self._tests = home / "source" / "tests"
        if (home / "complete").exists():
            return
        shutil.rmtree(home, ignore_errors=True)
        (home / "src").mkdir(parents=True)
        (home / "src" / "lib.rs").touch()
        (home / "Cargo.toml").write_text(
            '[package]\nname = "foreign"\nversion = "0.1.0"\nedition = "2021"\n'
            f'[dependencies]\nrdkafka-sys = "={self.version}"\n'
        )
        log = home / "build.log"
        run_program(["cargo", "vendor", "vendored"], log, cwd=home)
        source = home / "source"
        shutil.copytree(home / "vendored" / "rdkafka-sys" / "librdkafka", source)
        run_program(["./configure", *(f"--disable-{name}" for name in _WITHOUT)], log, cwd=source)
        run_program(["make", "-j2", "libs"], log, cwd=source)
        run_program(["make", "-j2", "build"], log, cwd=self._tests)
        (home / "complete").touch()

    def run(self, cluster: Cluster, folder: Path, only: Collection[str] = ()) -> Outcomes:
        shutil.copytree(self._tests, folder / "tests")
        place = folder / "tests"
        (place / "test.conf").write_text(f"bootstrap.servers={addresses(cluster, 'BROKER')}\n")
        numbers = sorted({name[:4] for name in only} or _TESTS)
        libraries = (self._tests.parent / name for name in ("src", "src-cpp"))
        more = {
            "TESTS": ",".join(numbers),
            "TEST_KAFKA_VERSION": cluster.version,
            "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        }
        command = ["./test-runner", "-p1", "-K"]
        log = folder / "librdkafka.log"
        return outcomes(run_program(command, log, cwd=place, more=more, may_fail=True))


def outcomes(output: str) -> Outcomes:
    """Return the result of each test, and of each of its parts, in the output of the program."""
    plain = re.sub(r"\x1b\[[\d;]*m|\x1b\(B", "", output)
    parts = {f"{test}: {part}{more}".rstrip(): "pass" for test, part, more in _PART.findall(plain)}
    whole = {test: _OUTCOMES[result] for test, result in _RESULT.findall(plain)}
    return {**parts, **whole}
