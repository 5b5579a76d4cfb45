"""Shows how the memory of one process goes on over damaged files, 150 to a round.

    python tests/bench/memory.py

Each line is a process of its own: the memory it has after each round in MiB, and its peak. `same`
reads the same files in each round, `new` others, and `arena` is `new` with one arena of the C
library. A leak rises in all lines and in each round; decoders that are made on first use rise in
`new` only, and stop; fragmentation is the difference between `new` and `arena`.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 5
FILES = 150
CASES = {"same": {}, "new": {}, "arena": {"MALLOC_ARENA_MAX": "1"}}


def memory(field: str) -> float:
    """MiB of this process: VmRSS now, VmHWM at its peak."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) / 1024


def child(case: str, files: int, rounds: int) -> None:
    """Read damaged files with every decoder and one command each; print the memory."""
    sys.path.insert(0, str(ROOT))
    from tests.fuzz import checks
    from tests.fuzz.mutations import corpus, mutate

    samples = corpus(ROOT / "fixtures")
    shown = [f"{case:6}", f"{memory('VmRSS'):7.1f}"]
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            seed = 0 if case == "same" else number
            for file in range(files):
                sample = mutate(Random(f"{seed}/{file}"), samples)
                checks.check_all(Path(folder), sample, file)
            gc.collect()
            shown.append(f"{memory('VmRSS'):7.1f}")
    print(*shown, f"  peak {memory('VmHWM'):7.1f}", flush=True)


def main(files: int = FILES, rounds: int = ROUNDS) -> int:
    print("MiB at the start, then after each round", flush=True)
    for case, environment in CASES.items():
        command = [sys.executable, __file__, case, str(files), str(rounds)]
        done = subprocess.run(command, env=os.environ | environment, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        sys.exit(main())
