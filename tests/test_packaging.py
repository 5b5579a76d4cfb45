"""What is in the wheel and the sdist: a lost link would drop a whole package in silence.

The packages are built from a copy of the sources, so that nothing stale in build/ is packed and
the tree of whoever runs the tests stays as it was. CI names with KRAFTOOL_DIST the folder in which
`make wheel` makes the same packages beside the tests.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.places import ROOT

pytestmark = pytest.mark.slow

LINKED = ("decoders", "commands", "tui")
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")
SOURCES = (*FILES, "kraftool", "pyspark_kraft", "man", *LINKED)
CRATES = ROOT / "decoders" / "native"
BUILT = ("_native.abi3.so", "_native.pyd")
PURE = "-py3-none-any.whl"
COMPLETE = ".complete"
"""`make wheel` writes this file last."""
needs_rust = pytest.mark.skipif(shutil.which("cargo") is None, reason="needs Rust: cargo")


AS_FAST_AS_CAN_BE = {
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
}
"""Settings of Cargo for a module that no test runs: optimizing it takes most of a build's CPU."""


def _build(kind: str, source: Path, out: Path, **environment: str) -> None:
    """Build an sdist or a wheel, as `python -m build` asks the project's backend for it."""
    out.mkdir(exist_ok=True)
    # What the crates need is built once, where the native module is.
    environment = {"CARGO_TARGET_DIR": str(CRATES / "target"), **environment}
    program = f"from setuptools import build_meta; build_meta.build_{kind}({str(out)!r})"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd=source,
        env=os.environ | AS_FAST_AS_CAN_BE | {"KRAFTOOL_PURE": "0"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    no_caches = shutil.ignore_patterns("__pycache__", "target", *BUILT)
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=no_caches)
        else:
            shutil.copy(ROOT / name, source / name)
    return source


