"""The command line: one file per subcommand, `output.py` for everything that is written.

Owns the entry point. What can be answered without typer is answered without importing it.
"""

from __future__ import annotations

import gc
import os
import sys

_SELDOM = 50_000
"""New objects after which Python looks for cycles of them. With its own 700 that was a twentieth of
a start, which makes many objects and keeps most."""


def main() -> None:
    """Run kraftool; the console script and `python -m kraftool` come here."""
    gc.set_threshold(_SELDOM, *gc.get_threshold()[1:])
    if sys.argv[1:] in (["--version"], ["-V"]):
        from kraftool import __version__
        from kraftool.commands.output import Output
        from kraftool.decoders.fast_path import described

        output = Output()
        output.line(f"kraftool {__version__} ({described})")
        output.finish()
    if "_KRAFTOOL_COMPLETE" in os.environ:
        _complete()
    from kraftool.commands.output import guarded

    guarded(_run)


def _complete() -> None:
    """Answer a shell that completes a command line; return where only typer can."""
    from kraftool.commands.completion import answer

    shell_answer = answer(os.environ)
    if shell_answer is not None:
        from kraftool.commands.output import Output

        output = Output()
        if shell_answer.text:
            output.line(shell_answer.text)
        output.flush()
        raise SystemExit(shell_answer.code)


def _run(words: list[str]) -> int | None:
    """Run the command that these words name, and return its exit code."""
    from kraftool.commands.app import app

    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    # Not standalone: typer would end an interrupt with 1, as a finding.
    code: int | None = app(words, prog_name="kraftool", standalone_mode=False)
    return code
