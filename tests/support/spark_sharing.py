"""The test files that share a Spark session or a cluster, and that one worker runs.

Each worker of pytest-xdist that ran some of them would start Spark for itself, and load and compile
its classes again.
"""

import functools
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT

_FOLDER = "tests/spark"
_FIXTURE = re.compile(r'\b(spark: "?SparkSession|cluster: Cluster)\b')
"""A parameter that is a fixture of tests/spark/conftest.py."""


@functools.cache
def shares_spark(file: Path) -> bool:
    return file.parent == ROOT / _FOLDER and bool(_FIXTURE.search(file.read_text()))


def spark_files_together(config: pytest.Config, log: Any) -> Any:
    """A scheduler that gives a worker whole files, and one worker all files that share Spark."""
    scheduler: Any = import_module("xdist.scheduler").LoadFileScheduling(config, log)
    file_of: Callable[[str], str] = scheduler._split_scope

    def scope_of(test: str) -> str:
        file = file_of(test)
        return _FOLDER if shares_spark(ROOT / file) else file

    scheduler._split_scope = scope_of
    return scheduler
