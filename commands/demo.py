"""`kraftool demo`: a small quorum to try things on."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from kraftool.commands.exit_code import RefusedError
from kraftool.commands.options import Color, Debug, Quiet
from kraftool.commands.output import ColorWhen, Output, printable
from kraftool.decoders.errors import KraftoolError

ARCHIVE = "demo.tar.gz"
"""Beside this module; tools/demo.py writes it."""


def demo(
    directory: Annotated[
        str, Argument(metavar="DIR", help="A folder that is new or empty.", show_default=False)
    ],
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Unpack a small quorum, to try kraftool on.

    Example: kraftool demo /tmp/quorum

    Real Kafka 4.3.0 wrote these files: the directories of three controllers and of a broker, each
    with its server.properties. Nothing of them is running. You can lose and repair them as often as
    you like: unpack them again into another folder. docs/tutorial.md leads through that.

    Exits 5 if DIR is not empty. Nothing else is written.
    """
    import os
    import shlex

    to = Output(color=color, quiet=quiet)
    try:
        if os.path.isdir(directory) and os.listdir(directory):
            raise RefusedError(f"{directory} is not empty", hint="name a new folder")
        _unpack(directory)
    except OSError as error:
        raise KraftoolError(f"{error.filename or directory}: {error.strerror or error}") from None
    to.line(f"{printable(directory)}: three controllers and a broker of Kafka 4.3.0, all stopped")
    to.line("Next:")
    folder = shlex.quote(directory)
    for command in (
        f"cd {folder}",
        "kraftool dump node-1/server.properties",
        "kraftool doctor node-*/server.properties",
        "kraftool simulate-election node-1/data node-2/data node-3/data",
    ):
        to.line(f"  $ {printable(command)}")
    to.finish()


def _unpack(directory: str) -> None:
    """Write the files of the archive. It is ours: its names are relative, and have no link."""
    import tarfile
    from importlib.resources import files
    from pathlib import Path

    with (
        files("kraftool.commands").joinpath(ARCHIVE).open("rb") as packed,
        tarfile.open(fileobj=packed) as tar,
    ):
        for member in tar:
            if body := tar.extractfile(member):
                path = Path(directory, member.name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(body.read())
