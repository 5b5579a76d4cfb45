"""`kraftool pipeline audit` as it is typed: terminal, JSON, HTML page, exit codes; and URLs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark")

from tests.spark.audit_cases import LOG, audited, quorum, replace_batch
from tests.spark.conftest import SMALL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]


def _run(*arguments: object) -> subprocess.CompletedProcess[str]:
    settings = [word for key, value in SMALL.items() for word in ("--conf", f"{key}={value}")]
    command = [sys.executable, "-m", "kraftool", "pipeline", "audit", *map(str, arguments)]
    return subprocess.run(
        [*command, "--master", "local[2]", *settings],
        capture_output=True, text=True, check=False, cwd=ROOT, timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def test_the_terminal_tells_the_worst_first_and_fits_80_columns(tmp_path: Path) -> None:
    quorum(tmp_path / "fleet/one", "AAAAAAAAAAAAAAAAAAAAAw")
    quorum(tmp_path / "fleet/two", "AAAAAAAAAAAAAAAAAAAABA")
    batch = replace_batch(tmp_path / "fleet/two/node-3" / LOG, 60)
    page = tmp_path / "audit.html"
    ran = _run(tmp_path / "fleet", "--html", page)
    assert (ran.returncode, "Traceback" in ran.stderr) == (1, False), ran.stderr
    assert f"offset {batch.header.base_offset}" in ran.stdout
    assert "KT-SIG-SAME-PLACE" in ran.stdout
    assert ran.stdout.index("AAAAAAAAAAAAAAAAAAAABA") < ran.stdout.index("KT-SIG-SAME-PLACE")
    assert max(map(len, ran.stdout.splitlines()[1:])) <= 80
    assert "KT-SIG-SAME-PLACE" in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600


def test_json_goes_to_a_file_and_a_healthy_fleet_ends_with_0(tmp_path: Path) -> None:
    quorum(tmp_path / "fleet", "AAAAAAAAAAAAAAAAAAAAAw")
    out = tmp_path / "audit.json"
    ignored = ("KT-SIG-LOST-REPLICAS", "KT-SNAP-MISSING")
    words = [word for code in ignored for word in ("--ignore", code)]
    ran = _run(tmp_path / "fleet", "-o", "json", "--out", out, *words)
    assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
    told = json.loads(out.read_text())
    assert told["counts"]["findings"]["error"] == 0
    assert told["run"]["ignoredCodes"] == sorted(ignored)


def test_usage_is_checked_before_a_jvm_is_started(tmp_path: Path) -> None:
    ran = _run(tmp_path, "--ignore", "KT-NO-SUCH")
    assert (ran.returncode, "is no code" in ran.stderr) == (2, True)
    ran = _run(tmp_path, "--out", tmp_path / "x", "--html", tmp_path / "x")
    assert (ran.returncode, "same file" in ran.stderr) == (2, True)


def test_a_url_has_the_answers_of_the_directory_behind_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    pytest.importorskip("fsspec")
    quorum(tmp_path / "fleet")
    replace_batch(tmp_path / "fleet/node-3" / LOG, 60)
    here = audited(spark, tmp_path / "fleet").document
    url = f"file://{tmp_path}/fleet"
    there = audited(spark, url, storage={"unused": "CANARY"}).document
    text = json.dumps(there)
    assert "CANARY" not in text
    assert "kraftool-copy-" not in text
    assert there["divergences"] != []
    keys = ("code", "severity", "offset", "position", "field", "by")
    ours, theirs = (
        sorted([each["file"].removeprefix("file://"), *(str(each[key]) for key in keys)]
               for each in told["findings"])
        for told in (here, there)
    )  # fmt: skip
    assert ours == theirs
