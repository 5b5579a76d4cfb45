"""Records of plain batches as values, decoded natively.

Returns the values that `codec.decode` returns. It refuses a batch that is not plain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftool.decoders import fast_path, schema
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.codec import Value
from kraftool.decoders.programs import program


class NativeValues:
    """Decodes batch after batch."""

    def __init__(
        self,
        offered: frozenset[str] = frozenset(),
        label: Callable[[str, int], str] = lambda name, version: name,
    ) -> None:
        """`offered`: the records that somebody else takes, if possible. `label` is what a record
        of this name and version is called."""
        from kraftool.decoders._native import Values

        self._values, self._offered, self._label = Values(), offered, label

    def read(self, batch: RecordBatch) -> Iterator[list[tuple[str, Value]]]:
        """Yield the names and values of a sound batch's records, a list of several at a time. It
        ends before the list with the first record that is not plain: Python reads the rest."""
        at = index = 0
        while index < batch.header.record_count:
            read = self.next(batch, at, index)
            if read is None:
                return
            values, at = read
            index += len(values)
            yield values

    def next(
        self, batch: RecordBatch, at: int, index: int
    ) -> tuple[list[tuple[str, Value]], int] | None:
        """Return the names and values of the next records, and where the one behind them begins;
        None if one of them is not plain. `at` is where the record of this index begins, 0 for the
        first. They end before a record that is offered to somebody else, unless the first is."""
        while True:
            read = self._values.read(batch.data, at, index)
            if not isinstance(read, int):
                return read
            if read < 0:
                return None
            self._learn(read >> 8, read & 0xFF)

    def _learn(self, api_key: int, version: int) -> None:
        message = schema.metadata_record(api_key)
        code = program(api_key, version, masked=False)
        if message is None or code is None:
            self._values.refuse(api_key, version)
        else:
            is_offered = message.name in self._offered
            label = self._label(message.name, version)
            self._values.add(api_key, version, code, label, is_offered)


def native_values(offered: frozenset[str] = frozenset()) -> NativeValues | None:
    """The native decoder; None if Python has to read everything."""
    return NativeValues(offered) if fast_path.is_native() else None
