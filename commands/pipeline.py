"""`kraftool pipeline`: what goes through Spark, over many directories at once."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="pipeline",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def pipeline() -> None:
    """Audit, export and follow whole fleets of data directories with Spark.

    Example: kraftool pipeline audit /archive

    Spark runs inside this command on all cores, or on a cluster that --master names; it comes with
    pip install 'kraftool[spark]', and so does a Java where there is none. For one directory the
    other commands are quicker.

    Nothing is ever written to the directories.
    """
