"""Makes Spark find the format `kraft`: it looks for packages of this name and their DefaultSource.

Owns nothing else. Spark imports every such package whenever it looks for any format, so that an
import that fails here would take all other formats away.
"""

from __future__ import annotations

import contextlib

with contextlib.suppress(ImportError):
    from kraftool.spark.source import RecordsSource as DefaultSource

__all__ = ["DefaultSource"]
