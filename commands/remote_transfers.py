"""All nodes fetched at the same time, each into a file of its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Event

from kraftool.commands.output import Output
from kraftool.commands.progress_bar import transfer_bars
from kraftool.commands.remote_fetch import FetchedNode, fetch
from kraftool.commands.remote_nodes import RemoteNode

_MOST_AT_A_TIME = 200


def fetched_nodes(
    to: Output, nodes: Sequence[RemoteNode], scratch: Path, *, seconds: float
) -> Generator[FetchedNode, None, None]:
    """Yield each node when its files have come, with a bar for each on a terminal. To close it ends
    the transfers in progress."""
    # A stream for each node, and the copies of one: no node can take the room of another.
    room = shutil.disk_usage(scratch).free // (len(nodes) + 1)
    stop = Event()
    with ThreadPoolExecutor(max_workers=min(max(len(nodes), 1), _MOST_AT_A_TIME)) as pool:
        try:
            with transfer_bars(is_watched=to.is_watched) as report:
                running = []
                for number, node in enumerate(nodes):
                    file = Path(scratch) / f"{number}.tar"
                    bar = _reporting(report, node.name)
                    bar(0, 0)
                    begun = pool.submit(
                        fetch, node, file, seconds=seconds, stop=stop, room=room, progress=bar
                    )
                    running.append(begun)
                for done in as_completed(running):
                    yield done.result()
        finally:
            stop.set()


def _reporting(report: Callable[[str, int, int], None], name: str) -> Callable[[int, int], None]:
    return lambda came, total: report(name, came, total)
