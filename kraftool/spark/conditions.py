"""The refusals of a source, as Spark reports them: one line, with an error condition.

Owns the conditions, and that the line comes without the stack of our own code, which Spark adds to
what a Python process of its own raises.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kraftool.decoders.errors import KraftoolError

INVALID_OPTION = "KRAFT_INVALID_OPTION"
INVALID_PATH = "KRAFT_INVALID_PATH"
INVALID_COLUMN = "KRAFT_INVALID_COLUMN"
UNSUPPORTED = "KRAFT_UNSUPPORTED"


class KraftSourceError(KraftoolError):
    """A refusal of a source; its message begins with the condition in brackets."""


@contextmanager
def condition(name: str) -> Iterator[None]:
    """Raise what is wrong inside as one line with a condition; the hint is part of it."""
    try:
        yield
    except KraftSourceError:
        raise
    except KraftoolError as error:
        if _is_a_worker():
            # The process ends with this error, so that no other error is without its stack.
            os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        hint = f" ({error.hint})" if error.hint else ""
        line = " ".join(f"[{name}] {error.message}{hint}".split())
        raise KraftSourceError(line) from None


def _is_a_worker() -> bool:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return main is not None and main.name.startswith("pyspark.")
