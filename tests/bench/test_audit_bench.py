"""The bench of the audit does the tasks of all directories that it has made."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from tests.bench import audit

pytestmark = pytest.mark.slow


def test_it_does_the_tasks_of_each_kind_of_directory(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--even", "3", "--size", "40KB", "--log", "100KB", "--small", "3"]
    assert audit.main(arguments) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("7 tasks: "), "few directories have a task each"
    assert len(shown) == 3
