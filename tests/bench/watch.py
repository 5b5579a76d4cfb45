"""What watching costs: 5 controllers and 100 observers, looked at once a second.

    make bench-watch

The controllers are servers in a process of their own that answer as a leader with 100 observers and
four followers do; the dashboard runs as a program on a terminal (a pty) of 120 columns. CPU is the
program's own time by the wall clock; the first picture is timed from the start of the process, by
the clock and by its own time. How long a refresh can hold a key up is the longest that the
dashboard's loop ran without turning, in time of its own, with five refreshes a second: what other
programs take meanwhile does not count. A view answers a key when it shows its phase and the time it
took so far, or its result; the second time, as many processes as there are cores compute beside it.
An hour is 3600 pictures, as fast as they can be shown.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import gc
import multiprocessing
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.target import target_of
from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.net.api_versions import Offered
from kraftool.net.guests import Listener
from kraftool.net.security import ServerSecurity
from kraftool.net.server import Peer, Server
from kraftool.raft.messages import DescribeQuorumResponse, FetchResponse, ReplicaState
from kraftool.raft.names import Endpoint, ReplicaKey
from kraftool.raft.wire import responses
from kraftool.tui.app import WatchApp
from kraftool.tui.details import Working
from kraftool.tui.table import ReportTable
from kraftool.tui.views import VIEWS
from kraftool.tui.widgets.lines import Lines
from kraftool.watching.picture import Picture
from kraftool.watching.poll_history import Remembering
from kraftool.watching.sources import Sources
from kraftool.watching.watcher import Shown, Watcher

CONTROLLERS, OBSERVERS = 5, 100
APIS = {"ApiVersions": (18, 0, 4), "Fetch": (1, 12, 17), "DescribeQuorum": (55, 0, 2),
        "DescribeCluster": (60, 0, 2)}  # fmt: skip
KNOWN = {name: (low, high) for name, (_, low, high) in APIS.items()}
COLUMNS, LINES = 120, 40
_FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
DIRECTORY = str(_FIXTURES / "kafka-4.3.0/dynamic-quorum/node-2/data")


# --- a quorum that answers --------------------------------------------------------------------


def described(end: int, ports: list[int]) -> DescribeQuorumResponse:
    """What a leader says whose log has this end; everyone is a little behind."""
    now = int(time.time() * 1000)

    def state(number: int, behind: int) -> ReplicaState:
        return ReplicaState(
            replica=ReplicaKey(number, f"directory-{number:012}"),
            log_end_offset=end - behind,
            last_fetch_timestamp=now - 7 * (number % 60),
            last_caught_up_timestamp=now - 9 * (number % 60),
        )

    return DescribeQuorumResponse(
        leader_id=1,
        leader_epoch=7,
        high_watermark=end - 1,
        voters=tuple(state(number + 1, number % 2) for number in range(CONTROLLERS)),
        observers=tuple(state(100 + number, number % 3) for number in range(OBSERVERS)),
        nodes={
            number: {"CONTROLLER": Endpoint("127.0.0.1", port)}
            for number, port in enumerate(ports, 1)
        },
    )


def answer(number: int, ports: list[int], request: RequestFrame) -> Value:
    """A controller's answers; the first one leads."""
    if request.name == "ApiVersions":
        return {
            "errorCode": 0,
            "apiKeys": [
                {"apiKey": key, "minVersion": low, "maxVersion": high}
                for key, low, high in APIS.values()
            ],
            "finalizedFeaturesEpoch": 7,
        }
    if request.name == "DescribeCluster":
        return {
            "errorCode": 0,
            "clusterId": "bench",
            "brokers": [
                {"brokerId": broker_id, "host": "127.0.0.1", "port": port}
                for broker_id, port in enumerate(ports, 1)
            ],
        }
    if request.name == "Fetch":
        refused = FetchResponse(error=Error.FENCED_LEADER_EPOCH, leader_id=1, leader_epoch=7)
        return responses.to_kafka("Fetch", refused, request.version)
    if number != 1:
        nobody = DescribeQuorumResponse(
            error=Error.NOT_LEADER_OR_FOLLOWER, leader_id=1, leader_epoch=7
        )
        return responses.to_kafka("DescribeQuorum", nobody, request.version)
    response = described(1_000_000 + int(time.time() * 20) % 1_000_000, ports)
    return responses.to_kafka("DescribeQuorum", response, request.version)


