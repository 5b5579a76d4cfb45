"""A plan with the files as the disks have them.

Owns the way back from surveys with flipped bits put back and runs of good batches restored: a slice
of such a file is made of what the disks have, a checkpoint's recipe names the changes, the hosts
that lend batches are relied on, and apply is given their directories. It refuses to choose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftool.repair import whole_rest
from kraftool.repair.cases import flipped_bits, restored_runs
from kraftool.repair.edit_builder import relied_on
from kraftool.repair.edits import sources_needed
from kraftool.repair.plan import (
    Action,
    Edit,
    Expected,
    Fingerprint,
    FlippedFile,
    HostPlan,
    Piece,
    Plan,
    PlanStep,
    RestoredFile,
)
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.repair.ranking import Host
from kraftool.repair.restored_file import joined, slice_of
from kraftool.repair.step_commands import copy_step, source_option


def on_disk(plan: Plan, hosts: Sequence[Host]) -> Plan:
    """The plan with the files as the disks have them: it was made with undamaged ones."""
    disks = _Disks(
        {host.name: {one.target.path: one for one in host.survey.flipped} for host in hosts},
        {host.name: {one.target.path: one for one in host.survey.restored_files} for host in hosts},
    )
    if not disks.has_changes:
        return with_used_alone(plan)
    own = {host.name: host for host in hosts}
    planned = replace(plan, hosts=tuple(map(disks.host, plan.hosts)))
    planned = replace(planned, hosts=tuple(_lending(planned, disks, own)))
    planned = replace(planned, steps=tuple(_steps(planned, own)))
    used = _used(planned)
    # A host that only lends batches does not get back its own log by this plan.
    changed = {host.name for host in planned.hosts if host.edits}
    changed |= {
        edit.snapshot.source
        for host in planned.hosts
        for edit in host.edits
        if edit.snapshot is not None
    }
    texts: dict[str, list[str]] = {}
    for host in hosts:
        if flipped_bits.CASE not in plan.cases:
            texts.setdefault(flipped_bits.CASE, []).extend(
                flipped_bits.text(host, file, "the plan uses the file as it was")
                for file in host.survey.flipped
                if (host.name, file.target.path) in used
            )
        restored = host.survey.restored_files
        files = {(host.name, restored_file.target.path) for restored_file in restored}
        if host.name not in changed or not used & files:
            continue
        about = (
            restored_runs if any(restored_file.runs for restored_file in restored) else whole_rest
        )
        if about.described(host) not in plan.summary:
            texts.setdefault(about.CASE, []).append(about.described(host))
    planned = with_used_alone(planned)
    return replace(
        planned,
        summary=(*plan.summary, *(text for case_texts in texts.values() for text in case_texts)),
        cases=tuple(dict.fromkeys((*plan.cases, *(case for case in texts if texts[case])))),
    )


def with_used_alone(plan: Plan) -> Plan:
    """The plan that expects only the files that it uses of a host that lends some and is not
    changed. All of a directory is expected if a state is made of it."""
    used = _used(plan)
    states = {
        edit.snapshot.source
        for host in plan.hosts
        for edit in host.edits
        if edit.snapshot is not None
    }
    lenders = {name for host in plan.hosts for name in sources_needed(host)} - states

    def alone(host: HostPlan) -> HostPlan:
        if host.edits or host.settings or host.name not in lenders:
            return host
        expected = (
            one
            for one in host.expected
            if one.target.kind is PlanFileKind.META_PROPERTIES
            or (host.name, one.target.path) in used
        )
        return replace(host, expected=tuple(expected))

    return replace(plan, hosts=tuple(map(alone, plan.hosts)))


@dataclass(frozen=True, slots=True)
class _Disks:
    """The bytes that surveys have instead of the disks', by host and by the path of the file."""

    flipped: Mapping[str, Mapping[str, FlippedFile]]
    restored: Mapping[str, Mapping[str, RestoredFile]]

    @property
    def has_changes(self) -> bool:
        return any((*self.flipped.values(), *self.restored.values()))

    def before(self, host: str, target: PlanFile) -> Fingerprint | None:
        """The file on the disk; None if the survey has it as it is there."""
        file = self.restored.get(host, {}).get(target.path) or self.flipped.get(host, {}).get(
            target.path
        )
        return None if file is None else file.before

    def expected(self, host: str, file: Expected) -> Expected:
        return replace(file, fingerprint=self.before(host, file.target) or file.fingerprint)

    def host(self, host: HostPlan) -> HostPlan:
        """A file that the plan relies on where it changes others is made whole itself."""
        edits = [edit if edit.flipped else self._edit(edit, host.name) for edit in host.edits]
        expected: list[Expected] = []
        for file in host.expected:
            restored = self.restored.get(host.name, {}).get(file.target.path)
            flipped = self.flipped.get(host.name, {}).get(file.target.path)
            if not host.edits or (restored is None and flipped is None):
                expected.append(self.expected(host.name, file))
            elif restored is not None:
                edits.append(self._edit(restored_runs.edit_of(restored), host.name))
            elif flipped is not None:
                edits.append(flipped_bits.edit_of(flipped))
        return replace(host, edits=tuple(edits), expected=tuple(expected))

    def _edit(self, edit: Edit, host: str) -> Edit:
        edit = replace(edit, before=self.before(host, edit.target) or edit.before)
        if edit.snapshot is not None:
            source = edit.snapshot.source or host
            restored = tuple(
                replace(file, pieces=joined(self._put_back(file.pieces, source)))
                for file in self.restored.get(source, {}).values()
            )
            flipped = tuple(self.flipped.get(source, {}).values())
            recipe = replace(edit.snapshot, flipped=flipped, restored=restored)
            return replace(edit, snapshot=recipe)
        pieces = [one for piece in edit.pieces for one in self._restored(piece, host)]
        return replace(edit, pieces=joined(self._put_back(pieces, host)))

    def _restored(self, piece: Piece, host: str) -> Iterator[Piece]:
        """A slice of a restored file, as slices of what the disks have."""
        of = piece.source or host
        file = self.restored.get(of, {}).get(piece.file.path) if piece.file is not None else None
        if file is None:
            yield piece
            return
        for part in slice_of(file.pieces, piece.start, piece.end):
            source = part.source or of
            yield replace(part, source="" if source == host else source)

    def _put_back(self, pieces: Iterable[Piece], host: str) -> Iterator[Piece]:
        for piece in pieces:
            of = self.flipped.get(piece.source or host, {})
            file = of.get(piece.file.path) if piece.file is not None else None
            if file is None:
                yield piece
            else:
                yield from flipped_bits.split(piece, file)


