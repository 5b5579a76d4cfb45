"""`kraftool pipeline audit` as it is typed: terminal, JSON, HTML page and exit codes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark")

from tests.spark.audit_cases import LOG, quorum, replace_batch
from tests.spark.pipelines_here import RunHere, run_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def audit(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> RunHere:
    return partial(run_here(spark, monkeypatch, capfd), "audit")


def test_the_terminal_tells_the_worst_first_and_fits_80_columns(
    audit: RunHere, tmp_path: Path
) -> None:
    quorum(tmp_path / "fleet/one", "AAAAAAAAAAAAAAAAAAAAAw")
    quorum(tmp_path / "fleet/two", "AAAAAAAAAAAAAAAAAAAABA")
    batch = replace_batch(tmp_path / "fleet/two/node-3" / LOG, 60)
    page = tmp_path / "audit.html"
    ran = audit(tmp_path / "fleet", "--html", page)
    assert (ran.code, "Traceback" in ran.err) == (1, False), ran.err
    output = ran.text
    assert f"offset {batch.header.base_offset}" in output
    assert "KT-SIG-SAME-PLACE" in output
    assert output.index("AAAAAAAAAAAAAAAAAAAABA") < output.index("KT-SIG-SAME-PLACE")
    wide = [line.split() for line in output.splitlines()[1:] if len(line) > 80]
    assert [words for words in wide if len(words) > 1] == [], "only a path is never broken"
    assert "KT-SIG-SAME-PLACE" in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600


def test_json_goes_to_a_file_and_a_healthy_fleet_ends_with_0(
    audit: RunHere, tmp_path: Path
) -> None:
    quorum(tmp_path / "fleet", "AAAAAAAAAAAAAAAAAAAAAw")
    out = tmp_path / "audit.json"
    ignored = ("KT-SIG-LOST-REPLICAS", "KT-SNAP-MISSING")
    words = [word for code in ignored for word in ("--ignore", code)]
    ran = audit(tmp_path / "fleet", "-o", "json", "--out", out, *words)
    assert (ran.code, ran.text) == (0, ""), ran.err
    document = json.loads(out.read_text())
    assert document["counts"]["findingCounts"]["error"] == 0
    assert document["run"]["ignoredCodes"] == sorted(ignored)


def test_a_code_that_is_none_is_a_usage_error(audit: RunHere, tmp_path: Path) -> None:
    ran = audit(tmp_path, "--ignore", "KT-NO-SUCH")
    assert (ran.code, "is not a finding code" in ran.err) == (2, True)


def test_what_is_muted_is_counted_and_shown_on_request(audit: RunHere, tmp_path: Path) -> None:
    quorum(tmp_path / "fleet/one", "AAAAAAAAAAAAAAAAAAAAAw")
    replace_batch(tmp_path / "fleet/one/node-3" / LOG, 60)
    mutes = tmp_path / "mutes.yaml"
    mutes.write_text("- {code: KT-SIG-SAME-PLACE, until: 2999-01-31, reason: a drill}\n")
    counted = audit(tmp_path / "fleet", "--mute", mutes)
    assert "1 finding muted. --show-muted lists them" in counted.text
    assert "KT-SIG-SAME-PLACE" not in counted.text
    shown = audit(tmp_path / "fleet", "--mute", mutes, "--show-muted")
    assert "KT-SIG-SAME-PLACE" in shown.text
    assert "until 2999-02-01 00:00: a drill" in shown.text
    document = json.loads(audit(tmp_path / "fleet", "--mute", mutes, "-o", "json").out)
    assert [one["finding"]["code"] for one in document["muted"]] == ["KT-SIG-SAME-PLACE"]
    assert document["counts"]["mutedCount"] == 1
