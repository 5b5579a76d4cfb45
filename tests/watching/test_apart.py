"""Work in a process of its own: results, errors, and an end whatever it does.

The other process imports the functions below by the name of this file.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from kraftool.decoders import shown_names
from kraftool.decoders.errors import KraftoolError
from kraftool.storage.paths import path_here
from kraftool.watching.child_process import apart
from kraftool.watching.task import StoppedError, Task
from tests.support.bundles import as_new_process, bundle_of
from tests.support.places import FIXTURES, ROOT


def _pid(task: Task) -> int:
    return os.getpid()


def _refused(words: str, task: Task) -> None:
    raise KraftoolError(words, hint="do something else")


def _unreadable(path: str, task: Task) -> None:
    Path(path).read_bytes()


def _in_parts(task: Task) -> int:
    task.partial(1)
    task.set("half", 1, 2)
    task.partial(2)
    return 3


def _killed(task: Task) -> None:
    os.abort()


def _silent(path: str, task: Task) -> None:
    """Says that it is there, in a file, and then nothing ever again."""
    Path(path).write_text(str(os.getpid()))
    threading.Event().wait()


def _place(path: str, task: Task) -> tuple[str, str]:
    here = path_here(path)
    return here, shown_names.shown(here)


def test_it_runs_elsewhere() -> None:
    assert apart(_pid, task=Task()) != os.getpid()


def test_the_program_that_needs_no_python_keeps_the_path_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It unpacks itself again there: what this process imports from is in another folder."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(sys, "path", ["/nowhere"])
    assert apart(_pid, task=Task()) != os.getpid()


def test_what_is_known_before_the_end_comes_before_it() -> None:
    task = Task()
    seen: list[object] = []
    task.take_partial = seen.append
    assert apart(_in_parts, task=task) == 3
    assert seen == [1, 2]


def test_what_is_known_before_the_end_is_of_no_use_to_a_stopped_task() -> None:
    task = Task()

    def stop(_: object) -> None:
        task.stop()

    task.take_partial = stop
    with pytest.raises(StoppedError):
        apart(_in_parts, task=task)


def test_an_error_comes_back_as_it_was_raised() -> None:
    with pytest.raises(KraftoolError, match="no such thing") as caught:
        apart(_refused, "no such thing", task=Task())
    assert caught.value.hint == "do something else"


def test_an_error_of_the_system_is_a_sentence() -> None:
    with pytest.raises(KraftoolError, match="/no/such/file: No such file or directory"):
        apart(_unreadable, "/no/such/file", task=Task())


def test_a_process_that_dies_is_told_and_no_hang() -> None:
    with pytest.raises(KraftoolError, match="has ended without a result"):
        apart(_killed, task=Task())


def test_a_process_that_nobody_wants_is_gone_though_it_says_nothing(tmp_path: Path) -> None:
    task, there = Task(), tmp_path / "pid"
    errors: list[BaseException] = []

    def work() -> None:
        try:
            apart(_silent, str(there), task=task)
        except StoppedError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    while not (there.exists() and there.read_text()):
        thread.join(0.02)
    task.stop()
    thread.join(30)
    assert not thread.is_alive()
    assert len(errors) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(int(there.read_text()), 0)


def test_it_reads_the_copies_of_a_bundle_that_its_parent_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed when it has told its result, so that copies of its own would stay behind."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    file = tmp_path / "case.zip"
    [node] = bundle_of(FIXTURES / "kafka-4.3.0/static-single/node-1/data", file=file).nodes
    with as_new_process():
        here = path_here(f"{file}:{node.name}")
        copies = list(scratch.iterdir())
        there, shown = apart(_place, f"{file}:{node.name}", task=Task())
        assert there == here
        assert shown.startswith(f"{file}:{node.name}")
        assert list(scratch.iterdir()) == copies
