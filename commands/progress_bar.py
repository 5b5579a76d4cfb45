"""Progress bars on stderr, for `output.py` and for bytes that come from several nodes.

Owns how a bar looks, and that it is gone when the work has ended. Whether anybody sees it is for
the caller to know. It imports rich, and is imported when there is a bar to show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TransferSpeedColumn,
)

from kraftool.reports.text.printable import printable


def progress_bar(*columns: ProgressColumn) -> Progress:
    """Return a bar on stderr."""
    # The label may be a file's name, which may look like markup.
    label = TextColumn("{task.description}", markup=False)
    console = Console(stderr=True, markup=False)
    return Progress(label, BarColumn(), *columns, console=console, transient=True)


@contextmanager
def transfer_bars(*, is_watched: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar for each label: the bytes that came, of how many (0 if unknown).

    Threads may report. Nothing is to be written meanwhile.
    """
    if not is_watched:
        yield lambda label, came, total: None
        return
    tasks: dict[str, TaskID] = {}
    with progress_bar(DownloadColumn(), TransferSpeedColumn()) as bar:

        def report(label: str, came: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(printable(label), total=None)
            bar.update(tasks[label], completed=came, total=max(came, total) or None)

        yield report
