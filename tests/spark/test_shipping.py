"""The zip of kraftool's code that travels to Spark's workers; no test here starts Spark."""

import importlib
import subprocess
import sys
import zipfile
from pathlib import Path

import crc32c
import pytest

from kraftool.decoders import fast_path
from kraftool.native_archive import FILE
from kraftool.spark.shipping import ON_WORKERS, write_package
from kraftool.spark.unpickling import restored
from tests.support.places import ROOT


def modules_of(folder: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")}


def test_the_zip_has_every_module_and_nothing_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(write_package(tmp_path)) as archive:
        names = set(archive.namelist())
    linked = ("decoders", "commands", "tui")
    behind_links = {f"kraftool/{name}" for module in linked for name in modules_of(module)}
    assert behind_links
    finder = {"pyspark_kraft/__init__.py"}
    native = {f"kraftool/decoders/{FILE}"} if (ROOT / "decoders" / FILE).exists() else set()
    assert names == modules_of("kraftool") | behind_links | finder | native


def test_the_same_code_is_the_same_zip(tmp_path: Path) -> None:
    first = write_package(tmp_path)
    content = first.read_bytes()
    first.unlink()
    again = write_package(tmp_path)
    assert again == first
    assert again.read_bytes() == content


def run(code: str, *path: Path) -> str:
    """Run code in an interpreter that sees only these places and the standard library."""
    prelude = f"import sys; sys.path[:0] = {[str(part) for part in path]!r}\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", prelude + code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_zip_packs_itself_the_same_where_a_driver_runs_from_it(tmp_path: Path) -> None:
    first = write_package(tmp_path)
    code = (
        "import pathlib\n"
        "from kraftool.spark.shipping import write_package\n"
        f"print(write_package(pathlib.Path({str(tmp_path)!r}) / 'again').read_bytes().hex())"
    )
    (tmp_path / "again").mkdir()
    assert run(code, first) == first.read_bytes().hex()


@pytest.mark.skipif(not fast_path.is_native(), reason="kraftool has no native module here")
def test_a_worker_loads_the_native_module_from_the_zip(tmp_path: Path) -> None:
    code = (
        "from kraftool.decoders import fast_path\n"
        "from kraftool.decoders._native import Checker\n"
        "print(fast_path.described, Checker.__module__, fast_path.__file__)"
    )
    archive = write_package(tmp_path)
    path, _, file = run(code, archive).split()
    assert (path, file.startswith(str(archive))) == ("native", True)
    assert list(tmp_path.iterdir()) == [archive]


def test_a_worker_on_another_system_decodes_without_the_native_module(tmp_path: Path) -> None:
    archive, foreign = write_package(tmp_path), tmp_path / "foreign.zip"
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(foreign, "w") as target:
        for name in source.namelist():
            if not name.endswith(".so"):
                target.writestr(name, source.read(name))
        target.writestr(f"kraftool/decoders/{FILE}", b"\x7fELF of another machine")
    code = "from kraftool.decoders import fast_path\nprint(fast_path.described)"
    assert run(code, foreign) == "pure Python"


def test_decoding_needs_no_other_package_than_those_named(tmp_path: Path) -> None:
    """The lists in messages and documents are true: nothing else is imported on a worker."""
    archive = write_package(tmp_path)
    packages = Path(crc32c.__file__).parents[1]
    code = (
        f"sys.path.append({str(packages)!r})\n"
        "import kraftool.decoders.segment, kraftool.decoders.log_record\n"
        "import kraftool.decoders.codec, kraftool.reports.logs.dump\n"
        "files = {name: getattr(module, '__file__', None) or '' "
        "for name, module in sys.modules.items()}\n"
        "print(*sorted({name.partition('.')[0] for name, file in files.items() "
        "if 'site-packages' in file}))"
    )
    assert set(run(code, archive).split()) <= set(ON_WORKERS)


@pytest.mark.parametrize("root", ["userFiles/streaming_job", "userFiles"])
def test_a_stream_finds_code_in_sparks_folder_and_nowhere_else(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark_files = pytest.importorskip("pyspark").SparkFiles
    folder = tmp_path / "spark" / root
    monkeypatch.setattr(spark_files, "_is_running_on_worker", True)
    monkeypatch.setattr(spark_files, "_root_directory", str(folder))
    paths = [str(folder), str(folder / "sent.zip"), *sys.path]
    monkeypatch.setattr("sys.path", paths)

    def send(place: str) -> None:
        (tmp_path / place).mkdir(parents=True)
        with zipfile.ZipFile(tmp_path / place / "sent.zip", "w") as archive:
            archive.writestr("sent_to_a_stream.py", "class Source: pass")

    def found() -> object:
        return restored("sent.zip", "sent_to_a_stream", "Source", {"options": 1})

    send("spark/another")
    send("another")  # where every user may write, if Spark's folder is in /tmp
    with pytest.raises(ModuleNotFoundError):
        found()
    assert sys.path == paths
    send("spark/userFiles/session")
    try:
        assert vars(found()) == {"options": 1}
        # Where Spark's own path leads to the code, nothing is looked for.
        known = list(sys.path)
        found()
        assert sys.path == known
    finally:
        sys.modules.pop("sent_to_a_stream", None)
        importlib.invalidate_caches()
