"""The directory of each cluster whose metadata goes furthest, by the ends of logs and snapshots.

Owns the column `newest` of the sources. It reads the headers of the newest segment of each log, and
no record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack

from kraftool.arrow.fleet import FleetDirectory, FleetFile
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import parse_checkpoint_name, parse_segment_name
from kraftool.storage.tail import TailState, read_tail

End = tuple[int, int]
"""An epoch and an offset."""


def newest_directories(files: Iterable[FleetFile]) -> frozenset[FleetDirectory]:
    """Return one directory of each cluster, and each one that does not say its cluster."""
    clusters: dict[str, dict[FleetDirectory, list[FleetFile]]] = {}
    for file in files:
        owner = file.directory
        key = f"cluster {owner.cluster_id}" if owner.cluster_id else owner.name
        clusters.setdefault(key, {}).setdefault(owner, []).append(file)
    return frozenset(map(_newest, clusters.values()))


def _newest(directories: Mapping[FleetDirectory, Sequence[FleetFile]]) -> FleetDirectory:
    if len(directories) == 1:
        return next(iter(directories))
    return max(directories, key=lambda owner: _end(directories[owner]))


def _end(files: Sequence[FleetFile]) -> End:
    checkpoints = filter(None, (parse_checkpoint_name(file.basename) for file in files))
    ends = [(checkpoint.epoch, checkpoint.offset) for checkpoint in checkpoints]
    segments = [file for file in files if parse_segment_name(file.basename) and not file.in_topic]
    if segments:
        ends.append(_log_end(max(segments, key=lambda file: file.basename)))
    return max(ends, default=(-1, -1))


def _log_end(file: FleetFile) -> End:
    try:
        with ExitStack() as opened:
            state = read_tail(TailState(), [file.segment(opened)]).state
    except KraftoolError:
        return -1, -1
    return -1 if state.epoch is None else state.epoch, state.offset or -1
