"""The events of a cluster as tables: elections, voters, features, brokers and controllers.

Owns how the events of `timeline` become rows, in its words: one row for an event, whichever
directories have it. What cannot be told of damaged or contradicting directories is no row; the
findings say why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from functools import reduce
from typing import Any

from kraftool.arrow.fleet import FleetFile
from kraftool.arrow.local_copy import on_disk
from kraftool.reports.files.locations import open_paths
from kraftool.reports.text.json_document import json_value
from kraftool.reports.text.printable import file_text
from kraftool.reports.timeline.document import event_object
from kraftool.reports.timeline.events import Category, Timeline
from kraftool.reports.timeline.report import TimelineOptions, build
from kraftool.reports.timeline.sources import open_nodes
from kraftool.spark.tables.event_columns import STORIES
from kraftool.spark.tables.sink import RowWriter, Sink

_TABLES = {
    Category.ELECTIONS: "elections",
    Category.VOTERS: "voters",
    Category.FEATURES: "features",
    Category.BROKERS: "brokers",
    Category.CONTROLLERS: "brokers",
}
_COLUMNS = {"from": "from_level", "to": "to_level", "gone": "log_dirs_gone", "new": "log_dirs_new"}
"""The columns of what the timeline's `data` has under other names. Else they have its names."""
_CAPITAL = re.compile("[A-Z]")
_FENCED = {"broker-fenced": True, "broker-unfenced": False}
_LONG = 1 << 63


def write_events(directories: Sequence[Sequence[FleetFile]], sink: Sink) -> None:
    """Write what happened to one cluster; `directories` has the files of each of its directories.

    There are no secrets in it.
    """
    cluster_id = directories[0][0].directory.cluster_id
    with ExitStack() as copies:
        places = [copies.enter_context(on_disk(files)) for files in directories]
        timeline = _timeline([place.path for place in places])
        writers = {name: RowWriter(sink, name, cluster_id) for name in STORIES}

        def shown(text: str) -> str:
            return reduce(lambda text, place: place.shown_text(text), places, text)

        paths = [shown(node.path) for node in timeline.nodes]
        if cluster_id is None:  # one directory, by whose name its rows are replaced
            paths = [directories[0][0].directory.name] * len(paths)
        for event in timeline.events:
            table = _TABLES.get(event.category)
            if table is not None:
                row = _row(json_value(event_object(event, timeline)), table)
                row["nodes"] = [shown(node) for node in row["nodes"]]
                row["data_directories"] = [file_text(paths[index]) for index in event.nodes]
                writers[table].add(row)
        for writer in writers.values():
            writer.finish()


def _timeline(paths: Sequence[str]) -> Timeline:
    locations, _ = open_paths(paths)
    nodes, findings = open_nodes(locations, lambda name, position: None)
    options = TimelineOptions(only=frozenset(_TABLES), forgets_others=True)
    return build(nodes, findings, options, lambda name, position: None)


def _column(name: str) -> str:
    return _COLUMNS.get(name) or _CAPITAL.sub(lambda capital: f"_{capital[0].lower()}", name)


def _row(event: dict[str, Any], table: str) -> dict[str, Any]:
    """An event as the timeline's JSON has it, as a row."""
    data = event["data"]
    row = {_column(name): value for name, value in data.items()}
    for name in ("gap_ms", "previous_led_ms"):
        # Times of damaged records may lie further apart than a column has room for.
        if row.get(name) is not None and not -_LONG <= row[name] < _LONG:
            row[name] = None
    row |= {name: event[name] for name in ("offset", "epoch", "type", "severity", "visibility")}
    row |= {"disputed": event["isDisputed"], "nodes": event["labels"], "text": event["what"]}
    row["timestamp"] = row["timestamp_ms"] = event["timestampMs"]
    if table == "elections":
        row["voter_ids"] = data.get("voters")
    elif table == "voters":
        row["voter_ids"] = data["voters"]
        row["voters"] = [
            {
                "id": voter["id"],
                "directory_id": voter["directoryId"],
                "endpoints": voter["endpoints"],
                "min_kraft_version": voter["minKRaftVersion"],
                "max_kraft_version": voter["maxKRaftVersion"],
            }
            for voter in data["set"]
        ]
    elif table == "brokers":
        row["role"] = "broker" if "broker" in data else "controller"
        row["id"] = data[row["role"]]
        row["fenced"] = _FENCED.get(event["type"], row.get("fenced"))
    return row
