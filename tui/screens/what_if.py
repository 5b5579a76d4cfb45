"""The view of a loss of nodes: simulate-election on what is watched, asked by keys.

Owns the question and the layout. The quorum at rest, the runs and the verdict are
`watching/outage.py` and `sim/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from kraftool.reports.election.assessment_words import sentences
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.findings.status import Status, worst_status
from kraftool.reports.text.times import utc
from kraftool.reports.text.words import listed, many
from kraftool.sim.document import SimulateElectionDocument, simulate_election_document
from kraftool.sim.node_table import QUORUM_STATE, node_table
from kraftool.sim.report import Report
from kraftool.sim.verdict import verdict
from kraftool.sim.verdict_words import lost, seconds
from kraftool.tui.blocks import fill
from kraftool.tui.details import Details, Working
from kraftool.tui.findings import joined
from kraftool.tui.table import ReportTable
from kraftool.tui.tasks import TaskView
from kraftool.tui.widgets.prompt import LineInput
from kraftool.watching.child_process import apart
from kraftool.watching.outage import (
    RUNS,
    OutageQuestion,
    answer,
    answer_of_directories,
    case_of_live,
    lost_already,
)
from kraftool.watching.picture import Picture
from kraftool.watching.task import Task

_NOBODY_TELLS = (
    "No node leads, and no leader was seen: only a leader reports how far logs go. Name the"
    " controllers' directories too, or run kraftool simulate-election on them."
)
_MOST_REFUSALS = 8
_WIDE = 110


class WhatIfScreen(TaskView):
    """Nodes to lose, and what an election would come to without them."""

    TITLE = "What if"
    ABOUT = (
        "A simulation of an election, as simulate-election makes it: the real protocol, in memory."
        " space stops the node under the cursor, or brings it back. c cuts the network: 1|2,3 both"
        " ways, 1>2 one way. s uses another seed. The nodes that can lead appear at once, then the"
        " result of each run. x stops the runs. kraftool sends nothing and writes nothing."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "lose", "Lose"),
        Binding("c", "cut", "Cut"),
        Binding("a", "all_back", "Reset"),
        Binding("s", "next_seed", "Seed"),
        Binding("d", "change_source", "Source", show=False),
        Binding("v", "ask", "Ask again", show=False),
        Binding("x", "stop", "Stop", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._question = OutageQuestion(runs=RUNS)
        self._of_directories: bool | None = None
        self._case: ElectionCase | None = None
        self._case_stamp: object = None
        self._report: Report | None = None
        self._is_whole = False
        """True once all runs are made."""
        self._asked_ms = 0
        self._why_not = ""

    def compose(self) -> ComposeResult:
        yield Static(id="what-if-question")
        yield ReportTable(id="what-if-table")
        yield Working(id="what-if-working")
        cut = LineInput(id="what-if-cut", placeholder="1|2,3 or 1>2; empty for none", compact=True)
        cut.display = False
        yield cut
        yield Details(id="what-if-verdict")

    # --- asking -------------------------------------------------------------------------------

    def show(self, picture: Picture) -> None:
        if self._of_directories is None:
            leaderless = picture.view is None or case_of_live(picture) is None
            self._of_directories = leaderless and bool(self.sources.directories)
            self._question = replace(self._question, down=lost_already(picture))
            self.action_ask()
        elif self._report is None and self._why_not and not self.is_working:
            self.action_ask()  # there may be a leader by now, who tells log ends
        self._draw()

    def action_ask(self) -> None:
        """Ask of what is so now."""
        picture = self.picture
        if picture is None:
            return
        question, paths, stamp = self._question, self.sources.directories, picture.stamp
        self._asked_ms = picture.at_ms
        known = self._case if self._case_stamp == stamp else None
        self._why_not = ""
        if not self._of_directories:
            known = case_of_live(picture)
            if known is None:
                self._why_not = _NOBODY_TELLS
                self._draw()
                return

        def run(task: Task) -> Report:
            if known is None:
                return apart(answer_of_directories, paths, question, task=task)
            return apart(answer, known, question, task=task)

        def take(report: Report, *, is_whole: bool = False) -> None:
            self._case, self._report, self._is_whole = report.case, report, is_whole
            self._case_stamp = stamp if self._of_directories else None
            self._draw()

        self._case, self._is_whole = known or self._case, False
        self.begin("what if", run, partial(take, is_whole=True), partly=take)

    def _ask(self, question: OutageQuestion) -> None:
        self._question = question
        self._draw()
        self.action_ask()

    def action_lose(self) -> None:
        """Lose the node under the cursor, or bring it back."""
        key = self.query_one(ReportTable).cursor_key
        if key is None or self._case is None or int(key) not in self._case.by_id:
            self.watch_app.tell("nothing is known of this node: it counts as lost")
            return
        self._ask(replace(self._question, down=self._question.down ^ {int(key)}))

    def action_all_back(self) -> None:
        self._ask(replace(self._question, down=frozenset(), partition=""))

    def action_next_seed(self) -> None:
        """Other chance: delays, timeouts and the order of starts."""
        self._ask(replace(self._question, seed=self._question.seed + self._question.runs))

    def action_change_source(self) -> None:
        """From live nodes to directories, and back."""
        picture = self.picture
        if picture is None or picture.view is None or not self.sources.directories:
            self.watch_app.tell("only one of live nodes and directories is watched")
            return
        self._of_directories = not self._of_directories
        self._case = self._report = self._case_stamp = None
        self._ask(replace(self._question, down=frozenset(), partition=""))

    def action_stop(self) -> None:
        """Stop the runs, and keep those that were made."""
        super().action_stop()
        self._draw()

    def action_cut(self) -> None:
        cut = self.query_one("#what-if-cut", Input)
        cut.value = self._question.partition
        cut.display = True
        self.screen.set_focus(cut)  # at once: when it is seen, it listens

    def on_input_submitted(self, message: Input.Submitted) -> None:
        if message.input.id == "what-if-cut":
            message.stop()
            self._leave_cut()
            self._ask(replace(self._question, partition=message.value.strip()))

    def on_line_input_left(self, message: LineInput.Left) -> None:
        if message.input.id == "what-if-cut":
            message.stop()
            self._leave_cut()

    def _leave_cut(self) -> None:
        self.query_one("#what-if-cut", Input).display = False
        self.query_one(ReportTable).focus()

    # --- the answer ---------------------------------------------------------------------------

    def _draw(self) -> None:
        self.query_one("#what-if-question", Static).update(self._asked())
        case, report = self._case, self._current()
        if case is not None:
            nodes = node_table(case, self._question.down, report)
            shown = nodes if self.columns >= _WIDE else nodes.without(QUORUM_STATE)
            fill(self.query_one(ReportTable), self.palette, shown)
        details = self.query_one(Details)
        if self._why_not:
            details.tell([("no answer", self.text(self._why_not, "warn"))])
        elif report is None:
            details.tell([])
        else:
            details.tell([*self._verdict(report)])

    def _current(self) -> Report | None:
        """The answer to this very question."""
        report, question = self._report, self._question
        if report is None or report.seed != question.seed:
            return None
        partitions = (question.partition,) if question.partition else ()
        same = report.conditions.partitions == partitions
        down = question.down & frozenset(report.case.by_id)
        return report if same and report.conditions.down == down else None

    def _asked(self) -> Text:
        question = self._question
        ids = sorted(question.down)
        what = [f"{listed(ids)} {'was' if len(ids) == 1 else 'were'} lost"] if ids else []
        what += [f"the network was cut at {question.partition}"] if question.partition else []
        source = "the disks" if self._of_directories else "live nodes"
        at = utc(self._asked_ms, "%H:%M:%SZ")
        return joined(
            self.text(f"What if {' and '.join(what) or 'all nodes started'}?", "name"),
            self.text(f"   by {source} at {at}, seed {question.seed}", "quiet"),
        )

    def _verdict(self, report: Report) -> Iterator[tuple[str, Text]]:
        election_verdict = verdict(report)
        status = election_verdict.status
        if not self._is_whole:
            # What was not tried yet may be worse.
            status = worst_status([status, Status.UNKNOWN])
        yield "verdict", self.text(f"{status.mark} {election_verdict.headline}", status.meaning)
        if not self._is_whole:
            is_on = "so far" if self.is_working else "before it was stopped; v asks again"
            words = f"{report.runs} of {many(self._question.runs, 'run')} {is_on}"
            yield "", self.text(words, "warn" if not self.is_working else "key")
        for detail in election_verdict.details:
            yield "", self.text(detail, "bad" if detail.startswith("DATA LOSS") else "")
        for step in election_verdict.next_steps:
            yield "next", self.text(step.advice, status.meaning)
            for command in step.commands:
                yield "", self.text(command, "key")
        yield from self._restarts(report, status)
        for node in report.leaders:
            for loss in report.losses_by(node):
                words = f"{node} leads: {lost(loss)}"
                yield "cut off", self.text(words, "bad" if loss.commit_status.is_grave else "warn")
        refusals = [refusal for chance in report.chances for refusal in chance.refusals]
        for number, refusal in enumerate(refusals[:_MOST_REFUSALS]):
            yield "" if number else "refused", self.text(refusal.reason, "quiet")
        for number, sentence in enumerate(sentences(report.assessment, with_running=False)):
            yield "" if number else "at rest", self.text(sentence, "quiet")
        took = f"{many(report.runs, 'run')} from seed {report.seed}"
        if report.times_ms:
            took += (
                f"; if all start together, a leader within {seconds(report.quantile_ms(0.5))} in"
                f" half of {len(report.times_ms)}, {seconds(report.quantile_ms(1))} at most"
            )
        yield "runs", self.text(took, "quiet")
        for number, note in enumerate(report.case.notes):
            yield "" if number else "assumed", self.text(note, "quiet")

    def _restarts(self, report: Report, status: Status) -> Iterator[tuple[str, Text]]:
        """Yield what may be restarted then. Nothing is green below a verdict that is not."""
        safe = "good" if status is Status.GOOD else ""
        parts = [
            self.text(f"{restart.node_id} {'✓ safe' if restart.is_safe else '✖ not now'}  ",
                      safe if restart.is_safe else "warn")
            for restart in report.restarts
        ]  # fmt: skip
        if parts:
            yield "restart", joined(*parts)

    # --- ways out -----------------------------------------------------------------------------

    @property
    def document(self) -> SimulateElectionDocument | None:
        report = self._current()
        return None if report is None else simulate_election_document(report)
