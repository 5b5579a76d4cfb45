"""Runs released Apache Kafka: its jars, tools and processes, as the peer of the interop tests.

Owns the jar cache (brought by Maven the first time a version is wanted), the java command lines,
and the life of one JVM: start, wait for something observable, stop, kill. Knows nothing of quorums
or of what is tested; `clusters.py` does. Refuses to leave a process behind: every `Process` is a
context manager.

The cache is `KAFKA_CACHE` (default ~/.cache/kafka-peer), one folder a version with a file
`complete` in it when it is usable. It also keeps compiled Java sources of the tests, and for each
version an archive of the classes that its server loads: a start takes half of the CPU with it.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, TypeVar

from tests.interop import java_start

T = TypeVar("T")

VERSIONS = ("3.3.2", "3.7.2", "3.9.1", "4.1.1", "4.3.0", "4.4.0")
"""The releases that the fixtures come from; each runs on Java 17."""

SOAKED = (*VERSIONS, "4.3.1")
"""The releases of the soak: a release without new features has no fixtures of its own."""

NEWEST = VERSIONS[-1]

TOOLS_VERSION = "4.3.0"
"""The newest release whose tools are all published, kafka-shell too."""

WITHOUT_SHELL = ("4.4.0",)
"""Releases whose kafka-shell is not published."""

PATIENCE_S = 120.0
"""Of a test for what comes in a second or two on a machine that does nothing else."""

_UTF8 = ("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Dsun.stdout.encoding=UTF-8")
# Short-lived JVMs on few cores: the optimising compiler and a parallel collector only cost time.
_LIGHT = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:-UsePerfData")
AS_SHIPPED = (
    *("-Xms1G", "-Xmx1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent"),
    *("-XX:MaxInlineLevel=15", "-Djava.awt.headless=true"),
)
"""What Kafka's own start script gives a server."""
# What the JVM itself warns of does not belong to the output of a tool.
_QUIET = ("-Xlog:disable", "-Xlog:all=warning:stderr")

_LOG4J1 = """\
log4j.rootLogger=${klevel}, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_LOG4J2 = """\
rootLogger.level=${sys:klevel:-WARN}
rootLogger.appenderRef.stderr.ref=STDERR
appender.stderr.type=Console
appender.stderr.name=STDERR
appender.stderr.target=SYSTEM_ERR
appender.stderr.layout.type=PatternLayout
appender.stderr.layout.pattern=[%d] %p %m (%c)%n
"""


def at_least(version: str, floor: str) -> bool:
    """Whether a Kafka version is `floor` or newer (numbers compared, not text)."""

    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".")]

    return numbers(version) >= numbers(floor)


class KafkaFailed(AssertionError):
    """A Kafka process ended, or did not get somewhere, against what the caller relies on."""


# --- jars ---------------------------------------------------------------------------------------


def cache() -> Path:
    """The folder that keeps one folder of jars for each Kafka version."""
    return Path(os.environ.get("KAFKA_CACHE") or Path.home() / ".cache" / "kafka-peer")


@functools.cache
def _java_problem() -> str | None:
    java = shutil.which("java")
    hint = "install a JDK, 17 or newer (Debian, Ubuntu: apt-get install openjdk-17-jdk-headless)"
    if java is None:
        return f"no java on the PATH: {hint}"
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    match = re.search(r'version "(\d+)', shown)
    if match is None or int(match.group(1)) < 17:
        return f"java 17 is needed, `java -version` says {shown.splitlines()[:1]}: {hint}"
    return None


def available(*versions: str) -> str | None:
    """Why real Kafka cannot run here, with how to mend it; None when it can.

    Maven is only missed when a wanted version is not in the cache yet.
    """
    if problem := _java_problem():
        return problem
    missing = [version for version in versions or (TOOLS_VERSION,) if not _is_complete(version)]
    if missing and shutil.which("mvn") is None:
        return (
            f"no mvn on the PATH to bring Kafka {', '.join(missing)}: "
            "install Maven (Debian, Ubuntu: apt-get install maven)"
        )
    return None


def _dependency(artifact: str, version: str, group: str = "org.apache.kafka") -> str:
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>\n"
    )


def _pom(version: str) -> str:
    artifacts = ["kafka_2.13", "kafka-tools"]
    if version not in WITHOUT_SHELL:
        artifacts.append("kafka-shell")
    wanted = "".join(_dependency(artifact, version) for artifact in artifacts)
    # A logging backend is what the jars leave to the distribution.
    if version.startswith("3."):
        wanted += _dependency("slf4j-reload4j", "1.7.36", "org.slf4j")
    else:
        for artifact in ("log4j-slf4j-impl", "log4j-core"):
            wanted += _dependency(artifact, "2.24.3", "org.apache.logging.log4j")
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>peer</groupId><artifactId>kafka</artifactId>"
        f"<version>1</version><dependencies>\n{wanted}</dependencies></project>\n"
    )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # released when the file is closed, also by a crash
        yield


def _is_complete(version: str) -> bool:
    """True if the cache has the artifacts that are wanted now."""
    folder = cache() / version
    if not (folder / "complete").exists():
        return False
    return (folder / "pom.xml").read_text() == _pom(version)


def home(version: str) -> Path:
    """The folder with `libs/` and `conf/` of a release; brings it when it is not there."""
    folder = cache() / version
    if _is_complete(version):
        return folder
    if problem := available(version):
        raise KafkaFailed(problem)
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(cache() / f"{version}.lock"):
        if not _is_complete(version):
            (folder / "complete").unlink(missing_ok=True)
            shutil.rmtree(folder / "libs", ignore_errors=True)
            for archive in folder.glob("*.jsa"):  # of the classes in these jars
                archive.unlink()
            (folder / "conf").mkdir(exist_ok=True)
            (folder / "pom.xml").write_text(_pom(version))
            plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
            command = ["mvn", "-q", "-B", "-Dstyle.color=never", plugin, "-DoutputDirectory=libs"]
            done = subprocess.run(
                [*command, "-DincludeScope=runtime"],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise KafkaFailed(
                    f"Maven could not bring Kafka {version}:\n{done.stdout}{done.stderr}"
                )
            (folder / "conf" / "log4j.properties").write_text(_LOG4J1)
            (folder / "conf" / "log4j2.properties").write_text(_LOG4J2)
            (folder / "complete").touch()
    return folder


def classpath(version: str) -> str:
    """The java class path of a release. An archive of classes requires that the jars come first."""
    folder = home(version)
    return f"{folder / 'libs'}/*:{folder / 'conf'}"


def compiled(version: str, *sources: Path) -> Path:
    """The folder of the classes of Java sources, compiled with a release's jars."""
    name = f"{sources[0].stem}-{version}"
    return java_start.compiled(sources, classpath(version), cache(), name)


