"""`kraftool recover plan`: what to do on each host, exactly, and what may be lost by it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from kraftool.commands.exit_code import RefusedError, UsageError
from kraftool.commands.options import Debug, Quiet
from kraftool.commands.output import Output, printable
from kraftool.commands.recover_options import refuse_unknown_words


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
        typer.Argument(
            metavar="PATH|FILE",
            help="Collect files, data directories, server.properties, tar streams.",
        ),
    ],
    method: Annotated[
        PlanMethod | None,
        typer.Option("--method", help="Another method than the one that the rules choose."),
    ] = None,
    fence: Annotated[
        bool,
        typer.Option("--fence", help="Give all kept nodes a new cluster id."),
    ] = False,
    kafka_version: Annotated[
        str,
        typer.Option(
            "--kafka-version", metavar="V", help="The oldest Kafka on any controller or broker."
        ),
    ] = "",
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="What only you know, as lost=2,3; may be repeated."
        ),
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", metavar="WORD", help="Take a risk on yourself, by its word."),
    ] = None,
    output: Annotated[
        PlanFormat,
        typer.Option(
            "--output",
            "-o",
            help="yaml is the plan, which apply takes; json adds the judgement, for programs.",
        ),
    ] = PlanFormat.YAML,
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="The plan's file; a new one.")
    ] = "",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Plan how a quorum is brought back: every edit on every host, in order, with hashes.

    Example: kraftool recover plan node-2.collect node-11.collect --set lost=3,4 --out plan.yaml

    The plan is YAML, to be read before it is applied: who leads and why, what may be lost (none,
    bounded, or unbounded and undetectable), the voters from then on, what to do on each host, and
    which nodes must stay off until they are wiped. Its id is the hash of all of it: one that was
    changed is refused by apply.

    A voter that is not given is not lost until you say so: --set lost=3,4. Other keys: seed=ID,
    state=ID, epoch=N, offset=N, rollback=OFFSET, rebuild=ID with from=ID, poison=OFFSET,
    cluster.id=ID, endpoint.ID=LISTENER://HOST:PORT (docs/recover.md).

    Without a lost majority it plans what single directories need, or says that nothing is to be
    done. It ends with 5 where no plan should be made; a risk that can be accepted has a word for
    --accept. With -o json the judgement of the quorum is printed in both cases. Nothing is changed.
    """
    import time
    from dataclasses import replace

    from kraftool.commands.recover_json import plan_document
    from kraftool.commands.recover_plan_view import write_plan
    from kraftool.decoders.errors import KraftoolError
    from kraftool.repair.judging import judge
    from kraftool.repair.plan import Method
    from kraftool.repair.plan_yaml import plan_to_yaml
    from kraftool.repair.planner import plan_for, read_surveys
    from kraftool.repair.request import PlanRequest, with_settings
    from kraftool.repair.step_commands import naming_its_file
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
    surveys = read_surveys(paths, now_ms=now_ms, at=asked.rollback)
    judged = judge(surveys)
    is_json = output is PlanFormat.JSON
    try:
        made = plan_for(replace(asked, surveys=surveys))
    except KraftoolError as error:
        if is_json:
            to.document(plan_document(judged, refused=error))
            to.flush()
        else:
            for line in sentences(judged):
                to.note(printable(line))
        raise RefusedError(error.message, hint=error.hint) from error
    if out and not is_json:
        made = naming_its_file(made, out)
    if is_json:
        to.document(plan_document(judged, made))
    else:
        to.write(plan_to_yaml(made))
    to.flush()
    write_plan(to, made, out, list(sentences(judged, with_next=False)))
    to.finish()
