"""Voters of a real quorum that run and do not count: a wrong certificate, and a paused process.

Two of three voters have certificates that all believe. Voter 3 gets one that nobody accepts. It
still fetches from the leader, since it believes the leader's; but nobody can call it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kraftool.client.grades import Grade
from tests.interop import kafka
from tests.interop.clusters import Cluster
from tests.interop.our_commands import document, kraftool
from tests.support.ports import HOST

pytestmark = pytest.mark.interop
SECRET = "CANARY-store"
_GOOD = f"SAN=IP:{HOST}"
WRONG: dict[str, tuple[str, tuple[str, ...], str]] = {
    # SAN, validity, the advice of kraftool
    "unknown": (_GOOD, (), "ssl.truststore.location"),
    "expired": (_GOOD, ("-startdate", "-10d", "-validity", "5"), "renew"),
    "named otherwise": ("SAN=DNS:ctl-3.example", (), "connect by a name in the node's certificate"),
}
"""Voter 3's certificates. All but the first are among those that everybody trusts."""


def _keytool(*arguments: str | Path) -> bytes:
    done = subprocess.run(
        ["keytool", *map(str, arguments), "-storepass", SECRET, "-storetype", "PKCS12"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _certificates(folder: Path) -> None:
    """A keystore for each voter and each wrong certificate, and one truststore."""
    folder.mkdir()
    made: dict[str, tuple[str, tuple[str, ...]]] = {"1": (_GOOD, ()), "2": (_GOOD, ())}
    made |= {name: (san, validity) for name, (san, validity, _) in WRONG.items()}
    for name, (san, validity) in made.items():
        store = folder / f"{name}.p12"
        _keytool(
            *("-genkeypair", "-alias", "node", "-keyalg", "RSA", "-keysize", "2048"),
            *("-dname", f"CN=voter {name}", "-ext", san, "-keystore", str(store)),
            *validity,
        )
        if name == "unknown":
            continue
        certificate = folder / f"{name}.pem"
        certificate.write_bytes(
            _keytool("-exportcert", "-rfc", "-alias", "node", "-keystore", store)
        )
        _keytool(
            *("-importcert", "-noprompt", "-alias", name, "-file", certificate),
            *("-keystore", folder / "trust.p12"),
        )


@dataclass(frozen=True, slots=True)
class Secured:
    """The quorum, and where the stores of its nodes are."""

    cluster: Cluster
    folder: Path

    def ask(self, *words: object, code: int) -> Any:
        """What a command says, as JSON."""
        return document(*words, *self._options(), code=code)

    def text(self, *words: object) -> str:
        done = kraftool(*words, *self._options())
        assert "Traceback" not in done.stderr
        return " ".join(done.stdout.split())

    def _options(self) -> tuple[object, ...]:
        bootstrap = ",".join(node.at("CONTROLLER") for node in self.cluster.controllers)
        config = self.folder / "client.properties"
        return "--bootstrap-controller", bootstrap, "--command-config", config

    def replica(self, watched: Any, node_id: int) -> Any:
        return next(replica for replica in watched["replicas"] if replica["id"] == node_id)

    def restart_with(self, certificate: str) -> None:
        """Start voter 3 with a certificate, after a majority of the others has a leader."""
        node = self.cluster.nodes[3]
        if node.process is not None:
            self.cluster.kill(node)
        node.settings["ssl.keystore.location"] = str(self.folder / f"{certificate}.p12")
        node.write_properties()
        self.cluster.start(node)
        kafka.wait_for("voter 3 to fetch", partial(self._fetches, 3), every=0.5)

    def _fetches(self, node_id: int) -> bool:
        watched = self.ask_any("watch", "--once")
        age_ms = self.replica(watched, node_id)["fetchAgeMs"]
        return age_ms is not None and age_ms < 2_000 and watched["leaderId"] != node_id

    def ask_any(self, *words: object) -> Any:
        """The document of a command, whatever it exits with."""
        done = kraftool(*words, *self._options(), "-o", "json")
        assert "Traceback" not in done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    if problem := kafka.available(kafka.NEWEST):
        pytest.skip(problem)
    root = tmp_path_factory.mktemp("certificates")
    folder = root / "stores"
    _certificates(folder)
    trust = {
        "ssl.truststore.type": "PKCS12",
        "ssl.truststore.location": str(folder / "trust.p12"),
        "ssl.truststore.password": SECRET,
    }
    client = {"security.protocol": "SSL", **trust}
    (folder / "client.properties").write_text(
        "".join(f"{key}={value}\n" for key, value in client.items())
    )
    settings = {
        "listener.security.protocol.map": "CONTROLLER:SSL",
        **trust,
        "ssl.keystore.type": "PKCS12",
        "ssl.keystore.password": SECRET,
        "ssl.key.password": SECRET,
        "ssl.client.auth": "none",
    }
    with Cluster(kafka.NEWEST, root / "nodes", common=settings) as cluster:
        nodes = [cluster.add_node(number, ("controller",)) for number in (1, 2, 3)]
        for node in nodes:
            node.settings |= settings
            node.settings["ssl.keystore.location"] = str(folder / f"{node.id}.p12")
        cluster.use_bootstrap_servers()
        cluster.format(nodes, "--initial-controllers", cluster.initial_controllers())
        cluster.start(*nodes[:2])
        yield Secured(cluster, folder)


@pytest.mark.parametrize(
    "certificate",
    [name if name == "unknown" else pytest.param(name, marks=pytest.mark.soak) for name in WRONG],
)
def test_a_voter_whose_certificate_nobody_accepts_runs_but_is_no_spare(
    secured: Secured, certificate: str
) -> None:
    """A quorum that counted it lost its leader for good when the leader was stopped."""
    secured.restart_with(certificate)
    watched = secured.ask("watch", "--once", code=1)
    assert watched["leaderId"] in (1, 2)
    assert watched["tolerance"]["failureCount"] == 0
    assert secured.replica(watched, 3)["grade"] == Grade.OUT_OF_REACH.value
    shown = secured.text("watch", "--once")
    assert "start it" not in shown
    assert WRONG[certificate][2] in shown
    assert "--resolve" not in shown or certificate == "named otherwise"
    checked = secured.ask("quorum", "health", code=1)
    assert checked["health"]["readyVoterIds"] == [1, 2]
    asked = secured.ask("quorum", "may-stop", watched["leaderId"], code=1)
    assert asked["mayStop"]["verdict"] == "not now"


def test_a_paused_process_of_this_machine_is_named_and_not_started_again(
    secured: Secured,
) -> None:
    secured.restart_with("expired")
    node = secured.cluster.nodes[3]
    assert node.process is not None
    os.kill(node.process.pid, signal.SIGSTOP)
    try:
        words = ("watch", "--once", node.metadata_log_dir, "--timeout", 2)
        watched = kafka.wait_for(
            "voter 3 to be silent",
            lambda: (
                secured.replica(shown := secured.ask_any(*words), 3)["grade"] == "hangs" and shown
            ),
            every=0.5,
        )
        assert f"pid {node.process.pid} holds its lock but does not answer" in str(watched)
        shown = secured.text(*words)
        assert "✓ start it" not in shown
        assert "check if the process is paused or hangs before you restart it" in shown
    finally:
        os.kill(node.process.pid, signal.SIGCONT)
