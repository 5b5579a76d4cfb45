"""The table of a simulated election: each node, its log, and whether it can lead.

simulate-election and the dashboard's What-if view show it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kraftool.raft.names import ElectionState
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.reports.text.blocks import Cell, Column, Phrase, TableBlock, TableRow
from kraftool.sim.outlook import LIKELIHOODS
from kraftool.sim.report import Report

QUORUM_STATE = "quorum-state"
LEADS_FIRST = "leads first"


def node_table(case: ElectionCase, down: Collection[int], report: Report | None) -> TableBlock:
    """The nodes of a case. Before there is a report nothing is said of who can lead."""
    rows = [TableRow(str(node.id), tuple(_cells(case, node, down, report))) for node in case.nodes]
    rows += [TableRow(str(id), tuple(_unknown(id))) for id in case.unknown]
    return TableBlock(
        title="Nodes",
        columns=(
            Column("node", is_right=True),
            Column("state", is_whole=True),
            Column("role"),
            Column("log ends", is_right=True),
            Column("of epoch", is_right=True),
            Column(QUORUM_STATE),
            Column("can lead", is_whole=True),
            Column(LEADS_FIRST),
        ),
        rows=rows,
    )


def _cells(
    case: ElectionCase, node: NodeCase, down: Collection[int], report: Report | None
) -> Iterator[Cell]:
    yield Phrase(str(node.id), "name")
    yield Phrase("✖ down", "bad") if node.id in down else Phrase("· up", "quiet")
    yield tuple(_role(case, node))
    yield Phrase(str(node.end.offset))
    yield Phrase(str(node.end.epoch))
    yield Phrase("unreadable", "bad") if node.has_unreadable_state else Phrase(_of(node.election))
    yield Phrase("") if report is None else _can_lead(node, report)
    yield Phrase("" if report is None else _leads_first(node, report))


def _unknown(id: int) -> Iterator[Cell]:
    yield Phrase(str(id), "name")
    yield Phrase("? down", "warn")
    yield Phrase("voter")
    yield from (Phrase("?"), Phrase("?"), Phrase(""))
    yield Phrase("nothing is known of it", "warn")
    yield Phrase("")


def _role(case: ElectionCase, node: NodeCase) -> Iterator[Phrase]:
    if not case.voters.has(node.key):
        yield Phrase("observer", "warn")
    else:
        yield Phrase("voter, a witness" if node.is_witness else "voter")
    if node.assumed:
        yield Phrase(f", {node.assumed}", "warn")


def _of(state: ElectionState | None) -> str:
    if state is None:
        return "none"
    words = f"epoch {state.epoch}"
    if state.leader_id is not None:
        words += f", leader {state.leader_id}"
    return words + (f", voted for {state.voted.id}" if state.voted is not None else "")


def _can_lead(node: NodeCase, report: Report) -> Phrase:
    chance = next(chance for chance in report.chances if chance.node == node.id)
    if node.id in report.leaders:
        grave = any(loss.commit_status.is_grave for loss in report.losses_by(node.id))
        if grave or report.log_of(node.id) in report.unseen:
            return Phrase("✖ yes, with losses", "bad")
        if node.is_witness:
            return Phrase("▲ yes, no controller", "warn")
        return Phrase("yes" if chance.via is None else f"yes, after witness {chance.via}")
    if node.id in report.conditions.down:
        return Phrase("-", "quiet")
    return Phrase(_why_not(node, report), "warn")


def _why_not(node: NodeCase, report: Report) -> str:
    chance = next(chance for chance in report.chances if chance.node == node.id)
    if report.case.is_stranger(node):
        return "no: another replica"
    if not node.is_voter:
        return "no: not a voter" if node.voters else "no: knows no voters"
    if chance.wins:
        return "no: cannot commit"
    if any(other.via == node.id for other in report.chances):
        return "as a last resort"
    if node.settings.is_witness:
        return "no: a witness"
    return f"no: {len(chance.granted) + 1} of {node.voters.majority} votes"


def _leads_first(node: NodeCase, report: Report) -> str:
    """The word for its chance to be the first leader."""
    if node.id not in report.leaders:
        return ""
    outlook = next(outlook for outlook in report.outlooks if outlook.node == node.id)
    return LIKELIHOODS[outlook.likelihood]
