"""What must hold for any file at all, however damaged: no crash, no hang, no memory without bound.

Owns the checks, from the decoders up to the commands. `check_*` raise AssertionError, or whatever
the code under test raised: all of it counts as a failure.
"""

from __future__ import annotations

import csv
import io
import signal
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import orjson

from kraftool.commands import main
from kraftool.decoders import (
    checkpoint_files,
    indexes,
    kinds,
    meta_properties,
    producer_state,
    properties,
    quorum_state,
)
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.segment import scan
from kraftool.directory.log_reader import summarize
from kraftool.reports.logs.render import RenderPlan, render
from tests.fuzz.mutations import Sample

SECONDS = 60
"""More than any of these files may take, on a slow and busy machine too."""
PEAK = 64 << 20

SMALL_FILES: dict[FileKind, Callable[[bytes], tuple[object, tuple[DecodeError, ...]]]] = {
    FileKind.QUORUM_STATE: quorum_state.decode,
    FileKind.META_PROPERTIES: meta_properties.decode,
    FileKind.LEADER_EPOCH_CHECKPOINT: checkpoint_files.decode_leader_epochs,
    FileKind.OFFSET_CHECKPOINT: checkpoint_files.decode_offsets,
    FileKind.PARTITION_METADATA: checkpoint_files.decode_partition_metadata,
    FileKind.OFFSET_INDEX: indexes.decode_offset_index,
    FileKind.TIME_INDEX: indexes.decode_time_index,
    FileKind.TXN_INDEX: indexes.decode_transaction_index,
    FileKind.PRODUCER_STATE: producer_state.decode,
    FileKind.PROPERTIES: properties.decode,
}
WITH_BATCHES = (FileKind.LOG, FileKind.CHECKPOINT, FileKind.BOOTSTRAP_CHECKPOINT)


class Hang(Exception):
    """A check that took longer than any file may take."""


@contextmanager
def bounded_time(seconds: float = SECONDS) -> Iterator[None]:
    def ring(_: int, frame: FrameType | None) -> None:
        raise Hang(f"still busy after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Counted:
    """A file in memory that counts what is read of it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.calls = 0
        self.read = 0

    def __call__(self, position: int, size: int) -> bytes:
        assert position >= 0
        assert size >= 0
        self.calls += 1
        piece = self.data[position : position + size]
        self.read += len(piece)
        return piece


def check_decoders(sample: Sample) -> None:
    """Every decoder that would be given these bytes, and those of the other small files."""
    data = sample.data
    kinds.detect(sample.name, data[: kinds.HEAD_SIZE], len(data))
    kinds.detect("copy", data[: kinds.HEAD_SIZE], len(data))
    for decode in SMALL_FILES.values():
        _, findings = decode(data)
        for finding in findings:
            assert 0 <= finding.position <= len(data), finding
    check_scan(data)


def check_scan(data: bytes) -> None:
    """Batches and damage tile the file, read once; each record is decoded or has a reason."""
    source = Counted(data)
    end = 0
    for item in scan(source):
        assert item.position == end
        assert item.size > 0
        end += item.size
        if isinstance(item, RecordBatch):
            with suppress(DecodeError):
                for record in decode_batch(item):
                    assert record.data is not None or record.error is not None
    assert end == len(data)
    assert source.read <= len(data)
    assert source.calls < 100
    summarize(Counted(data))


def rendered(data: bytes, form: str, *, show_secrets: bool = False) -> bytes:
    plan = RenderPlan(format=form, show_secrets=show_secrets)
    return b"".join(piece.data for piece in render(plan, "file.log", Counted(data)))


def check_formats(sample: Sample) -> None:
    """The machine formats of a log are what they claim to be, whatever the log is."""
    for show_secrets in (False, True):
        for line in rendered(sample.data, "jsonl", show_secrets=show_secrets).splitlines():
            assert orjson.loads(line)["kind"] in ("batch", "record", "error")
        rows = rendered(sample.data, "csv", show_secrets=show_secrets).decode()
        # A payload may be longer than the reader's default bound.
        csv.field_size_limit(1 << 30)
        for row in csv.reader(io.StringIO(rows)):
            assert len(row) == 10
        rendered(sample.data, "kafka", show_secrets=show_secrets)


COMMANDS: tuple[tuple[str, ...], ...] = (
    *(("dump-log", "-o", form) for form in ("table", "json", "jsonl", "csv", "kafka")),
    ("dump-log", "-o", "table", "--batches-only"),
    ("dump-log", "-o", "jsonl", "--transactions", "mark"),
    ("dump-log", "-o", "jsonl", "--tail", "3", "--topic", "orders-a"),
    ("dump-log", "-o", "jsonl", "--type", "ConfigRecord", "--grep", "a", "--broker", "1"),
    ("explain", "--batches", "4"),
    ("explain", "-o", "json", "--batches", "4"),
    ("dump",),
    ("dump", "-o", "json"),
)


def check_command(folder: Path, sample: Sample, command: tuple[str, ...]) -> tuple[bytes, str]:
    """A command on the file ends by itself with an exit code of its contract, and what it wrote."""
    path = folder / sample.name
    path.write_bytes(sample.data)
    code, out, err = run(*command, "--debug", str(path))
    assert code in (0, 1, 2, 3), (code, err)
    if code == 2:  # e.g. explain, of a file of no known kind
        assert err.startswith("kraftool: "), err
    if command[-1] == "json" and code != 2 and out:
        orjson.loads(out)
    return out, err


def run(*arguments: str) -> tuple[int, bytes, str]:
    """kraftool in this process. With --debug an internal error is raised, as it came."""
    kept = sys.argv, sys.stdout, sys.stderr
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    sys.argv, sys.stdout, sys.stderr = ["kraftool", *arguments], out, err
    code = 0
    try:
        main()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 0
    except KraftoolError:
        code = 3  # --debug has the one raised too that would have been a sentence
    finally:
        sys.argv, sys.stdout, sys.stderr = kept
    out.flush()
    err.flush()
    wrote = out.buffer, err.buffer
    assert isinstance(wrote[0], io.BytesIO)
    assert isinstance(wrote[1], io.BytesIO)
    return code, wrote[0].getvalue(), wrote[1].getvalue().decode()


@contextmanager
def bounded_memory(peak: int = PEAK) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert used <= peak, f"{used >> 20} MiB at the peak"


def check_all(folder: Path, sample: Sample, commands: int | None = None) -> None:
    """Everything above; `commands` chooses one of them instead of all."""
    with bounded_time():
        check_decoders(sample)
        check_formats(sample)
        chosen = COMMANDS if commands is None else (COMMANDS[commands % len(COMMANDS)],)
        for command in chosen:
            check_command(folder, sample, command)
