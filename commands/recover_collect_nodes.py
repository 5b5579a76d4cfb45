"""`kraftool recover collect --ssh` and `--kubectl`: one collect file per node, all at once."""

from __future__ import annotations

import os
import re
import shlex
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.finding_view import command_lines, text
from kraftool.commands.new_file import NewFile
from kraftool.commands.output import Output
from kraftool.commands.remote_copy import survey_copy
from kraftool.commands.remote_fetch import FetchedNode, why_failed
from kraftool.commands.remote_nodes import RemoteNode
from kraftool.commands.remote_transfers import fetched_nodes
from kraftool.commands.text_flow import READABLE, Flow
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Hidden
from kraftool.repair import collect_file
from kraftool.repair.narration import is_well, survey_lines
from kraftool.repair.survey import Survey
from kraftool.reports.text.words import listed, many

_UNSAFE = re.compile(r"[^\w.@-]")
_CHANGED = "Kafka wrote while tar read the files: stop the node, and collect it again"


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedNode:
    """The result of collecting from one node."""

    name: str | None = None
    """The host or pod; null for this host."""
    context: str | None = None
    """kubectl's context, for a pod; null in a pod, where kubectl has no context."""
    namespace: str | None = None
    """The pod's namespace; null for a host."""
    file: str | None = None
    """The collect file; null if it did not arrive."""
    size: int | None = None
    """Bytes of the collect file."""
    is_reached: bool = True
    reason: str | None = None
    """Why the file did not arrive; null if it arrived."""
    advice: str | None = None
    """The action to take."""
    is_changed_meanwhile: bool = False
    """True if Kafka wrote while the files were read: collect this node again."""
    surveys: tuple[Survey, ...] = ()
    is_kept: Hidden[bool] = False
    """True if an earlier run wrote the file, and this run skipped the node."""

    @property
    def code(self) -> ExitCode:
        """The exit code for this node by itself."""
        if self.reason:
            return ExitCode.UNREADABLE
        is_fine = not self.is_changed_meanwhile and all(is_well(survey) for survey in self.surveys)
        return ExitCode.FINE if is_fine else ExitCode.FINDING


def collect_file_of(folder: Path | str, name: str) -> Path:
    """The collect file of a node in the folder."""
    return Path(folder) / (_UNSAFE.sub("_", name) + ".collect")


def collect_nodes(
    to: Output,
    nodes: Sequence[RemoteNode],
    folder: Path,
    *,
    at: int | None,
    seconds: float,
    keep: bool = False,
    again: str = "",
) -> list[CollectedNode]:
    """Collect from all nodes at the same time, into a file of each. The result is in their order.

    With `keep`, it skips a node that has a file. Ctrl-C stops the transfers in progress, and keeps
    the files that have arrived: it shows `again`, the command that fetches the other nodes, and
    raises KeyboardInterrupt.
    """
    files = {remote_node.name: collect_file_of(folder, remote_node.name) for remote_node in nodes}
    if len(set(files.values())) < len(nodes):
        raise UsageError("a node is named twice")
    results: dict[str, CollectedNode] = {}
    for node in nodes:
        file = files[node.name]
        if not _is_there(file):
            continue
        if not keep:
            hint = "fetch only the missing nodes with --keep, or name another folder with --out"
            raise UsageError(f"{file} exists already", hint=hint)
        results[node.name] = _kept(node, file)
    to_fetch = [node for node in nodes if node.name not in results]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror or error}") from None
    with (
        tempfile.TemporaryDirectory(prefix="kraftool-", ignore_cleanup_errors=True) as scratch,
        closing(fetched_nodes(to, to_fetch, Path(scratch), seconds=seconds)) as arriving,
    ):
        try:
            for fetched in arriving:
                name = fetched.node.name
                results[name] = _collected(fetched, files[name], at)
                fetched.file.unlink(missing_ok=True)
        except KeyboardInterrupt:
            came = [name for name, result in results.items() if result.file]
            words = (
                f"interrupted; collected: {listed(came)}"
                if came
                else "interrupted; no node collected"
            )
            to.problem(words, code=ExitCode.INTERRUPTED)
            if again:
                to.narrate(Flow(text("To fetch only the other nodes:")), *command_lines([again]))
            raise
    return [results[remote_node.name] for remote_node in nodes]


def _is_there(file: Path) -> bool:
    try:
        return file.exists()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None


def _node(node: RemoteNode, *, reached: bool) -> CollectedNode:
    return CollectedNode(
        name=node.name,
        context=node.context or None,
        namespace=node.namespace or None,
        is_reached=reached,
    )


