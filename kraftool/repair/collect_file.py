"""Collect files: surveys carried from one machine to another.

Owns the form: one gzipped JSON document, small and bounded. What is read back is checked as
strictly as a plan is.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.document import DocumentError, from_document, to_document
from kraftool.repair.plan import FlippedFile
from kraftool.repair.read_directory import ReadDirectory
from kraftool.repair.restored_file import flipped_edit
from kraftool.repair.survey import Survey
from kraftool.storage.source import FileSource

KIND = "kraftool collect"
_HEAD = b'{"kind":"kraftool collect"'
_MOST_PACKED = 32 << 20
_MOST_BYTES = 128 << 20
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The document."""

    kind: str
    surveys: tuple[Survey, ...]
    restored: tuple[Survey, ...] = ()
    """Of some of the directories, as their restorations will leave them."""

    def __post_init__(self) -> None:
        if self.kind != KIND:
            raise DocumentError(f"the kind is not {KIND!r}")

    @classmethod
    def of(cls, directories: Iterable[ReadDirectory]) -> Collected:
        read = tuple(directories)
        return cls(
            kind=KIND,
            surveys=tuple(directory.survey for directory in read),
            restored=tuple(one.restored for one in read if one.restored is not None),
        )

    def directories(self) -> Iterator[ReadDirectory]:
        """Yield each directory with its restored survey, which has the same path."""
        restored = {(survey.path, survey.identity): survey for survey in self.restored}
        for survey in self.surveys:
            made = restored.get((survey.path, survey.identity))
            yield ReadDirectory(survey=survey, restored=made)

    def changed(self, change: Callable[[Survey], Survey]) -> Collected:
        """The document with a change of each survey."""
        return replace(
            self,
            surveys=tuple(map(change, self.surveys)),
            restored=tuple(map(change, self.restored)),
        )


def encode(collected: Collected) -> bytes:
    """A collect file's bytes; the same for the same surveys."""
    return gzip.compress(orjson.dumps(to_document(collected)), mtime=0)


def without_prefix(collected: Collected, prefix: str) -> Collected:
    """The surveys of copies below a folder, with the paths that the files have without it."""
    data = orjson.dumps(to_document(collected)).replace(orjson.dumps(prefix)[1:-1], b"")
    return from_document(Collected, orjson.loads(data), "it")


def with_origin(collected: Collected, origin: str) -> Collected:
    """The surveys with the place that they come from."""
    return collected.changed(lambda survey: replace(survey, origin=origin))


def is_collect_file(path: str) -> bool:
    """True if a PATH is a collect file, by its first bytes; a tar.gz is none."""
    if not os.path.isfile(path):
        return False
    with FileSource(path) as source:
        head = source.read_at(0, 4096)
    if not head.startswith(_GZIP):
        return False
    try:
        return zlib.decompressobj(wbits=31).decompress(head, len(_HEAD)) == _HEAD
    except zlib.error:
        return False


def read(path: str) -> Collected:
    """The surveys of a collect file. Raises KraftoolError where it is damaged, or none."""
    with FileSource(path) as source:
        packed = source.read_at(0, _MOST_PACKED + 1)
    try:
        if len(packed) > _MOST_PACKED:
            raise DocumentError(f"more than {_MOST_PACKED} bytes")
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise DocumentError(f"more than {_MOST_BYTES} bytes unpacked")
        collected = from_document(Collected, _of_today(orjson.loads(data)), "it")
        return collected.changed(lambda survey: replace(survey, collect_file=path))
    except (OSError, EOFError, zlib.error, orjson.JSONDecodeError) as error:
        raise KraftoolError(
            f"{path} is damaged: {error}", hint="copy it again, or run recover collect again"
        ) from None
    except DocumentError as error:
        raise KraftoolError(f"{path}: {error.message}", hint=error.hint) from None


def _of_today(document: Any) -> Any:
    """The document as it is written now: a survey had `quorum` before it had `node`, and was within
    that of the damaged directory if it was the one of the restored directory."""
    surveys = document.get("surveys") if isinstance(document, dict) else None
    if not isinstance(surveys, list) or not all(isinstance(survey, dict) for survey in surveys):
        return document
    restored = [made for survey in surveys if (made := _restored_of(survey)) is not None]
    others = {"restored": restored} if restored else {}
    return {**document, "surveys": [_survey_of_today(survey) for survey in surveys], **others}


def _restored_of(survey: dict[str, Any]) -> dict[str, Any] | None:
    """The restored survey within another one. The one with runs has the flipped bits, too."""
    within = [survey.get(name) for name in ("restored", "putBack")]
    best = next((one for one in within if isinstance(one, dict)), None)
    if best is None:
        return None
    edits = [*_flipped_of(best), *_list(best.get("restoredFiles"))]
    rest = {name: value for name, value in best.items() if name not in ("flipped", "restoredFiles")}
    return {**_survey_of_today(rest), "files": survey.get("files", []), "restored": edits}


def _survey_of_today(survey: dict[str, Any]) -> dict[str, Any]:
    put_back, quorum = survey.get("putBack"), survey.get("quorum")
    earlier = ("quorum", "putBack", "restored")
    rest = {name: value for name, value in survey.items() if name not in earlier}
    if isinstance(put_back, dict):
        rest["flipped"] = _flipped_of(put_back)
    return {**rest, "node": _node_of(quorum)} if isinstance(quorum, dict) else rest


def _flipped_of(put_back: dict[str, Any]) -> list[Any]:
    """The edits of the files that had only their flipped bits."""
    files = _list(put_back.get("flipped"))
    flipped = [from_document(FlippedFile, file, "it.putBack.flipped") for file in files]
    return [to_document(flipped_edit(one.target, one.before, one.after, one.bits))
            for one in flipped]  # fmt: skip


def _list(document: Any) -> list[Any]:
    return document if isinstance(document, list) else []


def _node_of(quorum: dict[str, Any]) -> dict[str, Any]:
    """The members of `quorum` where `node` has them. What nobody knows is left for the reader."""
    node: dict[str, Any] = {}
    log: dict[str, Any] = {}
    settings: dict[str, Any] = {"listeners": [], "staticVoters": [], "timing": {}}
    for name, value in quorum.items():
        if name in ("nodeId", "directoryId", "clusterId", "staticVoters"):
            settings[name] = value
        elif name == "fetchTimeoutMs":
            settings["timing"] = {name: value}
        elif name == "quorumState" and isinstance(value, list) and len(value) == 2:
            epoch, leader = value
            node["election"] = {"epoch": epoch, "leaderId": None if leader == -1 else leader}
        elif name in _OF_LOG:
            log[_OF_LOG[name]] = value
        else:
            node[name] = value
    return {**node, "settings": settings, "log": log}


_OF_LOG = {"startOffset": "start", "endOffset": "end"} | {
    name: name
    for name in (
        "epochs", "believedEpochs", "snapshots", "voterSets", "kraftVersions", "leaders", "behind",
        "isTorn", "odd", "lastTimestampMs",
    )
}  # fmt: skip
