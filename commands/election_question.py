"""From the options of simulate-election to a case and its conditions.

Owns what the options mean together: a scenario's what-ifs come first, the command line's are added.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.commands.output import UsageError
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.read import read_case
from kraftool.reports.election.scenario import MOST_BYTES, Scenario, parse_scenario
from kraftool.reports.election.what_if import EMPTY, EQUAL, added, assumed_up, wiped, witness
from kraftool.sim.election.conditions import (
    MOST_NODES,
    ConditionError,
    Conditions,
    StartPace,
    checked_delay,
    known,
    partition,
)
from kraftool.storage.source import FileSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionQuestion:
    """The command line."""

    paths: tuple[str, ...] = ()
    scenario: str = ""
    down: tuple[int, ...] = ()
    partition: tuple[str, ...] = ()
    delay_ms: int | None = None
    wipe: tuple[int, ...] = ()
    add_voter: tuple[int, ...] = ()
    remove_voter: tuple[int, ...] = ()
    assume_up: tuple[str, ...] = ()
    witness: tuple[int, ...] = ()


def asked(question: ElectionQuestion) -> tuple[ElectionCase, Conditions]:
    """The case with all what-ifs that change nodes, and the conditions of the election."""
    try:
        return _asked(question)
    except ConditionError as error:
        raise UsageError(error.message, hint=error.hint) from None


def _asked(question: ElectionQuestion) -> tuple[ElectionCase, Conditions]:
    told = _scenario(question.scenario) if question.scenario else None
    case = told.case if told is not None else read_case(question.paths)
    told = told if told is not None else Scenario(case=case)
    if len(case.nodes) + len(case.unknown) > MOST_NODES:
        raise ConditionError(f"there are more than {MOST_NODES} nodes")
    everyone = {*case.by_id, *case.unknown}
    known((*told.wipe, *question.wipe), everyone, "--wipe")
    for text in question.assume_up:
        id_, log = _assumed(text, case)
        case = assumed_up(case, id_, log)
    for each in dict.fromkeys((*told.wipe, *question.wipe)):
        case = wiped(case, each)
    adding = (*told.add_voter, *question.add_voter)
    for each in adding:
        _node_id(each, "--add-voter")
        case = added(case, each)
    known(question.witness, case.by_id, "--witness")
    for each in dict.fromkeys(question.witness):
        case = witness(case, each)
    everyone = {*case.by_id, *case.unknown}
    cut: frozenset[tuple[int, int]] = frozenset()
    partitions = (*told.partition, *question.partition)
    for text in partitions:
        cut |= partition(text, everyone)
    removing = (*told.remove_voter, *question.remove_voter)
    known(removing, everyone, "--remove-voter")
    plain = Conditions()
    delay = question.delay_ms if question.delay_ms is not None else told.delay_ms
    within = told.start_within_ms
    return case, Conditions(
        down=known((*told.down, *question.down), everyone, "--down") & frozenset(case.by_id),
        cut=cut,
        delay_ms=plain.delay_ms if delay is None else checked_delay(delay),
        skew_ms=plain.skew_ms if within is None else checked_delay(within),
        paces=plain.paces if within is None else (StartPace.TOGETHER,),
        adding=adding,
        removing=removing,
        partitions=partitions,
    )


def _node_id(value: int, option: str) -> int:
    if not 0 <= value <= 0x7FFFFFFF:
        raise ConditionError(f"{option} {value}: no node id")
    return value


def _assumed(text: str, case: ElectionCase) -> tuple[int, str]:
    number, mark, log = text.partition("=")
    log = log if mark else EQUAL
    if not (number.isascii() and number.isdigit()) or log not in (EMPTY, EQUAL):
        raise ConditionError(
            f"--assume-up {text}: not a node", hint="write 3, or 3=empty for an empty log"
        )
    known([int(number[:12])], case.unknown, "--assume-up")
    return int(number), log


def _scenario(path: str) -> Scenario:
    with FileSource(path) as source:
        return parse_scenario(source.read_at(0, MOST_BYTES + 1), path)
