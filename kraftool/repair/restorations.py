"""Restorations of the damaged files that a plan is made from.

A plan is made from the surveys of what restorations will leave. Owns its other part: for each host
the edits that restore the files that the plan uses, and the hosts that lend batches for them. Those
are relied on, and apply is given their directories.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from kraftool.repair.cases import restored
from kraftool.repair.edit_builder import relied_on, restored_in_place
from kraftool.repair.edits import files_read, sources_needed
from kraftool.repair.plan import Action, HostPlan, Plan, PlanStep
from kraftool.repair.plan_file import PlanFile, PlanFileKind
from kraftool.repair.ranking import Host
from kraftool.repair.step_commands import copy_step, source_option
from kraftool.repair.survey import Survey

Used = Collection[tuple[str, PlanFile]]
"""Files by the names of their hosts."""


def with_restorations(plan: Plan, hosts: Sequence[Host]) -> Plan:
    """The plan with the restorations of all files that it uses."""
    own = {host.name: host for host in hosts}
    begun = replace(
        plan, hosts=tuple(_restored(planned, own[planned.name].survey) for planned in plan.hosts)
    )
    used = {file for planned in begun.hosts for file in files_read(begun, planned)}
    planned_hosts = tuple(
        _with_used(begun, planned, own[planned.name], used) for planned in begun.hosts
    )
    made = replace(begun, hosts=planned_hosts)
    texts = list(_texts(made, hosts, used))
    return replace(
        made,
        steps=tuple(_steps(made, own)),
        summary=(*plan.summary, *(text for _, text in texts)),
        cases=tuple(dict.fromkeys((*plan.cases, *(case for case, _ in texts)))),
    )


def _restored(planned: HostPlan, survey: Survey) -> HostPlan:
    """The part of a host. A damaged file that it relies on where it changes others is restored on
    the disk, too."""
    changed = {edit.target for edit in planned.edits}
    kept = {file.target for file in planned.expected}
    left = [edit for edit in survey.restored if changed and edit.target in kept]
    more = [edit for edit in restored_in_place(survey, left) if edit.target not in changed]
    changed |= {edit.target for edit in more}
    return replace(
        planned,
        restored=survey.restored,
        edits=(*planned.edits, *more),
        expected=tuple(file for file in planned.expected if file.target not in changed),
    )


def _with_used(plan: Plan, planned: HostPlan, host: Host, used: Used) -> HostPlan:
    """The part of a host with what is used of it alone. All of a directory is relied on if it is
    changed, or if a state is made of it."""
    planned = replace(
        planned,
        restored=tuple(edit for edit in planned.restored if (host.name, edit.target) in used),
    )
    if all(host.name not in sources_needed(plan, other) for other in plan.hosts):
        return planned
    expected = planned.expected or relied_on(host.survey, planned.edits)
    if not (planned.edits or planned.settings or host.name in _states(plan)):
        expected = tuple(
            file
            for file in expected
            if file.target.kind is PlanFileKind.META_PROPERTIES or (host.name, file.target) in used
        )
    return replace(planned, expected=expected)


def _states(plan: Plan) -> set[str]:
    """The hosts whose state a checkpoint is made of."""
    return {
        edit.snapshot.source or planned.name
        for planned in plan.hosts
        for edit in planned.edits
        if edit.snapshot is not None
    }


def _steps(plan: Plan, hosts: Mapping[str, Host]) -> Iterator[PlanStep]:
    """The steps; a copy of each directory that apply needs comes before the first apply."""
    missing: dict[str, list[Host]] = {}
    for step in plan.steps:
        for planned in plan.hosts if step.action is Action.APPLY else ():
            if planned.name in step.hosts:
                named = " ".join(step.commands)
                sources = [hosts[name] for name in sorted(sources_needed(plan, planned))]
                missing[planned.name] = [
                    source for source in sources if source_option(source) not in named
                ]
    copies = [
        copy_step(source, hosts[name]) for name, sources in missing.items() for source in sources
    ]
    for step in plan.steps:
        if step.action is Action.APPLY:
            yield from copies
            copies = []
            more = "".join(
                source_option(one) for name in step.hosts for one in missing.get(name, ())
            )
            step = replace(step, commands=tuple(f"{command}{more}" for command in step.commands))
        yield step


def _texts(plan: Plan, hosts: Sequence[Host], used: Used) -> Iterator[tuple[str, str]]:
    """Yield the case and the words of each restoration that the plan does not describe yet."""
    for host in hosts if restored.FLIPPED_BIT not in plan.cases else ():
        for edit in host.survey.restored:
            if edit.flipped and (host.name, edit.target) in used:
                text = restored.flipped_bits(host, edit, "the plan uses the file as it was")
                yield restored.FLIPPED_BIT, text
    # A host that only lends batches does not get back its own log by this plan.
    changed = {planned.name for planned in plan.hosts if planned.edits} | _states(plan)
    for host in hosts:
        runs = {(host.name, edit.target) for edit in host.survey.restored if edit.runs}
        if (
            host.name in changed
            and not runs.isdisjoint(used)
            and (text := restored.runs(host)) not in plan.summary
        ):
            yield restored.RESTORED_RUNS, text
