"""`kraftool recover verify`: whether a plan came to be, in directories and in the live quorum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import (
    PlainFormat,
    PlainOutput,
    ScreenOptions,
    TimeZone,
)
from kraftool.commands.output import Output
from kraftool.commands.quorum_options import (
    AccessOptions,
)
from kraftool.commands.recover_options import Config, Host, PlanFile

if TYPE_CHECKING:
    from datetime import tzinfo

    from kraftool.client.target import Target
    from kraftool.repair.verify import DirectoryCheck, PlanVerification


def verify(
    *,
    plan: PlanFile,
    directory: Annotated[
        list[str] | None,
        Option("--dir", metavar="DIR", help="Data directory. Repeat it for more directories."),
    ] = None,
    bootstrap_controller: Annotated[
        str,
        Option(
            "--bootstrap-controller",
            metavar="HOST:PORT,…",
            help="Controllers of the recovered quorum. kraftool finds the others from there.",
        ),
    ] = "",
    host: Host = "",
    config: Config = "",
    access: AccessOptions,
    output: PlainOutput = PlainFormat.TABLE,
    tz: TimeZone = "UTC",
    printing: ScreenOptions,
) -> None:
    """Verify an applied plan, and the recovered quorum.

    \b
    Examples:
    $ kraftool recover verify plan.yaml --dir /var/lib/kafka/data
    $ kraftool recover verify plan.yaml --bootstrap-controller ctl-1:9093

    For each directory kraftool shows whether the plan is applied. It shows whether every file is as
    planned or a node has run since, and what a node that starts on it would find. For the quorum it
    shows whether it is healthy and has the plan's voters, and whether an old quorum or a
    quarantined node runs. It also names the brokers that have not registered since and need a
    restart.

    Exits 1 if there is a warning or an error, and 4 if no node could be reached. Nothing is changed
    or locked, so you can run it while nodes run.
    """
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.commands.quorum_options import tell_reach
    from kraftool.commands.recover_run import read_plan, refusing
    from kraftool.commands.times import time_zone
    from kraftool.repair.verify import PlanVerification, check_directory

    directories = directory or []
    if not directories and not bootstrap_controller:
        raise UsageError("name --dir, --bootstrap-controller, or both")
    if len(directories) > 1 and (host or config):
        raise UsageError("--host and --config require exactly one --dir")
    zone = time_zone(tz)
    to = printing.open()
    made = read_plan(plan)
    with refusing():
        plan_verification = PlanVerification(
            plan=made,
            directories=tuple(
                check_directory(made, path, host=host, config=config)
                for path in (directories if made.changes else ())
            ),
        )
    if bootstrap_controller:
        plan_verification = _live(plan_verification, access.target_at(bootstrap_controller))
    if output is PlainFormat.JSON:
        from kraftool.commands.recover_verify_json import verify_document

        to.document(verify_document(plan_verification))
    else:
        _write(to, plan_verification, plan, zone)
    if plan_verification.quorum is not None:
        view = plan_verification.quorum.health.view
        tell_reach(to, view, shown=() if output is PlainFormat.JSON else view.asked)
    set_exit_code(to, plan_verification.findings)
    to.finish()


def _live(verification: PlanVerification, target: Target) -> PlanVerification:
    import asyncio
    from dataclasses import replace

    from kraftool.client.checking import check
    from kraftool.client.health import Health
    from kraftool.repair.verify import Stray, ask_quarantined, check_quorum

    async def poll() -> tuple[Health, tuple[Stray, ...]]:
        return await check(target), await ask_quarantined(verification.plan, target)

    health, strays = asyncio.run(poll())
    return replace(
        verification,
        quorum=check_quorum(verification.plan, health, strays, verification.directories),
    )


def _write(to: Output, verification: PlanVerification, file: str, zone: tzinfo) -> None:
    from rich.text import Text

    from kraftool.commands.finding_view import style_of, write_findings
    from kraftool.commands.quorum_view import write_quorum
    from kraftool.commands.recover_layout import plan_head
    from kraftool.commands.recover_run import no_action
    from kraftool.reports.findings.status import Status, overall_status

    if verification.plan.changes:
        to.rich(*plan_head(verification.plan, file))
    else:
        to.line(no_action(verification.plan))
        if verification.quorum is None:
            return
    for directory in verification.directories:
        _directory(to, directory, zone)
    if verification.quorum is not None:
        to.line()
        write_quorum(to, verification.quorum.health.view, zone)
    write_findings(to, verification.findings, "", explain=True)
    to.line()
    if verification.is_fine:
        is_complete = verification.quorum is not None
        status = overall_status(
            (finding.severity for finding in verification.findings), is_complete=is_complete
        )
        words = "Everything that was checked is as planned."
    elif verification.is_as_planned:
        status = overall_status(
            (finding.severity for finding in verification.findings), is_complete=False
        )
        words = "Everything is as planned. The findings above are not about the plan."
    else:
        status, words = Status.BAD, "Something is not as planned: see above."
    to.rich(Text(f"{status.mark} {words}", style=style_of(status)))


def _directory(to: Output, check: DirectoryCheck, zone: tzinfo) -> None:
    from rich.text import Text

    from kraftool.commands.finding_view import NAME, QUIET, text
    from kraftool.commands.recover_layout import labelled
    from kraftool.commands.times import iso

    words = "nothing to change" if not check.changes else f"{check.stage.value}"
    if check.ended:
        words += f" {iso(check.ended, zone)}"
    if check.has_moved_on:
        words += "; a node has run on it since"
    if check.is_running:
        words += "; a process is running on it now"
    head = text(check.path, NAME)
    rows = [Text().append_text(head).append_text(text(f" ({check.host}): {words}"))]
    if check.voter_keys:
        voters = ", ".join(f"{key.id} ({key.directory_id or ''})" for key in check.voter_keys)
        rows.append(text(f"voters by its log: {voters}", QUIET))
    to.rich(*labelled("Directory", rows))
