"""The metadata at an offset: an overview, a finder, a tree, and what differs between two offsets.

Owns what is said and which keys do it. States come from `reports/browse/history.py`, in a thread.
"""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from kraftool.client.model import QuorumView
from kraftool.reports.browse.history import StateHistory
from kraftool.reports.browse.state_changes import ChangeRow, StateComparison
from kraftool.reports.browse.state_overview import StateOverview
from kraftool.reports.browse.state_tree import Path, StateTree, TreeRow
from kraftool.reports.findings.finding import Finding
from kraftool.reports.logs.query import read_goto
from kraftool.reports.state.load import LoadedState
from kraftool.tui.details import Working
from kraftool.tui.source_choice import PlaceView
from kraftool.tui.widgets.detail_lines import DetailLines
from kraftool.tui.widgets.lines import Lines
from kraftool.tui.widgets.panel import Panel
from kraftool.tui.widgets.prompt import Prompt
from kraftool.tui.widgets.slider import Slider
from kraftool.tui.widgets.state_finder import StateFinder
from kraftool.tui.widgets.state_lines import (
    TreeLines,
    change_line,
    headline,
    overview_rows,
    state_words,
    tree_line,
)
from kraftool.watching.picture import Picture
from kraftool.watching.result import Failed, attempt
from kraftool.watching.state_document import (
    DifferenceView,
    StateView,
    difference_view,
    leaves,
    state_view,
)
from kraftool.watching.state_reading import ReachedState, reach_state
from kraftool.watching.task import Task
from kraftool.watching.watched_sources import OpenedHistory, open_history

_PARTS = 20
_FIND = "find"


