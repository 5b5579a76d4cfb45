"""Runs the real kafka-dump-log over many files at once and gives back what it wrote for each.

Owns the splitting of its stdout: a file's section starts with the line `Dumping PATH` and ends
before the next file's. Refuses to guess: a file without a section is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import kafka

DECODER = "--cluster-metadata-decoder"


def split(stdout: bytes, files: Sequence[str]) -> dict[str, bytes]:
    """Cut the tool's stdout into one section a file; it takes the files in the given order."""
    starts: list[int] = []
    for name in files:
        line = f"Dumping {name}\n".encode()
        at = starts[-1] + 1 if starts else 0
        # It must start a line; JSON payloads have no raw newline, so that they cannot fake it.
        found = 0 if at == 0 and stdout.startswith(line) else stdout.find(b"\n" + line, at) + 1
        if not stdout.startswith(line, found):
            raise kafka.KafkaFailed(
                f"kafka-dump-log wrote no section for {name}:\n{stdout[-500:]!r}"
            )
        starts.append(found)
    ends = [*starts[1:], len(stdout)]
    return {name: stdout[start:end] for name, start, end in zip(files, starts, ends, strict=True)}


def kafka_dump_log(
    version: str,
    files: Sequence[str],
    cwd: Path,
    extra_args: Sequence[str] = (DECODER,),
) -> dict[str, bytes]:
    """What kafka-dump-log of a release writes to stdout for each file, all in one JVM.

    `files` are named relative to `cwd`, as they then appear in the output.
    """
    if not files:
        return {}
    arguments = [*extra_args, "--files", ",".join(files)]
    target = kafka.dump_log_class(version)
    done = kafka.run(kafka.tools_version(version), target, *arguments, cwd=cwd, check=True)
    return split(done.stdout, files)
