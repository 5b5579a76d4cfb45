"""What a release is made by: scripts that exist, promises with tests, packages that are pinned.

What needs root, Debian or another machine is no test: `make packages` does it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from tests.support.places import ROOT
from tools.install_lines import LINES, switched
from tools.release_notes import notes
from tools.sbom_crates import crates

PACKAGING = ROOT / "packaging"
MANIFESTS = sorted((PACKAGING / "kubernetes").glob("*.yaml"))
SCRIPT = re.compile(r"\b(?:packaging|tools)/[\w/-]+\.(?:sh|py)\b")


def test_the_workflow_and_make_call_scripts_that_exist() -> None:
    for path in (
        ROOT / ".github/workflows/release.yml",
        ROOT / "Makefile",
        *PACKAGING.glob("*.sh"),
    ):
        named = set(SCRIPT.findall(path.read_text(encoding="utf-8")))
        assert not {name for name in named if not (ROOT / name).is_file()}, path


def test_every_script_is_run_by_the_workflow() -> None:
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    scripts = {f"packaging/{path.name}" for path in PACKAGING.glob("*.sh")}
    assert scripts - {"packaging/common.sh"} <= set(SCRIPT.findall(workflow))


def test_the_scripts_are_read_by_a_shell() -> None:
    for path in PACKAGING.glob("*.sh"):
        subprocess.run(["sh", "-n", path], check=True)
        assert path.stat().st_mode & 0o111, f"{path.name} is not executable"


def test_each_promise_of_security_names_a_test_that_exists() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promises = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(promises) > 8
    for promise in promises:
        held = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", promise)
        assert held, promise
        for file, test in held:
            source = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^def {test}\(", source, re.MULTILINE), f"{file}::{test}"


@pytest.mark.parametrize("name", ["runtime.txt", "requirements.txt"])
def test_what_packages_are_built_of_is_pinned_by_hash(name: str) -> None:
    lock = (PACKAGING / name).read_text(encoding="utf-8")
    pinned = [Requirement(line.rstrip(" \\")) for line in lock.splitlines() if line[0].isalnum()]
    assert pinned
    for requirement in pinned:
        assert [specifier.operator for specifier in requirement.specifier] == ["=="], requirement
    assert lock.count("--hash=sha256:") >= len(pinned)
    assert "://" not in lock


def test_the_packages_have_the_versions_that_are_tested() -> None:
    def versions(text: str) -> dict[str, str]:
        return dict(re.findall(r"^([\w-]+)==([^ ]+)", text, re.MULTILINE))

    tested = versions((ROOT / "requirements-dev.lock").read_text(encoding="utf-8"))
    packed = versions((PACKAGING / "runtime.txt").read_text(encoding="utf-8"))
    assert {name: tested[name] for name in packed} == packed


def test_the_notes_of_a_release_are_its_section() -> None:
    text = (
        "# Changelog\n\n## [Unreleased]\n\n- c\n\n## [0.2.0] - 2026-12-01\n\n### Fixed\n\n- b\n\n"
        "## [0.1.0] - 2026-01-01\n\n- a\n"
    )
    assert notes("0.2.0", text) == "### Fixed\n\n- b\n"
    assert notes("0.1.0", text) == "- a\n"
    assert notes("0.3.0", text) is None
    assert notes("0.1", text) is None


def test_a_version_without_notes_is_not_released() -> None:
    done = subprocess.run(
        [sys.executable, "tools/release_notes.py", "99.0.0"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "[99.0.0]" in done.stderr


def test_the_sbom_has_every_crate_of_somebody_else() -> None:
    lock = (ROOT / "decoders/native/Cargo.lock").read_text(encoding="utf-8")
    assert len(crates()) == lock.count("\nchecksum = ") > 0
    assert "pyo3" in {crate["name"] for crate in crates()}


def _pods(manifest: Any) -> list[dict[str, Any]]:
    spec = manifest.get("spec", {})
    if manifest["kind"] == "Pod":
        return [spec]
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    return [spec["template"]["spec"]] if "template" in spec else []


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_pods_run_confined_and_call_commands_that_exist(path: Path) -> None:
    from kraftool.commands.command_table import SECTIONS

    commands = {name for names in SECTIONS.values() for name in names}
    pods = [pod for manifest in yaml.safe_load_all(path.read_text()) for pod in _pods(manifest)]
    assert pods
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["automountServiceAccountToken"] is False
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            confined = container["securityContext"]
            assert confined["capabilities"] == {"drop": ["ALL"]}
            assert confined["readOnlyRootFilesystem"] is True
            assert confined["allowPrivilegeEscalation"] is False
            assert (
                container.get("command") == ["sleep", "infinity"]
                or container["args"][0] in commands
            )


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("--version",), "kraftool "),
        (("-m", "kraftool", "--version"), "kraftool "),
        (("-c", "import os, sys; print(sys.argv[1:], sorted(os.environ))", "a"), "['a']"),
    ],
)
def test_the_program_answers_as_the_python_that_kraftool_starts(
    words: tuple[str, ...], shown: str
) -> None:
    """A rehearsal, the guide and the dashboard start `sys.executable`, which is the program."""
    done = subprocess.run(
        [sys.executable, "packaging/program.py", *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "LD_LIBRARY_PATH": "/of/the/program"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(shown)
    assert "LD_LIBRARY_PATH" not in done.stdout


@pytest.mark.parametrize("document", LINES)
def test_one_variable_of_the_build_switches_the_lines_that_install_kraftool(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    with_index = switched(text, LINES[document])
    for of_files, of_index in LINES[document]:
        assert of_files not in with_index
        assert of_index in with_index
    assert len(with_index.splitlines()) == len(text.splitlines())
