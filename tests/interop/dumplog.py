"""Runs the real kafka-dump-log over many files at once and gives back what it wrote for each.

Owns the splitting of its stdout: a file's section starts with the line `Dumping PATH` and ends
before the next file's. Refuses to guess: a file without a section is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.interop import kafka

EACH_SOURCE = Path(__file__).with_name("java") / "DumpEach.java"
DECODER = "--cluster-metadata-decoder"
DUMPING_RELEASES = (kafka.TOOLS_VERSION, kafka.NEWEST)
"""The releases whose tool dump-log is compared with."""
LONGEST_ARGUMENT = 100_000
"""Linux lets a single argument, here the list of files, have 128 KiB."""


def split(stdout: bytes, files: Sequence[str]) -> dict[str, bytes]:
    """Cut the tool's stdout into one section a file; it takes the files in the given order."""
    starts: list[int] = []
    for name in files:
        line = f"Dumping {name}\n".encode()
        at = starts[-1] + 1 if starts else 0
        # It must start a line; JSON payloads have no raw newline, so that they cannot fake it.
        line_start = 0 if at == 0 and stdout.startswith(line) else stdout.find(b"\n" + line, at) + 1
        if not stdout.startswith(line, line_start):
            raise kafka.KafkaFailed(
                f"kafka-dump-log wrote no section for {name}:\n{stdout[-500:]!r}"
            )
        starts.append(line_start)
    ends = [*starts[1:], len(stdout)]
    return {name: stdout[start:end] for name, start, end in zip(files, starts, ends, strict=True)}


def kafka_dump_log(
    version: str,
    files: Sequence[str],
    cwd: Path,
    extra_args: Sequence[str] = (DECODER,),
) -> dict[str, bytes]:
    """What kafka-dump-log of a release writes to stdout for each file, as few JVMs as will do.

    `files` are named relative to `cwd`, as they then appear in the output.
    """
    sections: dict[str, bytes] = {}
    for some in _lists(files):
        arguments = [*extra_args, "--files", ",".join(some)]
        target = kafka.dump_log_class(version)
        done = kafka.run(version, target, *arguments, cwd=cwd, check=True)
        sections |= split(done.stdout, some)
    return sections


def _lists(files: Sequence[str]) -> Iterator[list[str]]:
    some: list[str] = []
    length = 0
    for name in files:
        length += len(name.encode()) + 1
        if some and length > LONGEST_ARGUMENT:
            yield some
            some, length = [], len(name.encode()) + 1
        some.append(name)
    if some:
        yield some


def dump_each(version: str, files: Sequence[str], cwd: Path) -> dict[str, tuple[bytes, str]]:
    """What the tool of a release writes for each file before it ends, and what ended it.

    For damaged files: the tool dies on many of them, and each needs a run of its own.
    """
    done = kafka.run_source(version, EACH_SOURCE, *files, cwd=cwd, check=True)
    parts = done.stdout.split(b"\0")
    assert len(parts) == 2 * len(files) + 1
    endings = [ending.decode() for ending in parts[1::2]]
    return dict(zip(files, zip(parts[:-1:2], endings, strict=True), strict=True))
