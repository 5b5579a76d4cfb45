"""Makes the fixtures below fixtures/kafka-VERSION/SCENARIO by running real Kafka.

    python tests/interop/capture.py --version 4.3.0 --scenario static-single --out fixtures
    python tests/interop/capture.py --version 4.3.0 --all --out fixtures

Owns what is kept of a node's folder and how it is described (SOURCE). Files are kept byte for
byte, except that an index which a killed process left preallocated loses its zero tail. What is
done to the cluster is in scenarios.py. An existing fixture is replaced only when the new run came
to its end. `make record` then records what Kafka's tools say of the new files.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.interop import kafka
from tests.interop.clusters import Cluster
from tests.interop.scenarios import SCENARIOS

INDEX_ENTRY = {".index": 8, ".timeindex": 12, ".txnindex": 34}


def trimmed(name: str, content: bytes) -> bytes:
    """An index without the preallocated zeros behind its last entry."""
    entry = INDEX_ENTRY.get(Path(name.removesuffix(".deleted")).suffix)
    if entry is None:
        return content
    used = len(content.rstrip(b"\0"))
    return content[: -(-used // entry) * entry]


def keep(source: Path, target: Path, nodes: Sequence[str] = ("node-*",)) -> list[str]:
    """Copy a scenario's node folders; the list says which files were trimmed and from what size."""
    changed: list[str] = []
    for path in sorted(path for node in nodes for path in source.glob(f"{node}/**/*")):
        relative = path.relative_to(source)
        if not path.is_file() or path.name == ".lock":
            continue
        content = path.read_bytes()
        short = trimmed(path.name, content)
        if short != content:
            changed.append(f"{relative}: zero tail cut, {len(content)} -> {len(short)} bytes")
        (target / relative).parent.mkdir(parents=True, exist_ok=True)
        (target / relative).write_bytes(short)
    return changed


def describe(cluster: Cluster, scenario: str, folder: Path, changed: list[str]) -> str:
    """The text of SOURCE."""
    lines = [
        f"Made by Apache Kafka {cluster.version} (released jars), scenario {scenario}:",
        f"  {SCENARIOS[scenario].about}",
        (
            "Command: python tests/interop/capture.py --out fixtures "
            f"--version {cluster.version} --scenario {scenario}"
        ),
        f"Date: {datetime.now(UTC):%Y-%m-%d}",
        f"Cluster id: {cluster.id}",
        "Each node ran with its folder as working directory (log.dirs are relative to it).",
        "Left out: .lock files, the processes' own logs. The rest is as Kafka left it, but:",
        *(f"  {line}" for line in changed or ["nothing was trimmed"]),
        "",
        "Steps, in order:",
        *(f"  {step}" for step in cluster.steps),
        "",
        "sha256 of the files:",
    ]
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            lines.append(f"  {digest}  {path.relative_to(folder).as_posix()}")
    return "\n".join(lines) + "\n"


def capture(version: str, name: str, out: Path, work: Path) -> Path:
    """Run one scenario and put what it left into `out`; the folder of the fixture."""
    scenario = SCENARIOS[name]
    root = work / f"{version}-{name}"
    with Cluster(version, root / "nodes", common=scenario.common) as cluster:
        try:
            scenario.run(cluster)
        except Exception:
            print("\n".join(["the last steps were:", *cluster.steps[-5:]]), file=sys.stderr)
            raise
    fresh = root / "fixture"
    changed = keep(root / "nodes", fresh, scenario.keeps)
    source = describe(cluster, name, fresh, changed)
    (fresh / "SOURCE").write_text(source)
    target = out / f"kafka-{version}" / name
    if target.exists():
        shutil.rmtree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(fresh, target)
    return target


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--version", required=True, choices=kafka.VERSIONS)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--scenario", choices=sorted(SCENARIOS))
    which.add_argument("--all", action="store_true", help="every scenario this version can do")
    parser.add_argument("--out", type=Path, required=True, help="the fixtures folder")
    parser.add_argument(
        "--keep-work", type=Path, help="keep nodes and logs here, for a look at them"
    )
    chosen = parser.parse_args(arguments)
    if problem := kafka.available(chosen.version, kafka.TOOLS_VERSION):
        print(problem, file=sys.stderr)
        return 2
    can = [name for name, scenario in SCENARIOS.items() if chosen.version in scenario.versions]
    names = can if chosen.all else [chosen.scenario]
    if not set(names) <= set(can):
        print(f"Kafka {chosen.version} cannot do {names[0]}; it can do {can}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the clusters are taken down
    with tempfile.TemporaryDirectory(prefix="kafka-capture-") as temporary:
        work = chosen.keep_work or Path(temporary)
        for name in names:
            began = time.monotonic()
            target = capture(chosen.version, name, chosen.out, work)
            size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
            print(f"{target}: {size} bytes in {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
