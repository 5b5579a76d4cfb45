"""`kraftool recover plan`: what to do on each host, exactly, and what may be lost by it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import RefusedError, UsageError
from kraftool.commands.options import Debug, Quiet
from kraftool.commands.output import Output, printable
from kraftool.commands.recover_options import refuse_unknown_words

if TYPE_CHECKING:
    from kraftool.decoders.errors import KraftoolError


class PlanFormat(StrEnum):
    """The formats of a plan."""

    YAML = "yaml"
    JSON = "json"


class PlanMethod(StrEnum):
    """The methods that can be asked for."""

    APPEND = "append"
    SNAPSHOT_JUMP = "snapshot-jump"
    STATIC_PROPERTIES = "static-properties"


def plan(
    paths: Annotated[
        list[str],
        Argument(
            metavar="PATH|FILE",
            help="Collect files, data directories, server.properties, tar streams.",
        ),
    ],
    method: Annotated[
        PlanMethod | None,
        Option("--method", help="Method to use instead of the one that the rules choose."),
    ] = None,
    fence: Annotated[
        bool,
        Option("--fence", help="Give all kept nodes a new cluster id."),
    ] = False,
    kafka_version: Annotated[
        str,
        Option(
            "--kafka-version", metavar="V", help="Oldest Kafka version on any controller or broker."
        ),
    ] = "",
    settings: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="KEY=VALUE",
            help="A fact that only you know, such as lost=2,3. Repeat it for more facts.",
        ),
    ] = None,
    accept: Annotated[
        list[str] | None,
        Option(
            "--accept", metavar="WORD", help="Accept a risk. The refusal names the word for it."
        ),
    ] = None,
    output: Annotated[
        PlanFormat,
        Option(
            "--output",
            "-o",
            help="yaml is the plan, which apply takes. json adds the judgement, for programs.",
        ),
    ] = PlanFormat.YAML,
    out: Annotated[str, Option("--out", metavar="FILE", help="New file for the plan.")] = "",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Plan how to restore a quorum: every edit on every host.

    Example: kraftool recover plan node-2.collect node-11.collect --set lost=3,4 --out plan.yaml

    The plan is YAML. Read it before you apply it. It says which node leads and why, and what may be
    lost (none, bounded, or unbounded and undetectable). It names the new voters, what to do on each
    host in order, and which nodes must stay offline until they are wiped. Its id is the hash of the
    whole plan: apply refuses a plan that somebody edited.

    A voter that you do not name counts as lost only with --set lost=3,4. Other keys: seed=ID,
    state=ID, epoch=N, offset=N, rollback=OFFSET, rebuild=ID with from=ID, poison=OFFSET,
    cluster.id=ID, endpoint.ID=LISTENER://HOST:PORT (docs/recover.md).

    If no majority is lost, kraftool plans repairs of single directories, or reports that nothing
    has to be done. Exits 5 if it refuses to plan. If you can accept the risk, the refusal names a
    word for --accept. With -o json the judgement of the quorum is printed in both cases. Nothing is
    changed.
    """
    import time
    from dataclasses import replace

    from kraftool.commands.recover_plan_json import plan_document
    from kraftool.commands.recover_plan_view import write_plan
    from kraftool.decoders.errors import KraftoolError
    from kraftool.repair.judging import judge
    from kraftool.repair.plan import Method
    from kraftool.repair.plan_yaml import plan_to_yaml
    from kraftool.repair.planner import plan_for, read_quorum
    from kraftool.repair.request import PlanRequest, with_settings
    from kraftool.repair.step_commands import naming_its_file
    from kraftool.reports.election.assessment import NextStep, QuorumSafety
    from kraftool.reports.election.assessment_words import sentences
    from kraftool.storage.random_ids import random_uuid

    refuse_unknown_words(accept or ())
    to = Output(quiet=quiet, out=out)
    now_ms = int(time.time() * 1000)
    asked = PlanRequest(
        surveys=(),
        now_ms=now_ms,
        method=None if method is None else Method(method.value),
        kafka_version=kafka_version,
        fence=fence,
        accepted=frozenset(accept or ()),
    )
    try:
        asked = with_settings(asked, settings or ())
    except KraftoolError as error:
        raise UsageError(error.message, hint=error.hint) from error
    if fence and not asked.cluster_id:
        asked = replace(asked, cluster_id=random_uuid())
    read = read_quorum(paths, now_ms=now_ms, at=asked.rollback, lost=asked.lost)
    for path in read.lost:
        to.note(printable(f"{path} leads to no directory, and its node is declared lost"))
    judged = judge(read.surveys)
    is_json = output is PlanFormat.JSON
    try:
        made = plan_for(read.asked(asked))
    except KraftoolError as error:
        if is_json:
            to.document(plan_document(judged, refused=error))
            to.flush()
        else:
            is_loop = judged.next_step is NextStep.RECOVER  # it names this command
            for line in sentences(judged, with_next=not is_loop):
                to.note(printable(line))
            options = [word for setting in settings or () for word in ("--set", setting)]
            options += [word for risk in accept or () for word in ("--accept", risk)]
            options += ["--method", method.value] if method is not None else []
            options += ["--fence"] if fence else []
            options += ["--kafka-version", kafka_version] if kafka_version else []
            options += ["--out", out] if out else []
            _show_what_to_give(to, error, [*paths, *options])
        raise RefusedError(error.message, hint=error.hint) from error
    if out and not is_json:
        made = naming_its_file(made, out)
    if is_json:
        to.document(plan_document(judged, made))
    else:
        to.write(plan_to_yaml(made))
    to.flush()
    is_safe = judged.state is QuorumSafety.SAFE
    judgement = list(sentences(judged, with_next=False))
    write_plan(to, made, out, judgement, is_quorum_safe=is_safe, here=read.paths)
    to.finish()


def _show_what_to_give(to: Output, refused: KraftoolError, asked: Sequence[str]) -> None:
    """Show the commands that give the bytes of collected directories, if a plan loses less with
    them. `asked` are the words of the plan that was refused."""
    import shlex

    from rich.text import Text

    from kraftool.commands.finding_view import command_lines
    from kraftool.repair.refusal import PlanRefused

    archives = refused.archives if isinstance(refused, PlanRefused) else ()
    if not archives:
        return
    to.narrate(Text("Copy the metadata of each directory, and carry the files to here:"))
    to.narrate(*command_lines([command for _, command in archives]))
    names = [name for name, _ in archives]
    to.narrate(Text("Then plan with them:"))
    to.narrate(*command_lines([shlex.join(["kraftool", "recover", "plan", *names, *asked])]))
