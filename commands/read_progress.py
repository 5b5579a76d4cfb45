"""A progress bar over all files of one or several PATHs.

Owns the sums: how much there is to read, and how far the reading is, file by file. The bar itself
is `output.py`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from kraftool.commands.output import Output
from kraftool.storage.entry import Entry
from kraftool.storage.paths import Location


@contextmanager
def read_progress(
    to: Output, locations: Sequence[Location]
) -> Iterator[Callable[[str, int], None]]:
    """Yields what is to be told a file's name and the position reached in it."""
    label = locations[0].path if len(locations) == 1 else f"{len(locations)} PATHs"
    passed: dict[str, int] = {}
    whole = 0
    with to.progress(_total(locations), label) as progress:

        def report_position(name: str, position: int) -> None:
            nonlocal whole
            whole += position - passed.get(name, 0)
            passed[name] = position
            progress(whole)

        yield report_position


def _total(locations: Sequence[Location]) -> int | None:
    """The bytes to read, where that can be known before."""
    if any(location.is_stream for location in locations):
        return None
    entries = (entry for location in locations for entry in location.entries())
    return sum(entry.size for entry in entries if isinstance(entry, Entry))
