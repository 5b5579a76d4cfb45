"""Whether Kafka could live on a checkpoint: its form, then its records replayed.

Owns one sentence on what is wrong with one. Kafka believes a checkpoint's name and drops its log
for it, so that none may be relied on that was not read from end to end.
"""

from __future__ import annotations

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import BY_ID, ControlRecordType, read_key
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.segment import ReadAt
from kraftool.decoders.walk import Faulty, Walk, WalkState
from kraftool.reports.findings import Severity
from kraftool.reports.state.replay import Replay
from kraftool.storage.entry import Entry

_FIRST, _LAST = ControlRecordType.SNAPSHOT_HEADER, ControlRecordType.SNAPSHOT_FOOTER


def complaint_of(entry: Entry, epoch: int, *, replayed: bool) -> str:
    """What is wrong with a checkpoint of this epoch; empty for one that is whole."""
    replay = Replay() if replayed else None
    try:
        with entry.open() as source:
            wrong = _form(source.read_at, epoch, entry.basename, replay)
    except DecodeError as error:
        return error.describe()
    except KraftoolError as error:
        return error.message
    if wrong or replay is None:
        return wrong
    told = [each for each in replay.findings if each.severity is Severity.ERROR]
    return told[0].sentence() if told else ""


def _form(read_at: ReadAt, epoch: int, name: str, replay: Replay | None) -> str:
    """The header first, the footer last, offsets without a gap, every batch whole and of the
    epoch in the name."""
    is_first, ended = True, False
    for item in Walk(read_at, WalkState(next_offset=0)):
        if isinstance(item, Faulty):
            return item.fault.describe()
        where = f"position {item.position}"
        if ended:
            return f"{where}: a batch after the footer"
        if item.epoch != epoch:
            return f"{where}: epoch {item.epoch}, and the name has {epoch}"
        kinds = _control_types(item)
        if is_first and kinds[:1] != [_FIRST]:
            return f"{where}: it does not begin with a SnapshotHeader"
        is_first = False
        ended = _LAST in kinds
        if replay is not None:
            replay.batch(name, item, snapshot=True)
    return "" if ended else "it has no SnapshotFooter"


def _control_types(batch: RecordBatch) -> list[ControlRecordType | None]:
    if not batch.is_control:
        return []
    return [BY_ID.get(read_key(each.key)) for each in batch.records()]
