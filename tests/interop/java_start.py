"""Makes the JVMs of the tests start with less CPU: compiled sources, and archives of classes.

A Kafka spends most CPU of its first seconds on loading classes from jars. The JVM can keep loaded
classes in a file (class data sharing, JEP 350) and map that file at the next start. The classes
are the same: a JVM ignores an archive that does not match its jars.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_SERVER = """\
process.roles=broker,controller
node.id=1
listeners=BROKER://127.0.0.1:0,CONTROLLER://127.0.0.1:{port}
advertised.listeners=BROKER://127.0.0.1:1
inter.broker.listener.name=BROKER
controller.listener.names=CONTROLLER
listener.security.protocol.map=BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.quorum.voters=1@127.0.0.1:{port}
log.dirs=data
"""


class CompileFailed(AssertionError):
    """javac refused a source."""


def compiled(sources: Sequence[Path], classpath: str, cache: Path, name: str) -> Path:
    """Return the folder of the classes of some sources, compiled once for each of their states."""
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    folder = cache / f"{name}-{digest}"
    if not folder.exists():
        # A second process may compile at the same time: the first one to finish gives the name.
        made = Path(tempfile.mkdtemp(dir=cache, prefix=f".{name}-"))
        command = ["javac", "-nowarn", "-proc:none", "-cp", classpath, "-d", str(made)]
        done = subprocess.run(
            [*command, *map(str, sources)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise CompileFailed(f"javac cannot compile {name}:\n{done.stderr}")
        try:
            made.rename(folder)
        except OSError:
            shutil.rmtree(made)
    return folder


@functools.cache
def archive_name() -> str:
    """Return the file name of an archive of this JVM: another JVM cannot read it."""
    done = subprocess.run(["java", "-version"], capture_output=True, check=False)
    return f"server-{hashlib.sha256(done.stderr).hexdigest()[:12]}.jsa"


def write_server(folder: Path) -> None:
    """Write the server.properties of a lone broker and controller."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "server.properties").write_text(_SERVER.format(port=port))
