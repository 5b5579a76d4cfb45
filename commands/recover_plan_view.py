"""The report of `recover plan` for people: the loss, the survivors, then the steps as a checklist.

Owns the order. The plan's file is the data on stdout; this is the narration on stderr.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rich.text import Text

from kraftool.commands.finding_view import GOOD, NAME, WARN, command_lines, text
from kraftool.commands.output import Output
from kraftool.commands.recover_layout import LABEL, checklist, commands_of, labelled, plan_head
from kraftool.raft.names import majority_of
from kraftool.repair.plan import Action, HostRole, Plan, Ranked
from kraftool.reports.text.words import listed, numbered

_NOWHERE: Mapping[str, str] = {}
BEFORE = "As the directories are now, without this plan:"


def write_plan(
    to: Output,
    plan: Plan,
    file: str,
    judgement: Sequence[str] = (),
    *,
    is_quorum_safe: bool = True,
    here: Mapping[str, str] = _NOWHERE,
) -> None:
    """Narrate a plan that was written to `file`, or to stdout if that is empty. `here` are the
    directories on this host, by the names of their hosts."""
    to.narrate(*plan_head(plan, file, is_quorum_safe=is_quorum_safe))
    before = [BEFORE] if judgement and plan.changes and not is_quorum_safe else []
    to.narrate(*labelled("Quorum", [text(sentence) for sentence in (*before, *judgement)]))
    to.narrate(*labelled("Plan", [text(line) for line in plan.summary]))
    to.narrate(*labelled("Survivors", _survivors(plan), hanging=3))
    _given_up(to, plan)
    if plan.steps:
        to.narrate(Text(), *checklist([*enumerate(plan.steps, 1)], file))
    if plan.changes:
        _next(to, plan, file, here)


def _survivors(plan: Plan) -> Iterator[Text]:
    """The directories that were given, the next leader first."""
    ranking = sorted(plan.ranking, key=lambda ranked: ranked.host != plan.seed)
    width = max((len(ranked.host) for ranked in ranking), default=0)
    for number, ranked in enumerate(ranking, 1):
        row = Text(f"{number}. ").append_text(text(ranked.host.ljust(width), NAME))
        row.append("  voter   " if ranked.voter else "  observer")
        _log_of(row, ranked)
        yield row.append("  ← leads", style=GOOD) if ranked.host == plan.seed else row


def _log_of(row: Text, ranked: Ranked) -> None:
    if ranked.end_offset:
        row.append(f"  readable up to offset {ranked.end_offset}, epoch {ranked.last_epoch}")
    else:
        row.append("  has no record", style=WARN)
    if ranked.note:
        row.append_text(text(f"; {ranked.note}"))


def _given_up(to: Output, plan: Plan) -> None:
    """Show the commands that save the readable lost records, for a person to recreate them."""
    commands = []
    for lost in plan.loss.records:
        host = plan.host(lost.host)
        path = host.path if host is not None and os.path.isabs(host.path) else ""
        if lost.has_names and lost.has_readable:
            span = f"{lost.first_offset}..{lost.end_offset - 1}"
            lead = "" if path else "# replace data-directory: "
            directory = shlex.quote(path) if path else "data-directory"
            file = shlex.quote(f"{lost.host}-given-up.jsonl")
            dump = f"kraftool dump-log {directory} --offsets {span} -o jsonl --out {file}"
            commands.append(f"{lead}{dump}")
    if commands:
        words = "No plan keeps records after an unreadable one: they may depend on it."
        words += " Save the readable records, and recreate their topics, configs and ACLs with"
        words += " Kafka's tools."
        to.narrate(*labelled("Given up", [text(words)]), *command_lines(commands, LABEL))


def _next(to: Output, plan: Plan, file: str, here: Mapping[str, str]) -> None:
    commands = [
        # kraftool does not know the path of an archive: such a command is a comment.
        command.partition("kraftool ")
        for step in plan.steps
        if step.action is Action.APPLY
        for command in commands_of(step, "PLAN")
    ]
    lead = max((lead for lead, _, _ in commands), default="")
    applying = [words.split(" ", 3)[3] for _, _, words in commands]
    words = f"Read {file or 'the plan'}."
    applied = {name for step in plan.steps if step.action is Action.APPLY for name in step.hosts}
    also = _other_voters(plan, applied, here)
    if applying:
        words += " Then rehearse it: a rehearsal changes only copies."
        words += _lacking(plan, applied | also.keys())
    to.narrate(Text(), *labelled("Next", [text(words)]))
    if applying:
        name = shlex.quote(file or "plan.yaml")
        directories = shlex.join(_directories(applying, applied, also))
        to.narrate(*command_lines([f"{lead}kraftool recover rehearse {name} {directories}"], LABEL))


def _directories(
    applying: Iterable[str], applied: Collection[str], also: Mapping[str, str]
) -> Iterator[str]:
    """Yield the options of all applies, once each, and of other voters. A host that is rehearsed
    needs no copy of itself."""
    words = [word for command in applying for word in shlex.split(command)]
    options = dict.fromkeys(zip(words[::2], words[1::2], strict=True))
    for option, value in (*options, *(("--dir", path) for path in also.values())):
        if option != "--source" or value.partition("=")[0] not in {*applied, *also}:
            yield from (option, value)


def _other_voters(plan: Plan, applied: Collection[str], here: Mapping[str, str]) -> dict[str, str]:
    """The directories of the other voters, by host: they elect the leader."""
    ids = plan.voters_after.ids
    return {
        host.name: here[host.name]
        for host in plan.hosts
        if host.name in here
        and host.name not in applied
        and host.role is HostRole.VOTER
        and host.identity.node_id in ids
    }


def _lacking(plan: Plan, names: Collection[str]) -> str:
    """Return which directories a rehearsal lacks for a majority, as a sentence."""
    ids = plan.voters_after.ids
    missing = sorted(ids - {host.identity.node_id for host in plan.hosts if host.name in names})
    more = majority_of(len(ids)) - (len(ids) - len(missing))
    if not ids or more <= 0:
        return ""
    which = numbered("voter", missing)
    if more < len(missing):
        which = f"voter {listed(missing, 'or')}" if more == 1 else f"{more} of {which}"
    return (
        f" Add --dir with the directory of {which}, or a copy of it: without a majority of the"
        " voters the rehearsal shows no election."
    )
