"""The pipelines in this process, on the session that the tests share: no start of a JVM each.

Owns the calls alone. A file that uses them asks for the fixture `spark` itself, by which
tests/support/spark_sharing.py knows it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

import pytest

from kraftool.commands import main, pipeline_options, pipeline_stream_run
from kraftool.spark.live import stopping
from tests.commands.conftest import Ran
from tests.spark.pipeline_processes import PATIENCE_S

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RunHere = Callable[..., Ran]


def run_here(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> RunHere:
    """Return a function that runs `kraftool pipeline` with its arguments to the end."""
    for module in (pipeline_options, pipeline_stream_run):
        monkeypatch.setattr(module, "spark_session", lambda *_, **__: nullcontext(spark))

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr("sys.argv", ["kraftool", "pipeline", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capfd.readouterr()
        return Ran(int(ended.value.code or 0), shown.out.encode(), shown.err)

    return run


class StreamHere:
    """`kraftool pipeline stream` in a thread of this process. SIGTERM is only said to have come."""

    def __init__(self, asked: stopping.Stopping, *arguments: object) -> None:
        self.asked = asked
        self._arguments = ["pipeline", "stream", *map(str, arguments)]
        self._ended: list[object] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        from kraftool.commands.app import app

        try:
            app(self._arguments, standalone_mode=False)
        except BaseException as error:
            self._ended.append(error.code if isinstance(error, SystemExit) else error)

    def wait_for(self, probe: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not probe():
            assert self._thread.is_alive(), self._ended
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def end(self) -> object:
        """What it ends with."""
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        (code,) = self._ended
        return code


StartHere = Callable[..., AbstractContextManager[StreamHere]]


def stream_here(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> StartHere:
    """Return a function that starts a stream with a stdout of its own."""

    @contextmanager
    def start(stdout: TextIO, *arguments: object) -> Iterator[StreamHere]:
        asked = stopping.Stopping()
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", stdout)
            patch.setattr(pipeline_stream_run, "spark_session", lambda *_: nullcontext(spark))
            patch.setattr(stopping, "stopping", lambda: nullcontext(asked))
            run = StreamHere(asked, *arguments)
            try:
                yield run
            finally:
                asked.terminated = True
                run.end()

    return start
