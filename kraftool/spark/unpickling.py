"""Unpickles a data source in the processes that plan and read its stream.

Owns one function, which PySpark pickles by value: it runs where kraftool cannot be imported yet.
Under Spark Connect, Spark 4.3 starts these processes with a wrong folder for the session's
artifacts, such as `streaming_job`. The artifacts are in a folder next to it that has the session's
name. If Spark's own path leads to the code, it looks for nothing. It refuses to import anything but
the standard library and PySpark, and to look outside of Spark's folder.
"""

from __future__ import annotations

import glob
import importlib
import os
import sys
from contextlib import suppress
from typing import Any


def restored(archive: str, module: str, name: str, members: dict[str, Any]) -> Any:
    """Return an object of a class of kraftool, whose code is found if it was sent at all."""
    try:
        loaded_module = importlib.import_module(module)
    except ModuleNotFoundError:
        with suppress(Exception):  # as in a process that is not one of Spark's
            from pyspark import SparkFiles

            folder = SparkFiles.getRootDirectory().removesuffix(f"{os.sep}streaming_job")
            pattern = os.path.join(glob.escape(folder), "*", glob.escape(archive))
            sys.path[:0] = glob.glob(pattern) if archive else []
        importlib.invalidate_caches()
        loaded_module = importlib.import_module(module)
    kind = getattr(loaded_module, name)
    made = kind.__new__(kind)
    made.__dict__.update(members)
    return made
