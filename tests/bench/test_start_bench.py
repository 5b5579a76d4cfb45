"""The bench of start-up measures each case twice."""

from __future__ import annotations

import pytest

from tests.bench import start


def test_each_line_has_the_time_with_bytecode_and_without(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert start.main(["--rounds", "1", "version", "completion"]) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["(Python)", "version", "completion"]
    for line in lines:
        assert all(float(word) > 0 for word in line.split()[1:])
