"""Records of plain batches as values, decoded natively.

Returns the values that `codec.decode` returns. It refuses a batch that is not plain.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders import fast_path, schema
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.codec import Value
from kraftool.decoders.programs import program


class NativeValues:
    """Decodes batch after batch."""

    def __init__(self) -> None:
        from kraftool.decoders._native import Values

        self._values = Values()

    def read(self, batch: RecordBatch) -> Iterator[list[tuple[str, Value]]]:
        """Yield the names and values of a sound batch's records, a list of several at a time. It
        ends before the list with the first record that is not plain: Python reads the rest."""
        at = index = 0
        while index < batch.header.record_count:
            read = self._values.read(batch.data, at, index)
            if isinstance(read, int):
                if read < 0:
                    return
                self._learn(read >> 8, read & 0xFF)
                continue
            values, at = read
            index += len(values)
            yield values

    def _learn(self, api_key: int, version: int) -> None:
        message = schema.metadata_record(api_key)
        code = program(api_key, version, masked=False)
        if message is None or code is None:
            self._values.refuse(api_key, version)
        else:
            self._values.add(api_key, version, code, message.name)


def native_values() -> NativeValues | None:
    """The native decoder; None if Python has to read everything."""
    return NativeValues() if fast_path.is_native() else None
