"""Makes the JVMs of Spark start with less CPU: an archive of the classes that Spark loads.

A Spark spends most CPU of its first seconds on loading classes from 280 jars. The JVM can keep
loaded classes in a file (class data sharing, JEP 350) and map that file at the next start. The
classes are the same: a JVM ignores an archive that does not match its jars or its version.

The archive is made once for each virtual environment and Java, by `class_archive_job.py`.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from kraftool.spark.java import find_java
from tests.support.places import ROOT

PLAIN = Path(__file__).resolve().parent / "conf"
"""The settings of each Spark of the tests, without an archive."""

_DEFAULTS = "spark-defaults.conf"
_SIDES = ("driver", "executor")
_TIMEOUT_S = 1200


class ArchiveFailed(Exception):
    """Spark did not write the archive of its classes."""


@functools.cache
def settings_folder() -> Path:
    """Return the folder for SPARK_CONF_DIR: the plain settings, and the archive; made once.

    Without an archive the tests only take longer, so that pytest warns of it.
    """
    import pyspark

    home = Path(pyspark.__file__).parent
    kept = Path(sys.prefix) / "spark-classes"
    if not os.access(sys.prefix, os.W_OK):
        return PLAIN
    kept.mkdir(exist_ok=True)
    with (kept / "lock").open("w") as lock, tempfile.TemporaryDirectory(dir=kept) as name:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the workers of a test run start at the same time
        java = find_java(Path(name)).home
        folder = kept / _digest(java, pyspark.__version__, home)
        if not (folder / _DEFAULTS).exists():
            try:
                _make(folder, home, java, Path(name))
            except (ArchiveFailed, subprocess.TimeoutExpired) as error:
                warnings.warn(str(error), stacklevel=1)
                return PLAIN
    return folder


def variables() -> dict[str, str]:
    """Return the environment by which Spark's own programs start as the Sparks of the tests do.

    Spark's daemons, a master and a worker, read no settings for their JVMs from the folder.
    """
    folder = Path(os.environ["SPARK_CONF_DIR"])
    lines = [line.split(maxsplit=1) for line in (folder / _DEFAULTS).read_text().splitlines()]
    settings = {line[0]: line[1] for line in lines if len(line) > 1}
    return {
        "SPARK_CONF_DIR": str(folder),
        "SPARK_DAEMON_JAVA_OPTS": settings["spark.driver.extraJavaOptions"],
        "SPARK_DAEMON_CLASSPATH": settings.get("spark.driver.extraClassPath", ""),
    }


def _digest(java: Path, version: str, home: Path) -> str:
    """Return a name for what an archive depends on."""
    done = subprocess.run([java / "bin" / "java", "-version"], capture_output=True, check=False)
    depends = [done.stderr, version.encode(), os.fsencode(home), (PLAIN / _DEFAULTS).read_bytes()]
    return hashlib.sha256(b"\0".join(depends)).hexdigest()[:12]


def _make(folder: Path, home: Path, java: Path, temporary: Path) -> None:
    folder.mkdir(exist_ok=True)
    made, archive = temporary / "made.jsa", folder / "spark.jsa"
    _write_settings(temporary, home, f"-XX:ArchiveClassesAtExit={made}")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPARK")}
    own = {
        "JAVA_HOME": str(java),
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(temporary),
        "PYTHONPATH": str(ROOT),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    job = Path(__file__).with_name("class_archive_job.py")
    done = subprocess.run(
        [home / "bin" / "spark-submit", "--driver-memory", "600m", job, temporary],
        cwd=temporary,
        env=inherited | own,
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIMEOUT_S,
    )
    if done.returncode or not made.exists():
        raise ArchiveFailed(
            f"no archive of classes was made:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    made.rename(archive)
    _write_settings(temporary, home, f"-XX:SharedArchiveFile={archive}")
    (temporary / _DEFAULTS).rename(folder / _DEFAULTS)  # it appears when all is there


def _write_settings(folder: Path, home: Path, option: str) -> None:
    """Write the plain settings with one more option for the JVMs.

    An archive requires that the jars come first. Spark puts the folder of its settings there, which
    only spark.*.extraClassPath precedes. What a JVM says of an archive is no output of a test.
    """
    lines = (PLAIN / _DEFAULTS).read_text().splitlines()
    for side in _SIDES:
        name = f"spark.{side}.extraJavaOptions "
        (at,) = (number for number, line in enumerate(lines) if line.startswith(name))
        lines[at] += f" -Xlog:disable {option}"
        lines.append(f"spark.{side}.extraClassPath {home / 'jars'}/*")
    (folder / _DEFAULTS).write_text("".join(f"{line}\n" for line in lines))
