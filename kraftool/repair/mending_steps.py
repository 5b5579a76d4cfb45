"""The steps of a plan that repairs single directories, and those of starts beside nodes that run.

Owns their order and their words. Which edits there are, and which node starts first, is decided
before. It refuses to stop a running majority that the plan leaves as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.repair.cases import identity
from kraftool.repair.cases.model import Mend
from kraftool.repair.live_majority import used_of
from kraftool.repair.plan import Action, PlanStep
from kraftool.repair.plan_file import PlanFile
from kraftool.repair.ranking import Host
from kraftool.repair.start_order import StartOrder, start_steps
from kraftool.repair.step_commands import copy_step, source_option
from kraftool.repair.surveyed_quorum import SurveyedQuorum, bootstrap_option
from kraftool.reports.election.assessment import RunningVoters
from kraftool.reports.text.words import listed

_MOST_COPIED = 3
"""If a repair needs more files of another host, its whole metadata is copied."""


def started_beside(quorum: SurveyedQuorum, running: RunningVoters) -> Iterator[PlanStep]:
    """The starts of voters that do not run, where others do: those are not stopped for it."""
    names = {host.node_id: host.name for host in quorum.hosts if quorum.votes(host)}
    able = [names[voter_id] for voter_id in running.to_start if voter_id in names]
    first = running.lacking
    if not running.running or not able or len(able) < first:
        return
    if first:
        yield PlanStep(
            action=Action.START,
            hosts=tuple(able[:first]),
            text="start the best of the voters that do not run. With those that run, they elect a"
            " leader",
        )
    yield PlanStep(
        action=Action.CHECK,
        hosts=tuple(names[voter_id] for voter_id in running.running if voter_id in names),
        text="they have a leader, and all of them have caught up with its log",
        commands=(f"kraftool quorum health{bootstrap_option(quorum)}",),
    )
    if able[first:]:
        yield PlanStep(
            action=Action.START,
            hosts=tuple(able[first:]),
            text="start the other controllers, and then the brokers",
        )


def _beside_running(
    quorum: SurveyedQuorum, mended: Sequence[str], live: Sequence[Host]
) -> Iterator[PlanStep]:
    """Yield what comes before a repair that leaves a majority running."""
    names = listed(host.name for host in live)
    yield PlanStep(
        action=Action.STOP,
        hosts=tuple(mended),
        text="stop the node if it runs, and whatever could start it again. Leave"
        f" {names} running: {'it is the only voter' if len(live) == 1 else 'they are a majority'}",
    )
    yield PlanStep(
        action=Action.CHECK,
        hosts=tuple(host.name for host in live),
        text="they have a leader. If they have none, stop every node and plan again",
        commands=(f"kraftool quorum health{bootstrap_option(quorum)}",),
    )


def _copied(mend: Mend, mended: Sequence[str]) -> tuple[PlanFile, ...]:
    """The files to copy from a mend's source; empty if all of its metadata is copied.

    If the source is repaired too, apply checks all files that its own repair relies on.
    """
    assert mend.source is not None, "only a mend with a source copies anything"
    files = used_of(mend.source, mend.edits) if mend.source.name not in mended else None
    return () if files is None or len(files) > _MOST_COPIED else files


def mending_steps(
    quorum: SurveyedQuorum,
    mends: Sequence[Mend],
    order: StartOrder | None,
    live: Sequence[Host],
) -> Iterator[PlanStep]:
    first = order.first if order is not None else ()
    mended = list(dict.fromkeys(mend.host.name for mend in mends))
    by_name = {host.name: host for host in quorum.hosts}
    runs = any(host.survey.running for host in quorum.hosts if host.name not in mended)
    stops_all = not live and (bool(first) or any(mend.stops_all for mend in mends))
    if live:
        yield from _beside_running(quorum, mended, live)
    elif stops_all:
        yield PlanStep(
            action=Action.STOP,
            hosts=tuple(by_name),
            text="stop every controller and every broker, and whatever could start them again:"
            " running nodes may elect a leader over a shorter log",
        )
    else:
        yield PlanStep(
            action=Action.STOP,
            hosts=tuple(mended),
            text="stop the node, and whatever could start it again"
            + ("; the others can keep running" if runs else ""),
        )
    for mend in mends:
        if mend.source is not None:
            yield copy_step(mend.source, mend.host, files=_copied(mend, mended))
    for name in mended:
        own = [mend for mend in mends if mend.host.name == name]
        for setting in dict.fromkeys(one for mend in own for one in mend.settings):
            yield PlanStep(
                action=Action.CONFIGURE,
                hosts=(name,),
                text=identity.configuring(setting, by_name[name].survey.directory),
            )
        if commands := tuple(command for mend in own for command in mend.commands):
            yield PlanStep(
                action=Action.RUN,
                hosts=(name,),
                text="run it as the user that Kafka runs as, to repair another log directory of"
                " this node. The old file stays beside it",
                commands=commands,
            )
        if any(mend.edits for mend in own):
            sources = {source_option(mend.source) for mend in own if mend.source is not None}
            more = "".join(sorted(sources))
            survey = by_name[name].survey
            apply = f"kraftool recover apply plan.yaml --dir {survey.directory}{more}"
            yield PlanStep(
                action=Action.APPLY,
                hosts=(name,),
                text="run it as the user that Kafka runs as. It keeps a backup",
                commands=(survey.command(apply),),
            )
    if first:
        yield from start_steps(quorum, first, is_stopped=True)
    else:
        yield PlanStep(
            action=Action.START,
            hosts=tuple(by_name) if stops_all else tuple(mended),
            text="start it: it fetches the rest from the leader"
            if live
            else "start the controllers. Once they have a leader, start the brokers",
        )
    yield PlanStep(
        action=Action.CHECK,
        hosts=tuple(mended),
        text="everything is as planned, and the quorum has a leader",
        commands=tuple(
            by_name[name].survey.command(
                f"kraftool recover verify plan.yaml --dir {by_name[name].survey.directory}"
                f"{bootstrap_option(quorum)}"
            )
            for name in mended
        ),
    )
