"""The form of a checkpoint, judged while another report walks over it.

Owns one sentence on what is wrong with it. Kafka believes a checkpoint's name and drops its log for
it, so that no checkpoint is relied on unless all of it passed.
"""

from __future__ import annotations

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import BY_ID, ControlRecordType, read_key
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.walk import Faulty, FirstBatch, Item, Walk, WalkState, sequence_faults
from kraftool.reports.findings.finding import Severity
from kraftool.reports.state.replay import Replay
from kraftool.storage.entry import Entry

_FIRST, _LAST = ControlRecordType.SNAPSHOT_HEADER, ControlRecordType.SNAPSHOT_FOOTER
_START = WalkState(next_offset=0)


def complaint_of(entry: Entry, epoch: int) -> str:
    """Return what is wrong with a checkpoint that no other report reads; empty if nothing is."""
    form, replay = CheckpointForm(epoch), Replay()
    try:
        with entry.open() as source:
            for item in Walk(source.read_at):
                form.take(item)
                if isinstance(item, Faulty):
                    break
                replay.batch(entry.basename, item, snapshot=True)
    except KraftoolError as error:
        return error.message
    return form.complaint() or error_of(replay)


def error_of(replay: Replay) -> str:
    """The first error of replaying a checkpoint; empty if there was none."""
    findings = [finding for finding in replay.findings if finding.severity is Severity.ERROR]
    return findings[0].sentence() if findings else ""


class CheckpointForm:
    """The form of a checkpoint that passes: the header first, the footer last, offsets without a
    gap, every batch whole and of the epoch in the name."""

    def __init__(self, epoch: int) -> None:
        self._epoch = epoch
        self._wrong = ""
        self._has_begun = self._has_ended = False

    def take(self, item: Item) -> None:
        """Take the next item of the walk."""
        if self._wrong:
            return
        try:
            self._wrong = self._fault(item)
        except DecodeError as error:
            self._wrong = error.describe()
        except KraftoolError as error:
            self._wrong = error.message

    def complaint(self) -> str:
        """Return what is wrong with what passed; empty if nothing is."""
        return self._wrong or ("" if self._has_ended else "it has no SnapshotFooter")

    def _fault(self, item: Item) -> str:
        if isinstance(item, Faulty):
            return item.fault.describe()
        where = f"position {item.position}"
        if not self._has_begun:
            for fault in sequence_faults(_START, FirstBatch.of(item)):
                return fault.describe()
        if self._has_ended:
            return f"{where}: a batch after the footer"
        if item.epoch != self._epoch:
            return f"{where}: epoch {item.epoch}, but the name has {self._epoch}"
        kinds = _control_types(item)
        if not self._has_begun and kinds[:1] != [_FIRST]:
            return f"{where}: it does not begin with a SnapshotHeader"
        self._has_begun = True
        self._has_ended = _LAST in kinds
        return ""


def _control_types(batch: RecordBatch) -> list[ControlRecordType | None]:
    if not batch.is_control:
        return []
    return [BY_ID.get(read_key(record.key)) for record in batch.records()]
