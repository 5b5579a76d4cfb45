"""The topics and partitions of a directory at its end, as tables, and how they came to be so.

Owns which logs it replays. The end is the state of `state`: the newest usable snapshot, and the log
after it. The histories begin earlier: at an older snapshot that the log joins, or at offset 0. That
part is replayed separately, up to the newest snapshot, so that no record is replayed twice. The
entities of a snapshot are not rows of the histories: they did not change there, and a cluster can
have a million.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from kraftool.arrow.fleet import FleetDirectory, FleetFile
from kraftool.arrow.local_copy import on_disk
from kraftool.arrow.reading import without_collector
from kraftool.arrow.rows import ROWS, Arrays, Rows, repeated
from kraftool.arrow.untyped import pa
from kraftool.decoders.errors import KraftoolError
from kraftool.image.configs import TOPIC, ConfigResource
from kraftool.image.image import MetadataImage
from kraftool.reports.state.files import StateFiles, base_offset, open_state, snapshot_id
from kraftool.reports.state.load import LoadedState, load_from
from kraftool.reports.text.printable import file_text
from kraftool.spark.tables.history import ReplayRecorder
from kraftool.spark.tables.history_columns import (
    config_array,
    partition_arrays,
    topic_arrays,
)
from kraftool.spark.tables.layout import TABLES, arrow_schema
from kraftool.spark.tables.sink import Sink, SinkError

Row = TypeVar("Row")


def write_states(
    files: Sequence[FleetFile], sink: Sink, *, newest: bool, show_secrets: bool
) -> None:
    """Write the topics and partitions of one directory, and their history.

    `newest` says whether this directory's state is its cluster's newest. Where no state can be
    made of the files, there are no rows.
    """
    owner = files[0].directory
    with on_disk(files) as here, without_collector():
        if any(problem.name.endswith((".log", ".checkpoint")) for problem in here.problems):
            return  # as where a local one cannot be opened
        try:
            state_files = open_state(here.path)
        except KraftoolError:
            return

        def recorder() -> ReplayRecorder:
            return ReplayRecorder(sink, owner, here.shown_text, show_secrets=show_secrets)

        loaded = _replay(state_files, recorder())
        if loaded is None:
            return
        _write_end(loaded.image, owner, sink, newest=newest, show_secrets=show_secrets)
        start = loaded.start_offset
        del loaded  # before another state of that size is made
        _write_earlier(state_files, start, recorder)


def _replay(
    files: StateFiles, history: ReplayRecorder, at: int | None = None
) -> LoadedState | None:
    """Replay a log, and write its history; None if it can be read only to some offset before."""
    try:
        return load_from(files, at=at, watcher=history)
    except SinkError:
        raise
    except KraftoolError:
        return None  # the rest is told as a finding
    finally:
        history.finish()


def _write_earlier(files: StateFiles, end: int, recorder: Callable[[], ReplayRecorder]) -> None:
    """Write the history before the snapshot that the end is made from: from offset 0, or from the
    oldest snapshot that is whole and that the log joins."""
    if files.single is not None or not files.segments or not end:
        return
    log_start = base_offset(files.segments[0])
    joined = [
        snapshot for snapshot in files.snapshots if log_start <= snapshot_id(snapshot).offset < end
    ]
    at_zero = tuple(snapshot for snapshot in joined if not snapshot_id(snapshot).offset)
    starts = [] if log_start else [at_zero]
    starts += [(snapshot,) for snapshot in joined if snapshot not in at_zero]
    for snapshots in starts:
        history = recorder()
        _replay(replace(files, snapshots=snapshots), history, end)
        # A replay onto a damaged snapshot shows no record, so the next snapshot is tried.
        if history.has_begun:
            return


def _write_end(
    image: MetadataImage, owner: FleetDirectory, sink: Sink, *, newest: bool, show_secrets: bool
) -> None:
    same = {
        "node_id": owner.node_id,
        "directory_id": owner.directory_id,
        "directory": file_text(owner.name),
        "newest": newest,
        "end_offset": image.provenance.offset,
        "end_epoch": image.provenance.last_epoch,
    }
    every = sorted(image.topics.by_id.values(), key=lambda topic: (topic.name, topic.id))
    all_configs = image.configs.resources

    def hand_on(table: str, own: Arrays, count: int) -> None:
        kinds = TABLES[table].columns
        arrays = {name: repeated(value, count, kinds[name]) for name, value in same.items()}
        batch = Rows(count, made={**arrays, **own}).batch(arrow_schema(table))
        sink.write(table, owner.cluster_id, None, batch)

    for topics in _parts(every):
        configs = [all_configs.get(ConfigResource(TOPIC, topic.name), {}) for topic in topics]
        own = {
            **topic_arrays(topics),
            "partition_count": pa.array([len(topic.partitions) for topic in topics], pa.int32()),
            "configs": config_array(configs, show_secrets=show_secrets),
        }
        hand_on("topics", own, len(topics))
    partitions_of = (
        (topic, at, topic.partitions[at]) for topic in every for at in sorted(topic.partitions)
    )
    for part in _parts(partitions_of):
        whose, numbers, partitions = zip(*part, strict=True)
        own = {**topic_arrays(whose), **partition_arrays(numbers, partitions)}
        hand_on("partitions", own, len(part))


def _parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    rest = iter(rows)
    while part := list(islice(rest, ROWS)):
        yield part
