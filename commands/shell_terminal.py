"""The shell on a terminal: prompt, line editing, completion, Ctrl-C and Ctrl-D.

Owns the use of readline, which writes the prompt and the line being typed; where Python lacks it,
lines are read as they come. History is kept in memory only.
"""

from __future__ import annotations

import os
from contextlib import suppress
from types import ModuleType

from kraftool.commands.exit_code import UsageError
from kraftool.commands.output import Output, printable
from kraftool.commands.shell_session import ShellSession
from kraftool.reports.state.shell.walk import columns

PROMPT = ">> "
_MOST_SHOWN = 200
"""So many completions are listed; of a directory with more it helps nobody to see them all."""


def open_terminal(to: Output) -> int:
    """The terminal to ask on while stdin holds an archive. Raises UsageError without one."""
    try:
        if not to.to_terminal:
            raise OSError
        return os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        raise UsageError(
            "stdin holds the archive, and there is no terminal to ask for commands",
            hint="give the commands with -c",
        ) from None


def become_stdin(terminal: int) -> None:
    """Read from this terminal from now on."""
    os.dup2(terminal, 0)
    os.close(terminal)


def interact(session: ShellSession, to: Output) -> None:
    """Ask for commands until exit or Ctrl-D."""
    readline = _readline()
    if readline is not None:
        _Completer(session, to, readline).install()
    to.note("help lists the commands; Tab completes them and paths; Ctrl-D leaves")
    while not session.is_over:
        try:
            _ask(session, to, readline)
        except EOFError:
            to.line()
            return
        except KeyboardInterrupt:  # at the prompt, or while a command was running
            to.line()


def _ask(session: ShellSession, to: Output, readline: ModuleType | None) -> None:
    """Read one line and run it."""
    to.flush()
    line = input(PROMPT)
    known = len(session.history)
    try:
        session.run(line)
    finally:
        if readline is not None and len(session.history) > known:
            readline.add_history(line)


def _readline() -> ModuleType | None:
    with suppress(ImportError):
        import readline

        return readline
    return None


class _Completer:
    """Completion of whole lines, since where a word begins depends on quotes and backslashes."""

    def __init__(self, session: ShellSession, to: Output, readline: ModuleType) -> None:
        self._session = session
        self._to = to
        self._readline = readline
        self._matches: list[str] = []

    def install(self) -> None:
        readline = self._readline
        is_libedit = "libedit" in (readline.__doc__ or "")
        readline.set_auto_history(False)
        readline.set_completer(self._complete)
        readline.set_completer_delims("")
        readline.set_completion_display_matches_hook(self._list)
        readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")

    def _complete(self, line: str, number: int) -> str | None:
        if number == 0:
            self._matches = self._session.completions(line)
        return self._matches[number] if number < len(self._matches) else None

    def _list(self, line: str, matches: list[str], longest: int) -> None:
        """List the names by themselves, and the line again below them."""
        ends = [printable(match.rstrip(" ")) for match in matches[:_MOST_SHOWN]]
        names = [end.rstrip("/").rpartition("/")[2].rpartition(" ")[2] for end in ends]
        shown = [
            name + ("/" if end.endswith("/") else "") for name, end in zip(names, ends, strict=True)
        ]
        self._to.line()
        for row in columns(shown, self._to.width, self._session.measure):
            self._to.line(row)
        if len(matches) > _MOST_SHOWN:
            self._to.line(f"… and {len(matches) - _MOST_SHOWN} more")
        self._to.write(PROMPT + printable(self._readline.get_line_buffer()))
        self._to.flush()
