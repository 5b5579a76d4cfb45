"""The bench of changes measures what it says: every record replays, and no commit is left out."""

from __future__ import annotations

import pytest

from tests.bench import changes


def test_the_records_of_the_bench_change_the_images_that_it_loads() -> None:
    topics, _ = changes.load(map(changes.topic, range(200)))
    assert len(changes.commits_ms(topics, map(changes.topic, range(200, 210)))) == 10
    assert len(topics.image().topics.by_name) == 210

    acls, _ = changes.load(map(changes.acl, range(200)))
    changes.commits_ms(acls, map(changes.acl, range(200, 210)))
    assert len(acls.image().acls.by_id) == 210

    partitions, _ = changes.load(changes.snapshot(2_000))
    changes.commits_ms(partitions, [changes.partition(1_500)])
    changed = partitions.image().topics.by_name["topic-1"].partitions[500]
    assert (changed.leader, changed.partition_epoch) == (1, 2)


def test_the_bench_prints_a_line_for_each_measure(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ("--topics", "200", "--acls", "200", "--partitions", "2000")
    assert changes.main(["--fetches", "20", *sizes, "--commits", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 9
    assert sum("commit: median" in line for line in lines) == 6
