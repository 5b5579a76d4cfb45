"""Every command that the docs show runs as it is written there, and exits as it should.

The directories are those of three controllers and a broker, which real Kafka wrote. Commands that
ask running nodes run in tests/interop/test_live_reports.py, those of the README and the tutorial in
test_tutorial.py, those of the help in test_help.py, and pipelines in
tests/spark/test_documented_pipelines.py.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.commands.conftest import Run
from tests.commands.test_help import EXAMPLES
from tests.support.backups import PUBLIC_KEY, back_up
from tests.support.bundles import bundle_of
from tests.support.documented import Example, Machine, Steps, examples
from tests.support.places import LOG, ROOT
from tests.support.ports import HOST, free_ports

pytestmark = pytest.mark.slow

NODES = ("node-1", "node-2", "node-3", "node-11")
UPGRADE = "kafka-4.3.0/upgrade"
CLUSTER = "PEkXprY7S1u0acukNS_ggA"
NAMES = {"POD": "kafka-0", "1234": "120", "CLUSTER_ID": CLUSTER, "ID": CLUSTER, "RELEASE": "4.3"}
ELSEWHERE = {
    "--kafka-home /opt/kafka": "tests/interop/test_storage_kafka.py",
    "--kafka /opt/kafka": "tests/interop/test_recover_cases.py",
    "--to parquet:": "tests/spark/test_live.py",
    "--to kafka:": "tests/interop/test_live.py",
    "s3://bucket/prod": "tests/commands/test_backup_urls.py",
    "--out s3:": "tests/spark/test_tables_in_a_store.py",
    "kraftool node standalone /tmp/controller": "tests/commands/test_node_standalone.py",
    "kraftool recover guide": "tests/commands/test_recover_guide.py",
}
"""What requires more than this machine has, and the tests that run it."""
CODES = {
    "kraftool doctor /etc/kafka/server.properties": 1,
    "kraftool dump-log /var/lib/kafka/data --follow": 130,
    "kraftool simulate-election node-1/data node-2/data node-3/data --down 2 --wipe 3": 1,
    "kraftool simulate-election case.zip": 1,
}
"""Exit codes other than 0: a finding in these directories, or Ctrl-C."""
INTERRUPTED = {
    "kraftool dump-log /var/lib/kafka/data --follow": "159",
    "kraftool node run --config server.properties --role voter --witness": "INFO started",
    "kraftool node run --config /etc/kafka/server.properties --role voter": "INFO started",
}
"""What runs until Ctrl-C, and what it prints before."""
TYPED: dict[str, Steps] = {
    "kraftool watch": [("Quorum", lambda _: "q")],
    "kraftool recover apply": [
        ("Type yes", lambda _: "yes\n"),
        (r"here type \w+:", lambda shown: re.findall(r"here type (\w+):", shown)[0] + "\n"),
    ],
}
"""What requires a terminal: what is typed, once the screen shows what."""


def shown(document: Path, *, pipelines: bool) -> list[Example]:
    """The commands of a document that are run with it: pipelines, or all others."""
    return [
        example
        for example in examples(document)
        if not example.is_live
        and example.line not in EXAMPLES
        and not any(part in example.line for part in ELSEWHERE)
        and ("pipeline" in example.line) is pipelines
    ]


WITH_COMMANDS = [
    path.name
    for path in sorted((ROOT / "docs").glob("*.md"))
    if path.name != "tutorial.md" and shown(path, pipelines=False)
]


class Hosts:
    """The machines of a document, one for each name before a prompt."""

    def __init__(self, folder: Path, fixtures: Path) -> None:
        self.folder = folder
        self.fixtures = fixtures / UPGRADE
        self.machines: dict[str, Machine] = {}

    def of(self, name: str) -> Machine:
        if name not in self.machines:
            self.machines[name] = self._made(name)
        return self.machines[name]

    def _made(self, name: str) -> Machine:
        machine = Machine(self.folder / (name or "machine"), self.folder / "home", NAMES)
        own = name if name in NODES else "node-1"
        for node in NODES:
            self._copy(node, machine, node)
            self._copy(node, machine, f"/archive/{node}")
            self._copy(f"{node}/data", machine, f"/tmp/{node}-data")
            self._copy(f"{node}/data", machine, f"{node}-data")
        for node, letter in zip(NODES[:3], "ABC", strict=True):
            self._copy(node, machine, f"/mnt/controllers/{node}")
            self._copy(f"{node}/data", machine, f"/backup/controller-{node[-1]}")
            self._copy(f"{node}/data", machine, letter)
        for copy in ("/backup/data", "/var/lib/kafka/data", "DIR"):
            self._copy(f"{own}/data", machine, copy)
        back_up(machine.place("/backup/prod"), machine.place("/var/lib/kafka/data"))
        bundle_of(machine.place("/var/lib/kafka/data"), file=machine.place("case.zip"))
        machine.place("/etc/kraftool/age.pub").write_text(PUBLIC_KEY)
        for file in (LOG, "quorum-state"):
            source = self.fixtures / own / "data/__cluster_metadata-0" / file
            if source.exists():
                shutil.copy(source, machine.place(file))
        data = machine.place("/var/lib/kafka/data")
        for path in ("/etc/kafka/server.properties", "server.properties"):
            self._configure(own, machine.place(path), data)
        broker = machine.place("/srv/kafka/data")
        self._copy("node-11/data", machine, "/srv/kafka/data")
        self._configure("node-11", machine.place("/srv/kafka/server.properties"), broker)
        self._configure(own, machine.place("controller.properties"), machine.place("new"))
        machine.program("ssh", "for each; do command=$each; done", 'exec sh -c "$command"')
        pods = [{"metadata": {"name": "kafka-0"}, "spec": {"containers": [{"name": "kafka"}]}}]
        machine.program(
            "kubectl",
            f"""[ $1 = get ] && {{ echo '{json.dumps({"items": pods})}'; exit; }}""",
            "[ $1 = logs ] && exit",
            'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
        )
        return machine

    def _copy(self, source: str, machine: Machine, to: str) -> None:
        if not (place := machine.place(to)).exists():
            shutil.copytree(self.fixtures / source, place)

    def _configure(self, node: str, file: Path, data: Path) -> None:
        settings = (self.fixtures / node / "server.properties").read_text()
        settings = settings.replace("log.dirs=data", f"log.dirs={data}")
        file.write_text(
            re.sub(r"(?<=listeners=CONTROLLER://).*", f"{HOST}:{free_ports(1)[0]}", settings)
        )


def _run(example: Example, machine: Machine) -> tuple[int, str]:
    if once := INTERRUPTED.get(example.line):
        return machine.interrupt(example.line, once)
    for command, steps in TYPED.items():
        if example.line.startswith(command) and "--dry-run" not in example.line:
            return machine.type(example.line, steps)
    return machine.run(example.line)


@pytest.mark.parametrize("document", WITH_COMMANDS)
def test_the_commands_of_a_document_run(document: str, fixtures_dir: Path, tmp_path: Path) -> None:
    hosts = Hosts(tmp_path, fixtures_dir)
    wrong = []
    for example in shown(ROOT / "docs" / document, pipelines=False):
        machine = hosts.of(example.host)
        # These make a directory that is not there yet.
        if "kraftool format" in example.line or "unpack" in example.line:
            shutil.rmtree(machine.place("/var/lib/kafka/data"), ignore_errors=True)
        code, printed = _run(example, machine)
        if code != CODES.get(example.line, 0):
            wrong.append(f"{example}\nexit code {code}\n{printed[-1000:]}")
    assert not wrong, "\n\n".join(wrong)


def test_what_runs_elsewhere_is_there() -> None:
    assert not [path for path in ELSEWHERE.values() if not (ROOT / path).exists()]


def test_the_scenarios_of_the_documentation_run(tmp_path: Path, kraftool: Run) -> None:
    text = (ROOT / "docs/simulate-election.md").read_text()
    examples = [
        "\n".join(line[4:] for line in block.splitlines())
        for block in text.split("\n\n")
        if block.startswith("    ") and "nodes:" in block
    ]
    assert len(examples) == 3
    for number, example in enumerate(examples):
        path = tmp_path / f"{number}.yaml"
        path.write_text(example)
        ran = kraftool("simulate-election", "--runs", 2, "--scenario", path)
        assert ran.err == ""
        assert ran.code == (1 if "lost its log" in example else 0)
