"""What the tests of dump-log share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kraftool.decoders import framing
from kraftool.decoders.batch import encode_batch
from tests.support.places import LOG

Run = Callable[..., Any]


def offsets(ran: bytes) -> list[int]:
    entries = [json.loads(line) for line in ran.splitlines()]
    return [entry["offset"] for entry in entries if entry["kind"] == "record"]


def transaction_log(tmp_path: Path) -> Path:
    """A committed, an aborted and an open transaction, with plain records around them."""
    names = [
        "NoOpRecord",
        *("BeginTransactionRecord", "TopicRecord", "EndTransactionRecord"),
        *("BeginTransactionRecord", "TopicRecord", "AbortTransactionRecord"),
        "NoOpRecord",
        *("BeginTransactionRecord", "TopicRecord"),
    ]
    data = b""
    for offset, name in enumerate(names):
        value = {"name": f"t{offset}"} if name == "TopicRecord" else {}
        record = framing.encode_record(name, 0, value)
        data += encode_batch([(None, record)], base_offset=offset, epoch=1, timestamp=1)
    path = tmp_path / LOG
    path.write_bytes(data)
    return path
