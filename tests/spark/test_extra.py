"""`pip install 'kraftool[spark]'` brings all that the pipelines need."""

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.places import ROOT
from tests.test_development import project

_MAIN = "from kraftool.commands import main; main()"


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


@pytest.mark.parametrize(("command", "options"), [("audit", []), ("tables", ["--out", "tables"])])
def test_a_pipeline_runs_with_what_the_extra_brings(
    command: str, options: list[str], python: Path, fixtures_dir: Path, tmp_path: Path
) -> None:
    root = fixtures_dir / "kafka-4.3.0/many-partitions/node-1"
    words = ["pipeline", command, str(root), "--master", "local[1]", "--quiet", *options]
    done = subprocess.run(
        [str(python), "-c", _MAIN, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"\b1\s+cluster, 1|\b1 directory of 1 cluster", done.stdout)
