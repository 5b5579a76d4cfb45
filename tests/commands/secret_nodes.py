"""Directories with secrets in their logs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
NODE = FIXTURES / "kafka-4.3.0/static-single/node-1"
LOG = NODE / "data/__cluster_metadata-0" / f"{0:020}.log"
