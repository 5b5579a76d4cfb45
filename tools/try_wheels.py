"""Installs each wheel of dist/ into an empty environment, and tries it.

    python tools/try_wheels.py dist

The wheel with the native module has to say so and read a log natively, the other one in Python, and
both have to write the same bytes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / f"fixtures/kafka-4.3.0/many-partitions/node-1/data/__cluster_metadata-0/{0:020}.log"


def tried(wheel: Path, folder: Path) -> tuple[str, bytes]:
    """What the installed wheel says of its path, and what it writes of a log."""
    venv.create(folder)
    # Our pip installs into it: installing a second pip would take longer than the rest.
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", str(wheel)], check=True)

    def run(*arguments: str) -> bytes:
        environment = {key: os.environ[key] for key in os.environ if key != "KRAFTOOL_PURE"}
        command = [str(folder / "bin" / "kraftool"), *arguments]
        return subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, check=True
        ).stdout

    return run("--version").decode().strip(), run("dump-log", str(LOG), "-o", "jsonl")


def main() -> int:
    wheels = sorted(Path(sys.argv[1]).glob("*.whl"))
    outputs = set()
    for wheel in wheels:
        with tempfile.TemporaryDirectory(prefix="kraftool-wheel-") as folder:
            version_text, written = tried(wheel, Path(folder))
        is_pure = wheel.name.endswith("-py3-none-any.whl")
        print(f"{wheel.name}: {version_text}, {len(written)} bytes of output")
        if (
            version_text.endswith("(pure Python)") != is_pure
            or version_text.endswith("(native)") == is_pure
        ):
            print(f"{wheel.name} takes the wrong path", file=sys.stderr)
            return 1
        outputs.add(written)
    if not outputs or len(outputs) > 1:
        print("the wheels do not write the same", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
