"""Directories with secrets in their logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.places import FIXTURES

Run = Callable[..., Any]

NODE = FIXTURES / "kafka-4.3.0/static-single/node-1"
LOG = NODE / "data/__cluster_metadata-0" / f"{0:020}.log"
