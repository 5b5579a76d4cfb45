"""`kraftool bundle`: what explains a failure, from all nodes, in one file without secrets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import ExitCode, RefusedError, UsageError
from kraftool.commands.options import Debug, PlainFormat, PlainOutput, Quiet
from kraftool.commands.output import Output, printable
from kraftool.commands.quorum_options import Bootstrap, CommandConfig, LiveOptions, Resolve
from kraftool.commands.remote_nodes import local_nodes
from kraftool.commands.remote_options import RemoteOptions, refuse_mixed, remote_nodes
from kraftool.commands.remote_script import BundleWish
from kraftool.decoders.shown_names import ODD
from kraftool.storage.bundle_names import SUFFIX, bundle_place

if TYPE_CHECKING:
    from kraftool.bundle.contents import BundleContents, NotHad

_MB = 1_000_000


def bundle(
    *,
    paths: Annotated[
        list[str] | None,
        Argument(
            metavar="PATH",
            help="server.properties of the node, or its data directory.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[str, Option("--out", metavar="FILE", help="New file. Its name ends with .zip.")],
    nodes: RemoteOptions,
    bootstrap_controller: Bootstrap = "",
    command_config: CommandConfig = "",
    resolve: Resolve = None,
    server_logs: Annotated[
        str,
        Option(
            "--server-logs",
            metavar="PATH",
            help="Folder or file of the server's log on the node (default: as the process says).",
        ),
    ] = "",
    server_log_mb: Annotated[
        int,
        Option("--server-log-mb", metavar="MB", min=1, help="Newest part of the server's log."),
    ] = 4,
    most: Annotated[
        int, Option("--most", metavar="MB", min=1, help="Most metadata of a node.")
    ] = 512,
    with_secrets: Annotated[
        bool, Option("--with-secrets", help="Do not mask secrets in logs and snapshots.")
    ] = False,
    output: PlainOutput = PlainFormat.TABLE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
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

    Secrets are masked: SCRAM keys, and values of configs and settings that are not known to be
    harmless. A line of a server log ends where it names a password, a key or a token. Names of
    topics, users and hosts are not masked. Only the owner can read the file.

    The nodes need a shell and tar, but not kraftool. The settings that may be secret do not leave
    the node. Nothing is changed or locked there, and a running Kafka is not disturbed. Exits 4 if
    no node was reached, and 3 if something could not be had.
    """
    named = paths or []
    refuse_mixed(nodes, named)
    if not nodes.are_given and not named:
        raise UsageError("no PATH", hint="name server.properties, or --ssh or --kubectl")
    if within := next((path for path in named if bundle_place(path) is not None), ""):
        raise UsageError(f"{within} is a bundle", hint="name server.properties of a node")
    _refuse_file(out)

    import zipfile

    from kraftool.commands.bundle_run import BundleLimits, make_bundle
    from kraftool.commands.bundle_view import write_contents
    from kraftool.commands.new_file import NewFile, unwritable
    from kraftool.storage.ending import ending_in_order
    from kraftool.storage.paths import refuse_folder_above

    to = Output(quiet=quiet)
    for path in () if nodes.are_given else named:
        refuse_folder_above(path)
    wish = BundleWish(log_bytes=server_log_mb * _MB, server_logs=server_logs)
    asked = remote_nodes(nodes, named, wish) if nodes.are_given else local_nodes(named, wish)
    quorum = LiveOptions(
        bootstrap_controller=bootstrap_controller, command_config=command_config, resolve=resolve
    )
    new = NewFile(out)
    limits = BundleLimits(metadata=most * _MB, server_logs=server_log_mb * _MB)
    try:
        with ending_in_order(), zipfile.ZipFile(new.file, "w") as file:
            contents = make_bundle(
                to,
                asked,
                file,
                limits,
                lambda copies: _reports(to, quorum, copies),
                name=out,
                seconds=nodes.timeout,
                with_secrets=with_secrets,
            )
        new.file.close()
    except OSError as error:
        new.discard()
        raise UsageError(unwritable(out, error)) from None
    arrived = [node for node in contents.nodes if node.directory]
    if arrived:
        new.keep()
    else:
        new.discard()
    if output is PlainFormat.JSON:
        to.document(contents)
    else:
        write_contents(to, contents, out if arrived else "")
    _raise_codes(to, contents, has_log_path=bool(server_logs))
    to.finish()


def _refuse_file(out: str) -> None:
    """Raise where --out cannot be the name of a bundle."""
    if not out.endswith(SUFFIX):
        raise UsageError(f"{out} does not end with {SUFFIX}", hint="name it so")
    if (odd := ODD.search(out)) is not None:
        hint = "commands that are shown for the bundle would need it quoted"
        raise UsageError(f"{out} has {odd[0]!r} in its name", hint=hint)
    if os.path.lexists(out):
        hint = "name another file, or remove this one first"
        raise RefusedError(f"{out} exists already", hint=hint)


def _raise_codes(to: Output, contents: BundleContents, *, has_log_path: bool) -> None:
    """Exit 3 for what is missing, but for server logs that nobody said where they are."""
    missing = [*contents.not_had, *(one for node in contents.nodes for one in node.not_had)]
    if not any(node.directory for node in contents.nodes):
        to.code = ExitCode.UNREACHABLE
    elif any(has_log_path or one.subject != "server logs" for one in missing):
        to.raise_code(ExitCode.UNREADABLE)


def _reports(
    to: Output, quorum: LiveOptions, paths: Sequence[str]
) -> Iterator[tuple[str, bytes | NotHad]]:
    """Yield what the live quorum answers, and doctor's report of all of it."""
    from kraftool.bundle.contents import NotHad
    from kraftool.commands.live_reading import live_quorum
    from kraftool.decoders.errors import KraftoolError
    from kraftool.reports.doctor.read import examine, locations_of
    from kraftool.reports.doctor.report import diagnose
    from kraftool.reports.text.json_document import json_document

    if quorum.bootstrap_controller:
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
