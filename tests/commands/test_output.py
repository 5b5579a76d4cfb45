"""How kraftool ends and what it leaves: streams that fail, --out, --debug, times, progress."""

from __future__ import annotations

import errno
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from kraftool.commands.exit_code import ExitCode, RefusedError, UsageError
from kraftool.commands.output import Output
from kraftool.commands.times import iso, parse_time
from kraftool.decoders.errors import KraftoolError

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
PATIENCE_SECONDS = 60
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full; Linux has one")


@pytest.fixture
def partition(fixtures_dir: Path) -> Path:
    return fixtures_dir / "kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0"


@pytest.fixture
def torn(fixtures_dir: Path) -> Path:
    return fixtures_dir / "damaged" / "torn-tail" / f"{0:020}.log"


def shell(words: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which "$@" is kraftool with the arguments."""
    return subprocess.run(
        ["bash", "-c", words, "bash", sys.executable, "-m", "kraftool", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )


def until(holds: Callable[[], object]) -> None:
    """Wait for what another process does; a failure if it never does."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.01)


# Progress.


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", ["m[/x]", "m[link=file:///etc]x", "m[red]x", "m:smile:"])
def test_the_progress_bar_shows_a_name_that_looks_like_markup_as_it_is(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with Output().progress(100 << 20, name) as done:
        done(50 << 20)
    assert name in terminal.getvalue()
    assert "file:///etc\x1b" not in terminal.getvalue()
    assert "\x1b]8" not in terminal.getvalue()


# Streams that fail.


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments", [["dump"], ["dump-log", "-o", "jsonl"], ["dump-log", "-o", "json"], ["--help"]]
)
def test_a_full_disk_at_stdout_is_told_in_a_sentence(
    partition: Path, arguments: list[str], unbuffered: str
) -> None:
    path = [] if "--help" in arguments else [partition]
    ran = shell(f'export PYTHONUNBUFFERED={unbuffered}; "$@" >/dev/full', *arguments, *path)
    assert ran.stderr == "kraftool: stdout cannot be written: No space left on device\n"
    assert ran.returncode == ExitCode.INTERNAL


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_disk_that_fills_up_amid_the_output_is_told(
    partition: Path, tmp_path: Path, unbuffered: str
) -> None:
    # The shell's limit on a file's size stands in for a disk: 4 blocks of 1024 bytes. A write
    # across it is cut short without an error.
    limited = f'export PYTHONUNBUFFERED={unbuffered}; trap "" XFSZ; ulimit -f 4; "$@"'
    ran = shell(f'{limited} >"{tmp_path / "out"}"', "dump", partition)
    assert ran.stderr == ""  # it fits
    ran = shell(f'{limited} >"{tmp_path / "out"}"', "dump-log", "-o", "jsonl", partition)
    assert ran.stderr == "kraftool: stdout cannot be written: File too large\n"
    assert ran.returncode == ExitCode.INTERNAL


@needs_full
def test_a_full_disk_at_out_is_told_in_a_sentence(partition: Path) -> None:
    ran = shell('"$@"', "dump", partition, "--out", FULL)
    assert ran.stderr == "kraftool: /dev/full cannot be written: No space left on device\n"
    assert ran.returncode == ExitCode.INTERNAL


def test_a_file_of_out_that_fills_the_disk_is_removed(partition: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    # The shell's limit on a file's size stands in for a disk; 8 blocks of 1024 bytes.
    ran = shell(
        'trap "" XFSZ; ulimit -f 8; "$@"', "dump-log", "-o", "jsonl", partition, "--out", target
    )
    assert ran.stderr == f"kraftool: {target} cannot be written: File too large\n"
    assert ran.returncode == ExitCode.INTERNAL
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["dump"], ["dump-log"], ["--help"]])
def test_a_closed_stdout_is_a_usage_error(partition: Path, arguments: list[str]) -> None:
    path = [] if "--help" in arguments else [partition]
    ran = shell('"$@" >&-', *arguments, *path)
    assert ran.returncode == ExitCode.USAGE
    assert ran.stderr.startswith("kraftool: stdout is closed\n")
    assert "Traceback" not in ran.stderr


def test_a_closed_stdout_does_not_matter_where_out_names_a_file(
    partition: Path, tmp_path: Path
) -> None:
    ran = shell('"$@" >&-', "dump", partition, "--out", tmp_path / "out")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "out").stat().st_size > 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["dump-log", "-o", "kafka"], ExitCode.FINE),  # which narrates that nothing is masked
        (["dump-log", "/nope"], ExitCode.UNREADABLE),
        (["dump-log", "--since", "yesterday"], ExitCode.USAGE),
        (["dump-log", "--nonsense"], ExitCode.USAGE),  # typer's own message
    ],
)
@pytest.mark.parametrize("lost", ["gone", "closed", "full"])
def test_narration_that_nobody_reads_does_not_change_the_exit_code(
    partition: Path, arguments: list[str], code: ExitCode, lost: str
) -> None:
    # The pipe's reader has ended before kraftool starts: the read comes back with its end.
    words = {
        "gone": 'exec 3> >(exec true); wait $!; "$@" 2>&3 >/dev/null',
        "closed": '"$@" 2>&- >/dev/null',
        "full": '"$@" 2>/dev/full >/dev/null',
    }
    assert shell(words[lost], *arguments, partition).returncode == code


