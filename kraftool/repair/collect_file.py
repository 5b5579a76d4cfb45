"""Collect files: surveys carried from one machine to another.

Owns the form: one gzipped JSON document, small and bounded. What is read back is checked as
strictly as a plan is.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.document import DocumentError, from_document, to_document
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

    def __post_init__(self) -> None:
        if self.kind != KIND:
            raise DocumentError(f"the kind is not {KIND!r}")


def encode(surveys: Sequence[Survey]) -> bytes:
    """A collect file's bytes; the same for the same surveys."""
    document = to_document(Collected(kind=KIND, surveys=tuple(surveys)))
    return gzip.compress(orjson.dumps(document), mtime=0)


def without_prefix(surveys: Sequence[Survey], prefix: str) -> tuple[Survey, ...]:
    """The surveys of copies below a folder, with the paths that the files have without it."""
    document = to_document(Collected(kind=KIND, surveys=tuple(surveys)))
    data = orjson.dumps(document).replace(orjson.dumps(prefix)[1:-1], b"")
    return from_document(Collected, orjson.loads(data), "it").surveys


def with_origin(surveys: Sequence[Survey], origin: str) -> tuple[Survey, ...]:
    """The surveys with the place that they come from, also with flipped bits put back."""

    def named(survey: Survey) -> Survey:
        put_back = survey.put_back and replace(survey.put_back, origin=origin)
        return replace(survey, origin=origin, put_back=put_back)

    return tuple(map(named, surveys))


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


def read(path: str) -> tuple[Survey, ...]:
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
        surveys = from_document(Collected, _of_today(orjson.loads(data)), "it").surveys
        return tuple(replace(survey, collect_file=path) for survey in surveys)
    except (OSError, EOFError, zlib.error, orjson.JSONDecodeError) as error:
        raise KraftoolError(
            f"{path} is damaged: {error}", hint="copy it again, or run recover collect again"
        ) from None
    except DocumentError as error:
        raise KraftoolError(f"{path}: {error.message}", hint=error.hint) from None


def _of_today(document: Any) -> Any:
    """The document as it is written now: a survey had `quorum` before it had `node`."""
    if isinstance(document, dict) and isinstance(surveys := document.get("surveys"), list):
        return {**document, "surveys": [_survey_of_today(survey) for survey in surveys]}
    return document


def _survey_of_today(survey: Any) -> Any:
    if not isinstance(survey, dict):
        return survey
    others = {
        name: _survey_of_today(survey[name]) for name in ("putBack", "restored") if name in survey
    }
    quorum = survey.get("quorum")
    if not isinstance(quorum, dict):
        return {**survey, **others}
    rest = {name: value for name, value in survey.items() if name != "quorum"}
    return {**rest, **others, "node": _node_of(quorum)}


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
