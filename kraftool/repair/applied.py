"""A collect file from after `apply`, compared with the plan: for a directory on another host.

Owns the comparison of file hashes. It reads nothing. A checkpoint that is made where the plan is
applied has no hash in the plan: it must be there and intact.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.repair.plan import Edit, HostPlan
from kraftool.repair.survey import Survey


def not_as_planned(host: HostPlan, survey: Survey) -> Iterator[str]:
    """Sentences about what is not as the plan makes it. Empty if all is."""
    if survey.running:
        yield "a process is running on it: files may change at any time"
    if survey.half_done:
        yield f"the plan is half done there: {survey.half_done}"
    for edit in host.edits:
        problem = _problem(edit, survey)
        if problem:
            yield f"{edit.target.path} {problem}"


def _problem(edit: Edit, survey: Survey) -> str:
    file = survey.file(edit.target)
    if edit.is_removal:
        return "" if file is None else "exists, but the plan removes it"
    if file is None:
        return "is missing"
    if edit.snapshot is not None:
        intact = any(
            snapshot.name == edit.target.name and snapshot.intact for snapshot in survey.snapshots
        )
        return "" if intact else "is damaged"
    return "" if file.fingerprint == edit.after else "is not as the plan makes it"
