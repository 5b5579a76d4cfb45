"""The order of failures and signals: what came first is what is told, and no end looks like
success that is none."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.spark.ending import EndingSignal, Termination, ended_by_signals

ENDS = [(signal.SIGTERM, 143), (signal.SIGHUP, 129)]


def _nothing() -> None:
    """There are no jobs to cancel."""


def _signal(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


def _ended(run: Callable[[Termination], None]) -> object:
    """What a run ends with: its exit code, None in order, or the failure."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        with ended_by_signals() as ending:
            run(ending)
    except SystemExit as end:
        return end.code
    except KraftoolError as error:
        return str(error)
    finally:
        assert signal.getsignal(signal.SIGTERM) is before
    return None


@pytest.mark.parametrize(("number", "code"), ENDS)
def test_a_signal_ends_the_work_and_cancels_its_jobs(number: int, code: int) -> None:
    cancelled = threading.Event()

    def run(ending: Termination) -> None:
        with ending.working(cancelled.set):
            _signal(number)
            pytest.fail("the work went on")

    assert _ended(run) == code
    assert cancelled.wait(10)


def test_a_failure_after_the_signal_is_an_end_by_the_signal() -> None:
    def run(ending: Termination) -> None:
        try:
            _signal()
        finally:
            raise KraftoolError("the JVM is gone")

    assert _ended(run) == 143


@pytest.mark.parametrize("is_at_work", [True, False])
def test_a_failure_before_the_signal_stays_the_failure(is_at_work: bool) -> None:
    def run(ending: Termination) -> None:
        try:
            if is_at_work:
                with ending.working(_nothing):
                    raise KraftoolError("this cannot be read")
            raise KraftoolError("this cannot be read")
        finally:
            _signal()

    assert _ended(run) == "this cannot be read"


def test_nothing_is_raised_while_the_run_is_cleaned_up_and_no_late_signal_is_lost() -> None:
    cleaned = []

    def run(ending: Termination) -> None:
        with ending.working(_nothing):
            pass
        _signal()
        cleaned.append(True)

    assert _ended(run) == 143
    assert cleaned == [True]


def test_the_second_signal_does_not_end_what_the_first_one_has_begun() -> None:
    cleaned = []

    def run(ending: Termination) -> None:
        try:
            _signal()
        finally:
            _signal(signal.SIGHUP)
            time.sleep(0.01)
            cleaned.append(True)

    assert _ended(run) == 143
    assert cleaned == [True]


def test_what_python_drops_is_told_by_the_jobs_that_are_cancelled() -> None:
    cancelled = threading.Event()

    def run(ending: Termination) -> None:
        with ending.working(cancelled.set):
            with suppress(EndingSignal):  # as the interpreter does it with what a __del__ raises
                _signal()
            assert cancelled.wait(10)

    assert _ended(run) == 143


def test_a_hangup_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert _ended(lambda _: _signal(signal.SIGHUP)) is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_without_a_signal_ends_as_it_does() -> None:
    def fail(_: Termination) -> None:
        raise KraftoolError("mine")

    assert _ended(lambda _: None) is None
    assert _ended(fail) == "mine"
