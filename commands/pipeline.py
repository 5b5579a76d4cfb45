"""`kraftool pipeline`: what goes through Spark, over many directories at once."""

from __future__ import annotations

from kraftool.commands.command_line import group_app

app = group_app("pipeline")


@app.callback()
def pipeline() -> None:
    """Audit, export and follow fleets of directories with Spark.

    Example: kraftool pipeline audit /var/lib/kafka/data

    Spark runs inside this command on all cores, or on a cluster that --master names. It comes with
    pip install 'kraftool[spark]', and so does Java for machines without one. For one directory the
    other commands are faster.

    Nothing is ever written to the directories.
    """