def test_narration_does_not_go_to_stdout_where_stderr_is_closed(partition: Path) -> None:
    kept = shell('"$@" 2>/dev/null', "dump-log", "-o", "kafka", partition)
    lost = shell('"$@" 2>&-', "dump-log", "-o", "kafka", partition)
    assert lost.stdout == kept.stdout != ""


def test_a_help_that_nobody_reads_is_no_finding() -> None:
    ran = shell('exec 3> >(exec true); wait $!; "$@" >&3', "--help")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_an_internal_error_is_told_where_no_report_can_be_written(
    kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", full)
    break_output(monkeypatch, ZeroDivisionError("on purpose"))
    ran = kraftool("storage", "random-uuid")
    assert ran.code == ExitCode.INTERNAL
    assert "internal error: ZeroDivisionError; no report" in ran.err


# --debug.


def break_output(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    # A method: a function could be imported, broken, by a module that stays for later tests.
    monkeypatch.setattr(Output, "__init__", broken)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ZeroDivisionError("on \x1b purpose"), ExitCode.INTERNAL),
        (MemoryError("on \x1b purpose"), ExitCode.INTERNAL),
        (OSError("on \x1b purpose"), ExitCode.INTERNAL),
        (UsageError("on \x1b purpose"), ExitCode.USAGE),
        (RefusedError("on \x1b purpose"), ExitCode.REFUSED),
        (KraftoolError("on \x1b purpose"), ExitCode.UNREADABLE),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_debug_adds_the_traceback_and_keeps_the_exit_code(
    error: Exception,
    code: ExitCode,
    kraftool: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    break_output(monkeypatch, error)
    command = "storage", "random-uuid"
    plain, traced = kraftool(*command), kraftool(*command, "--debug")
    assert (plain.code, traced.code) == (code, code)
    assert "Traceback" not in plain.err
    assert traced.err.startswith("kraftool: ")
    assert "Traceback" in traced.err.splitlines()[1]
    assert "on \\u001b purpose" in traced.err
    assert "report written" not in traced.err


@pytest.mark.parametrize(
    "arguments", [["dump", "--", "--debug"], ["dump-log", "/nope", "--grep", "--debug"]]
)
def test_debug_counts_only_where_it_is_the_option(arguments: list[str], kraftool: Run) -> None:
    kraftool("dump", "--debug", "/nope")  # which the next run must not remember
    ran = kraftool(*arguments)
    assert ran.code == ExitCode.UNREADABLE
    assert "Traceback" not in ran.err


# --out.


def test_a_failed_run_leaves_no_file_and_can_be_tried_again(
    partition: Path, kraftool: Run, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    for command in ("dump", "dump-log"):
        assert kraftool(command, "/nope", "--out", target).code == ExitCode.UNREADABLE
        assert list(tmp_path.iterdir()) == []
    assert kraftool("dump", partition, "--out", target).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert target.stat().st_mode & 0o777 == 0o600
    assert target.stat().st_nlink == 1


def test_a_run_that_prints_nothing_and_is_fine_makes_an_empty_file(
    partition: Path, kraftool: Run, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    ran = kraftool("dump-log", "-o", "jsonl", "--epoch", "999", "--out", target, partition)
    assert (ran.code, target.read_bytes()) == (0, b"")


def test_what_was_printed_around_damage_is_kept(torn: Path, kraftool: Run, tmp_path: Path) -> None:
    target = tmp_path / "out"
    ran = kraftool("dump-log", "-o", "jsonl", "--out", target, torn)
    assert ran.code == ExitCode.FINDING
    assert target.read_bytes() == kraftool("dump-log", "-o", "jsonl", torn).out
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_error_amid_the_output_leaves_no_file(
    partition: Path, kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path.parent))
    monkeypatch.setattr("kraftool.commands.log_run.LogRun._close_document", broken)
    ran = kraftool("dump-log", "-o", "json", "--out", tmp_path / "out", partition)
    assert ran.code == ExitCode.INTERNAL
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_came_up_meanwhile_is_not_overwritten(
    partition: Path, kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    finish = Output.finish

    def late(self: Output) -> None:
        target.write_text("another's")
        finish(self)

    monkeypatch.setattr(Output, "finish", late)
    for links in (True, False):
        if not links:
            without_links(monkeypatch)
        target.unlink(missing_ok=True)
        ran = kraftool("dump", "--out", target, partition)
        assert (ran.code, "exists already" in ran.err) == (ExitCode.REFUSED, True)
        assert target.read_text() == "another's"
        assert [path.name for path in tmp_path.iterdir()] == ["out"]


def without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refused)


def test_a_file_system_without_links_does(
    partition: Path, kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_links(monkeypatch)
    target = tmp_path / "out"
    assert kraftool("dump", "--out", target, partition).code == 0
    assert target.read_bytes() == kraftool("dump", partition).out
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_rename_that_fails_leaves_no_file(
    partition: Path, kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    without_links(monkeypatch)
    monkeypatch.setattr(os, "rename", full)
    ran = kraftool("dump", "--out", tmp_path / "out", partition)
    assert ran.err.endswith("out cannot be written: No space left on device\n")
    assert ran.code == ExitCode.INTERNAL
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_no_file(tmp_path: Path) -> None:
    target = tmp_path / "out"
    command = [sys.executable, "-m", "kraftool", "dump-log", "-", "--out", str(target)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        until(lambda: list(tmp_path.iterdir()))
        assert not target.exists()
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE_SECONDS) == ExitCode.INTERRUPTED
    assert list(tmp_path.iterdir()) == []


def test_what_follow_wrote_is_there_at_once_and_stays(partition: Path, tmp_path: Path) -> None:
    """An interrupt is how --follow ends; it is no failure."""
    target = tmp_path / "out"
    command = [sys.executable, "-m", "kraftool", "dump-log", "-f", "--head", "100000"]
    command += ["-o", "jsonl", "--out", str(target), str(partition)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as running:
        until(target.exists)
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE_SECONDS) == ExitCode.INTERRUPTED
    assert target.read_bytes().endswith(b"}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


# Ctrl-C between two lines of asyncio.Runner.run: after the second it forgets the first.
INTERRUPTED_AS_IT_BEGINS = """
import asyncio, signal
from kraftool.commands.output import guarded

handling = signal.signal

def handle_and_interrupt(number, handler):
    signal.signal = handling
    handling(number, handler)
    signal.raise_signal(signal.SIGINT)

async def wait():
    await asyncio.sleep(60)

def run(words):
    signal.signal = handle_and_interrupt
    asyncio.run(wait())

guarded(run)
"""


def test_an_interrupt_just_as_waiting_begins_is_one() -> None:
    command = [sys.executable, "-c", INTERRUPTED_AS_IT_BEGINS]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (ended.returncode, ended.stderr) == (ExitCode.INTERRUPTED, "")


def test_where_no_file_can_be_a_sentence_says_so(
    partition: Path, kraftool: Run, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nothing")
    cases = {
        tmp_path: "Is a directory",
        tmp_path / "file" / "below": "Not a directory",
        tmp_path / "missing" / "below": "No such file or directory",
        tmp_path / "dangling": "No such file or directory",
        tmp_path / ("x" * 300): "File name too long",
    }
    for target, reason in cases.items():
        ran = kraftool("dump", "--out", target, partition)
        assert (ran.code, ran.err) == (2, f"kraftool: {target} cannot be written: {reason}\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "file"]


def test_out_writes_to_a_pipe_as_it_is(partition: Path, kraftool: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ran = shell(f'cat "{pipe}" & "$@" --out "{pipe}"; code=$?; wait; exit $code', "dump", partition)
    assert ran.returncode == 0
    assert ran.stdout.encode() == kraftool("dump", partition).out
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


# Times.


@pytest.mark.parametrize(
    "text",
    ["20300101", "1893456000", "0", "20300101120000", "1893456000000000", "9" * 5000, "٣" * 13],
)
def test_digits_that_are_no_epoch_milliseconds_are_refused(text: str, kraftool: Run) -> None:
    ran = kraftool("dump-log", "--since", text, "f")
    assert ran.code == ExitCode.USAGE
    assert ran.err.startswith("kraftool: --since '")
    assert "epoch milliseconds" in ran.err
    assert len(ran.err) < 300


@pytest.mark.parametrize("unit", ["ms", "h", "d"])
def test_an_absurdly_long_time_ago_is_refused(unit: str, kraftool: Run) -> None:
    assert kraftool("dump-log", "--until", "9" * 5000 + unit, "f").code == ExitCode.USAGE


def test_epoch_milliseconds_and_dates_are_taken() -> None:
    assert parse_time("1893456000000", "--since") == 1893456000000
    assert parse_time("2030-01-01", "--since") == 1893456000000
    assert parse_time("2030-01-01T05:30+05:30", "--since") == 1893456000000


def test_times_in_a_zone_have_an_iso_offset_with_a_colon() -> None:
    assert iso(1893456000007, ZoneInfo("Asia/Kolkata")) == "2030-01-01T05:30:00.007+05:30"
    assert iso(1893456000007, ZoneInfo("America/Caracas")) == "2029-12-31T20:00:00.007-04:00"
    assert iso(-5, ZoneInfo("Africa/Monrovia")) == "1969-12-31T23:15:29.995-00:44:30"
    assert iso(1893456000007, UTC) == "2030-01-01T00:00:00.007Z"
    assert iso(10**18, ZoneInfo("Asia/Kolkata")) == f"{10**18}ms"
