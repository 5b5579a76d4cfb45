"""One of our nodes that appends records of zeros while it leads: what TestRaftServer is of Kafka's.

    python tests/bench/node_writer.py server.properties RECORDS-A-SECOND RECORD-BYTES

As that one does, it appends one record at a time and lets the leader make batches of them. Unlike
that one it does not run ahead of the log without end: it has a few appends waiting at a time.
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
from kraftool.node.identity import Part, read_identity
from kraftool.node.machine import BlindMachine
from kraftool.node.process import Ended, NodeOptions, run_node
from kraftool.node.runner import Runner
from kraftool.node.security import Security
from kraftool.raft.events import Append, LeaderChanged

AT_A_TIME = 200
_FRAME = 8
"""What stands around a record's value in a batch, about."""


class Writer(BlindMachine):
    """Appends while its node leads, and looks at nothing that comes back."""

    def __init__(self, runner: Runner, rate: float, size: int) -> None:
        super().__init__(runner)
        self._node, self._rate, self._record = runner, rate, bytes(size)
        self._writing: asyncio.Task[None] | None = None

    def leader_changed(self, effect: LeaderChanged) -> None:
        super().leader_changed(effect)
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        if effect.leader_id == self._node.settings.node_id:
            self._writing = asyncio.get_running_loop().create_task(self._write(effect.epoch))

    async def _write(self, epoch: int) -> None:
        append = Append(
            epoch=epoch, records=(self._record,), size=len(self._record) + _FRAME
        )
        began, written = time.monotonic(), 0
        while True:
            due = int((time.monotonic() - began) * self._rate) - written
            if due < 1:
                await asyncio.sleep(0.001)
                continue
            count = min(due, AT_A_TIME)
            told = await asyncio.gather(
                *(self._node.order(append) for _ in range(count)), return_exceptions=True
            )
            if any(isinstance(each, KraftoolError) for each in told):
                await asyncio.sleep(0.01)  # too much waits to be written, or another one leads
            written += sum(not isinstance(each, BaseException) for each in told)


def main() -> int:
    file, rate, size = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    log = logging.getLogger("kraftool.node")
    log.setLevel(logging.INFO)
    log.handlers = [handler(lambda line: print(line, file=sys.stderr, flush=True), as_json=False)]
    config = read_config(file)
    options = NodeOptions(
        part=Part.VOTER, stands=True, consumer=lambda runner: Writer(runner, rate, size)
    )
    ended = asyncio.run(run_node(config, read_identity(config), options, Security(config)))
    return int(ended is not Ended.IN_ORDER)


if __name__ == "__main__":
    raise SystemExit(main())
