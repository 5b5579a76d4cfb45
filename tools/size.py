"""Print how much of kraftool a command imports until it is done, and how large each room is.

    make size

Each command of tests/commands/start_cases.py runs on its fixture in a process of its own. Lines
are counted without blank lines, comments and docstrings, also those of attributes. A room is a
folder of the product, two folders deep at most; `decoders/native` is Rust, of which `raw` has
every line. tests/commands/start.txt keeps the first table, and tests/commands/test_start.py
compares each command with it.
"""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from answers.revision import archived
from answers.subjects import ROOT

from kraftool.commands.exit_code import ExitCode
from tests.commands.start_cases import CASES, variables

TABLE = ROOT / "tests" / "commands" / "start.txt"
PRODUCT = ("kraftool", "decoders", "commands", "tui", "pyspark_kraft")
RUST = ("decoders/native/core/src", "decoders/native/binding/src")
LARGE = {
    "argparse",
    "asyncio",
    "concurrent",
    "ctypes",
    "email",
    "http",
    "importlib.metadata",
    "logging",
    "multiprocessing",
    "sqlite3",
    "ssl",
    "tarfile",
    "unittest",
    "xml",
    "zipfile",
}
"""Of Python's library: what takes over a millisecond to import."""
_RUN = "from kraftool.commands import main; main()"
_AT_THE_END = """
import atexit, sys
@atexit.register
def say():
    found = (name for name, module in sys.modules.items() if getattr(module, "__spec__", None))
    print("modules", *found, file=sys.stderr)
"""
"""A module without a spec was made, and not imported."""
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


class Size(NamedTuple):
    """The size of one module, or of several."""

    modules: int
    lines: int
    classes: int


class Start(NamedTuple):
    """What a command imports until it is done."""

    size: Size
    packages: tuple[str, ...]
    """The packages of others, and of Python's library the LARGE ones."""


def main() -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        starts = dict(zip(CASES, pool.map(start, CASES), strict=True))
    print(table(starts))
    print()
    print("\n".join(_rooms()))


# --- lines and classes ----------------------------------------------------------------------------


