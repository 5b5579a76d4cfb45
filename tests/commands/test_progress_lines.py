"""Progress of long runs whose stderr is no terminal."""

from __future__ import annotations

from kraftool.commands.progress_lines import ProgressLines


def test_a_line_comes_once_a_minute_and_a_short_run_has_none() -> None:
    now = 0.0
    lines: list[str] = []
    progress = ProgressLines(lines.append, clock=lambda: now)
    for second in range(60):
        now = float(second)
        progress("audit", second, 400)
    assert lines == []
    for second in range(60, 200):
        now = float(second)
        progress("audit", second, 400)
    assert lines == [
        "audit: 60 of 400 tasks done, 1 min so far",
        "audit: 120 of 400 tasks done, 2 min so far",
        "audit: 180 of 400 tasks done, 3 min so far",
    ]
    now = 300.0
    progress("stopping Spark", 0, 0)
    assert lines[-1] == "stopping Spark: 5 min so far"
