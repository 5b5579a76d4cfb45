"""The folder in which a stream remembers how far it is, and whose it is.

Owns the note beside Spark's own files of what is followed and where it goes, so that the offsets of
one stream are never taken for another's; and the lock against a second run. Nothing to log in with
is written there.
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from kraftool.spark.errors import OccupiedError
from kraftool.spark.live.frame import StreamOptions
from kraftool.spark.outputs import own_folder, write_whole
from kraftool.storage.remote import shown_url

NOTE = "kraftool.json"
STATE = "state"
"""The folder next to Spark's own in which the source keeps how far it is."""
_VERSION = 2


class OtherStream(OccupiedError):
    """A folder that belongs to another stream, or to no stream at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A checkpoint that this stream holds."""

    folder: Path
    id: str


def note_of(following: StreamOptions, target: str) -> dict[str, Any]:
    """Return what has to be the same when a stream goes on."""
    roots = [os.path.abspath(root) if "://" not in root else root for root in following.roots]
    return {
        "version": _VERSION,
        "ROOTs": [shown_url(root) for root in roots],
        "--to": target,
        "--type": sorted(following.types),
        "--cluster": sorted(following.clusters),
        "--findings": following.findings,
        "--depth": following.depth,
        "--show-secrets": following.show_secrets,
    }


@contextmanager
def held(folder: Path, wanted: dict[str, Any]) -> Iterator[Checkpoint]:
    """Take a checkpoint for the time of a run: a new one, or the one that this stream left."""
    names = {name for name in own_folder(folder) if not name.startswith(".")}
    if names and NOTE not in names:
        raise OtherStream(
            f"{folder} contains something other than a stream's checkpoint",
            hint="name a new folder with --checkpoint",
        )
    with os.fdopen(os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OtherStream(f"another run is using {folder}", hint="end it first") from None
        yield _known(folder, wanted) if names else _made(folder, wanted)


def _made(folder: Path, wanted: dict[str, Any]) -> Checkpoint:
    made = Checkpoint(folder=folder, id=uuid.uuid4().hex)
    write_note(folder / NOTE, {"id": made.id, **wanted})
    return made


def _known(folder: Path, wanted: dict[str, Any]) -> Checkpoint:
    note = read_note(folder / NOTE)
    for name, value in wanted.items():
        if note.get(name) != value:
            raise OtherStream(
                f"{folder} is the checkpoint of a stream with other {name}:"
                f" {_words(note.get(name))}, not {_words(value)}",
                hint="continue with the same, or start another stream with a new --checkpoint",
            )
    return Checkpoint(folder=folder, id=str(note.get("id")))


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_note(path: Path) -> dict[str, Any]:
    """The JSON object of a note; an empty one where there is none."""
    try:
        value = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def write_note(path: Path, note: dict[str, Any]) -> None:
    """Write a note that is there as a whole or not at all."""
    write_whole(path, path.with_name(f".{path.name}.{uuid.uuid4().hex}"), orjson.dumps(note))
