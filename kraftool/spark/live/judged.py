"""The files of a fleet that changed since the last poll, and those of their findings that are new.

Owns the memory of a stream of findings, small enough to stand in a checkpoint: of each file a
fingerprint (size, mtime, etag), and of each finding that was told a digest. Small files are judged
here, so that what is new is known and a batch that is planned again after a restart is the same.
Large ones are named for the tasks to judge; Kafka never changes those once they have their name,
so that their findings are all new.

It refuses logs: they grow, and the stream of records tells their problems. The indexes of the
newest segment are being written, and are judged once it has rolled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from kraftool.arrow.fleet import Fleet, FleetDirectory, FleetFile
from kraftool.decoders.kinds import FileKind, detect
from kraftool.directory.file_report import read_file
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.findings.finding import Finding, in_order
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.spark.finding_rows import finding_row
from kraftool.spark.live.changes import owner_object
from kraftool.spark.live.logs import is_below

LARGE = 12 << 20
"""What is larger is judged by a task. The indexes of Kafka are not: they are judged again."""
AT_ONCE = 32 << 20
"""So many bytes are judged at one poll; the rest waits for the next, and the records flow."""
MOST = 100
"""So many new findings of one file are told; how many more there are is told too."""

_INDEXES = frozenset({FileKind.OFFSET_INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX})

Seen = list[Any]
"""The fingerprint of a file, and the digests of its findings."""
Memory = dict[str, dict[str, Seen]]
"""By directory, then by the file's path in it. Problems of listing are files without a name."""


@dataclass(slots=True)
class PollResult:
    """The result of one poll."""

    memory: Memory
    findings: list[list[Any]] = field(default_factory=list)
    """New findings, each with its owner."""
    large: list[str] = field(default_factory=list)
    """The names of large files that a task has to judge."""
    waiting: bool = False
    """True if there is more than was judged at this poll."""


def judge(before: Memory, fleet: Fleet, *, at_once: int | None = AT_ONCE) -> PollResult:
    """Judge what changed. What could not be listed is remembered as it was."""
    result = PollResult(memory={})
    spent = 0
    for file in _wanted(fleet):
        memory = result.memory.setdefault(file.directory.name, {})
        seen = before.get(file.directory.name, {}).get(file.relative)
        mark = _fingerprint(file)
        if seen is not None and seen[0] == mark:
            memory[file.relative] = seen
        elif at_once is not None and spent and spent + min(file.size, LARGE) > at_once:
            result.waiting = True
            if seen is not None:
                memory[file.relative] = seen
        elif file.size > LARGE:
            result.large.append(file.name)
            memory[file.relative] = [mark]
        else:
            spent += file.size
            findings = _findings(file)
            memory[file.relative] = _news(result, file.directory, findings, seen, mark)
    for problem in fleet.problems:
        seen = before.get(problem.name, {}).get("")
        finding = dir_kinds.UNREADABLE.at(problem.name, problem.reason, advice=problem.hint)
        owner = FleetDirectory(name=problem.name)
        kept = _news(result, owner, (finding,), seen, "")
        for directory, files in before.items():
            if is_below(directory, problem.name):
                result.memory[directory] = {**files, **result.memory.get(directory, {})}
        result.memory.setdefault(problem.name, {})[""] = kept
    return result


def _news(
    result: PollResult,
    owner: FleetDirectory,
    findings: tuple[Finding, ...],
    seen: Seen | None,
    mark: str,
) -> Seen:
    known = set(seen[1:]) if seen is not None else set()
    by_digest = {_digest(finding): finding for finding in findings}
    news = in_order(finding for digest, finding in by_digest.items() if digest not in known)
    shown_findings = [_with_count(new) for new in news[:MOST]]
    if len(news) > MOST:
        text = f"{len(news) - MOST} more findings; kraftool dump shows them"
        fault = replace(news[MOST].fault, reason=text, expected="", found="")
        shown_findings.append(replace(news[MOST], fault=fault, advice=""))
    result.findings += ([owner_object(owner), finding_row(finding)] for finding in shown_findings)
    return [mark, *by_digest]


def _with_count(finding: Finding) -> Finding:
    """A row has no column for the number of places: the text has it."""
    if finding.count == 1:
        return finding
    return finding.saying(f"{finding.text}; {finding.count} places in the file")


def _findings(file: FleetFile) -> tuple[Finding, ...]:
    """Return what is odd in a file; nothing if it has gone meanwhile, which the next poll knows."""
    findings = file_findings(read_file(file.entry()))
    return findings if not findings or file.is_there() else ()


def _wanted(fleet: Fleet) -> Iterator[FleetFile]:
    newest: dict[str, str] = {}
    for file in fleet.files:
        if detect(file.basename, b"", file.size).kind is FileKind.LOG:
            folder = file.name.rpartition("/")[0]
            newest[folder] = max(newest.get(folder, ""), file.basename)
    for file in fleet.files:
        kind = detect(file.basename, b"", file.size).kind
        if kind is FileKind.LOG:
            continue
        stem = newest.get(file.name.rpartition("/")[0], "").removesuffix(".log")
        if kind in _INDEXES and stem and file.basename.startswith(stem):
            continue
        yield file


def _fingerprint(file: FleetFile) -> str:
    text = f"{file.size} {file.mtime_ns} {file.etag}"
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _digest(finding: Finding) -> str:
    text = repr((finding.code, finding.position, finding.offset, finding.field, finding.text,
                 finding.expected, finding.found))  # fmt: skip
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
