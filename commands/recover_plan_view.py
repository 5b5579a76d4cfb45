"""The report of `recover plan` for people: the loss, the survivors, then the steps as a checklist.

Owns the order. The plan's file is the data on stdout; this is the narration on stderr.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from kraftool.commands.finding_view import GOOD, NAME, WARN, command_lines, text
from kraftool.commands.output import Output
from kraftool.commands.recover_layout import LABEL, checklist, commands_of, labelled, plan_head
from kraftool.repair.plan import Action, Plan, Ranked
from kraftool.repair.ranking import UNREADABLE

BEFORE = "As the directories are now, without this plan:"


def write_plan(
    to: Output,
    plan: Plan,
    file: str,
    judgement: Sequence[str] = (),
    *,
    is_quorum_safe: bool = True,
) -> None:
    """Narrate a plan that was written to `file`, or to stdout if that is empty."""
    to.narrate(*plan_head(plan, file, is_quorum_safe=is_quorum_safe))
    before = [BEFORE] if judgement and plan.changes and not is_quorum_safe else []
    to.narrate(*labelled("Quorum", [text(sentence) for sentence in (*before, *judgement)]))
    to.narrate(*labelled("Plan", [text(line) for line in plan.summary]))
    to.narrate(*labelled("Survivors", _survivors(plan), hanging=3))
    _given_up(to, plan)
    if plan.steps:
        to.narrate(Text(), *checklist(plan.steps, file))
    if plan.changes:
        _next(to, plan, file)


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
        if lost.has_names and any(count.type != UNREADABLE for count in lost.types):
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


def _next(to: Output, plan: Plan, file: str) -> None:
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
    if applying:
        words += " Then rehearse it: a rehearsal changes only copies."
    to.narrate(Text(), *labelled("Next", [text(words)]))
    if applying:
        name = shlex.quote(file or "plan.yaml")
        directories = shlex.join(_directories(plan, applying))
        to.narrate(*command_lines([f"{lead}kraftool recover rehearse {name} {directories}"], LABEL))


def _directories(plan: Plan, applying: Iterable[str]) -> Iterator[str]:
    """The options of all applies, once each; a host that is rehearsed needs no copy of itself."""
    hosts = {name for step in plan.steps if step.action is Action.APPLY for name in step.hosts}
    words = [word for command in applying for word in shlex.split(command)]
    for option, value in dict.fromkeys(zip(words[::2], words[1::2], strict=True)):
        if option != "--source" or value.partition("=")[0] not in hosts:
            yield from (option, value)
