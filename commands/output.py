"""Everything that kraftool writes: data to stdout or a file, narration to stderr, the exit code.

Owns stdout, stderr, colour, escaping of what came from data, and the exit codes. No other module
prints. It refuses to let a byte of data act on a terminal: control characters and the characters
that reorder text are shown as escapes.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum, StrEnum
from typing import IO, TYPE_CHECKING, Any, NoReturn

from kraftool.decoders.errors import KraftoolError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


class ExitCode(IntEnum):
    """How kraftool ends; each member says what it means in the man page."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> ExitCode:
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    FINE = 0, "Fine."
    FINDING = (
        1,
        "A finding: verification failed, voters or state differ, no leader, nodes disagree.",
    )
    USAGE = 2, "The command line is wrong."
    UNREADABLE = (
        3,
        "Something asked for could not be read or decoded; the rest is still printed.",
    )
    UNREACHABLE = 4, "No node could be reached."
    REFUSED = 5, "Refused for safety."
    INTERNAL = 70, "An internal error; a report file is named on stderr."
    INTERRUPTED = 130, "Interrupted."


class UsageError(KraftoolError):
    """A command line that cannot be carried out."""


class RefusedError(KraftoolError):
    """What kraftool will not do because something could be lost."""


class ColorWhen(StrEnum):
    """When to colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_FILLING = re.compile(r"(?: |\x1b\[[0-9;]*m)+$", re.MULTILINE)
_LINE_BREAKS = re.compile("[\t\n]")


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def printable(text: str) -> str:
    """Text from data, with everything that could act on a terminal shown as an escape."""
    return _LINE_BREAKS.sub(_escape, _UNSAFE.sub(_escape, text))


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
    """Where a command writes to. One of these serves a whole run."""

    def __init__(
        self,
        *,
        color: ColorWhen = ColorWhen.AUTO,
        quiet: bool = False,
        out: str = "",
        error: bool = False,
    ) -> None:
        self.quiet = quiet
        self._out = out
        self._file: IO[bytes] = sys.stdout.buffer if not out else _open_new(out)
        self.to_terminal = not out and sys.stdout.isatty()
        self.colored = {
            ColorWhen.ALWAYS: True,
            ColorWhen.NEVER: False,
            ColorWhen.AUTO: self.to_terminal
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb",
        }[color]
        self.code = ExitCode.FINE

    @property
    def width(self) -> int:
        """Columns to fill: the terminal's, or 80 where there is none."""
        if not self.to_terminal and "COLUMNS" not in os.environ:
            return 80
        import shutil

        return max(shutil.get_terminal_size().columns, 40)

    def style(self, text: str, style: str) -> str:
        """Colour text that was made printable already."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colored and text else text

    def write(self, data: str | bytes) -> None:
        """Write a machine format. On a terminal, control characters of the data are escaped."""
        if self.to_terminal:
            text = data if isinstance(data, str) else data.decode("utf-8", "replace")
            data = _UNSAFE.sub(_escape, text)
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogateescape")
        self._send(data)

    def line(self, text: str = "") -> None:
        """Write a line of a human format; its data went through `printable`."""
        self._send(text.encode("utf-8", "replace") + b"\n")

    def rich(self, *renderables: RenderableType) -> None:
        """Write rich tables and texts."""
        console = self.console()
        with console.capture() as capture:
            for each in renderables:
                console.print(each)
        # rich fills table rows with blanks up to the width; nobody wants to copy those.
        text = _FILLING.sub(lambda found: found[0].replace(" ", ""), capture.get())
        self._send(text.encode("utf-8", "replace"))

    def _send(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except BrokenPipeError:
            self._stop()

    def _stop(self) -> NoReturn:
        """End well: whoever read our output had enough. (typer would end with 1, as a finding.)"""
        _abandon_stdout()
        raise SystemExit(int(ExitCode.FINE)) from None

    def console(self) -> Console:
        from rich.console import Console

        return Console(
            width=self.width,
            markup=False,
            highlight=False,
            emoji=False,
            force_terminal=self.colored,
            no_color=not self.colored,
            color_system="standard" if self.colored else None,
            legacy_windows=False,
        )

    def note(self, text: str) -> None:
        """Tell something on stderr, unless asked to be quiet."""
        if not self.quiet:
            print(_UNSAFE.sub(_escape, text), file=sys.stderr)

    def problem(self, text: str, *, code: ExitCode = ExitCode.UNREADABLE) -> None:
        """Report on stderr what could not be had; the run goes on and ends with `code`."""
        self.raise_code(code)
        self.flush()
        print(f"kraftool: {printable(text)}", file=sys.stderr)

    def raise_code(self, code: ExitCode) -> None:
        """End with this code, unless a worse one is due already."""
        order = (ExitCode.FINE, ExitCode.FINDING, ExitCode.UNREADABLE)
        if self.code in order and (code not in order or order.index(code) > order.index(self.code)):
            self.code = code

    def flush(self) -> None:
        try:
            self._file.flush()
        except BrokenPipeError:
            self._stop()

    @contextmanager
    def progress(self, total: int | None, label: str) -> Iterator[Callable[[int], None]]:
        """A progress bar on stderr for long work, on a terminal that does not show the data."""
        if self.quiet or self.to_terminal or not sys.stderr.isatty() or (total or 0) < 8 << 20:
            yield lambda _: None
            return
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        console = Console(stderr=True, markup=False)
        with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task(printable(label), total=total)
            yield lambda done: bar.update(task, completed=done)

    def finish(self) -> NoReturn:
        """Flush and end the run with the code that it came to."""
        self.flush()
        if self._out:
            self._file.close()
        raise SystemExit(int(self.code))


def _open_new(path: str) -> IO[bytes]:
    """Open --out: a new file that only its owner may read, or a pipe or device that is there."""
    import stat

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return open(path, "wb")
        raise RefusedError(
            f"{path} exists already", hint="name another file, or remove this one first"
        )
    except FileNotFoundError:
        pass
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    return os.fdopen(descriptor, "wb")


def guarded() -> NoReturn:
    """Run the app and turn whatever ends it into a sentence and an exit code."""
    debug = "--debug" in sys.argv
    try:
        from kraftool.commands.app import app

        # Not standalone: typer would end an interrupt with 1, as a finding.
        _exit(app(prog_name="kraftool", standalone_mode=False) or ExitCode.FINE)
    except SystemExit as ending:
        _exit(ending.code if isinstance(ending.code, int) else ExitCode.FINE)
    except KeyboardInterrupt:
        _exit(ExitCode.INTERRUPTED)
    except KraftoolError as error:
        if debug:
            raise
        _complain(error.message, error.hint)
        _exit(_code_of(error))
    except MemoryError:
        _complain("out of memory", "")
        _exit(ExitCode.INTERNAL)
    except Exception as error:
        if hasattr(error, "show") and hasattr(error, "exit_code"):  # typer's own usage errors
            error.show()
            _exit(ExitCode.USAGE)
        if type(error).__name__ == "Abort":  # how typer hands on an interrupt
            _exit(ExitCode.INTERRUPTED)
        if debug:
            raise
        _complain(*_crash_report(error))
        _exit(ExitCode.INTERNAL)


def _code_of(error: KraftoolError) -> ExitCode:
    if isinstance(error, UsageError):
        return ExitCode.USAGE
    return ExitCode.REFUSED if isinstance(error, RefusedError) else ExitCode.UNREADABLE


def _complain(message: str, hint: str) -> None:
    print(f"kraftool: {printable(message)}", file=sys.stderr)
    if hint:
        print(f"  {printable(hint)}", file=sys.stderr)


def _exit(code: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_stdout()
    raise SystemExit(int(code))


def _abandon_stdout() -> None:
    """Whoever read our output had enough; what is still buffered has nowhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _crash_report(error: Exception) -> tuple[str, str]:
    """Keep the traceback in a file: names and lines of our code, no value of the data."""
    import tempfile
    import traceback

    from kraftool import __version__

    summary = traceback.extract_tb(error.__traceback__)
    lines = [f"kraftool {__version__} on Python {sys.version.split()[0]}"]
    lines += [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in summary]
    lines.append(type(error).__name__)
    with tempfile.NamedTemporaryFile(
        "w", prefix="kraftool-crash-", suffix=".txt", delete=False
    ) as report:
        report.write("\n".join(lines) + "\n")
    return (
        f"internal error: {type(error).__name__}; report written to {report.name}",
        "run again with --debug to see the traceback; the report holds no data of yours",
    )


def json_document(value: Any) -> bytes:
    """A JSON document as `-o json` writes it: readable, a newline at the end."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
