"""Shows what each of three exporters shows of a real quorum in trouble, as a table for the docs.

    python tests/bench/beside_exporters.py --kafka-exporter PATH --write

Starts three controllers of Kafka with TLS and a broker, each in a network namespace, and brings
them into one situation after the other. In each it scrapes `kraftool exporter`, the Prometheus JMX
exporter in every controller, and danielqsj/kafka_exporter at the broker. It needs root, a JDK and
Maven. Without --kafka-exporter it builds that with Go. `--write` puts the table into
docs/exporter.md. It refuses to judge: nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from prometheus_client.parser import text_string_to_metric_families

from kraftool.reports.text.words import listed, many
from tests.interop import kafka, namespaces
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import kraftool
from tests.support.places import ROOT
from tests.support.ports import HOST, free_ports

DOCUMENT = ROOT / "docs/exporter.md"
BEGIN, END = "<!-- other exporters -->", "<!-- end of other exporters -->"
VOTERS, BROKER = (1, 2, 3), 11
_SECRET = "bench-store"
_JMX_PORT = 7071
_AGENT = "io.prometheus.jmx:jmx_prometheus_javaagent:1.0.1"
_KAFKA_EXPORTER = "github.com/danielqsj/kafka_exporter@latest"
_WELL = "3 voters, 1 may fail; no finding"
_INTERVAL_S = 2
_EXPIRY = "endpoint_certificate_expiry_timestamp_seconds"
_STEADY_S, _LATEST_S = 20.0, 100.0
"""A situation is scraped when all has stayed the same for so long, or after the latest time."""
_JMX_RULES = r"""
rules:
  - pattern: 'kafka.server<type=raft-metrics><>current-state: (.+)'
    name: raft_state
    labels: {state: "$1"}
    value: 1
  - pattern: 'kafka.server<type=raft-metrics><>current-leader: (.+)'
    name: raft_leader
  - pattern: 'kafka.server<type=raft-metrics><>number-of-voters: (.+)'
    name: raft_voters
  - pattern: 'kafka.controller<type=KafkaController, name=ActiveControllerCount><>Value'
    name: active_controllers
"""

Page = Mapping[tuple[str, frozenset[tuple[str, str]]], float]


def page_of(text: str) -> Page:
    """Return the samples of a page by name and labels."""
    parse: Any = text_string_to_metric_families
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parse(text)
        for sample in family.samples
    }


def _by_label(page: Page, name: str, label: str) -> dict[str, float]:
    """Return the values of a metric by one of its labels."""
    return {dict(labels)[label]: value for (known, labels), value in page.items() if known == name}


def _value(page: Page, name: str) -> float | None:
    return next((value for (known, _), value in page.items() if known == name), None)


# --- what each of them shows ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shown:
    """One situation, as each of the three shows it."""

    kraftool: str
    jmx: str
    kafka_exporter: str


def of_kraftool(page: Page | None) -> str:
    """Return what the page of `kraftool exporter` says of the quorum."""
    if page is None:
        return "nothing"
    prefix = "kraftool_quorum_"
    leader = _value(page, f"{prefix}leader_id")
    parts = ["leader unknown" if leader is None else f"leader {leader:.0f}".replace("-1", "none")]
    voters = _value(page, f"{prefix}voters")
    if voters is not None:
        parts.append(many(int(voters), "voter"))
    failures = _value(page, f"{prefix}failures_tolerated")
    parts.append("failures unknown" if failures is None else f"{failures:.0f} may fail")
    up, reached, ready = (
        _by_label(page, f"kraftool_node_{name}", "node_id") for name in ("up", "reachable", "ready")
    )
    for node_id, is_reached in sorted(reached.items()):
        if up.get(node_id) == 0:
            parts.append(f"{node_id} down")
        elif not is_reached:
            parts.append(f"{node_id} not reached")
        elif ready.get(node_id) == 0:
            parts.append(f"{node_id} does not count")
    for (name, labels), expiry_s in page.items():
        label = dict(labels)
        if name == f"kraftool_{_EXPIRY}" and expiry_s < time.time():
            parts.append(f"certificate of {label['role']} {label['node_id']} expired")
    codes = [
        f"`{label['code']}`"
        for (name, labels), value in page.items()
        if name == "kraftool_finding" and value
        for label in [dict(labels)]
        if label["severity"] != "info" or label["code"] == "KT-LIVE-STALE-REGISTRATION"
    ]
    return f"{', '.join(parts)}; {', '.join(sorted(codes)) or 'no finding'}"


def of_jmx(pages: Mapping[int, Page | None]) -> str:
    """Return what the controllers' own numbers say."""
    nodes: dict[str, list[int]] = {}
    for node_id, page in sorted(pages.items()):
        nodes.setdefault(_of_controller(page), []).append(node_id)
    active = sum(_value(page, "active_controllers") or 0 for page in pages.values() if page)
    words = [f"{listed(ids)}: {shown}" for shown, ids in nodes.items()]
    return "; ".join([*words, f"sum of ActiveControllerCount {active:.0f}"])


