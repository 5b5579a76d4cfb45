"""The request to the planner: surveys, and what only a person can know.

Owns the words of `--set KEY=VALUE` and `--accept`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from kraftool.decoders.errors import KraftoolError
from kraftool.raft.endpoints import read_endpoint
from kraftool.raft.names import Endpoint, Endpoints
from kraftool.repair.log_survey import SegmentFile
from kraftool.repair.plan import Method
from kraftool.repair.survey import Survey


class Acceptance(StrEnum):
    """The words by which a risk is accepted before a plan is made, and again before it is
    applied."""

    AHEAD = "ahead"
    OTHER_CLUSTER = "other-cluster"
    OPEN_TRANSACTION = "open-transaction"
    RUNNING = "running"
    OLD_KAFKA = "old-kafka"
    INCOMPLETE = "incomplete"
    ROLLBACK = "rollback"
    DIVERGED = "diverged"
    OWN_LOG = "own-log"
    COLLECT_FILES = "collect-files"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """All of it."""

    surveys: tuple[Survey, ...]
    restored: Mapping[str, Survey] = field(default_factory=dict)
    """The surveys of what restorations will leave, by the names of the hosts."""
    now_ms: int
    method: Method | None = None
    kafka_version: str = ""
    fence: bool = False
    accepted: frozenset[str] = frozenset()
    lost: frozenset[int] = frozenset()
    """Voters whose disks are gone."""
    seed: int | None = None
    state: int | None = None
    """The node whose log the state is taken from."""
    epoch: int | None = None
    offset: int | None = None
    rollback: int | None = None
    """The outcome has seen the records below this offset only."""
    rebuild: int | None = None
    """The node whose directory is made from another's."""
    source: int | None = None
    poison: int | None = None
    """The offset of a record that kills controllers."""
    cluster_id: str = ""
    """The new one of --fence."""
    logs: Mapping[str, Sequence[SegmentFile]] = field(default_factory=dict)
    """The segments of directories that were read, by the names of the hosts: for names only."""
    endpoints: tuple[tuple[int, Endpoints], ...] = field(default_factory=tuple)
    """Where voters are reached from now on."""

    def endpoints_of(self, node_id: int) -> Endpoints:
        return dict(self.endpoints).get(node_id, {})


_UUID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{20}[AQgw]")
"""16 bytes in base64, which do not look like an option."""


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise ValueError(text)
    return int(text)


def _ids(text: str) -> frozenset[int]:
    return frozenset(_number(part.strip()) for part in text.split(","))


def _uuid(text: str) -> str:
    """As kafka-storage makes and takes cluster ids."""
    if _UUID.fullmatch(text) is None:
        raise ValueError(text)
    return text


_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "lost": ("lost", _ids),
    "seed": ("seed", _number),
    "state": ("state", _number),
    "epoch": ("epoch", _number),
    "offset": ("offset", _number),
    "rollback": ("rollback", _number),
    "rebuild": ("rebuild", _number),
    "from": ("source", _number),
    "poison": ("poison", _number),
    "cluster.id": ("cluster_id", _uuid),
}
_ENDPOINT = "endpoint."
KNOWN = (*_KEYS, f"{_ENDPOINT}ID")


def with_settings(request: PlanRequest, settings: Sequence[str]) -> PlanRequest:
    """The request with what `--set` says. Raises KraftoolError for what cannot be understood."""
    endpoints: list[tuple[int, Endpoints]] = []
    seen_keys: set[str] = set()
    for setting in settings:
        key, mark, value = setting.partition("=")
        if key in seen_keys:
            raise KraftoolError(
                f"--set {key} is given twice", hint="give each key once, as in lost=2,3 for two ids"
            )
        seen_keys.add(key)
        try:
            if not mark or not value:
                raise ValueError(setting)
            if key.startswith(_ENDPOINT):
                node_id = _number(key.removeprefix(_ENDPOINT))
                endpoints.append((node_id, _endpoints(value)))
                continue
            name, read = _KEYS[key]
            request = replace(request, **{name: read(value)})
        except KeyError:
            raise KraftoolError(
                f"--set {setting}: there is no {key}", hint=f"known keys are {', '.join(KNOWN)}"
            ) from None
        except ValueError:
            raise KraftoolError(
                f"--set {setting}: {key} does not take this value", hint=_FORMS
            ) from None
    return replace(request, endpoints=tuple(endpoints))


_FORMS = (
    "for example lost=2,3  seed=1  state=11  epoch=1200  offset=900000  rollback=5230"
    "  rebuild=2 from=3  poison=5230  endpoint.1=CONTROLLER://host:9093  cluster.id=UUID"
    " (kraftool storage random-uuid)"
)


def _endpoints(text: str) -> Endpoints:
    endpoints: dict[str, Endpoint] = {}
    for part in text.split(","):
        name, endpoint = read_endpoint(part.strip())
        listener = name.upper()
        if not listener or not endpoint.host or not endpoint.port or listener in endpoints:
            raise ValueError(text)
        endpoints[listener] = endpoint
    return endpoints
