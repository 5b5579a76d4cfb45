"""Everything that kraftool writes: data to stdout or a file, narration to stderr.

Owns stdout, stderr, colour, escaping of what came from data, and the end of a run. No other module
prints. It refuses to let a byte of data act on a terminal: control characters and the characters
that reorder text are shown as escapes.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, TYPE_CHECKING, NoReturn

from kraftool.commands.exit_code import ExitCode, code_of
from kraftool.commands.new_file import (
    NewFile,
    abandon,
    discard_unfinished,
    open_existing,
    unwritable,
)
from kraftool.commands.text_console import (
    allows_colour,
    rendered,
    stream_width,
    text_console,
)
from kraftool.decoders import shown_names
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.text.printable import UNSAFE, escape
from kraftool.reports.text.printable import printable as printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.progress import Progress


class ColorWhen(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


STYLES = {
    "key": "36",
    "name": "1",
    "quiet": "2",
    "good": "32",
    "warn": "33",
    "bad": "1;31",
    "type": "35",
    "batch": "34",
}
"""Styles by meaning, as ANSI codes of the 16 colours, which follow the terminal's own theme."""


class Output:
    """The destination of a command's output. One of these serves a whole run."""

    def __init__(
        self,
        *,
        color: ColorWhen = ColorWhen.AUTO,
        quiet: bool = False,
        out: str = "",
    ) -> None:
        self.quiet = quiet
        self._out = out
        self._new: NewFile | None = None
        self._wrote = False
        self._file = self._open()
        self.to_terminal = not out and sys.stdout.isatty()
        self.colored = {
            ColorWhen.ALWAYS: True,
            ColorWhen.NEVER: False,
            ColorWhen.AUTO: allows_colour(watched=self.to_terminal),
        }[color]
        self.code = ExitCode.FINE
        self._bar: Progress | None = None

    def _open(self) -> IO[bytes]:
        if not self._out:
            if sys.stdout is None:
                _give_up("stdout is closed", "name a file with --out", ExitCode.USAGE)
            return sys.stdout.buffer
        there = open_existing(self._out)
        if there is not None:
            return there
        self._new = NewFile(self._out)
        return self._new.file

    @property
    def width(self) -> int:
        """Columns to fill: the terminal's, or 80 where there is none."""
        return stream_width(watched=self.to_terminal)

    def style(self, text: str, style: str) -> str:
        """Colour text that was made printable already."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colored and text else text

    def write(self, data: str | bytes | memoryview) -> None:
        """Write a machine format. On a terminal, control characters of the data are escaped."""
        if shown_names.has_any():
            text = data if isinstance(data, str) else str(data, "utf-8", "surrogateescape")
            data = shown_names.shown(text)
        if self.to_terminal:
            text = data if isinstance(data, str) else str(data, "utf-8", "replace")
            data = UNSAFE.sub(escape, text)
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogateescape")
        self._send(data)

    def document(self, document: object, form: str = "json") -> None:
        """Write a report's document as JSON, or its rows as CSV."""
        from kraftool.reports.text.csv_text import csv_document
        from kraftool.reports.text.json_document import json_document

        pieces = csv_document(document) if form == "csv" else json_document(document)
        for piece in pieces:
            self.write(piece)

    def line(self, text: str = "") -> None:
        """Write a line of a human format; its data went through `printable`."""
        self._send(text.encode("utf-8", "replace") + b"\n")

    def rich(self, *renderables: RenderableType, unbroken: bool = False) -> None:
        """Write rich tables and texts: wrapped between words, or each line as long as it is."""
        written = rendered(self.console(), renderables, unbroken=unbroken)
        self._send(written.encode("utf-8", "replace"))

    def _send(self, data: bytes | memoryview) -> None:
        self._wrote = self._wrote or bool(data)
        if self._bar is not None and self.to_terminal:
            self._bar.stop()
            self._bar = None
        with self._writing():
            self._file.write(data)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """End the run where nothing more can be written.

        It ends by SystemExit, since a command goes on after other errors. Whoever closed the pipe
        had enough, which is fine. (typer would end with 1, as a finding.)
        """
        try:
            yield
        except BrokenPipeError:
            abandon(self._file)
            raise SystemExit(int(ExitCode.FINE)) from None
        except OSError as error:
            abandon(self._file)
            _give_up(unwritable(self._out or "stdout", error), "", ExitCode.INTERNAL)

    def console(self) -> Console:
        return text_console(self.width, colored=self.colored)

    def narrate(self, *renderables: RenderableType, unbroken: bool = False) -> None:
        """Write rich tables and texts to stderr as `rich` does, unless asked to be quiet."""
        self._flush()
        if self.quiet or sys.stderr is None or not renderables:
            return
        watched = sys.stderr.isatty()
        console = text_console(
            stream_width(watched=watched), colored=allows_colour(watched=watched)
        )
        _tell(rendered(console, renderables, unbroken=unbroken).removesuffix("\n"))

    def note(self, text: str) -> None:
        """Tell something on stderr, unless asked to be quiet; what was written comes before it."""
        self.log_line(text if _run.line is None else _run.line(_INFO, text, ""))

    def log_line(self, text: str) -> None:
        """Write a line to stderr that has its format already, unless asked to be quiet."""
        self._flush()
        if not self.quiet:
            _tell(UNSAFE.sub(escape, text))

    def format_lines(self, line: Line) -> None:
        """Format every further line on stderr: notes, problems, and why the run failed."""
        _run.line = line

    def problem(self, text: str, *, hint: str = "", code: ExitCode = ExitCode.UNREADABLE) -> None:
        """Report on stderr what could not be had; the run goes on and ends with `code`."""
        self.raise_code(code)
        self._flush()
        _complain(text, hint)

    def raise_code(self, code: ExitCode) -> None:
        """End with this code, unless a worse one is due already."""
        order = (ExitCode.FINE, ExitCode.FINDING, ExitCode.UNREADABLE)
        if self.code in order and (code not in order or order.index(code) > order.index(self.code)):
            self.code = code

    def flush(self) -> None:
        """Let what was written be seen from now on; a file of --out gets its name and stays."""
        self._flush()
        if self._new is not None and self._wrote:
            with self._writing():
                self._new.keep()

    def _flush(self) -> None:
        with self._writing():
            self._file.flush()

    @contextmanager
    def progress(
        self, total: int | None, label: str, *, before_data: bool = False
    ) -> Iterator[Callable[[int], None]]:
        """A progress bar on stderr for long work, on a terminal that does not show data yet."""
        free = before_data or not self.to_terminal
        if not self.is_watched or not free or (total or 0) < 8 << 20:
            yield lambda _: None
            return
        from rich.progress import DownloadColumn, TimeRemainingColumn

        from kraftool.commands.progress_bar import progress_bar

        with progress_bar(DownloadColumn(), TimeRemainingColumn()) as bar:
            task = bar.add_task(printable(label), total=total)
            yield lambda done: bar.update(task, completed=done)

    @contextmanager
    def task_progress(
        self, label: str, *, lines: bool = False, unit: str = "tasks"
    ) -> Iterator[Callable[[str, int, int], None]]:
        """A progress bar on stderr for work that is counted: what is done, how much, of how much.

        It is gone as soon as data is written to the terminal. With `lines`, stderr that is no
        terminal gets a line a minute, which names the `unit`.
        """
        if not self.is_watched:
            if lines and not self.quiet:
                from kraftool.commands.progress_lines import ProgressLines

                yield ProgressLines(self.note, unit)
            else:
                yield lambda label, done, total: None
            return
        from rich.progress import MofNCompleteColumn, TimeElapsedColumn

        from kraftool.commands.progress_bar import progress_bar

        with progress_bar(MofNCompleteColumn(), TimeElapsedColumn()) as bar:
            task = bar.add_task(printable(label), total=None)
            self._bar = bar
            yield lambda label, done, total: bar.update(
                task, description=printable(label), completed=done, total=total or None
            )
            self._bar = None

    @property
    def has_written(self) -> bool:
        """True if some of the data is out already."""
        return self._wrote

    @property
    def is_watched(self) -> bool:
        """True if somebody sees narration on a terminal."""
        return not self.quiet and self.stderr_is_terminal

    @property
    def stderr_is_terminal(self) -> bool:
        return sys.stderr is not None and sys.stderr.isatty()

    @property
    def is_abandoned(self) -> bool:
        """True if a pipe has lost its reader, which writing tells only when there is data."""
        import select

        try:
            watched = select.poll()
            watched.register(self._file.fileno(), 0)
        except OSError:  # what has no file number is no pipe
            return False
        return any(event & select.POLLERR for _, event in watched.poll(0))

    def finish(self) -> NoReturn:
        """Flush and end the run with the code that it came to.

        A file of --out is kept with what could be printed. Where a run failed and printed nothing
        there is none, so that it can be tried again.
        """
        self._flush()
        if self._out:
            with self._writing():
                self._file.close()
        if self._new is not None and (self._wrote or self.code is ExitCode.FINE):
            with self._writing():
                self._new.keep()
        raise SystemExit(int(self.code))


