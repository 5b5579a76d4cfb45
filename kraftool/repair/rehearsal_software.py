"""The software that runs on copies, and its processes: Kafka if it is given, otherwise kraftool's
own node.

Owns how each is started, and that none of them outlives the rehearsal, however that ends.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import kraftool
from kraftool.decoders.errors import KraftoolError
from kraftool.repair.rehearsal_local import HOST, LocalNode
from kraftool.reports.logs.processes import ends_with_parent

_PORTS = range(20_000, 30_000)
_MOST_LOG = 64 << 10
_HEAP = "-Xmx512m"
_OF_REAL_NODES = frozenset({"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
_VERSION = re.compile(r"kafka-clients-(\d[\w.-]*)\.jar\Z")
_LOG4J = """\
log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_LOG4J2 = """\
rootLogger.level=WARN
rootLogger.appenderRef.stderr.ref=STDERR
appender.stderr.type=Console
appender.stderr.name=STDERR
appender.stderr.target=SYSTEM_ERR
appender.stderr.layout.type=PatternLayout
appender.stderr.layout.pattern=[%d] %p %m (%c)%n
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Software:
    """The software that runs on the copies."""

    name: str
    command: tuple[str, ...]
    """The node's server.properties comes last."""
    environment: Mapping[str, str]


def kafka_at(home: str, folder: str) -> Software:
    """The Kafka of a distribution's folder. Raises KraftoolError where it cannot be run."""
    libraries = os.path.join(home, "libs")
    try:
        names = sorted(os.listdir(libraries))
    except OSError as error:
        raise KraftoolError(
            f"{libraries}: {error.strerror}",
            hint="name the folder of a Kafka, which has libs/, with --kafka or KAFKA_HOME",
        ) from error
    versions = [match[1] for name in names if (match := _VERSION.match(name)) is not None]
    if not versions:
        raise KraftoolError(f"{libraries} has no kafka-clients: it does not belong to a Kafka")
    java = shutil.which(os.path.join(os.environ.get("JAVA_HOME", ""), "bin", "java"))
    java = java or shutil.which("java")
    if java is None:
        raise KraftoolError("there is no java to run Kafka with", hint="set JAVA_HOME, or PATH")
    logging = []
    for name, key, text in (
        ("log4j.properties", "log4j.configuration", _LOG4J),
        ("log4j2.properties", "log4j2.configurationFile", _LOG4J2),
    ):
        path = os.path.join(folder, name)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
        logging.append(f"-D{key}=file:{path}")
    heap = os.environ.get("KAFKA_HEAP_OPTS", _HEAP).split()
    classes = os.path.join(libraries, "*")
    return Software(
        name=f"Kafka {versions[0]}",
        command=(java, *heap, *logging, "-cp", classes, "kafka.Kafka"),
        environment={},
    )


def own_node() -> Software:
    """kraftool's node, which leads without a controller."""
    above = os.path.dirname(os.path.dirname(os.path.realpath(kraftool.__file__)))
    paths = [above, *filter(None, [os.environ.get("PYTHONPATH", "")])]
    run = ("-m", "kraftool", "node", "run", "--config")
    return Software(
        name="kraftool's own node",
        command=(sys.executable, *run),
        environment={"PYTHONPATH": os.pathsep.join(paths)},
    )


# --- running ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A node's process."""

    node: LocalNode
    process: subprocess.Popen[bytes]
    log: str

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def last_words(self) -> str:
        """The last line of its log that tells of an error, or else the last."""
        with open(self.log, "rb") as file:
            file.seek(max(os.path.getsize(self.log) - _MOST_LOG, 0))
            lines = file.read().decode("utf-8", "replace").splitlines()
        events = [line for line in lines if line.strip() and not line.startswith(("\t", "Caused"))]
        bad = [line for line in events if "ERROR" in line or "FATAL" in line or "Exception" in line]
        return (bad or events or ["it said nothing"])[-1][:300]


@contextmanager
def running(software: Software, nodes: Sequence[LocalNode]) -> Iterator[tuple[Running, ...]]:
    """Processes for the nodes; none is left when the block is."""
    runs: list[Running] = []
    preparing = ends_with_parent(signal.SIGKILL)
    try:
        for node in nodes:
            log = os.path.join(node.folder, "node.log")
            with open(log, "xb") as sink:
                process = subprocess.Popen(
                    [*software.command, node.config],
                    cwd=node.folder,
                    env=_environment(software),
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=sink,
                    start_new_session=True,  # a Ctrl-C is the rehearsal's, which ends them
                    preexec_fn=preparing,
                )
            runs.append(Running(node=node, process=process, log=log))
        yield tuple(runs)
    finally:
        for one in runs:
            one.process.kill()
        for one in runs:
            one.process.wait()


def _environment(software: Software) -> dict[str, str]:
    """Ours, without what would have every Java load agents of real nodes."""
    kept = {name: value for name, value in os.environ.items() if name not in _OF_REAL_NODES}
    return {**kept, **software.environment}


def free_ports(stack: ExitStack, count: int) -> list[int]:
    """Ports of the loopback interface at which nobody listens as long as the stack lasts, or until
    it ends for somebody to listen there. They are not of those that the system gives to outgoing
    connections, one of which could take a port in between."""
    held: list[socket.socket] = []
    untried = [*_PORTS]
    random.SystemRandom().shuffle(untried)  # not seeded alike in two processes
    while len(held) < count and untried:
        tried = socket.socket()
        try:
            tried.bind((HOST, untried.pop()))
        except OSError:
            tried.close()
        else:
            held.append(stack.enter_context(tried))
    if len(held) < count:
        raise KraftoolError(f"no ports are free on {HOST} to run nodes at")
    return [held_socket.getsockname()[1] for held_socket in held]
