"""Lets foreign clients judge kraftool's controllers: `make foreign`, or `python -m tests.foreign`.

Owns the command line. Each suite runs on stock brokers with three of Kafka's controllers, and then
with three of kraftool's. Exit code 1 if a test has another outcome that `expected.txt` does not
explain, 2 if a suite cannot run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.foreign.admin_calls import AdminCalls
from tests.foreign.judging import Verdict, judge
from tests.foreign.kafka_python import KafkaPython
from tests.foreign.kgo import Kgo
from tests.foreign.librdkafka import Librdkafka
from tests.foreign.suite import Suite, suites_folder
from tests.interop import kafka

SUITES: tuple[type[Suite], ...] = (AdminCalls, KafkaPython, Kgo, Librdkafka)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [suite.name for suite in SUITES]
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"of {', '.join(names)}")
    parser.add_argument("--kafka", choices=kafka.SOAKED, default="4.3.0", help="of the brokers")
    parser.add_argument("--keep", type=Path, help="a new folder for logs and outcomes")
    given = parser.parse_args()
    unknown = set(given.suites) - set(names)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if problem := kafka.available(given.kafka):
        parser.error(problem)
    code = 0
    with tempfile.TemporaryDirectory(prefix="foreign-") as temporary:
        folder = given.keep or Path(temporary)
        for kind in SUITES:
            if given.suites and kind.name not in given.suites:
                continue
            suite = kind()
            if problem := suite.problem():
                print(problem, flush=True)
                code = 2
                continue
            suite.bring(suites_folder())
            verdict = judge(suite, given.kafka, folder)
            print(verdict, flush=True)
            _write(verdict, folder / suite.name / "outcomes.json")
            if verdict.unexplained:
                code = code or 1
    return code


def _write(verdict: Verdict, path: Path) -> None:
    shown = {side.value: dict(outcomes) for side, outcomes in verdict.outcomes.items()}
    path.write_text(json.dumps(shown, indent=1))


if __name__ == "__main__":
    sys.exit(main())
