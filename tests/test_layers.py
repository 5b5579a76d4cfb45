"""Who may import whom: the contracts of pyproject.toml hold, and starting stays cheap.

import-linter sees every import statement but not when it runs; what is loaded at start-up is
proved in an interpreter of its own.
"""

import ast
import subprocess
import sys
import tomllib

import pytest

from tests.support.places import ROOT

LAYERS_THAT_OPEN_NOTHING = ("decoders", "kraftool/raft", "kraftool/image", "kraftool/controller")


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def _loaded_by(statement: str) -> set[str]:
    """Top-level names of all modules that an interpreter holds after the statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = _run("-c", code)
    assert done.returncode == 0, done.stderr
    return {name for name in done.stdout.splitlines() if name}


def test_the_import_contracts_hold() -> None:
    done = _run(
        "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_contract_has_an_exemption() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    for contract in settings["importlinter"]["contracts"]:
        assert "ignore_imports" not in contract, contract["name"]
    assert "per-file-ignores" not in settings["ruff"]["lint"]
    assert "ignore" not in settings["ruff"]["lint"]
    assert "overrides" not in settings["mypy"]


def test_a_layer_that_exists_is_named_whole_in_its_contracts() -> None:
    """`kraftool.raft.**` leaves out kraftool/raft/__init__.py, and a wrong name matches nothing."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in settings["tool"]["importlinter"]["contracts"]:
        for module in contract.get("source_modules", ()):
            layer = module.removesuffix(".**")
            exists = (ROOT / layer.replace(".", "/") / "__init__.py").exists()
            assert exists == (layer == module), (
                f'contract "{contract["name"]}": write "{layer + ("" if exists else ".**")}"'
            )


@pytest.mark.parametrize("layer", LAYERS_THAT_OPEN_NOTHING)
def test_pure_layers_call_neither_open_nor_print_nor_input(layer: str) -> None:
    for path in sorted((ROOT / layer).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"open", "print", "input"}, f"{path}:{node.lineno}"


@pytest.mark.parametrize("layer", ["kraftool/raft", "kraftool/image"])
def test_pure_packages_import_at_the_top_of_a_module_and_never_for_types_alone(layer: str) -> None:
    """Either one hides a circle: a module that needs another one, and is needed by it."""
    for path in sorted((ROOT / layer).rglob("*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(module):
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert node in module.body, f"{path}:{node.lineno}"


def test_only_output_py_writes_to_the_standard_streams() -> None:
    for folder in ("kraftool", "decoders", "commands", "tui"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            # Path.rglob does not follow the links, so that each file is seen once.
            if path == ROOT / "commands" / "output.py":
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                writes = (isinstance(node, ast.Name) and node.id == "print") or (
                    isinstance(node, ast.Attribute)
                    and node.attr in {"stdout", "stderr", "__stdout__", "__stderr__"}
                    and isinstance(node.value, ast.Name)
                    and node.value.id == "sys"
                )
                line = getattr(node, "lineno", 0)
                assert not writes, f"{path}:{line}: commands/output.py does that"


def test_the_codec_loads_no_user_interface_and_no_construct() -> None:
    loaded = _loaded_by("import kraftool.decoders.codec")
    assert "kraftool.decoders.codec" in loaded
    assert not loaded & {"typer", "click", "rich", "textual", "construct", "pydantic"}


def test_the_version_is_told_without_typer() -> None:
    done = _run("-X", "importtime", "-m", "kraftool", "--version")
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("kraftool ")
    assert "kraftool.commands" in imported
    assert not imported & {"typer", "click", "rich", "textual", "pydantic", "orjson", "argparse"}


def test_a_directory_is_read_for_a_script_without_what_terminals_and_networks_need() -> None:
    directory = "fixtures/kafka-4.3.0/dynamic-quorum/node-2/data"
    done = _run("-X", "importtime", "-m", "kraftool", "doctor", directory, "-o", "json")
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "kraftool.reports.doctor.report" in imported
    assert not imported & {"rich", "asyncio", "ssl", "multiprocessing", "ctypes", "yaml"}


def test_the_commands_load_dashboard_spark_and_node_only_when_asked() -> None:
    loaded = _loaded_by("import kraftool.commands.app")
    assert "kraftool.commands.app" in loaded
    assert not loaded & {"kraftool.tui", "kraftool.spark", "kraftool.node"}
    assert not loaded & {"textual", "pyspark", "construct"}