@pytest.fixture(scope="module")
def dist(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel that is built from it."""
    made = Path(os.environ.get("KRAFTOOL_DIST", "/nowhere"))
    if (made / COMPLETE).exists():
        return made
    out = tmp_path_factory.mktemp("dist")
    _build("sdist", source, out)
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(unpacked := tmp_path_factory.mktemp("unpacked"), filter="data")
    _build("wheel", next(unpacked.iterdir()), out)
    return out


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    """The wheel with the native module, if there is a Rust to build it."""
    wheels = [path for path in dist.glob("*.whl") if not path.name.endswith(PURE)]
    (wheel,) = wheels or dist.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def in_wheel(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _python_files(folder: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")}


@pytest.mark.parametrize("folder", LINKED)
def test_the_links_are_relative_and_lead_to_the_folders(folder: str) -> None:
    link = ROOT / "kraftool" / folder
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{folder}"


def test_every_module_of_the_wheel_is_as_it_is_here(wheel: Path) -> None:
    """So a dist/ that was made of other sources fails, whoever named it."""
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in archive.namelist() if name.endswith(".py")}
    own = [name for folder in ("kraftool", "pyspark_kraft") for name in _python_files(folder)]
    own += [f"kraftool/{name}" for folder in LINKED for name in _python_files(folder)]
    assert sorted(packed) == sorted(own)
    assert [name for name in own if packed[name] != (ROOT / name).read_bytes()] == []


def test_the_wheel_has_what_is_not_python(in_wheel: set[str]) -> None:
    assert {"kraftool/py.typed", "kraftool/commands/demo.tar.gz"} <= in_wheel
    man = {Path(name).name for name in in_wheel if "/share/man/man1/" in name}
    assert man == {path.name for path in (ROOT / "man").glob("*.1")}
    assert man
    style_sheets = {f"kraftool/{path.relative_to(ROOT)}" for path in (ROOT / "tui").rglob("*.tcss")}
    assert style_sheets <= in_wheel


def test_the_wheel_installs_one_import_root_and_what_spark_looks_for(in_wheel: set[str]) -> None:
    """Spark finds a format only by a package of this name."""
    roots = {name.partition("/")[0] for name in in_wheel}
    own = {root for root in roots if not root.endswith((".dist-info", ".data"))}
    assert own == {"kraftool", "pyspark_kraft"}
    assert {name for name in in_wheel if name.startswith("pyspark_")} == {
        "pyspark_kraft/__init__.py"
    }


@needs_rust
def test_a_wheel_with_the_native_module_fits_its_platform(wheel: Path, in_wheel: set[str]) -> None:
    assert "-cp311-abi3-" in wheel.name
    assert {f"kraftool/decoders/{name}" for name in BUILT} & in_wheel
    assert "kraftool/decoders/_native.pyi" in in_wheel


def _pure_wheel(source: Path, out: Path, **environment: str) -> tuple[Path, set[str], str]:
    """A wheel, what is in it, and what it says of itself."""
    shutil.rmtree(source / "build", ignore_errors=True)
    _build("wheel", source, out, **environment)
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (name,) = (name for name in names if name.endswith(".dist-info/WHEEL"))
        return wheel, names, archive.read(name).decode()


def test_a_package_of_a_tagged_commit_has_the_version_of_the_tag(
    source: Path, tmp_path: Path
) -> None:
    """The wheel is built from the sdist, in which nothing but its files says the version."""
    tagged = tmp_path / "tagged"
    shutil.copytree(source, tagged, symlinks=True)
    author = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), (*author, "commit", "-q", "--allow-empty", "-m", "Release")):
        subprocess.run(["git", *words], cwd=tagged, check=True)
    for tag in ("v9.8.7", "v9.8.7rc1", "other"):
        subprocess.run(["git", "tag", tag], cwd=tagged, check=True)
    _build("sdist", tagged, tmp_path)
    (sdist,) = tmp_path.glob("*.tar.gz")
    assert sdist.name == "kraftool-9.8.7.tar.gz"
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    wheel, _, _ = _pure_wheel(unpacked, tmp_path / "wheels", KRAFTOOL_PURE="1")
    assert wheel.name == "kraftool-9.8.7-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive_of_wheel:
        assert b'__version__ = "9.8.7"\n' in archive_of_wheel.read("kraftool/__init__.py")
    assert b"9.8.7" not in (tagged / "kraftool/__init__.py").read_bytes()


def _without_rust(folder: Path) -> dict[str, str]:
    return {"PATH": str(folder)}


def _with_rust_that_fails(folder: Path) -> dict[str, str]:
    cargo = folder / "cargo"
    cargo.write_text("#!/bin/sh\nexit 1\n")
    cargo.chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize("machine", [_without_rust, _with_rust_that_fails])
def test_a_wheel_without_the_native_module_fits_every_platform(
    machine: Callable[[Path], dict[str, str]], source: Path, in_wheel: set[str], tmp_path: Path
) -> None:
    """Apart from the module it has the files of the wheel that is built from the sdist."""
    (tmp_path / "bin").mkdir()
    wheel, names, says = _pure_wheel(source, tmp_path / "out", **machine(tmp_path / "bin"))
    assert wheel.name.endswith(PURE)
    assert "Root-Is-Purelib: true" in says
    assert says.count("Tag:") == 1
    assert names == in_wheel - {f"kraftool/decoders/{name}" for name in BUILT}
    assert {f"kraftool/{name}" for name in _python_files("decoders")} <= names


def test_the_site_that_the_build_was_given_is_in_the_wheel(
    source: Path, in_wheel: set[str], tmp_path: Path
) -> None:
    site = {"KRAFTOOL_SITE": "https://kraftool.example/", "KRAFTOOL_PURE": "1"}
    wheel, names, _ = _pure_wheel(source, tmp_path, **site)
    address = "kraftool/commands/site.txt"
    assert names - in_wheel == {address}
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read(address) == b"https://kraftool.example\n"


def test_the_sdist_has_the_crates_and_nothing_that_was_built_of_them(dist: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    # The fuzz target is for the repository: it requires the seeds that tests/ writes.
    crates = [CRATES / "core", CRATES / "binding"]
    sources = {str(path.relative_to(ROOT)) for crate in crates for path in crate.glob("src/*.rs")}
    assert sources
    assert {"decoders/native/Cargo.lock", *sources} <= packed
    assert not [name for name in packed if "target" in name.split("/") or name.endswith(BUILT)]
