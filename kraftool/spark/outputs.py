"""The places where pipelines may write: never inside a data directory of Kafka's, and over nothing.

A broker refuses to start where its directory holds a folder that is no partition, and nothing is
to be written to what is inspected. Owns the rule that all of them have for it: a place where
nothing can be written is unusable; one that holds something else, or lies in a data directory, is
occupied.
"""

from __future__ import annotations

import os
from pathlib import Path

from kraftool.decoders.names import META_PROPERTIES
from kraftool.spark.errors import OccupiedError, UnusableError
from kraftool.storage.entry import METADATA_PARTITION


def data_directory_around(path: str | Path) -> Path | None:
    """The data directory that a path lies in, or is, whether the path is there or not."""
    whole = Path(path).expanduser().resolve()
    for folder in (whole, *whole.parents):
        if folder.name == METADATA_PARTITION:
            return folder.parent
        if (folder / META_PROPERTIES).is_file() or (folder / METADATA_PARTITION).is_dir():
            return folder
    return None


def refuse_inside(path: str | Path) -> None:
    """Raise OccupiedError for a path in a data directory."""
    inside = data_directory_around(path)
    if inside is not None:
        raise OccupiedError(
            f"{path} is in the data directory {inside}", hint="name a place outside of it"
        )


def own_folder(path: Path) -> set[str]:
    """Make a folder, for us alone, and those above it, unless it is there; what lies in it."""
    refuse_inside(path)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return set(os.listdir(path))
    except FileExistsError:
        raise OccupiedError(f"{path} is no folder", hint="name a new folder") from None
    except OSError as error:
        raise UnusableError(f"{path} cannot be written: {error.strerror}") from None


def write_whole(path: Path, passing: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file that is there as a whole or not at all, under a passing name first."""
    with os.fdopen(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    passing.rename(path)