def jar(version: str, artifact: str) -> Path:
    """One jar of a release, e.g. `jar("4.3.0", "kafka-clients")`."""
    return home(version) / "libs" / f"{artifact}-{version}.jar"


# --- command lines ------------------------------------------------------------------------------


def tools_version(version: str) -> str:
    """The release whose tools are run in one JVM against a server of `version`.

    4.4 moved the class by which ToolsEach.java keeps a tool from ending the JVM.
    """
    return TOOLS_VERSION if at_least(version, "4.4") else version


def dump_log_class(version: str) -> str:
    """The class behind kafka-dump-log; it moved in 4.2."""
    moved = tuple(map(int, version.split(".")[:2])) >= (4, 2)
    return ("org.apache.kafka.tools" if moved else "kafka.tools") + ".DumpLogSegments"


def java_command(
    version: str,
    target: str | Path,
    *args: str,
    heap: str = "-Xmx512m",
    level: str | None = None,
    options: Sequence[str] = (),
) -> list[str]:
    """The argument list that runs a class or a single-file Java source on a release's jars.

    The JVM is made for a short life; `options` are others in place of these.
    """
    path = classpath(version)
    if isinstance(target, Path):
        path, target = f"{path}:{compiled(version, target)}", target.stem
    chosen = level or os.environ.get("KLEVEL") or "WARN"
    return [
        *("java", *(options or (heap, *_LIGHT)), *_QUIET, *_archived(version), *_UTF8),
        *(f"-Dklevel={chosen}", "-cp", path, target, *args),
    ]


def light(version: str) -> str:
    """KAFKA_HEAP_OPTS with which a Kafka that another program starts takes as little CPU."""
    return " ".join(("-Xmx300m", *_LIGHT, *_archived(version)))


def run(
    version: str,
    target: str | Path,
    *args: str,
    cwd: Path | None = None,
    stdin: bytes = b"",
    timeout: float = 180,
    check: bool = False,
    heap: str = "-Xmx512m",
) -> subprocess.CompletedProcess[bytes]:
    """Run a class to its end; stdout and stderr are bytes (UTF-8), since tests compare bytes."""
    command = java_command(version, target, *args, heap=heap)
    done = subprocess.run(
        command, cwd=cwd, input=stdin, capture_output=True, timeout=timeout, check=False
    )
    if check and done.returncode:
        shown = (done.stdout + done.stderr).decode(errors="replace")
        raise KafkaFailed(f"{target} {' '.join(args)} ended with {done.returncode}:\n{shown}")
    return done


def run_source(
    version: str,
    java_file: Path,
    *args: str,
    cwd: Path | None = None,
    stdin: bytes = b"",
    timeout: float = 300,
    check: bool = False,
    heap: str = "-Xmx512m",
) -> subprocess.CompletedProcess[bytes]:
    """Run one Java source file on a release's jars."""
    return run(
        version,
        java_file.resolve(),
        *args,
        cwd=cwd,
        stdin=stdin,
        timeout=timeout,
        check=check,
        heap=heap,
    )


