"""Machines of their own for nodes of a test, and a network between them that can be broken.

Each place is a network namespace of Linux with a TUN device. A thread of the test carries every
packet from one device to another: it drops those of a link that is cut, in one direction or both,
and delays those of a slow one. So a place needs neither a bridge, nor a packet filter, nor a queue
discipline, which many kernels lack. The test's own namespace is the place `HERE`.
"""

from __future__ import annotations

import fcntl
import heapq
import itertools
import os
import re
import selectors
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

HERE = 0
"""The place of the test itself, and of the commands that it runs."""
_TUN = Path("/dev/net/tun")
_SET_INTERFACE, _IS_TUN, _WITHOUT_HEADER = 0x400454CA, 0x0001, 0x1000
_LONGEST_PACKET = 1 << 16
_NAME = re.compile(r"kt-(?P<pid>\d+)-\d+")
_SOURCE, _DESTINATION = 15, 19
"""The last bytes of the two addresses in the header of an IPv4 packet."""


def problem() -> str | None:
    """Return why there can be no such network here, or None."""
    if sys.platform != "linux":
        return "network namespaces need Linux"
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "no ip on the PATH (Debian, Ubuntu: apt-get install iproute2)"
    if not _TUN.exists():
        return f"no {_TUN}: the kernel has no TUN devices, or the container none of them"
    probe = f"kt-probe-{os.getpid()}"
    done = subprocess.run(
        ["ip", "netns", "add", probe], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return f"ip netns add fails: {done.stderr.strip()}"
    _ip("netns", "del", probe)
    return None


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def _device(name: str) -> int:
    """Make a TUN device; return the file that carries its packets."""
    descriptor = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK)
    flags = struct.pack("16sH22x", name.encode(), _IS_TUN | _WITHOUT_HEADER)
    fcntl.ioctl(descriptor, _SET_INTERFACE, flags)
    return descriptor


Link = tuple[int, int]
"""From one place to another: one direction."""


@dataclass(slots=True)
class Network:
    """Places by number, from 1 to 200. Entered as a context: leaving it removes them all."""

    subnet: int = field(default_factory=lambda: os.getpid() % 250)
    _devices: dict[int, int] = field(default_factory=dict)
    _cut: frozenset[Link] = frozenset()
    _delays: dict[Link, float] = field(default_factory=dict)
    _closing: ExitStack = field(default_factory=ExitStack)
    _is_over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        _forget_dead()
        self._add(HERE)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.close()

    def start(self, places: Iterable[int]) -> None:
        """Make the places, and carry packets from now on."""
        for place in places:
            self._add(place)
        carrier = threading.Thread(target=self._carry, name="network", daemon=True)
        carrier.start()

        def stop() -> None:
            self._is_over.set()
            carrier.join(30)

        self._closing.callback(stop)

    def host(self, place: int) -> str:
        return f"10.201.{self.subnet}.{place + 1}"

    def within(self, place: int) -> tuple[str, ...]:
        """The words before a command that is to run there."""
        return () if place == HERE else ("ip", "netns", "exec", self._name(place))

    # --- faults -------------------------------------------------------------------------------

    def cut(self, *links: Link) -> None:
        """Drop what goes from the first to the second of each, in addition to what is cut."""
        self._cut |= {*links}

    def delay(self, seconds: float, *links: Link) -> None:
        """Let what goes from the first to the second of each be under way for so long."""
        self._delays = {**self._delays, **dict.fromkeys(links, seconds)}

    def heal(self) -> None:
        self._cut, self._delays = frozenset(), {}

    @property
    def links_cut(self) -> frozenset[Link]:
        return self._cut

    # --- carrying -----------------------------------------------------------------------------

    def _name(self, place: int) -> str:
        return f"kt-{os.getpid()}-{place}"

    def _add(self, place: int) -> None:
        device = f"kt{os.getpid() % 100_000}n{place}"
        descriptor = self._devices[place] = _device(device)
        self._closing.callback(os.close, descriptor)
        where: tuple[str, ...] = ()
        if place != HERE:
            name = self._name(place)
            _ip("netns", "add", name)
            self._closing.callback(_remove, name)
            _ip("link", "set", device, "netns", name)
            where = ("-n", name)
            _ip(*where, "link", "set", "lo", "up")
        _ip(*where, "addr", "add", f"{self.host(place)}/24", "dev", device)
        _ip(*where, "link", "set", device, "up")

    def _carry(self) -> None:
        late: list[tuple[float, int, int, bytes]] = []
        order = itertools.count()
        with selectors.DefaultSelector() as ready:
            for place, descriptor in self._devices.items():
                ready.register(descriptor, selectors.EVENT_READ, place)
            while not self._is_over.is_set():
                patience = max(late[0][0] - time.monotonic(), 0) if late else 0.2
                for key, _ in ready.select(min(patience, 0.2)):
                    for packet in _packets(key.fd):
                        self._take(packet, late, order)
                while late and late[0][0] <= time.monotonic():
                    _, _, place, packet = heapq.heappop(late)
                    self._hand_over(place, packet)

    def _take(
        self,
        packet: bytes,
        late: list[tuple[float, int, int, bytes]],
        order: itertools.count[int],
    ) -> None:
        if packet[0] >> 4 != 4:
            return  # IPv6 looks for neighbours that nobody has
        link = packet[_SOURCE] - 1, packet[_DESTINATION] - 1
        if link in self._cut:
            return
        delay = self._delays.get(link, 0.0)
        if delay:
            heapq.heappush(late, (time.monotonic() + delay, next(order), link[1], packet))
        else:
            self._hand_over(link[1], packet)

    def _hand_over(self, place: int, packet: bytes) -> None:
        if place in self._devices:
            with suppress(OSError):  # a full queue drops it, as a real one does
                os.write(self._devices[place], packet)


def _packets(descriptor: int) -> Iterable[bytes]:
    """Yield what a device has by now, and let others have their turn after some."""
    for _ in range(64):
        try:
            yield os.read(descriptor, _LONGEST_PACKET)
        except OSError:
            return


def _forget_dead() -> None:
    """Remove the places of tests that were killed."""
    done = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        name = line.split()[0]
        if (match := _NAME.fullmatch(name)) and not Path(f"/proc/{match['pid']}").exists():
            _remove(name)


def _remove(name: str) -> None:
    subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
