"""Sends running nodes what nobody sends, for as long as asked, and looks whether they go on.

    python tests/fuzz/fuzz_node.py --seconds 300 --seed 7

Two real processes, 1 leads and 2 follows, get requests that real nodes sent, with values or bytes
changed, on connections that are cut at any time. Prints the seed first. A node that ends, tells of
a bug, stops answering or grows without end, or a quorum that does not commit afterwards, ends it
with 1; what the nodes left is then kept below build/fuzz/.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import struct
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.rpc_frames import encode_request
from tests.node.hostile import frame_of, mutated, recorded_requests
from tests.node.processes import NodeProcess, Pair, pair
from tests.node.quorum import directory_id
from tests.support.places import ROOT

FAILURES = ROOT / "build" / "fuzz"
WORKERS = 8
LARGEST_KB = 600_000
BUGS = ("Traceback", "never retrieved", "an invariant is broken", " ERROR failed")
"""What no node says, whatever it is sent."""
Recorded = list[tuple[str, int, Any]]


def payload(random: Random, recorded: Recorded) -> bytes | None:
    """A frame with its length; None where nothing came of the mutation."""
    name, version, body = random.choice(recorded)
    frame = frame_of(name, version, mutated(body, random))
    if frame is None or is_an_order(frame.name, frame.body):
        return None
    data = bytearray(encode_request(frame))
    if random.random() < 0.5:
        for _ in range(random.randrange(1, 6)):
            data[random.randrange(len(data))] = random.choice((0, 1, 127, 128, 255))
    if random.random() < 0.1:
        data = data[: random.randrange(len(data))]
    if random.random() < 0.05:
        data += random.randbytes(random.randrange(2_000))
    size = len(data)
    if random.random() < 0.1:
        size = random.choice((-1, 0, size - 1, size + 1, 1 << 20, (100 << 20) + 1, (1 << 31) - 1))
    return struct.pack(">i", size) + data


def is_an_order(name: str, body: Any) -> bool:
    """Whether an operator could mean it: what is then done is no failure."""
    ours = {(node_id, directory_id(node_id)) for node_id in (1, 2)}
    return name == "RemoveRaftVoter" and (body["voterId"], body["voterDirectoryId"]) in ours


async def pester(quorum: Pair, random: Random, recorded: Recorded, until: float) -> int:
    """Send from one connection after the other; how many frames that was."""
    sent = 0
    while time.monotonic() < until:
        host, port = random.choice(quorum.nodes).endpoint
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(5):
                reader, writer = await asyncio.open_connection(host, port)
                try:
                    for _ in range(random.randrange(1, 20)):
                        data = payload(random, recorded)
                        if data is None:
                            continue
                        writer.write(data)
                        sent += 1
                        with contextlib.suppress(TimeoutError):
                            await asyncio.wait_for(reader.read(1 << 16), 0.02)
                        if writer.transport.is_closing() or reader.at_eof():
                            break
                finally:
                    writer.transport.abort()
    return sent


def memory_kb(node: NodeProcess) -> int:
    assert node.process is not None
    text = Path(f"/proc/{node.process.pid}/status").read_text()
    return int(next(line.split()[1] for line in text.splitlines() if line.startswith("VmRSS")))


def judge(node: NodeProcess) -> None:
    node.require_alive()
    output = node.said
    for bug in BUGS:
        assert bug not in output, f"node {node.id} says {bug!r}: {output[-3_000:]}"
    assert memory_kb(node) < LARGEST_KB, f"node {node.id} has {memory_kb(node)} kB of memory"


async def watch(quorum: Pair, until: float) -> None:
    """Every other second each node lives, answers, and complains of nothing."""
    while time.monotonic() < until:
        for node in quorum.nodes:
            judge(node)
            await node.describe()
        await asyncio.sleep(2)


async def fuzz(root: Path, seed: int, seconds: float) -> None:
    recorded = list(recorded_requests())
    async with pair(root) as quorum:
        until = time.monotonic() + seconds
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(watch(quorum, until))
            pestering = [
                tasks.create_task(pester(quorum, Random(f"{seed}/{number}"), recorded, until))
                for number in range(WORKERS)
            ]
        print(f"{sum(task.result() for task in pestering)} frames sent", flush=True)
        description = await quorum.followed()
        for node in quorum.nodes:
            judge(node)
            print(f"node {node.id}: {memory_kb(node)} kB, {node.files()} files")
        print(f"epoch {description['leaderEpoch']}, high watermark {description['highWatermark']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    chosen = parser.parse_args()
    seed = chosen.seed if chosen.seed is not None else time.time_ns() % 1_000_000_000
    print(f"seed {seed}", flush=True)
    root = Path(tempfile.mkdtemp(prefix="kraftool-fuzz-"))
    try:
        asyncio.run(fuzz(root / "nodes", seed, chosen.seconds))
    except Exception:
        traceback.print_exc()
        kept = FAILURES / f"node-{seed}"
        shutil.copytree(root, kept, dirs_exist_ok=True)
        print(f"kept as {kept.relative_to(ROOT)}; again: --seed {seed}")
        return 1
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
