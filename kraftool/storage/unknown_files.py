"""The files of a folder that neither Kafka nor kraftool does anything with, when they are many.

Owns how many of them are listed: the first ones by name. The others are counted by their suffixes,
and nobody opens them, so that a folder that another program filled costs a look at its names. A
file that Kafka uses, removes or fails at by its name is none of them, however many there are.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from kraftool.storage.entry import EntryProblem, Severity

MOST_LISTED = 200
_MOST_SUFFIXES = 20


class UnknownFiles:
    """Those of one folder. Only the listed ones are kept."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._first: list[os.DirEntry[str]] = []
        self._more: Counter[str] = Counter()

    def add(self, item: os.DirEntry[str]) -> None:
        self._first.append(item)
        if len(self._first) > 2 * MOST_LISTED:
            self._count_more()

    def listed(self) -> list[os.DirEntry[str]]:
        """Return the first files by name."""
        self._count_more()
        return self._first

    def problems(self) -> Iterator[EntryProblem]:
        """Yield a note for each suffix of the others."""
        self._count_more()
        for suffix, count in self._more.most_common():
            yield EntryProblem(
                name=os.path.join(self._folder, f"*{suffix}"),
                reason=f"{count} more files that Kafka does not know: counted, not read",
                severity=Severity.INFO,
                hint="find the program that writes them here, and remove them",
            )

    def _count_more(self) -> None:
        self._first.sort(key=lambda item: item.name)
        for item in self._first[MOST_LISTED:]:
            suffix = os.path.splitext(item.name)[1]
            is_kept = suffix in self._more or len(self._more) < _MOST_SUFFIXES
            self._more[suffix if is_kept else ""] += 1
        del self._first[MOST_LISTED:]
