"""Measures the exporter on clusters of 3 + 3 nodes: its memory over time, and its CPU.

    make bench-exporter
    python tests/bench/exporter.py --clusters 5 --fast-seconds 900 --usual-seconds 240

One cluster is real Kafka: three controllers and three brokers, with topics. JVMs are dear, so that
the others are three voters and three observers of kraftool. The exporter polls all of them every
two seconds at first, since memory grows with polls: 15 minutes have as many polls as two hours at
the default of 15 s. Then it is started again with that default, for the CPU. A scrape follows each
poll, as Prometheus does. It refuses to judge: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench import results
from tests.bench.processes import cpu_s, memory_mb
from tests.interop import kafka
from tests.interop.clusters import Cluster
from tests.interop.our_nodes import start_ours
from tests.support.places import ROOT
from tests.support.ports import HOST, free_ports

VOTERS, OTHERS = (1, 2, 3), (4, 5, 6)
FAST_S, USUAL_S = 2.0, 15.0
"""The shortest interval of the exporter, and its default."""
_LINES = 10
"""Of memory over time."""
_WARM_POLLS = 3
"""A process imports and learns in its first polls."""


@dataclass(frozen=True, slots=True)
class Use:
    """The exporter at a moment."""

    polls: int
    rss_mb: float
    peak_mb: float
    cpu_s: float
    page_bytes: int


class Exporter:
    """`kraftool exporter` in a process of its own."""

    def __init__(self, clusters_file: Path, interval_s: float, log: Path) -> None:
        [self._port] = free_ports(1)
        command = [
            "env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "kraftool", "exporter",
            "--clusters", str(clusters_file), "--listen", f"{HOST}:{self._port}",
            "--interval", f"{interval_s:g}",
        ]  # fmt: skip
        self.process = kafka.Process(command, log, cwd=clusters_file.parent)
        kafka.wait_for("each cluster to be polled", self._is_ready, every=0.2)

    def _is_ready(self) -> bool:
        self.process.require_alive()
        with suppress(OSError):
            self._get("ready")
            return True
        return False

    def _get(self, page: str) -> bytes:
        with urllib.request.urlopen(f"http://{HOST}:{self._port}/{page}", timeout=60) as answer:
            return bytes(answer.read())

    def use(self) -> Use:
        """Scrape it, and look at its process."""
        page = self._get("metrics")
        memory = memory_mb(self.process.pid)
        assert memory is not None, "it runs"
        polls = [line for line in page.splitlines() if line.startswith(b"kraftool_polls_total{")]
        return Use(
            polls=sum(int(float(line.split()[-1])) for line in polls),
            rss_mb=memory[1],
            peak_mb=memory[0],
            cpu_s=cpu_s(self.process.pid),
            page_bytes=len(page),
        )


def kafka_cluster(version: str, root: Path) -> Cluster:
    """Three controllers and three brokers of Kafka, with topics. The caller closes it."""
    cluster = Cluster(version, root)
    controllers = [cluster.add_node(number, ("controller",)) for number in VOTERS]
    brokers = [cluster.add_node(number, ("broker",)) for number in OTHERS]
    cluster.use_bootstrap_servers()
    cluster.format(controllers, "--initial-controllers", cluster.initial_controllers())
    cluster.format(brokers)
    cluster.start(*controllers, *brokers)
    for number in range(20):
        cluster.admin("create-topic", topic=f"topic-{number}", partitions=5, replication=3)
    return cluster


def our_cluster(version: str, root: Path) -> Cluster:
    """Three voters and three observers of kraftool. The caller closes it."""
    cluster = Cluster(version, root)
    voters = [cluster.add_node(number, ("controller",)) for number in VOTERS]
    initial = cluster.initial_controllers()
    cluster.use_bootstrap_servers()
    servers = voters[0].settings["controller.quorum.bootstrap.servers"]
    cluster.format(voters, "--initial-controllers", initial)
    others = [cluster.add_node(number, ("controller",)) for number in OTHERS]
    for node in others:
        node.settings["controller.quorum.bootstrap.servers"] = servers
        node.write_properties()
    cluster.format(others, "--no-initial-controllers")
    start_ours(cluster, *voters)
    start_ours(cluster, *others, options=("--role", "observer"))
    return cluster


def clusters_file(path: Path, clusters: Sequence[Cluster]) -> Path:
    """Write the file for --clusters."""
    lines = ["clusters:"]
    for number, cluster in enumerate(clusters, 1):
        controllers = (cluster.nodes[voter].at("CONTROLLER") for voter in VOTERS)
        lines += [
            f"  - name: cluster-{number}",
            f"    bootstrap-controller: {','.join(controllers)}",
            f"    expect-voters: {[*VOTERS]}",
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def watched(exporter: Exporter, interval_s: float, seconds: float) -> Iterator[tuple[float, Use]]:
    """Scrape it every interval for so long; yield when, and what it uses."""
    began = time.monotonic()
    kafka.wait_for("its first polls", lambda: exporter.use().polls >= _WARM_POLLS, every=interval_s)
    while True:
        at_s = time.monotonic() - began
        yield at_s, exporter.use()
        if at_s >= seconds:
            return
        time.sleep(interval_s)


def tell(exporter: Exporter, interval_s: float, seconds: float) -> list[Use]:
    """Print memory over time and the CPU of one run; return all that was seen."""
    sys.stdout.write(f"\npolled every {interval_s:g} s\n  seconds   polls  RSS MB  peak MB\n")
    uses: list[Use] = []
    first_s = next_s = 0.0
    for at_s, use in watched(exporter, interval_s, seconds):
        if not uses:
            first_s = at_s
        if at_s >= next_s or at_s >= seconds:
            sys.stdout.write(f"  {at_s:7.0f}{use.polls:8}{use.rss_mb:8.1f}{use.peak_mb:9.1f}\n")
            sys.stdout.flush()
            next_s = at_s + seconds / _LINES
        uses.append(use)
        last_s = at_s
    first, last = uses[0], uses[-1]
    took_s, polls = max(last_s - first_s, 0.001), max(last.polls - first.polls, 1)
    cpu = last.cpu_s - first.cpu_s
    sys.stdout.write(
        f"CPU {cpu:.2f} s in {took_s:.0f} s: {100 * cpu / took_s:.2f} % of a core,"
        f" {1000 * cpu / polls:.1f} ms a poll of a cluster; a page has {last.page_bytes:,} bytes\n"
    )
    return uses


def main(words: list[str]) -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--clusters", type=int, default=5, help="one of them is Kafka's")
    options.add_argument("--fast-seconds", type=float, default=900.0, help="at two seconds")
    options.add_argument("--usual-seconds", type=float, default=240.0, help="at fifteen seconds")
    options.add_argument("--version", default=kafka.TOOLS_VERSION, help="of Kafka")
    given = options.parse_args(words)
    if problem := kafka.available(given.version):
        sys.stderr.write(f"{problem}\n")
        return 3
    with tempfile.TemporaryDirectory(prefix="kraftool-bench-") as folder, ExitStack() as running:
        root = Path(folder)
        clusters = [kafka_cluster(given.version, root / "1" / "nodes")]
        running.push(clusters[0])
        for number in range(2, given.clusters + 1):
            clusters.append(our_cluster(given.version, root / str(number) / "nodes"))
            running.push(clusters[-1])
        file = clusters_file(root / "clusters.yaml", clusters)
        sys.stdout.write(f"{given.clusters} clusters of 3 + 3 nodes, the first of Kafka\n")
        for interval_s, seconds in ((FAST_S, given.fast_seconds), (USUAL_S, given.usual_seconds)):
            exporter = Exporter(file, interval_s, root / f"exporter-{interval_s:g}.log")
            with exporter.process:
                tell(exporter, interval_s, seconds)
    return 0


if __name__ == "__main__":
    sys.exit(results.run("the exporter on clusters of 3 + 3 nodes", main))
