"""The exporter as a process: clusters polled by themselves, a page, a file for node_exporter.

Owns the order of start and end. A cluster that hangs delays no other, and no scrape: a scrape shows
the newest state of each.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from prometheus_client.exposition import generate_latest
from prometheus_client.registry import CollectorRegistry

from kraftool.decoders.errors import KraftoolError
from kraftool.exporter.cluster_watch import ClusterState, ClusterWatch, WatchedCluster
from kraftool.exporter.metrics import QuorumCollector
from kraftool.net.metrics_http import MetricsServer
from kraftool.net.metrics_page import page_of
from kraftool.raft.names import Endpoint
from kraftool.reports.findings.mutes import NOTHING_LEFT_OUT, FindingFilter

_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_GARBAGE = 700
"""New objects after which Python looks for cycles: its own default, which the commands raise."""
Say = Callable[[str], None]
"""Takes a line for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterOptions:
    """The way in which an exporter runs."""

    clusters: tuple[WatchedCluster, ...]
    listen: Endpoint | None
    textfile: str = ""
    interval_s: float = 15.0
    with_metadata: bool = True
    with_endpoints: bool = True
    left_out: Callable[[], FindingFilter] = lambda: NOTHING_LEFT_OUT
    """Asked at each poll: the time of a mute ends, and its file may change."""


class Exporter:
    """Watches clusters and shows them."""

    def __init__(self, options: ExporterOptions, say: Say) -> None:
        self._options, self._say = options, say
        self.watches = tuple(
            ClusterWatch(
                cluster,
                interval_s=options.interval_s,
                with_metadata=options.with_metadata,
                with_endpoints=options.with_endpoints,
            )
            for cluster in options.clusters
        )
        self.collector = QuorumCollector(self.states)

    def states(self) -> Sequence[ClusterState]:
        """Return the newest state of each cluster that was polled, without what is left out."""
        left_out = self._options.left_out()
        return [
            _without(watch.state, left_out) for watch in self.watches if watch.state is not None
        ]

    async def run(self) -> None:
        """Serve until a signal ends it."""
        gc.freeze()
        gc.set_threshold(_GARBAGE)  # a poll leaves cycles, and this process stays for months
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in _ENDING:
            if signal.getsignal(number) != signal.SIG_IGN:
                loop.add_signal_handler(number, ended.set)
        server = MetricsServer(partial(page_of, self.collector), is_ready=self._is_ready)
        if self._options.listen is not None:
            host, port = self._options.listen
            bound = await server.start(host, port)
            self._say(f"metrics at http://{Endpoint(host, bound)}/metrics")
        polling = [asyncio.create_task(watch.run(self._polled)) for watch in self.watches]
        waiting = asyncio.create_task(ended.wait())
        try:
            await asyncio.wait({waiting, *polling}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (waiting, *polling):
                task.cancel()
            await server.close()
            for result in await asyncio.gather(waiting, *polling, return_exceptions=True):
                if isinstance(result, Exception):
                    raise result

    async def once(self) -> None:
        """Poll each cluster once, with everything, and write the file."""
        await asyncio.gather(*(watch.whole() for watch in self.watches))
        for watch in self.watches:
            await watch.close()
        self._write()

    def _is_ready(self) -> bool:
        return all(watch.state is not None for watch in self.watches)

    def _polled(self, _: ClusterState) -> None:
        if self._options.textfile:
            try:
                self._write()
            except KraftoolError as error:
                self._say(error.message)

    def _write(self) -> None:
        if self._options.textfile:
            write_textfile(Path(self._options.textfile), self.collector)


def _without(state: ClusterState, left_out: FindingFilter) -> ClusterState:
    chosen = left_out.of(state.findings)
    return replace(state, findings=chosen.kept, muted=chosen.muted)


def write_textfile(path: Path, collector: QuorumCollector) -> None:
    """Write a file for node_exporter's textfile collector, which is there as a whole or not at all.
    Raises KraftoolError."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    passing = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(passing, "wb") as file:
            file.write(generate_latest(registry))
        passing.chmod(0o644)  # node_exporter runs as another user
        passing.replace(path)
    except OSError as error:
        with suppress(OSError):
            passing.unlink()
        raise KraftoolError(f"{path} cannot be written: {error.strerror}") from None
