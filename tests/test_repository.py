"""The repository's own rules: file sizes, docstrings, and documents that say what is true."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT

CODE = ("kraftool", "decoders", "commands", "tui", "tools", "tests")
LONGEST = 600
# Spelled so that it does not find itself.
MACHINE_PATHS = re.compile(r"/(?:work|root|home/\w+)/|/tmp/[w]/")
CHANGELOG_SECTIONS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def _files() -> list[Path]:
    """What git tracks or would; without git, all that is not hidden."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        paths = [ROOT / name for name in listed.split("\0") if name]
    else:
        paths = [
            path
            for path in ROOT.rglob("*")
            if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
        ]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def _python_files() -> list[Path]:
    return [path for path in _files() if path.suffix == ".py"]


def test_no_file_of_code_is_longer_than_one_reading() -> None:
    too_long = {}
    for path in _files():
        relative = path.relative_to(ROOT)
        generated = {"schema", "generated"} & set(relative.parts)
        if path.suffix in {".py", ".rs", ".java"} and not generated:
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > LONGEST:
                too_long[str(relative)] = lines
    assert not too_long


def test_every_module_says_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in _python_files()
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent


def test_code_carries_no_exemption_from_the_linters() -> None:
    exemption = re.compile(r"#\s*(?:noqa|ruff:|type:\s*ignore|mypy:|pyright:)")
    places = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in _python_files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if exemption.search(line) and path != Path(__file__).resolve()
    ]
    assert not places


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    places = []
    for path in _files():
        content = path.read_bytes()
        if b"\0" in content:
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
            if MACHINE_PATHS.search(line):
                places.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert not places


def test_the_make_targets_that_documents_name_exist() -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^|`|\$ )make ([a-z][a-z-]*)", text, re.MULTILINE))
        assert named <= targets, name
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme


def test_the_architecture_names_every_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in (ROOT / "kraftool").glob("*/__init__.py")}
    assert {"decoders", "commands", "tui"} <= packages
    assert not {name for name in packages if not re.search(rf"\b{name}\b", text)}
    for heading in ("Where kraftool differs from Kafka", "Decisions that surprise"):
        assert re.search(rf"^#+ {heading}", text, re.MULTILINE), heading


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert releases[0] == "[Unreleased]"
    for release in releases[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", release), release
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= CHANGELOG_SECTIONS


@pytest.mark.parametrize(
    ("strict", "exit_code", "message"), [("0", 0, "1 skipped"), ("1", 1, "because of the weather")]
)
def test_a_skip_fails_when_the_run_is_strict(
    strict: str, exit_code: int, message: str, tmp_path: Path
) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "def test_that_is_skipped(): pytest.skip('because of the weather')\n"
        "def test_that_passes(): pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"KRAFTOOL_STRICT": strict},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == exit_code, done.stdout
    assert message in done.stdout
