"""One of our nodes that appends records of zeros while it leads: Kafka has TestRaftServer for it.

    python tests/interop/our_writer.py server.properties RATE RECORD-BYTES [RECORDS-AN-APPEND]

As that one does, it appends one record at a time unless told otherwise, and lets the leader make
batches of them. Unlike that one it does not run ahead of the log without end: it has a few appends
waiting at a time.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.commands.node_log import handler
from kraftool.decoders.errors import KraftoolError
from kraftool.node.config import read_config
from kraftool.node.ending import Ended
from kraftool.node.identity import QuorumRole, read_identity
from kraftool.node.machine import BlindMachine
from kraftool.node.options import NodeOptions
from kraftool.node.process import run_node
from kraftool.node.runner import Runner
from kraftool.node.security import Security
from kraftool.raft.events import Append, LeaderChanged

AT_A_TIME = 200
_FRAME = 8
"""What stands around a record's value in a batch, about."""


class Writer(BlindMachine):
    """Appends while its node leads, and looks at nothing that comes back."""

    def __init__(self, runner: Runner, rate: float, append: tuple[bytes, ...]) -> None:
        super().__init__(runner)
        self._node, self._rate, self._records = runner, rate, append
        self._writing: asyncio.Task[None] | None = None

    def leader_changed(self, effect: LeaderChanged) -> None:
        super().leader_changed(effect)
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        if effect.leader_id == self._node.settings.node_id:
            self._writing = asyncio.get_running_loop().create_task(self._write(effect.epoch))

    async def _write(self, epoch: int) -> None:
        count = len(self._records)
        size = sum(len(record) + _FRAME for record in self._records)
        append = Append(epoch=epoch, records=self._records, size=size)
        began, given = time.monotonic(), 0

        async def one() -> None:
            """Take the next turn, wait until it is there, and append."""
            nonlocal given
            while True:
                due = began + given / self._rate
                given += count
                if (wait := due - time.monotonic()) > 0:
                    await asyncio.sleep(wait)
                try:
                    await self._node.order(append)
                except KraftoolError:  # too much waits to be written, or another one leads
                    await asyncio.sleep(0.01)

        await asyncio.gather(*(one() for _ in range(AT_A_TIME)))


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main() -> int:
    file, rate, size = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    records = (bytes(size),) * (int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    log = logging.getLogger("kraftool.node")
    log.setLevel(logging.INFO)
    log.handlers = [handler(say, as_json=False)]
    config = read_config(file)
    options = NodeOptions(
        part=QuorumRole.VOTER, consumer=lambda runner: Writer(runner, rate, records)
    )
    ended = asyncio.run(run_node(config, read_identity(config), options, Security(config)))
    return int(ended is not Ended.IN_ORDER)


if __name__ == "__main__":
    raise SystemExit(main())
