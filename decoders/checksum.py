"""CRC-32C, at memory speed.

Owns how the package crc32c is loaded. The package reads its own version when it is imported, and
imports email, zipfile and argparse for that, which takes longer than `dump` takes to read a small
directory. So only its compiled module is loaded; the whole package if that has no such function.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import cast

Checksum = Callable[..., int]


def load() -> Checksum:
    """Return the function of the package's compiled module, or else of the package."""
    package = PathFinder.find_spec("crc32c")
    places = package.submodule_search_locations if package is not None else None
    spec = PathFinder.find_spec("crc32c._crc32c", places) if places else None
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        if hasattr(module, "crc32c"):
            return cast("Checksum", module.crc32c)
    from crc32c import crc32c

    return crc32c


crc32c: Checksum = load()
"""`crc32c(data, value=0)`: the checksum of these bytes, behind bytes with the checksum `value`."""
