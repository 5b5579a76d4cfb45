"""What is in the wheel and the sdist: a lost link would drop a whole package in silence.

The packages are built from a copy of the sources, so that nothing stale in build/ is packed and
the tree of whoever runs the tests stays as it was.
"""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
LINKED = ("decoders", "commands", "tui")
SOURCES = (
    "pyproject.toml",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "kraftool",
    "pyspark_kraft",
    "man",
    *LINKED,
)


def _build(source: Path, out: Path, *kinds: str) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", *kinds]
    done = subprocess.run(
        [*command, "--outdir", str(out), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    no_caches = shutil.ignore_patterns("__pycache__", "target")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, symlinks=True, ignore=no_caches)
        else:
            shutil.copy(ROOT / name, source / name)
    out = tmp_path_factory.mktemp("dist")
    _build(source, out, "--wheel", "--sdist")
    return out


@pytest.fixture(scope="module")
def in_wheel(dist: Path) -> set[str]:
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def _python_files(folder: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")}


@pytest.mark.parametrize("folder", LINKED)
def test_the_links_are_relative_and_lead_to_the_folders(folder: str) -> None:
    link = ROOT / "kraftool" / folder
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{folder}"


@pytest.mark.parametrize("folder", LINKED)
def test_the_wheel_has_every_module_behind_a_link(folder: str, in_wheel: set[str]) -> None:
    expected = {f"kraftool/{name}" for name in _python_files(folder)}
    assert expected
    assert expected <= in_wheel


def test_the_wheel_has_what_is_not_python(in_wheel: set[str]) -> None:
    assert "kraftool/py.typed" in in_wheel
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


def test_a_wheel_built_from_the_sdist_is_the_same(
    dist: Path, in_wheel: set[str], tmp_path: Path
) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "sdist", filter="data")
    (source,) = (tmp_path / "sdist").iterdir()
    _build(source, tmp_path / "again", "--wheel")
    (wheel,) = (tmp_path / "again").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        assert set(archive.namelist()) == in_wheel
