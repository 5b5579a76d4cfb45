"""A question on the terminal that somebody has to answer before something is changed."""

from __future__ import annotations

from kraftool.commands.exit_code import RefusedError


def asked(question: str) -> str:
    """Return what was typed. Raises RefusedError if nothing was."""
    import typer

    try:
        answer: str = typer.prompt(
            question, default="", show_default=False, prompt_suffix="", err=True
        )
    except typer.Abort:
        raise RefusedError("nothing was typed, and nothing was changed") from None
    return answer
