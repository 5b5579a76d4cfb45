"""A restore carried out: what is missing is sent to the active controller of a quorum.

Owns the whole of it, how steps are packed into requests, and what came of each. A request is sent
once: where no answer comes, running the restore again shows whether it was done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kraftool.backup.manifest import Manifest
from kraftool.backup.restore import (
    Restore,
    RestorePart,
    RestoreScope,
    RestoreStep,
    StepOutcome,
    restore_of,
)
from kraftool.backup.verify import verified_checkpoint
from kraftool.client.asking import connected
from kraftool.client.asking_changes import CHANGE_S
from kraftool.client.observer import observe
from kraftool.client.target import Target
from kraftool.decoders.error_codes import error_name
from kraftool.decoders.json_marks import Inline
from kraftool.net.connection import Connection
from kraftool.net.errors import ConnectError, DisconnectedError, NetError, RequestTimeoutError
from kraftool.reports.state.load import load_state
from kraftool.storage.backup_files import BackupFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreReport:
    """The result of a restore."""

    backup: str
    cluster_id: str
    """Of the cluster that it is restored into."""
    is_dry_run: bool
    restore: Inline[Restore]


async def restored(
    files: BackupFiles,
    manifest: Manifest,
    target: Target,
    scope: RestoreScope,
    *,
    apply: bool,
) -> RestoreReport:
    """Restore a backup into a cluster; without `apply` nothing is changed. Raises KraftoolError
    for a backup that does not verify, and NetError where nobody can be asked."""
    backup = load_state(verified_checkpoint(files, manifest)).image
    view = await target.reached()
    cluster = (await observe(view, target.access)).image
    restore = restore_of(backup, cluster, scope)
    steps = await _send(target, restore.steps, validate_only=not apply) if restore.steps else ()
    return RestoreReport(
        backup=files.shown_path(manifest.name),
        cluster_id=view.cluster_id or "",
        is_dry_run=not apply,
        restore=replace(restore, steps=steps),
    )


_MOST_WEIGHT = 1_000
"""Partitions, configs, ACLs or quotas of one request: a controller takes 10,000 records at most."""


class _Form(NamedTuple):
    """The request for a part."""

    api: str
    versions: tuple[int, int] | None
    items: str
    """The member with the steps."""
    results: str
    """The member of the answer, with as many items in some order."""
    can_validate: bool


_FORMS = {
    RestorePart.TOPICS: _Form("CreateTopics", (2, 7), "topics", "topics", can_validate=True),
    RestorePart.CONFIGS: _Form(
        "IncrementalAlterConfigs", None, "resources", "responses", can_validate=True
    ),
    RestorePart.QUOTAS: _Form("AlterClientQuotas", None, "entries", "entries", can_validate=True),
    RestorePart.ACLS: _Form("CreateAcls", None, "creations", "results", can_validate=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Packed:
    """The steps of one request, with their places in the restore."""

    part: RestorePart
    steps: Sequence[tuple[int, RestoreStep]]


async def _send(
    target: Target, steps: Sequence[RestoreStep], *, validate_only: bool
) -> tuple[RestoreStep, ...]:
    """Send the steps, and return them with what came of each. With `validate_only` the controller
    only says what it would refuse. Raises NetError where there is no leader."""
    view = await target.reached()
    if view.leader is None:
        raise ConnectError(
            "no controller leads the quorum", hint="run kraftool quorum health to see why"
        )
    outcomes = list(steps)
    async with connected(view, view.leader, target.access) as connection:
        for packed in _packed(steps):
            if validate_only and not _FORMS[packed.part].can_validate:
                continue
            for (at, _), done in zip(
                packed.steps,
                await _request(connection, packed, target, validate_only=validate_only),
                strict=True,
            ):
                outcomes[at] = done
    return tuple(outcomes)


def _packed(steps: Sequence[RestoreStep]) -> Iterator[_Packed]:
    """The steps in requests of one part each, none too large."""
    some: list[tuple[int, RestoreStep]] = []
    weight = 0
    for at, step in enumerate(steps):
        if some and (some[0][1].part is not step.part or weight + step.weight > _MOST_WEIGHT):
            yield _Packed(part=some[0][1].part, steps=tuple(some))
            some, weight = [], 0
        some.append((at, step))
        weight += step.weight
    if some:
        yield _Packed(part=some[0][1].part, steps=tuple(some))


async def _request(
    connection: Connection, packed: _Packed, target: Target, *, validate_only: bool
) -> list[RestoreStep]:
    form = _FORMS[packed.part]
    steps = [step for _, step in packed.steps]
    body: dict[str, Any] = {form.items: [step.body for step in steps]}
    if form.can_validate:
        body["validateOnly"] = validate_only
    if packed.part is RestorePart.TOPICS:
        body["timeoutMs"] = int(CHANGE_S * 1000)
    wait_s = CHANGE_S + target.access.timeout_s
    try:
        answer = await connection.request(form.api, form.versions, body, wait_s)
    except (DisconnectedError, RequestTimeoutError) as error:
        return [replace(step, outcome=StepOutcome.UNKNOWN, reason=error.message) for step in steps]
    except NetError as error:
        return [replace(step, outcome=StepOutcome.REFUSED, reason=error.message) for step in steps]
    results = list(answer[form.results])
    if (
        packed.part is not RestorePart.ACLS
    ):  # whose results have no names, and the order of the request
        by_name = {_name(packed.part, result): result for result in results}
        results = [by_name.get(_name(packed.part, step.body), {}) for step in steps]
    return [
        _told(step, result, validate_only=validate_only)
        for step, result in zip(steps, results, strict=True)
    ]


def _name(part: RestorePart, item: Mapping[str, Any]) -> object:
    """Return what an item of a request and that of the answer have in common."""
    if part is RestorePart.TOPICS:
        return item["name"]
    if part is RestorePart.CONFIGS:
        return item["resourceType"], item["resourceName"]
    return frozenset((one["entityType"], one["entityName"]) for one in item["entity"])


def _told(step: RestoreStep, result: Mapping[str, Any], *, validate_only: bool) -> RestoreStep:
    code = result.get("errorCode")
    if code is None:
        reason = "the answer does not mention it"
        return replace(step, outcome=StepOutcome.UNKNOWN, reason=reason)
    if code == 0:
        return replace(step, outcome=StepOutcome.POSSIBLE if validate_only else StepOutcome.DONE)
    message = result.get("errorMessage") or ""
    reason = f"{error_name(code)}: {message}" if message else error_name(code)
    return replace(step, outcome=StepOutcome.REFUSED, reason=reason)
