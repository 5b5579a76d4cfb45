"""`kraftool bundle`: what explains a failure, from all nodes, in one file without secrets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import ExitCode, RefusedError, UsageError
from kraftool.commands.options import Debug, PlainFormat, PlainOutput, Quiet
from kraftool.commands.output import Output, printable
from kraftool.commands.quorum_options import Bootstrap, CommandConfig, LiveOptions, Resolve
from kraftool.commands.remote_nodes import local_nodes
from kraftool.commands.remote_options import RemoteOptions, refuse_mixed, remote_nodes
from kraftool.commands.remote_script import BundleWish

if TYPE_CHECKING:
    from kraftool.bundle.contents import BundleContents, NotHad

_MB = 1_000_000


@dataclass(frozen=True, kw_only=True)
class BundleOptions(RemoteOptions):
    """The options of `bundle` as they were written."""

    out: Annotated[str, Option("--out", metavar="FILE", help="New file. Its name ends with .zip.")]
    paths: Annotated[
        list[str],
        Argument(
            metavar="PATH",
            help="server.properties of the node, or its data directory.",
            show_default=False,
        ),
    ] = field(default_factory=list)
    bootstrap_controller: Bootstrap = ""
    command_config: CommandConfig = ""
    resolve: Resolve = None
    server_logs: Annotated[
        str,
        Option(
            "--server-logs",
            metavar="PATH",
            help="Folder or file of the server's log on the node (default: as the process says).",
        ),
    ] = ""
    server_log_mb: Annotated[
        int,
        Option("--server-log-mb", metavar="MB", min=1, help="Newest part of the server's log."),
    ] = 4
    most: Annotated[
        int,
        Option("--most", metavar="MB", min=1, help="Most metadata of a node."),
    ] = 512
    with_secrets: Annotated[
        bool, Option("--with-secrets", help="Do not mask secrets in logs and snapshots.")
    ] = False
    output: PlainOutput = PlainFormat.TABLE
    quiet: Quiet = False
    debug: Debug = False

    @property
    def quorum(self) -> LiveOptions:
        """The way to the live quorum, which has the usual time to answer."""
        return LiveOptions(
            bootstrap_controller=self.bootstrap_controller,
            command_config=self.command_config,
            resolve=self.resolve,
        )


def bundle(options: BundleOptions) -> None:
    """Collect what explains a failure into one file.

    \b
    Example: kraftool bundle --ssh ctl-1,ctl-2,ctl-3 /etc/kafka/server.properties --out case.zip
    Example: kraftool bundle --kubectl app=kafka /var/lib/kafka/data --out case.zip
    Example: kraftool bundle /etc/kafka/server.properties --out case.zip

    Attach the file to a ticket, or carry it to a machine with kraftool. It has the metadata of each
    node, its settings, listings, the end of the server's log, and doctor's findings. With
    --bootstrap-controller it also has what the live quorum answers. bundle.json lists all of it,
    and what could not be had.

    Commands that read a PATH read the bundle: kraftool doctor case.zip. They find what they find on
    the nodes. One node is case.zip:node-1, and a file of it case.zip:node-1/PATH. A plan of
    recover plan case.zip can be applied on the hosts.

    Secrets are masked: SCRAM keys, values of configs and settings that are not known to be
    harmless, and passwords in server logs as far as their names show them. Names of topics, users
    and hosts are not masked. Only the owner can read the file.

    The nodes need a shell and tar, but not kraftool. The settings that may be secret do not leave
    the node. Nothing is changed or locked there, and a running Kafka is not disturbed. Exits 4 if
    no node was reached, and 3 if something could not be had.
    """
    refuse_mixed(options, options.paths)
    if not options.are_given and not options.paths:
        raise UsageError("no PATH", hint="name server.properties, or --ssh or --kubectl")
    if not options.out.endswith(".zip"):
        raise UsageError(f"{options.out} does not end with .zip", hint="name it so")
    if os.path.lexists(options.out):
        hint = "name another file, or remove this one first"
        raise RefusedError(f"{options.out} exists already", hint=hint)

    import zipfile

    from kraftool.commands.bundle_run import BundleLimits, make_bundle
    from kraftool.commands.bundle_view import write_contents
    from kraftool.commands.new_file import NewFile, unwritable

    to = Output(quiet=options.quiet)
    wish = BundleWish(log_bytes=options.server_log_mb * _MB, server_logs=options.server_logs)
    nodes = (
        remote_nodes(options, options.paths, wish)
        if options.are_given
        else local_nodes(options.paths, wish)
    )
    new = NewFile(options.out)
    limits = BundleLimits(metadata=options.most * _MB, server_logs=options.server_log_mb * _MB)
    try:
        with zipfile.ZipFile(new.file, "w") as file:
            contents = make_bundle(
                to,
                nodes,
                file,
                limits,
                lambda paths: _reports(to, options, paths),
                name=options.out,
                seconds=options.timeout,
                with_secrets=options.with_secrets,
            )
        new.file.close()
    except OSError as error:
        new.discard()
        raise UsageError(unwritable(options.out, error)) from None
    arrived = [node for node in contents.nodes if node.directory]
    if arrived:
        new.keep()
    else:
        new.discard()
    if options.output is PlainFormat.JSON:
        to.document(contents)
    else:
        write_contents(to, contents, options.out if arrived else "")
    _raise_codes(to, contents, has_log_path=bool(options.server_logs))
    to.finish()


def _raise_codes(to: Output, contents: BundleContents, *, has_log_path: bool) -> None:
    """Exit 3 for what is missing, but for server logs that nobody said where they are."""
    missing = [*contents.not_had, *(one for node in contents.nodes for one in node.not_had)]
    if not any(node.directory for node in contents.nodes):
        to.code = ExitCode.UNREACHABLE
    elif any(has_log_path or one.subject != "server logs" for one in missing):
        to.raise_code(ExitCode.UNREADABLE)


def _reports(
    to: Output, options: BundleOptions, paths: Sequence[str]
) -> Iterator[tuple[str, bytes | NotHad]]:
    """Yield what the live quorum answers, and doctor's report of all of it."""
    from kraftool.bundle.contents import NotHad
    from kraftool.commands.live_reading import live_quorum
    from kraftool.decoders.errors import KraftoolError
    from kraftool.reports.doctor.read import examine, locations_of
    from kraftool.reports.doctor.report import diagnose
    from kraftool.reports.text.json_document import json_document

    quorum = options.quorum
    if options.bootstrap_controller:
        yield from _live(quorum)
    locations, unread = locations_of(paths)
    try:
        with live_quorum(to, quorum, judged=True, shown=lambda view: view.asked) as live:
            if live is None:
                examination = examine(locations, unread)
            else:
                from kraftool.client.live_doctor import examine_live

                examination = examine_live(live, quorum.again, locations, unread, _silent)
            report = diagnose(examination)
        yield "doctor.json", b"".join(json_document(report))
    except KraftoolError as error:
        yield "doctor.json", NotHad(subject="doctor.json", reason=printable(error.message))


def _silent(name: str, position: int) -> None:
    """The progress of a report that is one of several."""


def _live(quorum: LiveOptions) -> Iterator[tuple[str, bytes | NotHad]]:
    """Yield what `quorum describe` and `quorum health` say."""
    import asyncio

    from kraftool.bundle.contents import NotHad
    from kraftool.client.checking import check
    from kraftool.client.quorum_json import describe_document, health_document
    from kraftool.decoders.errors import KraftoolError
    from kraftool.reports.text.json_document import json_document

    try:
        health = asyncio.run(check(quorum.target()))
    except KraftoolError as error:
        yield "live", NotHad(subject="the live quorum", reason=printable(error.message))
        return
    if not health.view.reached:
        yield "live", NotHad(subject="the live quorum", reason="no node could be reached")
    yield "live/describe.json", b"".join(json_document(describe_document(health.view)))
    yield "live/health.json", b"".join(json_document(health_document(health)))
