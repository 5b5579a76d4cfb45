"""`kraftool pipeline`: what goes through Spark, over many directories at once."""

from __future__ import annotations

import typer

from kraftool.commands.pipeline_audit import audit
from kraftool.commands.pipeline_stream import stream
from kraftool.commands.pipeline_tables import tables

app = typer.Typer(
    name="pipeline",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def pipeline() -> None:
    """Audit, export and follow fleets of directories with Spark.

    Example: kraftool pipeline audit /var/lib/kafka/data

    Spark runs inside this command on all cores, or on a cluster that --master names. It comes with
    pip install 'kraftool[spark]', and so does Java for machines without one. For one directory the
    other commands are faster.

    Nothing is ever written to the directories.
    """


app.command("stream")(stream)
app.command("audit")(audit)
app.command("tables")(tables)