def _lending(plan: Plan, disks: _Disks, hosts: Mapping[str, Host]) -> Iterator[HostPlan]:
    """The hosts; those that lend batches have to be as they were when the plan was made."""
    lenders = {name for host_plan in plan.hosts for name in sources_needed(host_plan)}
    for host_plan in plan.hosts:
        host = hosts.get(host_plan.name)
        if host_plan.name not in lenders or host_plan.expected or host is None:
            yield host_plan
            continue
        expected = relied_on(host.survey, host_plan.edits)
        yield replace(
            host_plan, expected=tuple(disks.expected(host_plan.name, one) for one in expected)
        )


def _steps(plan: Plan, hosts: Mapping[str, Host]) -> Iterator[PlanStep]:
    """The steps; a copy of each directory that apply needs comes before the first apply."""
    is_first = True
    missing: dict[str, list[Host]] = {}
    for step in plan.steps:
        for host in plan.hosts if step.action is Action.APPLY else ():
            if host.name in step.hosts:
                named = " ".join(step.commands)
                missing[host.name] = [
                    hosts[source_name]
                    for source_name in sorted(sources_needed(host))
                    if source_name in hosts and source_option(hosts[source_name]) not in named
                ]
    for step in plan.steps:
        if step.action is Action.APPLY and is_first:
            is_first = False
            for name, sources in missing.items():
                yield from (copy_step(source, hosts[name]) for source in sources)
        more = "".join(source_option(one) for host in step.hosts for one in missing.get(host, ()))
        if step.action is Action.APPLY and more:
            step = replace(step, commands=tuple(f"{command}{more}" for command in step.commands))
        yield step


def _used(plan: Plan) -> set[tuple[str, str]]:
    """The files that new files or a state are made of, by host and path."""
    used: set[tuple[str, str]] = set()
    for host in plan.hosts:
        for edit in host.edits:
            used |= {(host.name, edit.target.path)} if edit.flipped else set()
            for piece in edit.pieces:
                if piece.file is not None:
                    used.add((piece.source or host.name, piece.file.path))
            if edit.snapshot is not None:
                source = edit.snapshot.source or host.name
                used |= {(source, file.target.path) for file in edit.snapshot.flipped}
                used |= {(source, file.target.path) for file in edit.snapshot.restored}
    return used