def count(source: str) -> Size:
    """Return the size of a module with this source."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    blank = (number for number, line in enumerate(source.splitlines(), 1) if not line.strip())
    lines.difference_update(blank)  # those of a string
    classes = 0
    for node in ast.walk(ast.parse(source)):
        classes += isinstance(node, ast.ClassDef)
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return Size(1, len(lines), classes)


@cache
def _size_of(path: Path) -> Size:
    return count(path.read_text(encoding="utf-8"))


def _sum(sizes: Iterable[Size]) -> Size:
    return Size(*map(sum, zip(Size(0, 0, 0), *sizes, strict=True)))


# --- commands -------------------------------------------------------------------------------------


@cache
def imported(name: str, tree: Path = ROOT) -> frozenset[str]:
    """Return the names of all modules that this command imports until it is done."""
    return _modules(_RUN, CASES[name], tree, variables(name))


@cache
def _bare() -> frozenset[str]:
    """What Python imports before anything of ours, with what an installation adds to that."""
    return _modules("", (), ROOT, {})


def _modules(
    code: str, words: Sequence[str], tree: Path, more: Mapping[str, str]
) -> frozenset[str]:
    done = subprocess.run(
        [sys.executable, "-c", _AT_THE_END + code, *words],
        cwd=tree,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    mark, *modules = done.stderr.splitlines()[-1].split()
    if done.returncode == ExitCode.INTERNAL or mark != "modules":
        raise RuntimeError(done.stderr)
    return frozenset(modules)


def start(name: str) -> Start:
    """Return what this command imports until it is done."""
    modules = imported(name) - _bare()
    packages = {module.partition(".")[0] for module in modules}
    packages -= {*sys.stdlib_module_names, "kraftool"}
    return Start(_sum(_sizes(modules, ROOT).values()), tuple(sorted(packages | (modules & LARGE))))


def _sizes(modules: Iterable[str], tree: Path) -> dict[str, Size]:
    """Return the sizes of those that are ours; the native module has no Python."""
    sizes = {}
    for module in modules:
        path = tree / module.replace(".", "/")
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if module.partition(".")[0] in PRODUCT and file.is_file():
                sizes[module] = _size_of(file)
    return sizes


def table(starts: Mapping[str, Start]) -> str:
    """Return the table of these commands, as `read` takes it."""
    lines = [f"{'command':18}{'modules':>8}{'lines':>8}{'classes':>8}  packages"]
    for name, (size, packages) in starts.items():
        numbers = "".join(f"{number:8}" for number in size)
        lines.append(f"{name:18}{numbers}  {' '.join(packages)}".rstrip())
    return "\n".join(lines)


def read(text: str) -> dict[str, Start]:
    """Return the commands of a table."""
    starts = {}
    for line in text.splitlines()[1:]:
        name, modules, lines, classes, *packages = line.split()
        starts[name] = Start(Size(int(modules), int(lines), int(classes)), tuple(packages))
    return starts


def changes(name: str) -> str:
    """Return how the modules that this command imports changed since the table was committed.

    The revision of that commit runs the command, too. Without one, as in a copy without git, all
    modules are new.
    """
    described = ["git", "log", "-1", "--format=%h", "--", str(TABLE)]
    done = subprocess.run(described, cwd=ROOT, capture_output=True, text=True, check=False)
    revision = done.stdout.strip()
    then: dict[str, Size] = {}
    if revision:
        with tempfile.TemporaryDirectory() as folder:
            tree = archived(revision, Path(folder))
            for native in (ROOT / "decoders").glob("_native*.so"):
                (tree / "decoders" / native.name).symlink_to(native)
            then = _sizes(imported(name, tree), tree)
    lines = changed_lines(then, _sizes(imported(name), ROOT))
    return "\n".join([f"lines of modules since {revision or 'the beginning'}:", *lines])


def changed_lines(then: Mapping[str, Size], now: Mapping[str, Size]) -> list[str]:
    """Return a line for each module that came, left or changed its size, the largest first."""
    changed = [(size.lines, module, "new") for module, size in now.items() if module not in then]
    for module, size in then.items():
        if module not in now:
            changed.append((-size.lines, module, "gone"))
        elif now[module] != size:
            changed.append((now[module].lines - size.lines, module, ""))
    changed.sort(key=lambda change: (-abs(change[0]), change))
    return [f"{lines:+6} {module} {how}".rstrip() for lines, module, how in changed]


# --- rooms ----------------------------------------------------------------------------------------


def _rooms() -> Iterable[str]:
    """Yield the table of rooms, and a line for all of them."""
    rooms: dict[str, list[tuple[int, Size]]] = {}
    for path in (path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT).parts[:-1]
        room = "/".join((parts[1:] if parts[0] == "kraftool" else parts)[:2]) or "kraftool"
        rooms.setdefault(room, []).append((_raw(path), _size_of(path)))
    for path in (path for folder in RUST for path in (ROOT / folder).rglob("*.rs")):
        code = [line for line in path.read_text().split("\n") if line.strip()]
        lines = sum(not line.lstrip().startswith("//") for line in code)
        rooms.setdefault("decoders/native", []).append((_raw(path), Size(1, lines, 0)))
    yield f"{'room':20}{'modules':>8}{'raw':>8}{'lines':>8}{'classes':>8}"
    rooms = dict(sorted(rooms.items()))
    for room, files in {**rooms, "all": [*chain(*rooms.values())]}.items():
        modules, lines, classes = _sum(size for _, size in files)
        yield f"{room:20}{modules:8}{sum(raw for raw, _ in files):8}{lines:8}{classes:8}"


def _raw(path: Path) -> int:
    return path.read_text(encoding="utf-8").count("\n")


if __name__ == "__main__":
    main()
