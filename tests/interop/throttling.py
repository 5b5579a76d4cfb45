"""Gives a process a share of a core only, by stopping it for the rest of each period.

Owns the stopping, in a process of its own so that it keeps time. At the end the process that was
throttled goes on as before.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

PERIOD_S = 0.1


@contextlib.contextmanager
def throttled(pid: int, share: float) -> Iterator[None]:
    """Let a process run for this share of the time."""
    command = [sys.executable, __file__, str(pid), str(share)]
    throttle = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert throttle.stdout is not None, "a pipe"
        assert throttle.stdout.readline(), "it has begun"
        yield
    finally:
        throttle.terminate()
        throttle.wait()
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def _throttle(pid: int, share: float) -> None:
    next_s = 0.0
    while True:
        os.kill(pid, signal.SIGCONT)
        time.sleep(PERIOD_S * share)
        os.kill(pid, signal.SIGSTOP)
        if not next_s:
            print("throttled", flush=True)
            next_s = time.monotonic()
        # After a delay the process gets its share of this period, and not more of the next one.
        next_s = max(next_s + PERIOD_S, time.monotonic())
        time.sleep(max(next_s - time.monotonic(), PERIOD_S * (1 - share) / 2))


if __name__ == "__main__":
    with contextlib.suppress(ProcessLookupError):
        _throttle(int(sys.argv[1]), float(sys.argv[2]))
