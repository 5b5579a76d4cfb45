"""`kraftool recover rehearse`: a plan carried out on copies, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn

from typer import Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import PlainFormat, PlainOutput, ScreenOptions
from kraftool.commands.output import Output, printable
from kraftool.commands.recover_options import PlanFile

if TYPE_CHECKING:
    from kraftool.repair.plan import Plan


def rehearse(
    *,
    plan: PlanFile,
    directory: Annotated[
        list[str],
        Option(
            "--dir",
            metavar="[HOST=]DIR",
            help="Data directory or a copy of it, one per host in the plan. Repeat it for more"
            " hosts.",
        ),
    ],
    source: Annotated[
        list[str] | None,
        Option(
            "--source",
            metavar="HOST=PATH",
            help="Directory of another host that files are made from, unless --dir names it.",
        ),
    ] = None,
    kafka: Annotated[
        str,
        Option(
            "--kafka",
            metavar="HOME",
            help="Folder of a Kafka to start on the copies (default $KAFKA_HOME).",
        ),
    ] = "",
    no_nodes: Annotated[
        bool, Option("--no-nodes", help="Start nothing on the copies. Only simulate.")
    ] = False,
    seeds: Annotated[
        int,
        Option(
            "--seeds", metavar="N", min=1, max=10_000, help="Number of simulated runs of each kind."
        ),
    ] = 10,
    timeout: Annotated[
        float,
        Option("--timeout", metavar="S", min=1, help="Seconds to wait for a leader."),
    ] = 60.0,
    keep: Annotated[
        str,
        Option("--keep", metavar="FOLDER", help="Keep the copies in this new or empty folder."),
    ] = "",
    output: PlainOutput = PlainFormat.TABLE,
    printing: ScreenOptions,
) -> None:
    """Rehearse a plan on copies, and show the result.

    \b
    Examples:
    $ kraftool recover rehearse plan.yaml --dir /var/lib/kafka/data
    $ kraftool recover rehearse plan.yaml --dir /var/lib/kafka/data --no-nodes --seeds 30

    kraftool copies each directory, applies the plan to the copy, and verifies it. Then it simulates
    elections of the recovered voters, and the return of the nodes in the plan's quarantine. They
    return while the new quorum has a leader, or they start cut off from it and meet it later. For a
    node without --dir kraftool simulates two cases: it has the newest log of all nodes, or it has
    even more. Last, kraftool starts the recovered voters on the copies: Kafka's controllers with
    --kafka /opt/kafka, otherwise kraftool's own node. It compares leader, voters and metadata with
    the plan.

    The started nodes listen only on 127.0.0.1. kraftool rewrites the voters' records and the
    settings in the copies for that, so no real host is ever reached. Brokers are not started. Hosts
    of the plan without a directory are named: the rehearsal does not show what happens to them.

    The originals are never written or locked. If a Kafka runs on one, the copy shows one moment.
    The copies include the secrets of the originals. Only you can read them, and they are deleted
    afterwards. Exits 1 if there is a warning or an error, and 5 if apply would refuse a directory.
    """
    import os

    from kraftool.commands.finding_options import set_exit_code
    from kraftool.commands.recover_run import read_plan, refusing, sources_of
    from kraftool.repair.rehearsal import RehearsalRequest, rehearse
    from kraftool.repair.rehearsal_copies import workplace

    if no_nodes and kafka:
        raise UsageError("--no-nodes starts no Kafka", hint="remove --no-nodes or --kafka")
    made = read_plan(plan)
    if not made.changes:
        _nothing(printing.open(), made, directory, output)
    asked = RehearsalRequest(
        directories=tuple(directory),
        sources=sources_of(source or ()),
        seeds=seeds,
        kafka=kafka or os.environ.get("KAFKA_HOME", ""),
        with_nodes=not no_nodes,
        timeout_s=timeout,
    )
    to = printing.open()
    with (
        refusing(),
        _ending_in_order(),
        workplace(keep, asked.paths) as folder,
        to.task_progress("recover rehearse") as progress,
    ):
        rehearsal = rehearse(made, asked, folder, progress, lambda words: to.note(printable(words)))
    if output is PlainFormat.JSON:
        from kraftool.commands.recover_rehearse_json import rehearse_document

        to.document(rehearse_document(rehearsal, keep))
    else:
        from kraftool.commands.recover_rehearse_view import write_rehearsal

        write_rehearsal(to, rehearsal, plan, keep)
    set_exit_code(to, rehearsal.findings)
    if rehearsal.refused is not None:
        copy = rehearsal.refused
        hint = f"; {copy.hint}" if copy.hint else ""
        to.problem(
            f"apply refuses {printable(copy.of.path)}: {printable(copy.refused + hint)}",
            code=ExitCode.REFUSED,
        )
    to.finish()


def _nothing(to: Output, plan: Plan, directories: list[str], output: PlainFormat) -> NoReturn:
    """A plan that changes nothing anywhere."""
    from kraftool.commands.recover_rehearse_json import rehearse_document
    from kraftool.commands.recover_run import no_action
    from kraftool.repair.rehearsal import without_changes
    from kraftool.reports.election.assessment_words import sentences

    rehearsal = without_changes(plan, directories)
    if output is PlainFormat.JSON:
        to.document(rehearse_document(rehearsal, ""))
    else:
        for sentence in sentences(rehearsal.assessment):
            to.line(printable(sentence))
        to.line(no_action(plan))
    to.finish()


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Have the copies removed and the nodes ended, too, where it is told to end; that is not cut
    short by being told again. A SIGHUP that is ignored, as by nohup, stays so."""
    import signal
    import threading

    def end(number: int, frame: object) -> NoReturn:
        for signals in kept:
            signal.signal(signals, signal.SIG_IGN)
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for signals, before in kept.items():
        if before is not signal.SIG_IGN:
            signal.signal(signals, end)
    try:
        yield
    finally:
        for signals, before in kept.items():
            signal.signal(signals, before)
