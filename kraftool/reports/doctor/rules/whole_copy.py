"""Damage in a log, and which of the other directories have the records of that place whole.

A copy is one that has equal batches before and after the damage.
Said once for all that are damaged at the same places. One log alone says nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.directory.node_directory import NodeDirectory
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "WHOLE-COPY",
    Severity.INFO,
    "Logs are damaged at the same place. The finding names the directories that are undamaged"
    " there.",
    "before you start any node, keep a copy of the undamaged directories. Kafka cuts a damaged log"
    " at every start, and a majority of such logs continues without the records after the damage",
    stake=Stake.LOST_DATA,
)

_MOST_OFFSETS = 5

_Group = tuple[tuple[ExaminedDirectory, ...], tuple[ExaminedDirectory, ...]]
"""Those that are damaged at a place, and those that have it whole."""


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        logs = [directory for directory in directories if directory.source.log is not None]
        if len({log.path for log in logs}) < 2:
            continue
        groups: dict[tuple[str, ...], tuple[_Group, list[int]]] = {}
        for offset in sorted({offset for one in logs for offset in _breaks(one)}):
            damaged = tuple(log for log in logs if offset in _breaks(log))
            whole = tuple(
                log
                for log in logs
                if _has(log.source, offset)
                and all(examination.share_batches_around(one, log, offset) for one in damaged)
            )
            key = (
                *(directory.path for directory in damaged),
                "",
                *(directory.path for directory in whole),
            )
            groups.setdefault(key, ((damaged, whole), []))[1].append(offset)
        for (damaged, whole), offsets in groups.values():
            yield _diagnosis(examination, logs, damaged, whole, offsets)


def _breaks(examined: ExaminedDirectory) -> tuple[int, ...]:
    """Return damage with records after it: the end of a log is fetched again."""
    log = examined.source.log
    return tuple(offset for offset in log.breaks if offset < log.end) if log is not None else ()


def _has(source: NodeDirectory, offset: int) -> bool:
    log = source.log
    # What is missing lies before the offset, and what is damaged at it.
    return log is not None and log.covers(max(offset - 1, log.start), offset)


def _diagnosis(
    examination: Examination,
    logs: Sequence[ExaminedDirectory],
    damaged: Sequence[ExaminedDirectory],
    whole: Sequence[ExaminedDirectory],
    offsets: Sequence[int],
) -> Diagnosis:
    first, last = damaged[0], offsets[-1]
    places = ", ".join(map(str, offsets[:_MOST_OFFSETS]))
    more = len(offsets) - _MOST_OFFSETS
    offset_words = f"offset{'s' if len(offsets) > 1 else ''} {places}"
    offset_words += f" and {more} more" if more > 0 else ""
    beyond = [log for log in logs if _reaches(log.source, last)]
    known = {directory.path for directory in (*damaged, *whole)}
    others = [log for log in logs if log.path not in known and _has(log.source, last)]
    names = " and ".join(directory.path for directory in damaged)
    text = f"damaged at {offset_words}, or missing right before, in {names}"
    if whole:
        alone = " alone" if len(whole) == 1 and len(logs) > 2 else ""
        text += (
            f". This place is whole in {' and '.join(directory.path for directory in whole)}{alone}"
        )
    elif beyond:
        text += ". No log here has it whole, but a snapshot beyond it exists: "
        text += " and ".join(directory.path for directory in beyond)
    else:
        text += ". No log here has it whole, and no snapshot goes beyond it"
    if others:
        text += (
            f". Other batches are around this place in {_names(others)}: these may be other logs"
        )
    return Diagnosis(
        finding=KIND.at(
            first.path,
            text,
            offset=offsets[0],
            severity=_severity(examination, damaged, whole, beyond),
            advice=None
            if whole
            else "keep a copy of every directory. The directory of a broker, of an observer, or a"
            " backup may have what the damage hid: name it too",
        ),
        evidence=tuple(
            Evidence(file=directory.path, offset=offsets[0], found="whole here")
            for directory in whole
        ),
        commands=(
            *(shell_text.keep_copy(directory.path) for directory in (whole or damaged)[:3]),
            *(shell_text.on(directory.path, "verify-log") for directory in (whole or damaged)[:3]),
        ),
    )


def _names(directories: Sequence[ExaminedDirectory]) -> str:
    return " and ".join(directory.path for directory in directories)


def _reaches(source: NodeDirectory, offset: int) -> bool:
    return any(snapshot.intact and snapshot.offset > offset for snapshot in source.snapshots)


def _severity(
    examination: Examination,
    damaged: Sequence[ExaminedDirectory],
    whole: Sequence[ExaminedDirectory],
    beyond: Sequence[ExaminedDirectory],
) -> Severity:
    """The damage itself is told as it deserves: here counts how many are left."""
    if not whole and not beyond:
        return Severity.ERROR
    voters = examination.voters_of(damaged[0])
    if voters is None:
        return Severity.INFO
    bad = {directory.node_id for directory in damaged} & {voter.id for voter in voters.voters}
    return Severity.WARNING if len(bad) >= voters.voters.majority else Severity.INFO
