"""Each pipeline of docs/pipelines.md runs as it is written there, and exits as it should.

The session is the one that tests share; tests/spark/test_signals.py and test_live.py start the
commands as processes. tests/commands/test_documented_commands.py runs all other commands.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("deltalake")

from tests.commands.test_documented_commands import Hosts, shown
from tests.spark.pipelines_here import run_here, stream_here
from tests.support.places import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

EXAMPLES = shown(ROOT / "docs/pipelines.md", pipelines=True)


def test_the_pipelines_of_their_document_run(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    fixtures_dir: Path,
    tmp_path: Path,
) -> None:
    assert len(EXAMPLES) > 4
    run, start = run_here(spark, monkeypatch, capfd), stream_here(spark, monkeypatch)
    machine, output = Hosts(tmp_path, fixtures_dir).of(""), tmp_path / "stdout"
    monkeypatch.chdir(machine.home)
    monkeypatch.setenv("HOME", str(machine.home))
    for example in EXAMPLES:
        assert not set(example.line) & set("|;&<>$`"), "nothing that only a shell understands"
        kraftool, pipeline, command, *words = shlex.split(machine.written(example.line))
        assert (kraftool, pipeline) == ("kraftool", "pipeline")
        if command != "stream":
            ran = run(command, *words)
            assert ran.code == 0, f"{example}\n{ran.text}\n{ran.err}"
            continue
        with output.open("w") as stdout, start(stdout, *words) as stream:
            stream.wait_for(lambda: "LeaderChange" in output.read_text())
            stream.asked.terminated = True
            assert stream.end() == 0, str(example)
