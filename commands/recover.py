"""`kraftool recover`: from a lost quorum or a damaged directory back to one that runs."""

from __future__ import annotations

import typer

from kraftool.commands.command_line import group_app

app = group_app("recover", invoke_without_command=True)


@app.callback()
def recover(context: typer.Context) -> None:
    """Bring a quorum back that lost its majority, and mend damaged directories.

    Example: kraftool recover collect /etc/kafka/server.properties --out node-2.collect

    First stop every controller and broker, and whatever would start them again. Then: collect, on
    each host that is left, what planning needs; plan, wherever the files were carried; read the
    plan; rehearse it on copies; apply it, host by host, and start what it says, in its order;
    verify. Until the quorum has moved on, undo puts everything back. docs/recover.md goes through
    the night in which two of three controllers are lost. On a terminal, recover alone is recover
    guide: it asks, and runs these commands in their order.

    Nothing is changed by collect, plan, rehearse and verify. Apply and undo ask for the plan's id,
    keep a backup, and can be interrupted anywhere.
    """
    if context.invoked_subcommand is None:
        from kraftool.commands.recover_guide import guide_on_terminal

        guide_on_terminal()
