"""pyarrow, which declares no types: the modules, and names for what annotations speak of.

Owns that gap alone, so that everything else is checked as strictly as the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeAlias

pa: Any = import_module("pyarrow")
pc: Any = import_module("pyarrow.compute")

ArrowSchema: TypeAlias = Any
ArrowBatch: TypeAlias = Any
ArrowType: TypeAlias = Any
Array: TypeAlias = Any
ArrowTable: TypeAlias = Any
ArrowReader: TypeAlias = Any
