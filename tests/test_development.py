"""What contributors rely on: locked dependencies, hooks, hosted CI, and the targets they call."""

import ast
import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.support.places import ROOT
from tests.support.spark_sharing import shares_spark

LOCK = (ROOT / "requirements-dev.lock").read_text()
HOOKS = ROOT / ".pre-commit-config.yaml"
WORKFLOW = ROOT / ".github/workflows/ci.yml"


def project() -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return loaded


def locked() -> list[Requirement]:
    return [Requirement(line.rstrip(" \\")) for line in LOCK.splitlines() if line[0].isalnum()]


def test_the_lock_has_a_version_that_fits_each_dependency() -> None:
    extras = project()["optional-dependencies"].values()
    wanted = [Requirement(text) for names in (project()["dependencies"], *extras) for text in names]
    for requirement in wanted:
        name = canonicalize_name(requirement.name)
        versions = [
            str(next(iter(locked_requirement.specifier)).version)
            for locked_requirement in locked()
            if canonicalize_name(locked_requirement.name) == name
        ]
        assert versions, f"{name} is not locked; run: make lock"
        for version in versions:
            fits = requirement.specifier.contains(version, prereleases=True)
            assert fits, f"{name} {version} does not fit pyproject.toml; run: make lock"


def test_the_lock_pins_one_version_with_hashes_and_names_no_index() -> None:
    for requirement in locked():
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", requirement
        assert requirement.url is None, requirement
    assert LOCK.count("--hash=sha256:") >= len(locked())
    assert "://" not in LOCK
    assert "index-url" not in LOCK


def test_the_hooks_are_valid() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-config", HOOKS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in (done.stdout + done.stderr).lower()


def test_hosted_ci_runs_the_oldest_python() -> None:
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    versions = jobs["ci"]["strategy"]["matrix"]["python"]
    supported = SpecifierSet(project()["requires-python"])
    assert all(supported.contains(version) for version in versions)
    assert f">={versions[0]}" == str(supported)


@pytest.mark.parametrize(
    "path",
    [
        ".ci/run",
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
        ".pre-commit-config.yaml",
    ],
)
def test_the_make_targets_that_are_called_exist(path: str) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = (ROOT / path).read_text()
    called = set(re.findall(r"\bmake ([a-z][a-z-]*)\b", text))
    for arguments in re.findall(r"\.ci/run (.+)", text):
        called |= set(re.findall(r"^[a-z-]+|(?<=')[a-z-]+(?=')", arguments))
    assert called
    assert called <= targets


def _takes_fixture(function: ast.FunctionDef) -> bool:
    if not function.name.startswith("test_") and not function.decorator_list:
        return False
    return any(
        argument.arg in ("spark", "cluster")
        and ast.unparse(argument.annotation or argument) != "str"
        for argument in function.args.args
    )


def test_one_worker_runs_each_file_that_shares_spark() -> None:
    """The scheduler recognizes these files by their text: it does not collect."""
    files = list((ROOT / "tests/spark").glob("test_*.py"))
    sharing = {
        path
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and _takes_fixture(node)
    }
    assert sharing == set(filter(shares_spark, files))
    assert len(sharing) > 10
