"""One of our nodes that keeps leading where a Kafka could lead, so that a leader can be tested.

    python tests/interop/our_leader.py server.properties METRICS-PORT

`kraftool node run` hands leadership to the first Kafka that has caught up.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.commands.node_log import handler
from kraftool.node.config import read_config
from kraftool.node.ending import Ended
from kraftool.node.identity import QuorumRole, read_identity
from kraftool.node.options import NodeOptions
from kraftool.node.process import run_node
from kraftool.node.security import Security
from kraftool.raft.names import Endpoint


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main() -> int:
    config = read_config(sys.argv[1])
    log = logging.getLogger("kraftool.node")
    log.setLevel(logging.INFO)
    log.handlers = [handler(say, as_json=False)]
    options = NodeOptions(
        part=QuorumRole.VOTER,
        keeps_leading=True,
        metrics=Endpoint("127.0.0.1", int(sys.argv[2])),
    )
    ended = asyncio.run(run_node(config, read_identity(config), options, Security(config)))
    return int(ended is not Ended.IN_ORDER)


if __name__ == "__main__":
    raise SystemExit(main())
