"""Commands of a plan's steps that several methods have: with the plan's file, and for a copy.

Owns the name under which a command has the plan's file and a copy of another host's directory.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from kraftool.decoders.names import BOOTSTRAP_CHECKPOINT, METADATA_FOLDER
from kraftool.repair.plan import Action, Plan, PlanStep
from kraftool.repair.plan_file import PlanFile
from kraftool.repair.ranking import Host
from kraftool.reports.text.words import listed

_WORD = r"""(?:'[^']*'|"[^"]*"|[^\s'"])+"""
"""As a shell reads one."""
_WITH_PLAN = re.compile(rf"^((?:# replace [^:]*: )?kraftool recover (?:apply|undo|verify)) {_WORD}")


def with_plan_file(command: str, file: str) -> str:
    """A command of a step, with the plan's file of this name."""
    return _WITH_PLAN.sub(lambda match: f"{match[1]} {shlex.quote(file)}", command)


def naming_its_file(plan: Plan, file: str) -> Plan:
    """The plan with the name of its own file in its commands; it is carried to other hosts."""
    name = os.path.basename(file)
    steps = tuple(
        replace(step, commands=tuple(with_plan_file(one, name) for one in step.commands))
        for step in plan.steps
    )
    return replace(plan, steps=steps)


def copy_step(
    source: Host, target: Host, more: str = "", files: Sequence[PlanFile] = ()
) -> PlanStep:
    """The step that brings a copy of a directory to another host, before apply runs there.

    With `files`, only these are copied: they never change, so that the source may run.
    """
    folder = copy_of(source)
    names = " ".join(("meta.properties", *(shlex.quote(file.path) for file in files or ())))
    # The plan repairs it in the source, too, and apply expects it in the copy.
    beside = BOOTSTRAP_CHECKPOINT if source.survey.bootstrap_complaint else ""
    what = f"{source.survey.directory} of {source.name} to {target.name}, without the topics'"
    what += " folders"
    if files:
        what = f"{listed(file.name for file in files)} of {source.name} to {target.name}"
    files_to_copy = names if files else " ".join(filter(None, (names, beside, METADATA_FOLDER)))
    return PlanStep(
        action=Action.COPY,
        hosts=(source.name, target.name),
        text=f"copy {what}: run the first command on {source.name}, carry the file over, run the"
        f" second on {target.name}{more}",
        commands=(
            source.survey.command(
                f"tar -C {source.survey.directory} -czf {folder}.tar.gz {files_to_copy}"
            ),
            f"mkdir -p {folder} && tar -C {folder} -xzf {folder}.tar.gz",
        ),
    )


def source_option(source: Host) -> str:
    """Return how apply is given the copy."""
    return f" --source {source.name}={copy_of(source)}"


def copy_of(source: Host) -> str:
    """The folder of the copy, below the one where the commands run."""
    return f"{source.name}-data"
