"""kraftool's own code for Spark's workers, which need not have it installed.

Owns the zip of the package and its way to the executors. The native module is in it too, for
workers that can load it (`native_archive.py`). What kraftool itself imports there has to
be installed on the workers: compiled packages of others do not travel.

Workers of this machine need no zip: they import the modules that this process has, with the
bytecode that Python keeps of them. From a zip each new worker would compile every module again.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import importlib.util
import io
import os
import zipfile
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from kraftool.native_archive import FILE as NATIVE

if TYPE_CHECKING:
    from pyspark import SparkContext

ON_WORKERS = ("crc32c", "orjson", "pyarrow")
"""The packages that decoding imports, which the Python of the workers must have."""

_ROOTS = ("kraftool", "pyspark_kraft")
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16


def ship(context: SparkContext, folder: Path) -> Path:
    """Send kraftool's code to all executors; the zip is kept in the folder while Spark runs."""
    archive = write_package(folder)
    send(context, archive)
    return archive


def send(context: SparkContext, archive: Path) -> None:
    """Send a package that was written to all executors."""
    context.addPyFile(str(archive))
    show(context, archive)


def show(context: SparkContext, archive: Path) -> None:
    """Let the processes that the driver starts import from an archive or a folder.

    Streams are planned by such a process, which is started without what was shipped.
    """
    environment = context.environment
    environment["PYTHONPATH"] = python_path(archive, environment.get("PYTHONPATH"))


def python_path(archive: Path, before: str | None) -> str:
    """PYTHONPATH with the package in front of what there was before."""
    return os.pathsep.join(filter(None, (str(archive), before)))


def link_package(folder: Path) -> Path:
    """Make a folder from which processes of this machine import the package as it is here.

    Where it is in a zip already, this writes a zip.
    """
    roots = [root for root in _ROOTS if importlib.util.find_spec(root) is not None]
    targets = {root: importlib.resources.files(root) for root in roots}
    if not all(isinstance(target, Path) for target in targets.values()):
        return write_package(folder)
    links = folder / "packages"
    links.mkdir()
    for root, target in targets.items():
        (links / root).symlink_to(str(target), target_is_directory=True)
    return links


def write_package(folder: Path) -> Path:
    """Write the package as a zip whose name tells its content; the same code is the same zip."""
    content = _package()
    path = folder / f"kraftool-{hashlib.sha256(content).hexdigest()[:16]}.zip"
    path.write_bytes(content)
    return path


def archive_name() -> str:
    """The name of the zip that this code was imported from; empty if it was none."""
    return next((path.name for path in Path(__file__).parents if path.suffix == ".zip"), "")


def _package() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        # importlib's view is the same whether kraftool lies in folders, behind the links of the
        # source tree, or in a zip already, as it does in a driver that runs inside the cluster.
        modules = [module for root in _ROOTS for module in _modules_of(root)]
        for name, source in sorted(modules):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.external_attr = _PLAIN_FILE
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, source.read_bytes())
    return out.getvalue()


def _modules_of(root: str) -> Iterator[tuple[str, Traversable]]:
    if importlib.util.find_spec(root) is not None:
        yield from _modules(importlib.resources.files(root), root)


def _modules(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for path in folder.iterdir():
        if path.name.endswith(".py") or path.name == NATIVE:
            yield f"{name}/{path.name}", path
        elif path.is_dir() and path.name.isidentifier() and path.name != "__pycache__":
            yield from _modules(path, f"{name}/{path.name}")
