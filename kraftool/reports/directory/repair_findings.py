"""The findings of recovery plans that are half done in a directory, or were carried out.

Owns the command that finishes a plan: a node that starts on a half-done directory makes it worse.
"""

from __future__ import annotations

import os
import shlex

from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import repair as kinds
from kraftool.reports.voters.repairs import RepairTrace
from kraftool.storage.repair_journal import Stage


def repair_finding(repair: RepairTrace) -> Finding:
    """Return what is told of a plan in a directory."""
    if repair.unread is not None:
        problem = repair.unread
        if repair.is_damaged:
            return dir_kinds.UNREADABLE.at(
                problem.name, problem.reason, advice=problem.hint or None
            )
        return kinds.KEPT.at(problem.name, problem.reason)
    assert repair.stage is not None, "a journal that was read has a stage"
    text = f"recovery plan {os.path.basename(repair.folder)} is {repair.stage.value} here"
    if repair.stage not in (Stage.CHANGING, Stage.UNDOING):
        return kinds.KEPT.at(repair.folder, text)
    advice = how_to_finish(repair.folder, repair.stage, repair.directory)
    return kinds.HALF.at(repair.folder, text, advice=advice)


def how_to_finish(folder: str, stage: Stage, directory: str) -> str:
    """The command for a plan that is half done; its folder has the plan."""
    verb = "apply" if stage is Stage.CHANGING else "undo"
    plan, where = shlex.quote(os.path.join(folder, "plan.yaml")), shlex.quote(directory)
    command = f"kraftool recover {verb} {plan} --dir {where}"
    back = ", or undo it with recover undo" if stage is Stage.CHANGING else ""
    return f"do not start the node. Finish the plan with {command}{back}"
