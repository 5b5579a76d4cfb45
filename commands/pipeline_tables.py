"""`kraftool pipeline tables`: a fleet as Delta tables, brought up to date by every run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.options import RowFormat, ShowSecrets
from kraftool.commands.output import Output
from kraftool.commands.pipeline_options import EngineOptions, PipelineOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kraftool.spark.tables.run import TablesReport, TablesRequest


@dataclass(frozen=True, kw_only=True)
class TablesOptions(PipelineOptions):
    """The options of `pipeline tables` as they were written."""

    out: Annotated[
        str,
        Option(
            "--out",
            metavar="DIR",
            help="Folder or s3:// URL of the tables: new, empty, or from an earlier run.",
        ),
    ]
    out_options: Annotated[
        str,
        Option(
            "--out-options",
            metavar="FILE",
            help="File with a JSON object for the object store of --out, such as"
            " aws_access_key_id and aws_endpoint_url. By default they come from the environment.",
        ),
    ] = ""
    snapshots: Annotated[
        bool, Option("--snapshots", help="Also write the records of snapshots.")
    ] = False
    optimize: Annotated[
        bool, Option("--optimize", help="Put the small files of each table together afterwards.")
    ] = False
    show_secrets: ShowSecrets = False
    output: Annotated[
        RowFormat, Option("--output", "-o", help="Format of the report on stdout.")
    ] = RowFormat.TABLE


def tables(options: TablesOptions) -> None:
    """Write the metadata logs of a fleet as Delta tables.

    Example: kraftool pipeline tables /var/lib/kafka/data --out /data/tables

    Writes one Delta table per folder: one for each record type, and tables of records, batches,
    files, findings, elections, voters, features, brokers, topics, partitions and their history.
    Each has the columns cluster_id and, if rows have a time, date. The next run reads only what is
    new. A run that was killed is simply run again. Secrets are masked unless you give
    --show-secrets. Exits 3 if something could not be read. Damage in a file is a row and a finding.

    Nothing is written to the directories, and nothing is locked. A running Kafka is not disturbed.
    """
    import os

    from kraftool.commands.pipeline_options import (
        absolute,
        check_files,
        storage_options,
        turned_down,
    )

    storage = storage_options(options.storage_options)
    to = options.printing.open()

    from kraftool.spark.tables.run import TablesRequest

    wanted = TablesRequest(
        roots=absolute(options.roots),
        out=os.path.expanduser(options.out),
        storage=storage,
        out_options=storage_options(options.out_options, "--out-options"),
        depth=options.depth,
        show_secrets=options.show_secrets,
        snapshots=options.snapshots,
        optimize=options.optimize,
    )
    with turned_down():
        check_files(spark_log=options.spark_log)
        report = _written(to, wanted, options)
    if options.output is RowFormat.TABLE:
        from kraftool.commands.pipeline_tables_view import write_report

        write_report(to, report)
    else:
        to.document(report, options.output)
    if report.unreadable:
        to.problem(_left_out(report.unreadable))
    elif not report.directories and not report.is_new:
        to.problem("no Kafka data directory was found below the PATHs")
    to.finish()


def _written(to: Output, wanted: TablesRequest, engine: EngineOptions) -> TablesReport:
    from kraftool.commands.pipeline_options import with_one_retry
    from kraftool.spark.tables.run import write_tables

    def start() -> AbstractContextManager[SparkSession]:
        from kraftool.commands.pipeline_options import spark_run

        return spark_run(to, engine, "tables")

    return with_one_retry(to, lambda: write_tables(wanted, start))


def _left_out(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    shown_names = ", ".join(names[:3])
    return f"could not be read, so the next run tries again: {shown_names}{more}"
