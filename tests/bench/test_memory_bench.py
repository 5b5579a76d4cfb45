"""The bench of memory runs each of its cases."""

from __future__ import annotations

import pytest

from tests.bench import memory


def test_each_case_prints_its_rounds_and_its_peak(capfd: pytest.CaptureFixture[str]) -> None:
    assert memory.main(files=2, rounds=2) == 0
    _, *lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(memory.CASES)
    for line in lines:
        numbers = [float(word) for word in line.replace("peak", "").split()[1:]]
        assert len(numbers) == 4
        assert numbers[-1] >= max(numbers[:-1]), "the peak is the most of all"