def _of_controller(page: Page | None) -> str:
    if page is None:
        return "nothing"
    states = _by_label(page, "raft_state", "state")
    state = next((name for name, value in states.items() if value), "no state")
    leader, voters = _value(page, "raft_leader"), _value(page, "raft_voters")
    words = [state]
    if state != "leader" and leader is not None:
        words.append("no leader" if leader < 0 else f"leader {leader:.0f}")
    if voters is not None:
        words.append(many(int(voters), "voter"))
    return ", ".join(words)


def of_kafka_exporter(page: Page | None) -> str:
    """Return what kafka_exporter shows; it has no metric of a quorum."""
    if page is None:
        return "nothing"
    brokers = _value(page, "kafka_brokers")
    if brokers is None:
        return "nothing"
    about = [name for name, _ in page if "quorum" in name or "voter" in name or "raft" in name]
    known = f"{len(about)} metrics" if about else "nothing"
    return f"{many(int(brokers), 'broker')}; {known} of the quorum"


def table(rows: Mapping[str, Shown]) -> str:
    """Return the table of the docs."""
    lines = [
        "| situation | kraftool exporter | JMX of each controller | kafka_exporter |",
        "|---|---|---|---|",
    ]
    for name, shown in rows.items():
        lines.append(f"| {name} | {shown.kraftool} | {shown.jmx} | {shown.kafka_exporter} |")
    return "\n".join(lines)


def write(rows: Mapping[str, Shown]) -> None:
    """Put the table into the docs."""
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(f"{BEGIN}\n")
    _, _, after = rest.partition(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table(rows)}\n{END}{after}", encoding="utf-8")


# --- the quorum and its three observers -------------------------------------------------------


def _keytool(*arguments: str | Path) -> bytes:
    words = ["keytool", *map(str, arguments), "-storepass", _SECRET, "-storetype", "PKCS12"]
    return subprocess.run(words, check=True, capture_output=True).stdout


def certificates(folder: Path, hosts: Mapping[int, str]) -> dict[str, str]:
    """Make two keystores for each voter, `N` and the expired `N-expired`, and one truststore.
    Return the settings for those who trust them."""
    folder.mkdir()
    expired = ("-startdate", "-10d", "-validity", "5")
    for node_id, host in hosts.items():
        for name, validity in ((f"{node_id}", ()), (f"{node_id}-expired", expired)):
            store, certificate = folder / f"{name}.p12", folder / f"{name}.pem"
            _keytool(
                *("-genkeypair", "-alias", "node", "-keyalg", "RSA", "-keysize", "2048"),
                *("-dname", f"CN=voter {name}", "-ext", f"SAN=IP:{host}", "-keystore", store),
                *validity,
            )
            certificate.write_bytes(
                _keytool("-exportcert", "-rfc", "-alias", "node", "-keystore", store)
            )
            _keytool(
                *("-importcert", "-noprompt", "-alias", name, "-file", certificate),
                *("-keystore", folder / "trust.p12"),
            )
    return {
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.location": str(folder / "trust.p12"),
        "ssl.truststore.password": _SECRET,
    }


