"""Inspect and repair Apache Kafka's KRaft state."""

import os

__version__ = "0.1.0"

PURE = os.environ.get("KRAFTOOL_PURE") == "1"
"""True if everything is to be read in Python, even where the native module is installed."""
