"""The dashboard: pictures come in, one view of several is seen, and keys do what the footer says.

Owns switching, themes, searching, copying, exporting and which view is remembered. It polls nothing
itself: a watcher gives it pictures. Nothing here, nor in any view, parses bytes or opens sockets.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.events import AppBlur
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Footer, Input, Static

from kraftool.reports.text.csv_text import csv_text
from kraftool.reports.text.times import utc
from kraftool.tui.bars import Headline, ViewTabs
from kraftool.tui.dialogs import Export, Help
from kraftool.tui.frame import PictureSource, WatchFrame
from kraftool.tui.headline import headline
from kraftool.tui.palette import DARK, NAMES, NO_COLOUR, THEMES
from kraftool.tui.view import Examining, View
from kraftool.tui.views import VIEWS, ViewEntry, named
from kraftool.tui.widgets.prompt import LineInput
from kraftool.watching.export import Memory, json_text, write_new
from kraftool.watching.overview import HEALTH
from kraftool.watching.picture import Picture
from kraftool.watching.result import Failed, attempt

_EXAMINE_AFTER_S = 2.0
"""After so long doctor begins: the first view comes first."""
_OF_THE_FOOTER = frozenset({"quit", "help", "search", "pause", "copy", "export"})


class WatchApp(WatchFrame):
    """The program."""

    CSS_PATH = "watch.tcss"
    TITLE = "kraftool watch"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("n", "found(1)", "Next", show=False),
        Binding("N", "found(-1)", "Previous", show=False),
        Binding("p", "pause", "Pause"),
        Binding("r", "poll_now", "Refresh", show=False),
        Binding("y", "copy", "Copy"),
        Binding("e", "export", "Export"),
        Binding("t", "next_theme", "Theme", show=False),
        Binding("right_square_bracket", "next_view(1)", "Next view", show=False, key_display="]"),
        Binding("left_square_bracket", "next_view(-1)", "View before", show=False, key_display="["),
        *(
            Binding(str(number), f"view('{view_entry.name}')", view_entry.title, show=False)
            for number, view_entry in enumerate(VIEWS, 1)
        ),
    ]
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        watcher: PictureSource,
        *,
        view: str = "",
        theme: str = "",
        memory: Memory | None = None,
        is_served: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`is_served`: shown to a browser, from where nothing is written to this machine."""
        super().__init__(watcher)
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (140, "-wide")]
        self.is_served = is_served
        self.is_paused = False
        self._memory = None if is_served else memory
        kept = self._memory.read() if self._memory is not None else {}
        surroundings = os.environ if environment is None else environment
        self._first_view = next(
            (view_name for view_name in (view, kept.get("view", "")) if named(view_name)),
            VIEWS[0].name,
        )
        for known_theme in THEMES:
            self.register_theme(known_theme)
        wanted = NO_COLOUR if surroundings.get("NO_COLOR") else theme
        self.theme = wanted if wanted in NAMES else DARK
        self._search = ""
        self._mounting = asyncio.Lock()

    # --- the frame ----------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        yield Headline(id="headline")
        yield ViewTabs(VIEWS)
        yield ContentSwitcher(id="views")
        yield Static(id="told")
        search = LineInput(id="search", placeholder="search, Enter, then n and N", compact=True)
        search.display = False
        yield search
        yield Footer(show_command_palette=False, compact=True)

    async def on_mount(self) -> None:
        for name in self.available_themes:
            if name not in NAMES:
                self.unregister_theme(name)
        self.theme_changed_signal.subscribe(self, lambda _: self._show())
        await self.action_view(self._first_view)
        self.run_worker(self.watcher.run(self.take), name="watcher", exit_on_error=True)
        if self.watcher.sources.directories:
            self.set_timer(_EXAMINE_AFTER_S, self._examine)

    async def _examine(self) -> None:
        """Have doctor examine the directories, whichever view is seen."""
        await self._mounted(HEALTH)
        self._show()

    def take(self, picture: Picture) -> None:
        """A new picture; while it is paused, none is shown."""
        if not self.is_paused or self.picture is None:
            self.picture = picture
            # In its turn, so that a key that came meanwhile goes first.
            self.call_later(self._show)

    def _show(self) -> None:
        """Show the newest picture in what is seen."""
        if not self.query("#views"):
            return  # a picture may come while the program exits, without its widgets
        if self.picture is not None:
            self.overview.take(self.picture)
        seen = self.seen
        if self.picture is not None and seen is not None and seen.is_mounted:
            seen.show(self.picture)
        if self.picture is not None and (seen is None or seen.id != HEALTH):
            for hidden in self.query(f"#{HEALTH}"):
                if isinstance(hidden, Examining):
                    hidden.follow(self.picture)
        self.show_verdict()

    def show_again(self) -> None:
        """Show in what is seen what another view has found since the newest picture."""
        self.call_later(self._show)

    def show_verdict(self) -> None:
        """Show the worst of what is known in the title and in the tabs."""
        overview = self.overview
        left, right = headline(self.picture, overview, self.palette, is_paused=self.is_paused)
        # These widgets are gone while the program exits.
        for line in self.query(Headline).results():
            line.tell(left, right)
        for tabs in self.query(ViewTabs).results():
            tabs.tell({view.name: overview.tab(view.name) for view in VIEWS})

    @property
    def seen(self) -> View | None:
        """The view that is seen."""
        switcher = self.query_one("#views", ContentSwitcher)
        # A program that exits takes views away before the switcher.
        views = (child for child in switcher.children if child.id == switcher.current)
        return next((view for view in views if isinstance(view, View)), None)

    def on_app_blur(self, event: AppBlur) -> None:
        """Keep the focus, and with it the keys of the view, while another window has it.

        A browser tab that was opened in the background showed a footer without keys.
        """
        event.prevent_default()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    # --- views --------------------------------------------------------------------------------

    async def action_view(self, name: str) -> None:
        """See another view; it is made when it is first seen."""
        registered = named(name)
        if registered is None:
            return
        switcher = self.query_one("#views", ContentSwitcher)
        if not switcher.query(f"#{name}"):
            self.tell(f"opening {registered.title} …")
            try:
                await self._mounted(name)
            finally:
                self.tell("")
        switcher.current = name
        self.query_one(ViewTabs).activate(name)
        self._show()
        if (seen := self.seen) is not None:
            seen.first_focus()
        self._remember()

    async def _mounted(self, name: str) -> None:
        """Make a view that was not made yet. It is hidden until it is the one that is seen."""
        registered = named(name)
        assert registered is not None, "the caller names a view"
        async with self._mounting:
            switchers = self.query("#views").results(ContentSwitcher)
            switcher = next(iter(switchers), None)
            if switcher is None or switcher.query(f"#{name}"):
                return  # the program exits, or the view was made meanwhile
            view = (await self._loaded(registered))(id=name)
            view.display = False
            await switcher.mount(view)

    async def _loaded(self, view: ViewEntry) -> type[View]:
        """Return the view's class. The first time, a thread imports it while the screen goes on."""
        if view.is_loaded:
            return view.load()
        return await asyncio.to_thread(view.load)

    async def action_next_view(self, step: int) -> None:
        names = [view.name for view in VIEWS]
        here = self.seen.id if self.seen is not None else names[0]
        await self.action_view(names[(names.index(here or names[0]) + step) % len(names)])

    async def on_view_tabs_chosen(self, message: ViewTabs.Chosen) -> None:
        await self.action_view(message.view_name)

    def action_poll_now(self) -> None:
        self.watcher.poll_now()

    def action_pause(self) -> None:
        """Stop the picture, to read it; watching goes on."""
        self.is_paused = not self.is_paused
        self.watcher.poll_now()
        self._show()

    # --- themes -------------------------------------------------------------------------------

    def action_next_theme(self) -> None:
        self.theme = NAMES[(NAMES.index(self.theme) + 1) % len(NAMES)]
        name = self.theme.removeprefix("kraftool-")
        self.tell(f"theme {name}; --theme {name} starts with it")

    def _remember(self) -> None:
        if self._memory is not None:
            seen = self.seen
            self._memory.write({"view": (seen.id if seen is not None else "") or ""})

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Yield what the command palette offers."""
        for number, view in enumerate(VIEWS, 1):
            yield SystemCommand(
                view.title, f"See this view (key {number})", self._going_to(view.name)
            )
        yield SystemCommand("Help", "Keys and views (key ?)", self.action_help)
        yield SystemCommand("Theme", "The next theme (key t)", self.action_next_theme)
        yield SystemCommand("Pause", "Stop or go on (key p)", self.action_pause)
        yield SystemCommand("Refresh", "Look now (key r)", self.action_poll_now)
        yield SystemCommand("Copy", "Copy the row under the cursor (key y)", self.action_copy)
        if not self.is_served:
            yield SystemCommand("Export", "Write this view to a file (key e)", self.action_export)
        yield SystemCommand("Quit", "End (key q)", self.exit)

    def _going_to(self, name: str) -> Callable[[], object]:
        return lambda: self.run_worker(self.action_view(name))

    # --- search -------------------------------------------------------------------------------

    def action_search(self) -> None:
        search = self.query_one("#search", Input)
        search.display = True
        self.screen.set_focus(search)  # at once: when it is seen, it listens

    def on_input_submitted(self, message: Input.Submitted) -> None:
        if message.input.id == "search":
            self._search = message.value
            self._leave_search()
            self.action_found(1)

    def on_line_input_left(self, message: LineInput.Left) -> None:
        if message.input.id == "search":
            self._leave_search()

    def _leave_search(self) -> None:
        self.query_one("#search", Input).display = False
        if (seen := self.seen) is not None:
            seen.first_focus()

    def action_found(self, step: int) -> None:
        """To the next place that has what is searched."""
        seen = self.seen
        if seen is not None and self._search and not seen.search(self._search, step):
            self.tell(f"nothing here has {self._search!r}")

    # --- ways out -----------------------------------------------------------------------------

    def action_copy(self) -> None:
        text = self.seen.copied() if self.seen is not None else ""
        if text:
            self.copy_to_clipboard(text)
            self.tell("copied")
        else:
            self.tell("this view has nothing to copy")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the export in a browser, which writes no file on this machine. Remove the keys
        from the footer that a focused line takes as letters."""
        if action in _OF_THE_FOOTER and isinstance(self.focused, Input):
            return False
        return not (action == "export" and self.is_served)

    def action_press(self, key: str) -> None:
        """Do what a key does, after a click on its line of the help."""
        if isinstance(self.screen, Help):
            self.pop_screen()
            if key == "question_mark":
                return  # the help is open: the key closes it
        self.call_later(self.simulate_key, key)

    def action_help(self) -> None:
        self.push_screen(Help(self.seen))

    def action_export(self) -> None:
        seen = self.seen
        if seen is not None and self.picture is not None:
            at = utc(self.picture.at_ms, "%Y%m%dT%H%M%SZ")
            self.push_screen(Export(f"kraftool-{seen.id}-{at}"), self._export)

    async def _export(self, path: str | None) -> None:
        """Write the view in the format of the name's ending."""
        seen = self.seen
        if path is None or seen is None:
            return
        ending = path.rpartition(".")[2]
        if ending == "json":
            text = json_text(seen.as_json())
        elif ending == "csv":
            text = csv_text(seen.as_rows())
        else:
            text = self.export_screenshot(title=f"kraftool watch: {seen.TITLE}")
        done = await asyncio.to_thread(attempt, lambda: write_new(path, text))
        if isinstance(done, Failed):
            self.tell(done.reason, is_bad=True)
        else:
            self.tell(f"wrote {done}")
