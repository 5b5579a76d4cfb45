"""The table of audits, and what changed since an earlier run, below Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("deltalake")
pytest.importorskip("pyspark")

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.fleet.model import FleetFinding, SinceRun
from kraftool.reports.text.json_forms import FindingCounts
from kraftool.spark.audit.findings_table import add, compared, open_table
from kraftool.spark.errors import OccupiedError, UnusableError

STARTED = 1_700_000_000_000


def crc(offset: int, text: str = "wrong", cluster: str = "a") -> FleetFinding:
    finding = log_kinds.CRC.at(f"/{cluster}/log", text, position=offset * 100, offset=offset)
    directory = f"/{cluster}"
    return FleetFinding(finding=finding, cluster=cluster, directory=directory, paths=(directory,))


def run(out: Path, findings: Sequence[FleetFinding], since: str = "last") -> SinceRun:
    """An audit that compares, and then adds its findings."""
    table = open_table(str(out), {})
    changes = compared(table, table.run_of(since), findings)
    add(table, STARTED + table.last_run, lambda: findings)
    return changes


def test_a_run_is_compared_with_the_last_one_or_with_any(tmp_path: Path) -> None:
    out = tmp_path / "audits"
    first = run(out, [crc(1), crc(2)])
    assert (first.earlier_run, first.new_counts, first.started_at) == (
        0,
        FindingCounts(error=2),
        None,
    )
    second = run(out, [crc(2), crc(3, cluster="b")])
    assert (second.earlier_run, second.started_at, second.same) == (1, STARTED, 1)
    assert [one.cluster for one in second.new_findings] == ["b"]
    (gone,) = second.gone_findings
    # `by` says who found it, which the table has not.
    assert replace(gone, by=()) == crc(1)
    assert second.gone_counts == FindingCounts(error=1)
    third = run(out, [crc(1), crc(2)], since="1")
    assert (third.new_counts, third.gone_counts, third.same) == (
        FindingCounts(), FindingCounts(), 2,
    )  # fmt: skip


def test_a_run_without_findings_counts_as_the_last_one(tmp_path: Path) -> None:
    """No row is of it: the table's own log remembers its number."""
    out = tmp_path / "audits"
    run(out, [crc(1)])
    assert run(out, []).gone_counts.error == 1
    again = run(out, [crc(1)])
    assert (again.earlier_run, again.new_counts.error, again.started_at) == (2, 1, None)


def test_words_with_other_numbers_are_the_same_finding(tmp_path: Path) -> None:
    out = tmp_path / "audits"
    run(out, [crc(1, "120 records behind"), crc(1, "another")])
    changes = run(out, [crc(1, "950 records behind"), crc(1, "another"), crc(1, "a third")])
    assert (changes.same, changes.new_counts.error) == (2, 1)


def test_what_became_worse_is_new(tmp_path: Path) -> None:
    out = tmp_path / "audits"
    mild = crc(1)
    mild = replace(mild, finding=replace(mild.finding, severity=Severity.WARNING))
    run(out, [mild])
    changes = run(out, [crc(1)])
    assert (changes.new_counts, changes.gone_counts) == (
        FindingCounts(error=1), FindingCounts(warning=1),
    )  # fmt: skip


def test_a_run_that_the_table_has_not_is_named_with_those_that_it_has(tmp_path: Path) -> None:
    out = tmp_path / "audits"
    with pytest.raises(UnusableError, match="the table has no run"):
        open_table(str(out), {}).run_of("1")
    run(out, [])
    for since in ("2", "0", "yesterday"):
        with pytest.raises(UnusableError, match="the table has runs 1 to 1"):
            open_table(str(out), {}).run_of(since)


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes").touch()
    with pytest.raises(OccupiedError, match="something other than a table of audits"):
        open_table(str(tmp_path), {})
    with pytest.raises(KraftoolError):
        open_table("s3://user:secret@bucket/x", {})


def test_of_two_audits_at_the_same_time_each_is_a_run(tmp_path: Path) -> None:
    out = tmp_path / "audits"
    one, other = (open_table(str(out), {}) for _ in range(2))
    assert add(one, STARTED, lambda: [crc(1)]) == 1
    assert add(other, STARTED, lambda: [crc(2)]) == 2
    assert open_table(str(out), {}).last_run == 2


def test_columns_say_what_they_are_and_files_are_their_owners(tmp_path: Path) -> None:
    from deltalake import DeltaTable

    out = tmp_path / "audits"
    run(out, [crc(1)])
    fields = DeltaTable(str(out)).schema().fields
    assert all(field.metadata["comment"] for field in fields)
    assert not any(path.stat().st_mode & 0o077 for path in (out, *out.rglob("*")))