async def _serve(connection: Connection) -> None:
    ports: list[int] = []
    for number in range(1, CONTROLLERS + 1):

        async def handler(_: Peer, request: RequestFrame, number: int = number) -> Value | None:
            return answer(number, ports, request)

        listener = Listener(name="CONTROLLER", host="127.0.0.1", port=0, security=ServerSecurity())
        server = Server([listener], handler, KNOWN, None)
        await server.start()
        ports.append(server.bound["CONTROLLER"].port)
    connection.send(ports)
    await asyncio.Event().wait()


def _quorum(connection: Connection) -> None:
    asyncio.run(_serve(connection))


@contextlib.contextmanager
def quorum() -> Iterator[str]:
    """The controllers in a process of their own; where they are."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_quorum, args=(there,), daemon=True)
    process.start()
    try:
        yield ",".join(f"127.0.0.1:{port}" for port in here.recv())
    finally:
        process.terminate()
        process.join()


# --- measures ---------------------------------------------------------------------------------


def on_a_terminal(bootstrap: str, seconds: float) -> tuple[float, float, float, int]:
    """The program on a pty: seconds to the first picture, those of them that it computed, share of
    a core, bytes written a second."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    with tempfile.TemporaryDirectory() as state:
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "kraftool", "watch", "--bootstrap-controller", bootstrap],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env=os.environ | {"XDG_STATE_HOME": state, "TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(slave)
        try:
            _read(master, 30, rb"leads epoch")
            first, own = time.monotonic() - began, _cpu_s(process.pid)
            _read(master, 3)
            spent, at = _cpu_s(process.pid), time.monotonic()
            written = _read(master, seconds)
            share = (_cpu_s(process.pid) - spent) / (time.monotonic() - at)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            os.close(master)
    return first, own, share, round(written / seconds)


def _cpu_s(pid: int) -> float:
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _read(master: int, seconds: float, until: bytes = b"") -> int:
    """Read what the program writes, for a time or until something comes."""
    ends, seen, count = time.monotonic() + seconds, b"", 0
    while time.monotonic() < ends:
        if not select.select([master], [], [], 0.05)[0]:
            continue
        data = os.read(master, 1 << 16)
        count += len(data)
        if until:
            seen += data
            if re.search(until, seen):
                return count
    assert not until, f"{until!r} did not come: {seen[-500:]!r}"
    return count


def longest_stall(bootstrap: str, seconds: float) -> tuple[float, float]:
    """Milliseconds for which the loop did not turn: the longest, and the median of refreshes."""
    stalls: list[float] = []
    gc.collect()
    gc.freeze()  # as the program does when all is imported

    async def run() -> None:
        sources = Sources(target=target_of(bootstrap, (), "", 5.0))
        app = WatchApp(Watcher(sources, interval_s=0.2), environment={})
        async with app.run_test(size=(COLUMNS, LINES)) as pilot:
            while app.picture is None:
                await pilot.pause(0.05)
            await pilot.pause(1.0)
            ends = time.monotonic() + seconds
            while time.monotonic() < ends:
                before = time.thread_time()
                await asyncio.sleep(0.001)
                stalls.append((time.thread_time() - before) * 1000)

    asyncio.run(run())
    longest = sorted(stalls)[-int(seconds * 5) :]
    return longest[-1], longest[len(longest) // 2]


class _Hour:
    """Pictures of an hour, one after the other as soon as the one before was shown."""

    sources = Sources()

    def __init__(self, count: int) -> None:
        self.count = count
        self.grown: list[int] = []

    def poll_now(self) -> None:
        pass

    async def run(self, show: Shown) -> None:
        remembering = Remembering()
        for number in range(self.count):
            view = live_view(1_000_000 + 3 * number)
            history = remembering.take(number * 1000, view, ())
            show(Picture(at_ms=number * 1000, view=view, history=history))
            await asyncio.sleep(0)
            if number in (self.count // 6, self.count - 1):
                gc.collect()
                self.grown.append(_resident())
        self.count = 0
        await asyncio.Event().wait()


def live_view(end: int) -> QuorumView:
    ports = [*range(9001, 9001 + CONTROLLERS)]
    response = described(end, ports)
    leader = NodeAnswer(
        endpoint=Endpoint("127.0.0.1", 9001), node_id=1, asked_ms=0, cluster_id="bench",
        offered=Offered(apis={}), epoch=7, leader_id=1, quorum=response,
    )  # fmt: skip
    others = [
        replace(leader, node_id=number, endpoint=Endpoint("127.0.0.1", 9000 + number), quorum=None)
        for number in range(2, CONTROLLERS + 1)
    ]
    return QuorumView(nodes=(leader, *others))


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def hour(pictures: int) -> tuple[int, int]:
    """Bytes resident after a sixth of the pictures, and after all."""
    watched = _Hour(pictures)

    async def run() -> None:
        app = WatchApp(watched, environment={})
        async with app.run_test(size=(COLUMNS, LINES)) as pilot:
            while watched.count:
                await pilot.pause(0.05)

    asyncio.run(run())
    return watched.grown[0], watched.grown[1]


def first_words(directory: str) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Milliseconds from a key until a view says what it does and for how long, or shows its result:
    by the clock, and of the program's own time, to which other programs add nothing. Views are
    loaded with it, as at the first visit. The last value is for views that go on working: the
    longest time between two changes of that line, by the clock."""
    took: dict[str, float] = {}
    gaps: dict[str, float] = {}
    own: dict[str, float] = {}

    async def run() -> None:
        app = WatchApp(Watcher(Sources(directories=(directory,))), environment={})
        async with app.run_test(size=(COLUMNS, LINES)) as pilot:
            while app.picture is None:
                await pilot.pause(0.05)
            for number, view in enumerate(VIEWS, 1):
                began, spent = time.monotonic(), time.process_time()
                app.simulate_key(str(number))
                while not (_is_answering(app, view.name)):
                    await asyncio.sleep(0.001)
                took[view.title] = (time.monotonic() - began) * 1000
                own[view.title] = (time.process_time() - spent) * 1000
                while app.seen is None or app.seen.id != view.name:
                    await pilot.pause(0.05)
                longest = await _longest_gap(app)
                if longest is not None:
                    gaps[view.title] = longest

    asyncio.run(run())
    return took, own, gaps


_TASK_S = 4


async def _longest_gap(app: WatchApp) -> float | None:
    """The longest milliseconds between two changes of the line on the running task; None if it did
    not change twice. Stops the task after some seconds: it would disturb the next view."""
    longest, before, changed = None, "", 0.0
    until = time.monotonic() + _TASK_S
    while app.seen is not None and (
        lines := [str(line.content) for line in app.seen.query(Working).results() if line.display]
    ):
        if lines[0] != before:
            now = time.monotonic()
            if before:
                longest = max(longest or 0, (now - changed) * 1000)
            before, changed = lines[0], now
            if now > until:
                app.simulate_key("x")
        await asyncio.sleep(0.005)
    return longest


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """Processes that compute all the time, for a machine under load."""
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=_spin, daemon=True) for _ in range(processes)]
    for process in running:
        process.start()
    try:
        yield
    finally:
        for process in running:
            process.terminate()
            process.join()


def _spin() -> None:
    while True:
        pass


def _is_answering(app: WatchApp, name: str) -> bool:
    """True once the view has a phase, or rows."""
    seen = app.seen
    if app.query_one("#told").display:
        return True
    if seen is None or seen.id != name:
        return False
    return (
        any(working.display for working in seen.query(Working).results())
        or any(table.row_count for table in seen.query(ReportTable).results())
        or any(lines.rows for lines in seen.query(Lines).results())
    )


def _views(directory: str, load: str = "") -> None:
    took, spent, gaps = first_words(directory)
    slowest = max(took, key=took.__getitem__)
    print(
        f"{load}a view says what it does after at most {took[slowest]:.0f} ms (200), {slowest};"
        f" {', '.join(f'{view} {ms:.0f}' for view, ms in took.items())}; of its own time"
        f" {max(spent.values()):.0f} ms"
    )
    changes = ", ".join(f"{view} {ms:.0f} ms" for view, ms in gaps.items()) or "no view worked"
    print(f"{load}longest time between two changes of the line on a task: {changes}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--pictures", type=int, default=3600)
    parser.add_argument("--directory", default=DIRECTORY, help="data directory of the views")
    parser.add_argument("--only-views", action="store_true", help="measure only the first words")
    asked = parser.parse_args()
    if asked.only_views:
        _views(asked.directory)
        return
    with quorum() as bootstrap:
        first, own, share, written = on_a_terminal(bootstrap, asked.seconds)
        print(
            f"first picture {first:.2f} s after the start, {own:.2f} s of them computing (1 wanted)"
        )
        print(f"a refresh a second: {share:.1%} of a core (under 5% wanted), {written} bytes/s")
        longest, median = longest_stall(bootstrap, asked.seconds)
        print(f"refreshes hold a key up for at most {longest:.0f} ms (50), mostly {median:.0f} ms")
    for processes in (0, os.cpu_count() or 1):
        with busy(processes):
            _views(asked.directory, f"beside {processes} busy processes " if processes else "")
    early, late = hour(asked.pictures)
    print(
        f"an hour's pictures: {early / 2**20:.1f} MiB after 10 minutes, {late / 2**20:.1f} MiB at"
        f" the end ({(late - early) / 2**20:+.1f} MiB)"
    )


if __name__ == "__main__":
    main()