_INFO, _ERROR = 20, 40
"""Levels of `logging`, which takes longer to import than --version takes to run."""
Line = Callable[[int, str, str], str]
"""Formats a level of `logging`, a message and a hint as one line."""


@dataclass(slots=True)
class _Run:
    """The values that `guarded` needs when the run ends."""

    debug: bool = False
    line: Line | None = None
    """None for sentences."""


_run = _Run()


def debugging(wanted: bool) -> bool:
    """Take note of --debug as it was parsed; the callback of that option."""
    _run.debug = wanted
    return wanted


def guarded(run: Callable[[list[str]], int | None]) -> NoReturn:
    """Run the words of the command line, and turn whatever ends it into a sentence and an exit
    code."""
    _run.debug, _run.line = False, None
    _buffer_stdout()
    try:
        _exit(_run_words(run))
    finally:
        discard_unfinished()


def _buffer_stdout() -> None:
    """Undo PYTHONUNBUFFERED, where what a full disk takes no more of would be lost unsaid."""
    if sys.stdout is not None and isinstance(sys.stdout.buffer, io.RawIOBase):
        kept = sys.stdout
        sys.stdout = os.fdopen(
            kept.fileno(), "w", encoding=kept.encoding, errors=kept.errors, closefd=False
        )


def _run_words(run: Callable[[list[str]], int | None]) -> int:
    streams = sys.stdout, sys.stderr
    try:
        code = run(sys.argv[1:]) or ExitCode.FINE
        if sys.stdout is None and code == ExitCode.FINE:  # typer drops a help that it cannot print
            _give_up("stdout is closed", "", ExitCode.USAGE)
        return int(code)
    except SystemExit as ending:
        if sys.stdout is not streams[0]:  # so typer marks a closed pipe, which it ends with 1
            sys.stdout, sys.stderr = streams
            return ExitCode.FINE
        return ending.code if isinstance(ending.code, int) else ExitCode.FINE
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # whoever read it had enough
        abandon(sys.stdout)
        return ExitCode.FINE
    except KraftoolError as error:
        _complain(error.message, error.hint)
        _trace(error)
        return code_of(error)
    except MemoryError as error:
        _complain("out of memory")
        _trace(error)
        return ExitCode.INTERNAL
    except Exception as error:
        return _missing_package(error) or _unexpected(error)
    except BaseException as ending:
        # A Ctrl-C just as asyncio.run begins: its Runner forgets that it was interrupted.
        if type(ending).__name__ == "CancelledError":
            return ExitCode.INTERRUPTED
        raise


