"""A damaged log or checkpoint that is restored: flipped bits by themselves, other damage by the
good batches of other nodes.

Owns the words, and that the files are restored on the disk. The survey that a plan is made of has
them restored already (`ranking.py`), so that every other case and every method plans with the whole
log. It refuses to judge if bits and batches are right (`bit_survey.py`, `log_runs.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.repair.cases.model import Mend
from kraftool.repair.edit_builder import restored_in_place
from kraftool.repair.plan import Edit
from kraftool.repair.ranking import Host
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.text.words import listed

FLIPPED_BIT, RESTORED_RUNS = "flipped-bit", "restored-runs"


def find(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    survey = host.survey
    for edit in survey.restored:
        if edit.flipped:
            yield Mend(
                case=FLIPPED_BIT,
                host=host,
                text=flipped_bits(host, edit, "the plan restores the original bits"),
                edits=restored_in_place(survey, [edit]),
            )
    with_runs = [edit for edit in survey.restored if edit.runs]
    if with_runs and survey.intact:  # what is still damaged is the case, with the runs
        yield Mend(
            case=RESTORED_RUNS,
            host=host,
            text=runs(host),
            edits=restored_in_place(survey, with_runs),
            stops_all=True,
        )


def flipped_bits(host: Host, edit: Edit, then: str) -> str:
    """The bits of a file, the evidence, and what the plan does with them."""
    bits = "One flipped bit explains" if len(edit.flipped) == 1 else "Single flipped bits explain"
    details = "; ".join(bit.describe() for bit in edit.flipped)
    message = f"{host.name}: {edit.target.name} is damaged. {bits} that, and {then}: {details}"
    same = host.evidence.confirmed_by
    if same:
        message += f". {listed(same)} {'has' if len(same) == 1 else 'have'} the same bytes there"
    return message


def runs(host: Host) -> str:
    """Return which offsets come from which node, and the evidence."""
    survey = host.survey
    restored_runs = [run for edit in survey.restored for run in edit.runs]
    text = (
        f"{host.name}: its log is damaged, but other nodes have the batches that belong there."
        f" The plan takes {listed(run.describe() for run in restored_runs)}, and the rest from"
        f" {host.name} itself. The epochs and CRCs of the batches on both sides agree"
    )
    if survey.intact:
        text += f": {host.name} gets back the log that it had, up to offset {survey.end.offset}"
    return text
