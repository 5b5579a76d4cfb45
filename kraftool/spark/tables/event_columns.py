"""The columns of the tables that tell what happened to a cluster, and what its state is.

Owns their names and types, but those that the sources have, too. An event is told once for a
cluster, whichever directories have it; a state is one directory's. It refuses to fill them: see
`event_tables.py` and `states.py`.
"""

from __future__ import annotations

from kraftool.arrow.columns import (
    FLAG,
    IDENTITY,
    INT,
    LONG,
    MOMENT,
    STATE,
    TEXT,
    Columns,
    columns,
    list_of,
)
from kraftool.arrow.state_columns import entity_columns
from kraftool.arrow.untyped import pa

_TEXTS, _INTS = list_of(TEXT), list_of(INT)
_CONFIGS = pa.map_(TEXT, TEXT)

_EVENT: Columns = {
    "cluster_id": TEXT,
    "offset": LONG,
    "epoch": INT,
    "timestamp": MOMENT,
    "timestamp_ms": LONG,
    "type": TEXT,
    "severity": TEXT,
    "visibility": TEXT,
    "disputed": FLAG,
    "nodes": _TEXTS,
    "data_directories": _TEXTS,
    "text": TEXT,
}
"""What `timeline` says of every event. `nodes` are those whose logs have it, as it calls them;
`disputed` that other logs have something else there, or have parted before."""

_VOTER = pa.struct(
    [
        ("id", INT),
        ("directory_id", TEXT),
        ("endpoints", _TEXTS),
        ("min_kraft_version", INT),
        ("max_kraft_version", INT),
    ]
)

STORIES: dict[str, Columns] = {
    "elections": {
        **_EVENT,
        "leader": INT,
        "voter_ids": _INTS,
        "granted_by": _INTS,
        "previous_leader": INT,
        "previous_epoch": INT,
        "epochs_skipped": LONG,
        "gap_ms": LONG,
        "previous_led_ms": LONG,
    },
    "voters": {
        **_EVENT,
        "added": _INTS,
        "removed": _INTS,
        "updated": _INTS,
        "voter_ids": _INTS,
        "voters": list_of(_VOTER),
    },
    "features": {
        **_EVENT,
        "name": TEXT,
        "from_level": INT,
        "to_level": INT,
        "from_release": TEXT,
        "to_release": TEXT,
    },
    "brokers": {
        **_EVENT,
        "role": TEXT,
        "id": INT,
        "broker_epoch": LONG,
        "incarnation_id": TEXT,
        "rack": TEXT,
        "endpoints": _TEXTS,
        "fenced": FLAG,
        "in_controlled_shutdown": FLAG,
        "log_dirs": _TEXTS,
        "log_dirs_gone": _TEXTS,
        "log_dirs_new": _TEXTS,
        "cordoned_log_dirs": _TEXTS,
    },
}
"""A row is an event; one row for a cluster, however many of its directories have it."""

_RECORD: Columns = {
    **IDENTITY,
    "offset": LONG,
    "epoch": INT,
    "timestamp": MOMENT,
    "timestamp_ms": LONG,
    "type": TEXT,
    "change": TEXT,
    "visibility": TEXT,
}
"""The record that made a change, and whether readers of the metadata see it (KIP-868)."""

_PARTITION = dict(entity_columns("partitions"))
_TOPIC = {name: _PARTITION[name] for name in ("topic", "topic_id")}

STATES: dict[str, Columns] = {
    "topics": {**columns(f"{STATE}.topics"), "configs": _CONFIGS},
    "partitions": columns(f"{STATE}.partitions"),
    "topic_history": {**_RECORD, **_TOPIC, "config": TEXT, "configs": _CONFIGS},
    "partition_history": {**_RECORD, **_PARTITION},
}
"""Of `topics` and `partitions` a row is an entity of one directory's state at its end, as in the
sources; of the histories it is a change, with what the entity is after it."""