@dataclass(slots=True)
class Scene:
    """The quorum, and those who look at it."""

    cluster: Cluster
    network: namespaces.Network
    folder: Path
    pages: Callable[[], Shown]

    def node(self, node_id: int) -> Node:
        return self.cluster.nodes[node_id]

    def followers(self) -> list[Node]:
        leader = self.cluster.wait_leader()
        return [node for node in self.cluster.controllers if node is not leader]

    def connect(self) -> tuple[str, ...]:
        """Return the options with which a command of kraftool reaches the quorum."""
        return connecting(self.cluster, self.folder)

    def start(self, node: Node) -> None:
        """Start a controller, and wait until the leader sees it fetch."""
        self.cluster.start(node)
        self.wait_following(node.id)

    def wait_following(self, node_id: int) -> None:
        """Wait until the leader has seen it fetch what is committed."""

        def follows() -> bool:
            shown = self.cluster.quorum()
            if shown is None:
                return False
            ends = {voter["id"]: voter["logEndOffset"] for voter in shown["voters"]}
            return bool(shown["highWatermark"] - ends.get(node_id, -1) <= 2)

        kafka.wait_for(f"voter {node_id} to follow", follows, every=0.5)

    def wait_healthy(self) -> None:
        """Wait until kraftool exporter has no finding and one voter may fail."""

        def is_well() -> bool:
            return self.pages().kraftool.endswith(_WELL)

        kafka.wait_for("a quorum without a finding", is_well, timeout=150, every=1.0)

    def scraped(self) -> Shown:
        """Scrape all until nothing has changed for a while; return that."""
        began = steady = time.monotonic()
        last = self.pages()
        while time.monotonic() - began < _LATEST_S:
            time.sleep(1)
            shown = self.pages()
            if shown != last:
                last, steady = shown, time.monotonic()
            if time.monotonic() - steady >= _STEADY_S:
                break
        sys.stdout.write(f"  steady after {steady - began:.0f} s\n")
        return last


def connecting(cluster: Cluster, folder: Path) -> tuple[str, ...]:
    """Return the options that name the controllers and how to reach them."""
    controllers = (cluster.nodes[voter].at("CONTROLLER") for voter in VOTERS)
    config = str(folder / "client.properties")
    return "--bootstrap-controller", ",".join(controllers), "--command-config", config


@contextmanager
def scene(version: str, root: Path, kafka_exporter: Path, agent: Path) -> Iterator[Scene]:
    """Start the quorum, a broker, and the exporters."""
    with ExitStack() as running:
        network = running.enter_context(namespaces.Network())
        network.start((*VOTERS, BROKER))
        folder = root / "stores"
        trust = certificates(folder, {voter: network.host(voter) for voter in VOTERS})
        lines = {"security.protocol": "SSL", **trust}.items()
        client = "".join(f"{key}={value}\n" for key, value in lines)
        (folder / "client.properties").write_text(client, encoding="utf-8")
        (folder / "jmx.yaml").write_text(_JMX_RULES, encoding="utf-8")
        option = f"JAVA_TOOL_OPTIONS=-javaagent:{agent}={_JMX_PORT}:{folder / 'jmx.yaml'}"
        cluster = running.enter_context(Cluster(version, root / "nodes"))
        protocols = "BROKER:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:SSL"
        common = {
            "listener.security.protocol.map": protocols, **trust,
            "super.users": "User:ANONYMOUS;User:admin",
        }  # fmt: skip
        for voter in VOTERS:
            own = {
                **common,
                "ssl.keystore.type": "PKCS12",
                "ssl.keystore.location": str(folder / f"{voter}.p12"),
                "ssl.keystore.password": _SECRET,
                "ssl.key.password": _SECRET,
                "ssl.client.auth": "none",
            }
            within = (*network.within(voter), "env", option)
            cluster.add_node(voter, ("controller",), own, host=network.host(voter), within=within)
        broker = cluster.add_node(
            BROKER, ("broker",), common, host=network.host(BROKER), within=network.within(BROKER)
        )
        cluster.use_bootstrap_servers()
        controllers = cluster.controllers
        cluster.format(controllers, "--initial-controllers", cluster.initial_controllers())
        cluster.format([broker])
        cluster.start(*controllers, broker)
        ours, theirs = free_ports(2)
        commands = {
            "kraftool": (
                "env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "kraftool", "exporter",
                *connecting(cluster, folder), "--listen", f"{HOST}:{ours}",
                "--interval", f"{_INTERVAL_S}", "--timeout", "2",
            ),
            "kafka_exporter": (
                str(kafka_exporter), f"--kafka.server={broker.at('BROKER')}",
                "--kafka.version=3.9.0", f"--web.listen-address={HOST}:{theirs}",
            ),
        }  # fmt: skip
        for name, command in commands.items():
            log = cluster.logs / f"{name}.log"
            running.enter_context(kafka.Process([*command], log, cwd=root))

        def pages() -> Shown:
            return Shown(
                of_kraftool(_scrape(f"{HOST}:{ours}")),
                of_jmx({v: _scrape(f"{network.host(v)}:{_JMX_PORT}") for v in VOTERS}),
                of_kafka_exporter(_scrape(f"{HOST}:{theirs}")),
            )

        yield Scene(cluster, network, folder, pages)


