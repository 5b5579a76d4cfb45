"""The columns of the tables that tell what happened to a cluster, and what its state is.

Owns their names and types. A story is told once for a cluster, whichever directories have it; a
state is one directory's. It refuses to fill them: see `stories.py` and `states.py`.
"""

from __future__ import annotations

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from kraftool.spark.columns import IDENTITY, Columns

_TEXT, _INT, _LONG, _FLAG = StringType(), IntegerType(), LongType(), BooleanType()
_TEXTS, _INTS = ArrayType(_TEXT), ArrayType(_INT)

_EVENT: Columns = {
    "cluster_id": _TEXT,
    "offset": _LONG,
    "epoch": _INT,
    "timestamp": TimestampType(),
    "timestamp_ms": _LONG,
    "type": _TEXT,
    "severity": _TEXT,
    "visibility": _TEXT,
    "disputed": _FLAG,
    "nodes": _TEXTS,
    "directories": _TEXTS,
    "text": _TEXT,
}
"""What `timeline` says of every event. `nodes` are those whose logs have it, as it calls them;
`disputed` that other logs have something else there, or have parted before."""

_VOTER = StructType(
    [
        StructField("id", _INT),
        StructField("directory_id", _TEXT),
        StructField("endpoints", _TEXTS),
        StructField("min_kraft_version", _INT),
        StructField("max_kraft_version", _INT),
    ]
)

STORIES: dict[str, Columns] = {
    "elections": {
        **_EVENT,
        "leader": _INT,
        "voters": _INTS,
        "granted_by": _INTS,
        "previous_leader": _INT,
        "previous_epoch": _INT,
        "epochs_skipped": _LONG,
        "gap_ms": _LONG,
        "previous_led_ms": _LONG,
    },
    "voters": {
        **_EVENT,
        "added": _INTS,
        "removed": _INTS,
        "updated": _INTS,
        "voter_ids": _INTS,
        "voters": ArrayType(_VOTER),
    },
    "features": {
        **_EVENT,
        "name": _TEXT,
        "from_level": _INT,
        "to_level": _INT,
        "from_release": _TEXT,
        "to_release": _TEXT,
    },
    "brokers": {
        **_EVENT,
        "role": _TEXT,
        "id": _INT,
        "broker_epoch": _LONG,
        "incarnation_id": _TEXT,
        "rack": _TEXT,
        "endpoints": _TEXTS,
        "fenced": _FLAG,
        "in_controlled_shutdown": _FLAG,
        "log_dirs": _TEXTS,
        "log_dirs_gone": _TEXTS,
        "log_dirs_new": _TEXTS,
        "cordoned_log_dirs": _TEXTS,
    },
}
"""A row is an event; one row for a cluster, however many of its directories have it."""

_DIRECTORY: Columns = {name: kind for name, kind in IDENTITY.items() if name != "file"}

_TOPIC: Columns = {"topic": _TEXT, "topic_id": _TEXT}

_PARTITION: Columns = {
    **_TOPIC,
    "partition": _INT,
    "leader": _INT,
    "leader_epoch": _INT,
    "partition_epoch": _INT,
    "replicas": _INTS,
    "isr": _INTS,
    "elr": _INTS,
    "last_known_elr": _INTS,
    "adding_replicas": _INTS,
    "removing_replicas": _INTS,
    "directories": _TEXTS,
    "leader_recovery_state": _TEXT,
}

_STATE: Columns = {**_DIRECTORY, "newest": _FLAG, "end_offset": _LONG, "end_epoch": _INT}
"""Whose state, and up to where: `end_offset` is the offset after the last one that it has seen."""

_RECORD: Columns = {
    **IDENTITY,
    "offset": _LONG,
    "epoch": _INT,
    "timestamp": TimestampType(),
    "timestamp_ms": _LONG,
    "type": _TEXT,
    "change": _TEXT,
    "visibility": _TEXT,
}
"""The record that made a change, and whether readers of the metadata see it (KIP-868)."""

STATES: dict[str, Columns] = {
    "topics": {
        **_STATE,
        **_TOPIC,
        "partition_count": _INT,
        "configs": MapType(_TEXT, _TEXT),
    },
    "partitions": {**_STATE, **_PARTITION},
    "topic_history": {
        **_RECORD,
        **_TOPIC,
        "config": _TEXT,
        "configs": MapType(_TEXT, _TEXT),
    },
    "partition_history": {**_RECORD, **_PARTITION},
}
"""Of `topics` and `partitions` a row is an entity of one directory's state at its end; of the
histories it is a change, with what the entity is after it."""
