"""`kraftool pipeline audit` as it is typed: terminal, JSON, HTML page, exit codes; and URLs."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark")

from kraftool.commands import main, pipeline_options
from tests.spark.audit_cases import LOG, audited, quorum, replace_batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

Audit = Callable[..., tuple[int, str, str]]


@pytest.fixture
def audit(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Audit:
    """Runs the command on the session of the tests: its exit code, stdout and stderr."""
    monkeypatch.setattr(pipeline_options, "spark_session", lambda *_, **__: nullcontext(spark))

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["kraftool", "pipeline", "audit", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capfd.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


def test_the_terminal_tells_the_worst_first_and_fits_80_columns(
    audit: Audit, tmp_path: Path
) -> None:
    quorum(tmp_path / "fleet/one", "AAAAAAAAAAAAAAAAAAAAAw")
    quorum(tmp_path / "fleet/two", "AAAAAAAAAAAAAAAAAAAABA")
    batch = replace_batch(tmp_path / "fleet/two/node-3" / LOG, 60)
    page = tmp_path / "audit.html"
    code, output, errors = audit(tmp_path / "fleet", "--html", page)
    assert (code, "Traceback" in errors) == (1, False), errors
    assert f"offset {batch.header.base_offset}" in output
    assert "KT-SIG-SAME-PLACE" in output
    assert output.index("AAAAAAAAAAAAAAAAAAAABA") < output.index("KT-SIG-SAME-PLACE")
    wide = [line.split() for line in output.splitlines()[1:] if len(line) > 80]
    assert [words for words in wide if len(words) > 1] == [], "only a path is never broken"
    assert "KT-SIG-SAME-PLACE" in page.read_text()
    assert page.stat().st_mode & 0o777 == 0o600


def test_json_goes_to_a_file_and_a_healthy_fleet_ends_with_0(audit: Audit, tmp_path: Path) -> None:
    quorum(tmp_path / "fleet", "AAAAAAAAAAAAAAAAAAAAAw")
    out = tmp_path / "audit.json"
    ignored = ("KT-SIG-LOST-REPLICAS", "KT-SNAP-MISSING")
    words = [word for code in ignored for word in ("--ignore", code)]
    code, output, errors = audit(tmp_path / "fleet", "-o", "json", "--out", out, *words)
    assert (code, output) == (0, ""), errors
    document = json.loads(out.read_text())
    assert document["counts"]["findingCounts"]["error"] == 0
    assert document["run"]["ignoredCodes"] == sorted(ignored)


def test_a_code_that_is_none_is_a_usage_error(audit: Audit, tmp_path: Path) -> None:
    code, _, errors = audit(tmp_path, "--ignore", "KT-NO-SUCH")
    assert (code, "is not a finding code" in errors) == (2, True)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clusters, a divergence in one and a damaged log in the other."""
    root = tmp_path_factory.mktemp("clusters") / "fleet"
    quorum(root / "one", "AAAAAAAAAAAAAAAAAAAAAw")
    quorum(root / "two", "AAAAAAAAAAAAAAAAAAAABA")
    replace_batch(root / "two/node-3" / LOG, 60)
    damaged = root / "one/node-2" / LOG
    damaged.write_bytes(damaged.read_bytes()[:-20])
    return root


@pytest.fixture(scope="module")
def here(spark: SparkSession, fleet: Path) -> dict[str, Any]:
    """The audit of these directories, a task for each."""
    document = audited(spark, fleet).document
    assert document["divergences"] != []
    return document


def test_a_url_has_the_answers_of_the_directory_behind_it(
    spark: SparkSession, fleet: Path, here: dict[str, Any]
) -> None:
    pytest.importorskip("fsspec")
    url = f"file://{fleet}"
    there = audited(spark, url, storage={"unused": "CANARY"}).document
    text = json.dumps(there)
    assert "CANARY" not in text
    assert "kraftool-copy-" not in text
    assert there["divergences"] != []
    keys = ("code", "severity", "offset", "position", "field", "by")
    ours, theirs = (
        sorted([finding["file"].removeprefix("file://"), *(str(finding[key]) for key in keys)]
               for finding in report["findings"])
        for report in (here, there)
    )  # fmt: skip
    assert ours == theirs