def _scrape(address: str) -> Page | None:
    """Return a page, or None if nothing answers."""
    try:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            return page_of(answer.read().decode())
    except OSError:
        return None


# --- the situations ---------------------------------------------------------------------------


def situations(now: Scene) -> Iterator[tuple[str, Shown]]:
    """Yield each situation and what was scraped in it. The last one is not undone."""
    now.wait_healthy()
    yield "three controllers", now.scraped()
    one, two = now.followers()
    now.cluster.kill(one)
    yield f"controller {one.id} dead", now.scraped()
    now.cluster.kill(two)
    yield f"controllers {listed(sorted((one.id, two.id)))} dead", now.scraped()
    now.cluster.start(one, two)
    for node in (one, two):
        now.wait_following(node.id)
    now.wait_healthy()
    cut = now.followers()[0].id
    links = [(cut, place) for place in (*VOTERS, BROKER) if place != cut]
    now.network.cut(*links, *((there, here) for here, there in links))
    yield f"controller {cut} cut off from the others, not from the exporters", now.scraped()
    now.network.heal()
    now.wait_healthy()
    victim = now.followers()[0]
    now.cluster.stop(victim)
    good = victim.settings["ssl.keystore.location"]
    victim.settings["ssl.keystore.location"] = good.replace(".p12", "-expired.p12")
    victim.write_properties()
    now.start(victim)
    yield f"controller {victim.id} has an expired certificate", now.scraped()
    now.cluster.stop(victim)
    victim.settings["ssl.keystore.location"] = good
    victim.write_properties()
    now.start(victim)
    now.wait_healthy()
    gone = now.followers()[0]
    now.cluster.stop(gone)
    words = ("quorum", "remove-controller", "-i", gone.id, *now.connect())
    done = kraftool(*words)
    sys.stdout.write(done.stdout + done.stderr)
    yield f"controller {gone.id} stopped and removed, and still registered", now.scraped()


def _built(folder: Path) -> Path:
    """Build kafka_exporter with Go."""
    command = ["go", "install", _KAFKA_EXPORTER]
    subprocess.run(command, check=True, env={**os.environ, "GOBIN": str(folder)})
    return folder / "kafka_exporter"


def _agent(folder: Path) -> Path:
    """Get the JMX exporter with Maven."""
    copy = ("dependency:copy", f"-Dartifact={_AGENT}", f"-DoutputDirectory={folder}")
    subprocess.run(["mvn", "-q", *copy], check=True, cwd=folder)
    return next(folder.glob("jmx_prometheus_javaagent*.jar"))


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--kafka-exporter", default="", help="the program (default: build it)")
    options.add_argument("--version", default=kafka.TOOLS_VERSION, help="of Kafka")
    options.add_argument("--write", action="store_true", help="put the table into the docs")
    given = options.parse_args()
    if problem := namespaces.problem() or kafka.available(given.version):
        sys.stderr.write(f"{problem}\n")
        return 3
    folder = Path(tempfile.mkdtemp(prefix="kraftool-bench-"))
    rows: dict[str, Shown] = {}
    try:
        program = Path(given.kafka_exporter) if given.kafka_exporter else _built(folder)
        with scene(given.version, folder, program.resolve(), _agent(folder)) as now:
            for name, shown in situations(now):
                rows[name] = shown
                sys.stdout.write(f"{name}\n{table({name: shown})}\n")
                sys.stdout.flush()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if given.write:
        write(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
