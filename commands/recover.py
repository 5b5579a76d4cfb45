"""`kraftool recover`: from a lost quorum or a damaged directory back to one that runs."""

from __future__ import annotations

import typer

from kraftool.commands.command_line import group_app

app = group_app("recover", invoke_without_command=True)


@app.callback()
def recover(context: typer.Context) -> None:
    """Restore a quorum without a majority, or repair directories.

    Example: kraftool recover collect /etc/kafka/server.properties --out node-2.collect

    If a majority of the controllers runs and has a leader, leave it running: only the broken node
    is stopped and repaired. If not, first stop every controller and broker, and whatever could
    start them again. Then run collect on each host, and carry the files to one place. There run
    plan, and read the plan.
    Rehearse it on copies. Apply it host by host, and start the nodes in the plan's order. Then run
    verify. Until a node has changed the directory, undo restores everything. docs/recover.md shows
    the whole procedure for a night in which two of three controllers are lost. On a terminal,
    kraftool recover alone starts recover guide, which asks, and runs these commands in order.

    collect, plan, rehearse and verify change nothing. apply and undo ask for the plan's id, keep a
    backup, and can be interrupted at any moment.
    """
    if context.invoked_subcommand is None:
        from kraftool.commands.recover_guide import guide_on_terminal

        guide_on_terminal()
