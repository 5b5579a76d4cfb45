"""The typer app: which commands there are. Each lives in a file of its own name."""

from __future__ import annotations

from copy import copy
from typing import Annotated

import typer

from kraftool.commands.diff_state import diff_state
from kraftool.commands.diff_voters import diff_voters
from kraftool.commands.doctor import doctor
from kraftool.commands.dump import dump
from kraftool.commands.dump_log import dump_log
from kraftool.commands.explain import explain
from kraftool.commands.features import features
from kraftool.commands.node import app as node
from kraftool.commands.pipeline import app as pipeline
from kraftool.commands.quorum import app as quorum
from kraftool.commands.recover import app as recover
from kraftool.commands.shell import shell
from kraftool.commands.simulate_election import simulate_election
from kraftool.commands.state import state
from kraftool.commands.storage import app as storage
from kraftool.commands.storage_format import format_
from kraftool.commands.timeline import timeline
from kraftool.commands.verify_log import verify_log
from kraftool.commands.verify_snapshot import verify_snapshot
from kraftool.commands.watch import watch

app = typer.Typer(
    name="kraftool",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def kraftool(
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.")
    ] = False,
) -> None:
    """Inspect and repair the KRaft state of Apache Kafka.

    Example: kraftool dump /var/lib/kafka/data

    Nothing is written unless a command's purpose is to write.
    """


app.command("diff-state")(diff_state)
app.command("diff-voters")(diff_voters)
app.command("doctor")(doctor)
app.command("dump")(dump)
app.command("dump-log")(dump_log)
app.command("explain")(explain)
app.command("features")(features)
app.command("format")(format_)
app.add_typer(node)
app.add_typer(pipeline)
app.add_typer(quorum)
app.add_typer(recover)
app.command("shell")(shell)
app.command("simulate-election")(simulate_election)
app.command("state")(state)
app.add_typer(storage)
app.command("timeline")(timeline)
app.command("verify-log")(verify_log)
app.command("verify-snapshot")(verify_snapshot)
app.command("watch")(watch)


def app_of(words: list[str]) -> typer.Typer:
    """The app that these words need: typer builds every command that it is given at each start.

    Where the first word names none it is all of them, for help, completion and what was meant.
    """
    first = words[0] if words else ""
    commands = [
        registered_command
        for registered_command in app.registered_commands
        if registered_command.name == first
    ]
    groups = [
        registered_group
        for registered_group in app.registered_groups
        if registered_group.typer_instance is not None
        and registered_group.typer_instance.info.name == first
    ]
    if not commands and not groups:
        return app
    needed = copy(app)
    needed.registered_commands, needed.registered_groups = commands, groups
    return needed
