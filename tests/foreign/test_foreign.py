"""Every method of Kafka's Admin has the same outcome on kraftool's controllers as on Kafka's.

`make foreign` also runs the tests of other clients, which takes an hour.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.foreign.admin_calls import AdminCalls
from tests.foreign.cluster import Side
from tests.foreign.comparison import EXPECTED, better, counts, differences, expected
from tests.foreign.judging import judge
from tests.foreign.kafka_python import outcomes as outcomes_of_pytest
from tests.foreign.kgo import outcomes as outcomes_of_go
from tests.interop import kafka
from tests.support import proof

_VERSION = "4.3.0"
_FEWEST_CALLS = 240
_NOT_CALLED = "methods that no step calls"


@pytest.mark.interop
def test_every_method_of_admin_has_the_outcome_that_it_has_with_kafkas_controllers(
    tmp_path: Path,
) -> None:
    if problem := kafka.available(_VERSION):
        pytest.skip(problem)
    verdict = judge(AdminCalls(), _VERSION, tmp_path)
    outcomes = verdict.outcomes[Side.KAFKA]
    assert not verdict.unexplained, verdict
    assert not verdict.stale, verdict
    assert outcomes[_NOT_CALLED] == "[]"
    assert len(outcomes) >= _FEWEST_CALLS
    proof.count("calls of Admin compared", len(outcomes))


def test_a_test_with_another_outcome_is_a_difference_and_so_is_one_that_did_not_run() -> None:
    found = differences({"a": "pass", "b": "pass", "c": "fail"}, {"a": "pass", "b": "fail"})
    assert [(item.test, item.kafka, item.kraftool) for item in found] == [
        ("b", "pass", "fail"),
        ("c", "fail", "not run"),
    ]


def test_a_test_that_passes_once_can_pass() -> None:
    before = {"a": "fail", "b": "pass", "c": "fail"}
    assert better(before, {"a": "pass", "b": "fail"}) == {"a": "pass", "b": "pass", "c": "fail"}


def test_each_expected_difference_has_a_reason() -> None:
    text = "# a comment\nsuite\ttest 1\tthe reason\nother\ttest 1\tanother\n"
    assert expected(text, "suite") == {"test 1": "the reason"}
    lines = [line for line in EXPECTED.read_text().splitlines() if not line.startswith("#")]
    assert all(len(line.split("\t")) == 3 and line.split("\t")[2].strip() for line in lines)


def test_outcomes_are_counted_by_kind() -> None:
    assert counts({"a": "pass", "b": "pass", "c": "skip"}) == "2 pass, 1 skip"
    assert counts({"a": "null", "b": "TopicExistsException: …"}) == "2 outcomes"


def test_the_output_of_go_and_the_report_of_pytest_are_read() -> None:
    output = "=== RUN TestA\n    --- FAIL: TestA/part (0.1s)\n--- PASS: TestB (0.00s)\n"
    assert outcomes_of_go(output) == {"TestA/part": "fail", "TestB": "pass"}
    report = (
        '<testsuites><testsuite><testcase classname="test.a" name="test_x"/>'
        '<testcase classname="test.a" name="test_y"><skipped/></testcase>'
        '<testcase classname="test.a" name="test_x"><error/></testcase></testsuite></testsuites>'
    )
    assert outcomes_of_pytest(report) == {
        "test/a.py::test_x": "fail",
        "test/a.py::test_y": "skip",
    }
