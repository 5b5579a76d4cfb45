"""The native module out of a zip, in which kraftool's code travels to Spark's workers.

Owns the way around Python's rule that compiled modules are files. The module gets a file in memory,
so that nothing stays behind. It refuses to say why a module does not fit: Python alone will do.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

MODULE = "kraftool.decoders._native"
FILE = "_native.abi3.so"


def load_from_archive() -> ModuleType | None:
    """Load the module from the archive that this code is from; None if there is no such module."""
    loader = globals().get("__loader__")
    read, archive = getattr(loader, "get_data", None), getattr(loader, "archive", None)
    if read is None or archive is None or not hasattr(os, "memfd_create"):
        return None
    try:
        data: bytes = read(os.path.join(archive, "kraftool", "decoders", FILE))
        file = os.memfd_create(FILE, os.MFD_CLOEXEC)
    except OSError:
        return None
    try:
        with os.fdopen(file, "wb") as memory:
            memory.write(data)
            memory.flush()
            return _loaded(f"/proc/self/fd/{memory.fileno()}")
    except (ImportError, OSError):  # made for another system, or a folder of programs is forbidden
        return None


def _loaded(path: str) -> ModuleType:
    spec = spec_from_file_location(MODULE, path, loader=ExtensionFileLoader(MODULE, path))
    assert spec is not None, "a path with a loader has one"
    assert spec.loader is not None, "the loader is given"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[MODULE] = module
    return module
