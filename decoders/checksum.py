"""CRC-32C, at memory speed.

Owns how the package crc32c is loaded. The package reads its own version when it is imported, and
brings email, zipfile and argparse for that, which take longer than `dump` takes to read a small
directory. Only its compiled module is loaded here; the whole package where that cannot be found.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import cast

Checksum = Callable[..., int]


def load(compiled_name: str = "crc32c._crc32c") -> Checksum:
    """Return the function of the compiled module; of the package where there is none so named."""
    package = PathFinder.find_spec("crc32c")
    places = package.submodule_search_locations if package is not None else None
    compiled = PathFinder.find_spec(compiled_name, places) if places else None
    if compiled is None or compiled.loader is None:
        from crc32c import crc32c

        return crc32c
    module = module_from_spec(compiled)
    compiled.loader.exec_module(module)
    return cast("Checksum", module.crc32c)


crc32c: Checksum = load()
"""`crc32c(data, value=0)`: the checksum of these bytes after those of which `value` is one."""
