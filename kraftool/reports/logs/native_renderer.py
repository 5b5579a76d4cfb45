"""The native renderer: plain batches straight to Kafka's text, JSON lines or CSV.

Owns which plans it serves, and what it writes around a record's message. It stops at whatever is
not plain; `render.py` has Python do that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.decoders import fast_path, schema
from kraftool.decoders.programs import program
from kraftool.decoders.segment import BatchSpan
from kraftool.reports.logs.dump import Selection, type_words
from kraftool.reports.logs.plan import OutputPlan
from kraftool.reports.text.printable import file_text

if TYPE_CHECKING:
    from kraftool.decoders._native import Renderer

_FULL = 1 << 18
"""Bytes of output after which the renderer stops: they stay in the processor's cache."""
_FORMATS = {"kafka": "kafka", "json": "jsonl", "jsonl": "jsonl", "csv": "csv", "lines": "lines"}
"""`lines` has the type and the message of each record, which --grep searches."""
_OPENINGS = {
    "kafka": ' sequence: -1 headerKeys: [] payload: {{"type":"{type}","version":{version},"data":',
    "kafka-payloads": ' payload: {{"type":"{type}","version":{version},"data":',
    "jsonl": ',"type":"{type}","version":{version},"data":',
    "csv": ",{type},{version},",
    "lines": "{type} ",
}
_INT32, _INT64 = 1 << 31, 1 << 63


def native_renderer(plan: OutputPlan, file: str) -> NativeRenderer | None:
    """The native renderer for a plan; None if Python has to do it."""
    if not fast_path.is_native() or not _serves(plan):
        return None
    return NativeRenderer(plan, file)


def _serves(plan: OutputPlan) -> bool:
    want = plan.selection
    return (
        plan.format in _FORMATS
        and plan.marks is None
        and want.hidden is None
        and want.grep is None
        and want.broker is None
        and not want.topic
        and not want.control
        and is_in_range(want)
    )


def is_in_range(want: Selection) -> bool:
    """True if the numbers of a selection are such as a batch has."""
    numbers = (want.first_offset, want.last_offset, want.since, want.until)
    is_epoch = want.epoch is None or -_INT32 <= want.epoch < _INT32
    return is_epoch and all(number is None or -_INT64 <= number < _INT64 for number in numbers)


class NativeRenderer:
    """Renders spans of one file."""

    def __init__(self, plan: OutputPlan, file: str) -> None:
        self._format = _format(plan)
        self._selection, self._masked = plan.selection, not plan.show_secrets
        self._renderer = _renderer(plan, self._format, file)

    def render(
        self, span: BatchSpan, at: int, end: int | None = None
    ) -> tuple[memoryview, int, bool]:
        """Render a span from `at` on, up to `end` if it is given. Returns what was rendered; how
        far it came; and true if Python has to take the next batch."""
        renderer, start = self._renderer, span.data_position
        end = span.end if end is None else end
        while True:
            reached, reason = renderer.render(span.data, at, end, start)
            if reason >= 0:
                self._learn(reason >> 8, reason & 0xFF)
                if reached == at:
                    continue
            return memoryview(renderer.take()), reached, reason == fast_path.NOT_PLAIN

    def _learn(self, api_key: int, version: int) -> None:
        """Give the renderer the program of a record type, or have it stop there."""
        message = schema.metadata_record(api_key)
        code = program(api_key, version, masked=self._masked)
        if message is None or code is None:
            self._renderer.refuse(api_key, version)
            return
        kind = schema.record_type(message.name)
        wanted = self._selection.types
        opening = _OPENINGS[self._format].format(type=kind, version=version)
        is_shown = not wanted or bool((type_words(kind) | type_words(message.name)) & wanted)
        self._renderer.add(api_key, version, code, opening.encode(), is_shown)


def _format(plan: OutputPlan) -> str:
    form = _FORMATS[plan.format]
    return "kafka-payloads" if form == "kafka" and plan.skip_record_metadata else form


def _renderer(plan: OutputPlan, form: str, file: str) -> Renderer:
    from kraftool.decoders._native import Renderer

    name = b""
    if form == "jsonl":
        import orjson

        name = orjson.dumps(file_text(file))
    elif form == "csv":
        from kraftool.reports.text.csv_text import csv_text

        name = csv_text([[file]]).removesuffix("\n").encode("utf-8", "replace")
    want: Selection = plan.selection
    return Renderer(
        form,
        name,
        full=_FULL,
        first_offset=want.first_offset,
        last_offset=want.last_offset,
        epoch=want.epoch,
        since=want.since,
        until=want.until,
        by_record=want.looks_into_records,
        batches_only=plan.batches_only,
    )