def _collected(fetched: FetchedNode, file: Path, at: int | None) -> CollectedNode:
    """The node's collect file, written from what came. Whatever is wrong with that is this node's
    problem alone."""
    node = _node(fetched.node, reached=fetched.reached)
    if fetched.problem:
        return replace(node, reason=fetched.problem, advice=fetched.hint or None)
    root = ""
    try:
        with tempfile.TemporaryDirectory(
            dir=fetched.file.parent, ignore_cleanup_errors=True
        ) as copies:
            root = os.path.realpath(copies)
            collected = survey_copy(fetched, Path(copies), now_ms=int(time.time() * 1000), at=at)
        data = collect_file.encode(collect_file.with_origin(collected, fetched.node.origin))
    except Exception as error:
        problem, hint = why_failed(error, root)
        return replace(node, reason=problem, advice=hint or None)
    try:
        _write_whole(file, data)
    except KraftoolError as error:
        return replace(node, reason=error.message, advice=error.hint or None)
    except OSError as error:
        return replace(node, reason=f"{file} cannot be written: {error.strerror or error}")
    surveys = collected.surveys
    return replace(
        node,
        file=str(file),
        size=len(data),
        surveys=surveys,
        is_changed_meanwhile=fetched.changed,
    )


def _write_whole(file: Path, data: bytes) -> None:
    """Write a file that has its name only once it is whole and durable."""
    new = NewFile(str(file))
    try:
        with new.file as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        new.keep()
    except BaseException:
        new.discard()
        raise


def _kept(remote_node: RemoteNode, file: Path) -> CollectedNode:
    """Return the node by the file that an earlier run wrote."""
    node = replace(_node(remote_node, reached=True), is_kept=True)
    try:
        surveys = collect_file.read(str(file)).surveys
        size = file.stat().st_size
    except KraftoolError as error:
        hint = f"move {file} away, and collect the node again"
        return replace(node, reason=error.message, advice=hint)
    except OSError as error:
        return replace(node, reason=f"{file} cannot be read: {error.strerror or error}")
    return replace(node, file=str(file), size=size, surveys=surveys)


def survey_flows(survey: Survey, indent: int = 0) -> Iterator[Flow]:
    """Yield what was found in one directory, wrapped; what is wrong is further in."""
    for line in survey_lines(survey):
        words = line.lstrip()
        lead = " " * (indent + len(line) - len(words))
        yield Flow(text(words), lead=lead, again=f"{lead}  ", widest=READABLE)


def write_nodes(to: Output, nodes: Sequence[CollectedNode], folder: str, again: str = "") -> None:
    """Report for each node whether its file arrived, and the next command. `again` is the command
    that fetches only the missing nodes."""
    for where in dict.fromkeys(_where(node) for node in nodes):
        if where:
            to.rich(Flow(text(where), again="  "))
    for node in nodes:
        if node.reason:
            to.rich(Flow(text(f"{node.name}  not collected: {node.reason}"), again="  "))
            if node.advice:
                to.rich(Flow(text(node.advice), lead="  "))
            continue
        came = "  kept from an earlier run" if node.is_kept else ""
        to.rich(Flow(text(f"{node.name}  {node.file}  {node.size} bytes{came}"), again="  "))
        for survey in node.surveys:
            to.rich(*survey_flows(survey, 2))
        if node.is_changed_meanwhile:
            to.rich(Flow(text(_CHANGED), lead="  "))
    missing = [collected_node.name for collected_node in nodes if collected_node.reason]
    came = many(len(nodes) - len(missing), "node")
    words = f"collected {came} of {len(nodes)}"
    words += f"; missing: {listed(missing)}" if missing else ""
    to.narrate(Flow(text(words)))
    if missing and again:
        to.narrate(Flow(text("To fetch only the missing nodes:")), *command_lines([again]))
    if len(missing) < len(nodes):
        command = f"kraftool recover plan {shlex.quote(str(Path(folder)))}/*.collect"
        next_words = "To plan without the missing nodes:" if missing else "Next:"
        to.narrate(Flow(text(next_words)), *command_lines([command]))


def _where(node: CollectedNode) -> str:
    """The cluster of Kubernetes that a pod was read in; empty for a host."""
    words = [f"kubectl context {node.context}"] if node.context else []
    words += [f"namespace {node.namespace}"] if node.namespace else []
    return ", ".join(words)


def take_codes(to: Output, nodes: Sequence[CollectedNode]) -> None:
    """Set the exit code: 4 if no node was reached, otherwise the worst of all."""
    if not any(node.is_reached for node in nodes):
        to.code = ExitCode.UNREACHABLE
        return
    for node in nodes:
        to.raise_code(node.code)