# --- processes ----------------------------------------------------------------------------------


def wait_for(
    what: str, probe: Callable[[], T | None], *, timeout: float = PATIENCE_S, every: float = 0.05
) -> T:
    """Ask `probe` until it answers with something true; fail naming `what` when time is up."""
    deadline = time.monotonic() + timeout
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise KafkaFailed(f"waited {timeout:g} s in vain for {what}")
        time.sleep(every)


def _die_with_parent() -> None:
    """Linux: a test run that is itself killed takes its JVMs along, though it cannot clean up."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


class Process:
    """One running JVM; stderr (the log) and, unless piped, stdout go to a file that is kept."""

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        *,
        cwd: Path | None = None,
        piped: bool = False,
    ) -> None:
        self.log = log
        self.log_start = log.stat().st_size if log.exists() else 0
        with log.open("ab") as sink:
            self._popen: subprocess.Popen[bytes] = subprocess.Popen(
                command,
                cwd=cwd,
                stdin=subprocess.PIPE if piped else subprocess.DEVNULL,
                stdout=subprocess.PIPE if piped else sink,
                stderr=sink,
                preexec_fn=_die_with_parent,
                start_new_session=True,  # a Ctrl-C at the test is ours to handle first
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def stdin(self) -> IO[bytes]:
        assert self._popen.stdin is not None
        return self._popen.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self._popen.stdout is not None
        return self._popen.stdout

    def alive(self) -> bool:
        return self._popen.poll() is None

    def output(self) -> str:
        """What this process has logged so far (an earlier one may have used the same file)."""
        with self.log.open("rb") as source:
            source.seek(self.log_start)
            return source.read().decode(errors="replace")

    def require_alive(self) -> None:
        if not self.alive():
            raise KafkaFailed(
                f"process ended with {self._popen.returncode}; its log {self.log} ends:\n"
                f"{self.output()[-3000:]}"
            )

    def wait_for_line(self, pattern: str, *, timeout: float = PATIENCE_S) -> re.Match[str]:
        """Wait until the log has a line with `pattern`; fail at once when the process ends."""
        expression = re.compile(pattern)

        def probe() -> re.Match[str] | None:
            match = expression.search(self.output())
            if match is None:
                self.require_alive()
            return match

        return wait_for(f"/{pattern}/ in {self.log}", probe, timeout=timeout, every=0.1)

    def stop(self, *, timeout: float = PATIENCE_S) -> int:
        """Ask for a clean shutdown and wait for it; killed, and an error, when it does not come."""
        if self.alive():
            self._popen.send_signal(signal.SIGTERM)
            try:
                self._popen.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise KafkaFailed(
                    f"no clean shutdown within {timeout:g} s; see {self.log}"
                ) from None
        return self._popen.returncode

    def kill(self) -> None:
        """kill -9 and wait until it is gone."""
        if self.alive():
            self._popen.kill()
        self._popen.wait(30)

    def close(self) -> None:
        self.kill()
        for stream in (self._popen.stdin, self._popen.stdout):
            if stream is not None:
                stream.close()

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


# --- archives of classes ------------------------------------------------------------------------


@functools.cache
def _archived(version: str) -> tuple[str, ...]:
    """The option that maps the classes of a release's server; makes their archive once."""
    archive = home(version) / java_start.archive_name()
    if not archive.exists():
        with _locked(cache() / f"{version}.lock"):
            if not archive.exists():
                _archive_classes(version, archive)
    return (f"-XX:SharedArchiveFile={archive}",)


def _archive_classes(version: str, archive: Path) -> None:
    java = ["java", *_LIGHT, *_QUIET, "-Dklevel=INFO", "-cp", classpath(version)]
    with tempfile.TemporaryDirectory(dir=cache()) as name:
        folder = Path(name)
        java_start.write_server(folder)
        identity = ("--cluster-id", "xxuyFdGYSvOPfcYJRNjaMA", "--config", "server.properties")
        format = [*java, "kafka.tools.StorageTool", "format", *identity]
        subprocess.run(format, cwd=folder, capture_output=True, check=True, timeout=PATIENCE_S)
        made = folder / archive.name
        java.insert(1, f"-XX:ArchiveClassesAtExit={made}")
        command = [*java, "kafka.Kafka", "server.properties"]
        with Process(command, folder / "server.log", cwd=folder) as process:
            process.wait_for_line("Kafka Server started")
            process.stop()
            if not made.exists():
                raise KafkaFailed(f"no archive of classes was made:\n{process.output()[-3000:]}")
        made.rename(archive)  # the name appears when the file is whole