class StateScreen(PlaceView):
    """The metadata image of one place."""

    TITLE = "State"
    ABOUT = (
        "The metadata at an offset. Offsets are exclusive: the state at 100 has the records 0 to"
        " 99. kraftool reads it from a snapshot (┴) and the log after it. f finds topics, brokers"
        " and configs by name. Enter on a topic shows its partitions. m marks an offset, and c"
        " compares with it."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("comma", "step(-1)", "Offset before", key_display=",", show=False),
        Binding("full_stop", "step(1)", "Next offset", key_display=".", show=False),
        Binding("less_than_sign", "part(-1)", "Back", key_display="<", show=False),
        Binding("greater_than_sign", "part(1)", "On", key_display=">", show=False),
        Binding("f", "find", "Find"),
        Binding("o", "goto", "Go to"),
        Binding("m", "mark", "Mark", show=False),
        Binding("c", "compare", "Compare"),
        Binding("d", "directory", "Directory", show=False),
        Binding("x", "stop", "Stop", show=False),
        Binding("escape", "close", "Close", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._history: StateHistory | None = None
        self._stamp: object = None
        self._wanted: int | None = None
        """The offset that is asked for; None is the newest, whatever that is."""
        self._state: LoadedState | None = None
        self._tree: StateTree | None = None
        self._marked: int | None = None
        self._difference: StateComparison | None = None
        self._overview: StateOverview | None = None
        self._is_partial = False
        self._findings: dict[str, tuple[Finding, ...]] = {}
        """The findings of the files that a state came from, by place."""
        self._problem = ""

    def compose(self) -> ComposeResult:
        yield Static(id="state-title")
        yield Slider(id="state-slider")
        yield Working(id="state-working")
        yield Prompt(id="state-prompt")
        yield Panel("Overview", id="state-overview")
        yield TreeLines(lambda row, width: tree_line(row, width, self.palette), id="state-tree")
        yield Lines[ChangeRow](
            lambda row, width: change_line(row, width, self.palette), id="state-changes"
        )
        yield StateFinder(self, id="state-found")
        yield DetailLines(id="state-detail")

    def first_focus(self) -> None:
        shown = next(line_list for line_list in self._lists if line_list.display)
        shown.focus()

    @property
    def _lists(self) -> tuple[Lines[Any], ...]:
        """Return the lists of this view; one of them is shown."""
        return self._tree_lines, self._changes, self._found

    def _show_list(self, shown: Lines[Any]) -> None:
        for line_list in self._lists:
            line_list.display = line_list is shown
        self._detail.display = False

    @property
    def _found(self) -> StateFinder:
        return self.query_one("#state-found", StateFinder)

    @property
    def _tree_lines(self) -> TreeLines:
        return self.query_one("#state-tree", TreeLines)

    @property
    def _changes(self) -> Lines[ChangeRow]:
        return self.query_one("#state-changes", Lines)

    @property
    def _detail(self) -> DetailLines:
        return self.query_one(DetailLines)

    # --- which state --------------------------------------------------------------------------

    def show(self, picture: Picture) -> None:
        if self.choose_place(picture):
            self._turn()
        history = self._history
        if history is None:
            self._open(picture)
        elif self.is_live:
            if self.has_grown(picture, history.bounds.last) and not self.is_working:
                self._open(picture)
        elif picture.stamp != self._stamp:
            self.work("refresh", lambda: (attempt(history.refresh),), self._refreshed, again=False)
        self._stamp = picture.stamp
        self._draw()

    def _open(self, picture: Picture | None) -> None:
        sources = self.sources

        def read(number: int, view: QuorumView | None) -> OpenedHistory:
            return open_history(sources, number, view)

        self.open_place(picture, read, self._opened)

    def _opened(self, opened: OpenedHistory | Failed) -> None:
        if isinstance(opened, Failed):
            self._problem = opened.reason
        else:
            self._close_history()
            self._history, self._problem = opened.history, ""
            self._reach(self._wanted)
        self._draw()

    def _close_history(self) -> None:
        if self._history is not None:
            self.stop()
            self.work("close", self._history.close, lambda _: None)
            self._history = None

    def on_unmount(self) -> None:
        super().on_unmount()
        if self._history is not None:
            self._history.close()

    def _refreshed(self, result: tuple[object]) -> None:
        if isinstance(result[0], Failed):
            self._problem = result[0].reason
        elif self._wanted is None and not self.is_working:
            self._reach(None)
        self._draw()

    def _reach(self, offset: int | None) -> None:
        """Show the state at an offset."""
        history = self._history
        if history is None:
            return
        bounds = history.bounds
        if offset is not None:
            offset = min(max(offset, bounds.first), bounds.last)
            if offset == bounds.last:
                offset = None
        self._wanted = offset
        marked = self._marked if self._changes.display else None

        def read(task: Task) -> ReachedState | Failed:
            return attempt(lambda: reach_state(history, offset, marked, task))

        self.begin("state", read, self._take, self._take if marked is None else None)
        self._draw()

    def _take(self, result: ReachedState | Failed) -> None:
        if isinstance(result, Failed):
            self._problem = result.reason
            self._draw()
            return
        self._state, self._difference = result.state, result.difference
        self._overview, self._is_partial = result.overview, result.is_partial
        self._findings[self.place] = self._state.findings
        every = (finding for findings in self._findings.values() for finding in findings)
        self.watch_app.overview.tell("state", every)
        self.watch_app.show_verdict()
        self._problem = ""
        opened = self._tree.opened if self._tree is not None else frozenset()
        self._tree = StateTree(self._state.image, opened)
        self._fill()
        if self._found.display:
            self._found.take(self._state.image)
        if self._difference is not None:
            self._changes.set_rows(self._difference.rows, 0)
        self._draw()

    def _fill(self, path: Path | None = None) -> None:
        """The visible lines of the tree; the cursor stays on its path, or goes to another."""
        if self._tree is None:
            return
        lines = self._tree_lines
        if path is None and lines.row is not None:
            path = lines.row.path
        rows = self._tree.rows()
        at = next((number for number, row in enumerate(rows) if row.path == path), lines.cursor)
        lines.set_rows(rows, at)

    # --- keys ---------------------------------------------------------------------------------

    def _here(self) -> int:
        if self._wanted is not None:
            return self._wanted
        return self._history.bounds.last if self._history is not None else 0

    def action_step(self, step: int) -> None:
        self._reach(self._here() + step)

    def action_part(self, step: int) -> None:
        """A twentieth of the whole range."""
        if self._history is not None:
            bounds = self._history.bounds
            self._reach(self._here() + step * max((bounds.last - bounds.first) // _PARTS, 1))

    def on_slider_chosen(self, message: Slider.Chosen) -> None:
        self._reach(message.value)

    def action_goto(self) -> None:
        self.query_one(Prompt).ask("go to", "an offset, epoch 5, 2026-11-21T06:00Z or 2h")

    def on_prompt_answered(self, message: Prompt.Answered) -> None:
        words, history = message.words, self._history
        if message.prompt.asked == _FIND:
            if words is None:
                self.action_close()
            else:
                self.first_focus()
            return
        self.first_focus()
        if history is None or not words or not words.strip():
            return
        goto = attempt(lambda: read_goto(words))
        if isinstance(goto, Failed):
            self.watch_app.tell(goto.reason, is_bad=True)
            return
        wanted = goto
        self.work("goto", lambda: history.offset_of(wanted), self._reach)

    def action_mark(self) -> None:
        """This offset is what others are compared with."""
        self._marked = self._here()
        self.watch_app.tell(f"offset {self._marked} is marked; c compares with it")
        if self._changes.display:
            self._reach(self._wanted)
        self._draw()

    def action_compare(self) -> None:
        """Show the difference between the marked offset and this one, or the tree again."""
        shows = not self._changes.display
        if shows and self._marked is None and self._history is not None:
            bounds = self._history.bounds
            older = [offset for offset in bounds.snapshots if offset < self._here()]
            self._marked = min(older, default=bounds.first)
            what = "snapshot" if older else "offset"
            self.watch_app.tell(
                f"no offset was marked: compared with the oldest {what}, {self._marked}."
                " m marks the offset that is shown"
            )
        self._show_list(self._changes if shows else self._tree_lines)
        self.first_focus()
        self._reach(self._wanted)

    def action_directory(self) -> None:
        """The state of the next directory."""
        if self.next_place():
            self._turn()
            self._open(self.picture)
            self._draw()

    def _turn(self) -> None:
        """Let go of the states that were shown: the place is another one."""
        self._close_history()
        self._state, self._tree, self._difference, self._problem = None, None, None, ""
        self._overview = None
        self._show_list(self._tree_lines)
        self._wanted = self._marked = None
        self._tree_lines.set_rows((), 0)
        self._changes.set_rows((), 0)

    def on_tree_lines_branch(self, message: TreeLines.Branch) -> None:
        row, tree = self._tree_lines.row, self._tree
        if row is None or tree is None:
            return
        if row.is_directory and row.is_open != message.is_open:
            tree.toggle(row.path)
            self._fill()
        elif not message.is_open and row.depth:
            self._fill(row.path[:-1])
        elif message.is_open and not row.is_directory:
            self._show_detail()

    def on_lines_chosen(self, message: Lines.Chosen) -> None:
        row, tree = self._tree_lines.row, self._tree
        if message.lines is self._changes:
            self._show_detail()
        elif message.lines is self._found:
            self._found.open_row()
        elif message.lines is self._tree_lines and row is not None and tree is not None:
            if row.is_directory:
                tree.toggle(row.path)
                self._fill()
            else:
                self._show_detail()

    def on_lines_moved(self, message: Lines.Moved) -> None:
        if self._detail.display and message.lines is not self._detail:
            self._show_detail()

    def _show_detail(self) -> None:
        """All of what a line says."""
        row = self._changes.row if self._changes.display else self._tree_lines.row
        if row is None or self._found.display:
            return
        text = row.text() if isinstance(row, TreeRow) else f"{row.name}  {row.text}"
        self._detail.show_words([text] if text else [], self.size)

    def action_close(self) -> None:
        """Close the details, or go back: from a topic to the finder, from there to the tree."""
        if self._detail.display:
            self._detail.display = False
        elif self._found.display and not self._found.leave_topic():
            self._show_list(self._tree_lines)
        self.first_focus()

    # --- finder -------------------------------------------------------------------------------

    def action_find(self) -> None:
        """Find topics, brokers and configs by name; rows appear while you type."""
        if self._state is None:
            self.watch_app.tell("no state is read yet")
            return
        self._show_list(self._found)
        words = self._found.begin(self._state.image)
        self.query_one(Prompt).ask(_FIND, "a topic, broker or config; Enter, then Enter on a row",
                                   words)  # fmt: skip

    def on_input_changed(self, message: Input.Changed) -> None:
        prompt = self.query_one(Prompt)
        if message.input is prompt and prompt.display and prompt.asked == _FIND:
            self._found.look_for(message.value)

    def on_state_finder_reveal(self, message: StateFinder.Reveal) -> None:
        """Show a place in the tree."""
        if self._tree is not None:
            self._tree.reveal(message.path)
            self._show_list(self._tree_lines)
            self.first_focus()
            self._fill(message.path)

    # --- search -------------------------------------------------------------------------------

    def search(self, text: str, step: int = 1) -> bool:
        if self._changes.display:
            return self._changes.find(text, step, lambda row: f"{row.name} {row.text}")
        if self._found.display:
            return self._found.find(text, step, lambda row: f"{row.name} {row.text}")
        tree, row = self._tree, self._tree_lines.row
        if tree is None:
            return False
        here: Path = row.path if row is not None else ()

        def look(task: Task) -> Path | None:
            task.begin(f"looking for {text!r} in the whole tree")
            paths = tree.find(text, here) if step > 0 else tree.find_before(text, here)
            for number, path in enumerate(paths):
                task.passed("", number)
                if path is not None:
                    return path
            return None

        def looked(path: Path | None) -> None:
            if path is None:
                self.watch_app.tell(f"no further place has {text!r}")
            else:
                tree.reveal(path)
                self._fill(path)

        self.begin("search", look, looked)
        return True

    # --- what is said -------------------------------------------------------------------------

    def _draw(self) -> None:
        title, slider = self.query_one("#state-title", Static), self.query_one(Slider)
        slider.display = self._history is not None
        if not self.place:
            title.update(self.text("no directory or live quorum is watched", "quiet"))
            return
        title.update(self._title())
        title.set_class(bool(self._problem), "-problem")
        self._draw_overview()
        if self._history is not None:
            bounds = self._history.bounds
            slider.tell(bounds.first, bounds.last, self._here(), bounds.snapshots, self._marked)

    def _draw_overview(self) -> None:
        card, overview = self.query_one("#state-overview", Panel), self._overview
        card.display = overview is not None and not self._changes.display
        if overview is not None:
            card.show_rows(overview_rows(overview, self._cluster_id, self.palette))

    @property
    def _cluster_id(self) -> str:
        """Return the id that the directory has, or the live quorum."""
        picture = self.picture
        if picture is None:
            return ""
        if not self.is_live and self._number < len(picture.directories):
            return picture.directories[self._number].node.cluster_id or ""
        return (picture.view.cluster_id if picture.view is not None else None) or ""

    def _title(self) -> Text:
        state = self._state
        if self._problem:
            return self.palette.wrapped(self._problem, "bad")
        if state is None and self._history is not None and not self.is_working:
            return self.text("stopped before a state was read; press o to go to an offset", "warn")
        if state is None:
            return self.text(f"opening … {self.place}", "quiet")
        if self._difference is not None and self._changes.display:
            difference = self._difference
            words = headline(difference.total, difference.old_offset, difference.new_offset)
            return self.text(words, "key").append(f"  {self.place}", self.palette.quiet)
        stale = self.currency_of(self.picture).stale
        return state_words(
            state,
            self.palette,
            is_newest=self._wanted is None,
            newer_end=self.newer_end(self.picture, state.end_offset),
            stale=stale,
            wanted=self._here() if self._is_partial else None,
        )

    # --- ways out -----------------------------------------------------------------------------

    def copied(self) -> str:
        if self._changes.display:
            change = self._changes.row
            return "" if change is None else f"{change.sign} {change.name} {change.text}".strip()
        if self._found.display:
            return self._found.copied
        row = self._tree_lines.row
        return "" if row is None else "\t".join(("/".join(row.path), row.text())).strip()

    @property
    def document(self) -> StateView | DifferenceView:
        if self._difference is not None and self._changes.display:
            return difference_view(self.place, self._difference)
        if self._state is None:
            return StateView(leaves=leaves(self._tree_lines.rows))
        return state_view(self._state, self._tree_lines.rows)
