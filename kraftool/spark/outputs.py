"""Where pipelines may write: nowhere inside a data directory of Kafka's.

A broker refuses to start where its directory holds a folder that is no partition, and nothing is
to be written to what is inspected.
"""

from __future__ import annotations

from pathlib import Path

from kraftool.storage.entry import METADATA_PARTITION


def data_directory_around(path: str | Path) -> Path | None:
    """The data directory that a path lies in, or is, whether the path is there or not."""
    whole = Path(path).expanduser().resolve()
    for each in (whole, *whole.parents):
        if each.name == METADATA_PARTITION:
            return each.parent
        if (each / "meta.properties").is_file() or (each / METADATA_PARTITION).is_dir():
            return each
    return None
