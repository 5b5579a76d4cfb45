"""The report of `kraftool bundle`."""

from __future__ import annotations

import shlex

from kraftool.bundle.contents import BundleContents, NodeInBundle, NotHad
from kraftool.commands.finding_view import command_lines, text
from kraftool.commands.output import Output
from kraftool.commands.text_flow import READABLE, Flow
from kraftool.reports.text.words import many
from kraftool.reports.text.words import size as size_text


def write_contents(to: Output, contents: BundleContents, out: str) -> None:
    """Show what each node gave, what could not be had, and the next command."""
    for node in contents.nodes:
        to.rich(Flow(text(_words(node)), again="  "))
        _write_missing(to, node.not_had)
    _write_missing(to, contents.not_had)
    if not out:
        return
    masked = sum(
        file.masked_bytes for node in contents.nodes for file in node.files if file.masked_bytes
    )
    words = (
        "Secrets were not masked." if contents.has_secrets else f"{many(masked, 'byte')} masked."
    )
    to.narrate(Flow(text(f"{out}: {words} Names of topics, users and hosts are in it. Next:")))
    to.narrate(*command_lines([f"kraftool doctor {shlex.quote(out)}"]))


def _words(node: NodeInBundle) -> str:
    if not node.directory:
        return f"{node.source}  nothing came"
    size = sum(file.size for file in node.files)
    changed = ", and Kafka wrote meanwhile" if node.is_changed_meanwhile else ""
    count = many(len(node.files), "file")
    return f"{node.name}  {node.source}  {count}, {size_text(size)}{changed}"


def _write_missing(to: Output, missing: tuple[NotHad, ...]) -> None:
    for one in missing:
        words = f"without {one.subject}: {one.reason}"
        to.rich(Flow(text(words), lead="  ", again="    ", widest=READABLE))