_PACKAGES_OF_SPARK = frozenset({"deltalake", "pyarrow", "pyspark"})


def _missing_package(error: Exception) -> int:
    """Say which package of an extra is not installed; 0 if the error is another one."""
    package = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or package not in _PACKAGES_OF_SPARK:
        return 0
    from kraftool.installing import install_hint

    _complain(f"this needs the package {package}, which is not installed", install_hint("spark"))
    _trace(error)
    return ExitCode.USAGE


def _unexpected(error: Exception) -> int:
    if hasattr(error, "show") and hasattr(error, "exit_code"):  # typer's own usage errors
        if type(error).__name__ == "NoArgsIsHelpError":
            _tell(str(getattr(error, "message", "")))
            return ExitCode.USAGE
        from kraftool.commands.usage_errors import sentence

        _complain(*sentence(error))
        return ExitCode.USAGE
    if type(error).__name__ == "Abort":  # how typer hands on an interrupt
        return ExitCode.INTERRUPTED
    # A help text, or what a library flushes, does not come through `Output`.
    if isinstance(error, OSError) and not _stdout_flushed():
        return ExitCode.INTERNAL
    if _run.debug:
        _complain(f"internal error: {type(error).__name__}")
        _trace(error)
    else:
        _complain(*_crash_report(error))
    return ExitCode.INTERNAL


def _tell(text: str) -> None:
    """Write to stderr; where nobody listens the run goes on and ends as it would have."""
    if sys.stderr is None:  # print would take stdout instead
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        abandon(sys.stderr)


def _complain(message: str, hint: str = "") -> None:
    if _run.line is not None:
        _tell(UNSAFE.sub(escape, _run.line(_ERROR, message, hint)))
        return
    _tell(f"kraftool: {printable(message)}" + (f"\n  {printable(hint)}" if hint else ""))


def _trace(error: BaseException) -> None:
    """Show the traceback if --debug asks for it; the exit code stays what it is."""
    if _run.debug:
        import traceback

        shown = "".join(traceback.format_exception(error)).rstrip("\n")
        if _run.line is not None:
            shown = _run.line(_ERROR, shown, "")
        _tell(UNSAFE.sub(escape, shown))


def _give_up(message: str, hint: str, code: ExitCode) -> NoReturn:
    _complain(message, hint)
    raise SystemExit(int(code)) from None


def _exit(code: int) -> NoReturn:
    raise SystemExit(int(code if _stdout_flushed() else ExitCode.INTERNAL))


def _stdout_flushed() -> bool:
    """Flush stdout, and tell why if that fails. A pipe that nobody reads counts as flushed."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        abandon(sys.stdout)
    except OSError as error:
        abandon(sys.stdout)
        _complain(unwritable("stdout", error))
        return False
    return True


def _crash_report(error: Exception) -> tuple[str, str]:
    """Keep the traceback in a file: names and lines of our code, no value of the data."""
    import tempfile
    import traceback

    from kraftool import __version__

    summary = traceback.extract_tb(error.__traceback__)
    lines = [f"kraftool {__version__} on Python {sys.version.split()[0]}"]
    lines += [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in summary]
    lines.append(type(error).__name__)
    message, hint = f"internal error: {type(error).__name__}", "run again with --debug"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="kraftool-crash-", suffix=".txt", delete=False
        ) as report:
            report.write("\n".join(lines) + "\n")
    except OSError as problem:
        return f"{message}; no report: {unwritable('it', problem)}", f"{hint} to see the traceback"
    return (
        f"{message}; report written to {report.name}",
        f"{hint} to see the traceback; the report holds no data of yours",
    )
