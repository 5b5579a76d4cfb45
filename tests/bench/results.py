"""RESULTS.md: what the benches measured, the newest first.

Owns how a section of it is written: with date, commit, load, and the path that reads.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path

from kraftool.decoders import fast_path

RESULTS = Path(__file__).with_name("RESULTS.md")
WRITE = "--write"


def add(lines: Sequence[str]) -> None:
    """Put a section before all others."""
    head, _, earlier = RESULTS.read_text(encoding="utf-8").partition("\n## ")
    rest = f"\n## {earlier}" if earlier else ""
    new = "\n".join(lines)
    RESULTS.write_text(f"{head.rstrip()}\n\n{new}\n{rest}", encoding="utf-8")


class _Tee(io.StringIO):
    def write(self, text: str) -> int:
        if sys.__stdout__ is not None:
            sys.__stdout__.write(text)
        return super().write(text)


def run(name: str, main: Callable[[list[str]], int]) -> int:
    """Run a bench; with `--write` what it prints becomes a section, if it succeeds."""
    words = [word for word in sys.argv[1:] if word != WRITE]
    if WRITE not in sys.argv[1:]:
        return main(words)
    load = os.getloadavg()[0]
    with redirect_stdout(_Tee()) as output:
        code = main(words)
    if code == 0:
        described = ["git", "describe", "--always", "--dirty"]
        done = subprocess.run(described, capture_output=True, text=True, check=False)
        title = f"## {datetime.now(UTC):%Y-%m-%d}, commit {done.stdout.strip()}: {name}"
        about = f"Load {load:.1f} at the beginning, {fast_path.described}."
        add([title, "", about, "", "```text", output.getvalue().strip(), "```"])
    return code
