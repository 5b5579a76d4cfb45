"""From the options of simulate-election to a case and its conditions.

Owns what the options mean together: a scenario's what-ifs come first, the command line's are added.
"""

from __future__ import annotations

from kraftool.commands.exit_code import UsageError
from kraftool.commands.simulate_election_options import SimulateElectionOptions
from kraftool.reports.election.case import ElectionCase
from kraftool.reports.election.read import read_case
from kraftool.reports.election.scenario import MOST_BYTES, Scenario, parse_scenario
from kraftool.reports.election.what_if import EMPTY, EQUAL, added, assumed_up, wiped, witness
from kraftool.sim.conditions import (
    MOST_NODES,
    ConditionError,
    Conditions,
    CutLink,
    StartPace,
    checked_delay,
    known,
    partition,
)
from kraftool.storage.source import FileSource


def asked(options: SimulateElectionOptions) -> tuple[ElectionCase, Conditions]:
    """The case with all what-ifs that change nodes, and the conditions of the election."""
    try:
        return _asked(options)
    except ConditionError as error:
        raise UsageError(error.message, hint=error.hint) from None


def _asked(options: SimulateElectionOptions) -> tuple[ElectionCase, Conditions]:
    scenario = _scenario(options.scenario) if options.scenario else None
    case = scenario.case if scenario is not None else read_case(options.paths)
    scenario = scenario if scenario is not None else Scenario(case=case)
    if len(case.nodes) + len(case.unknown) > MOST_NODES:
        raise ConditionError(f"there are more than {MOST_NODES} nodes")
    everyone = {*case.by_id, *case.unknown}
    known((*scenario.wipe, *options.wipe), everyone, "--wipe")
    for text in options.assume_up:
        id_, log = _assumed(text, case)
        case = assumed_up(case, id_, log)
    for node_id in dict.fromkeys((*scenario.wipe, *options.wipe)):
        case = wiped(case, node_id)
    adding = (*scenario.add_voter, *options.add_voter)
    for voter_id in adding:
        _node_id(voter_id, "--add-voter")
        case = added(case, voter_id)
    known(options.witness, case.by_id, "--witness")
    for witness_id in dict.fromkeys(options.witness):
        case = witness(case, witness_id)
    everyone = {*case.by_id, *case.unknown}
    cut: frozenset[CutLink] = frozenset()
    partitions = (*scenario.partition, *options.partition)
    for text in partitions:
        cut |= partition(text, everyone)
    removing = (*scenario.remove_voter, *options.remove_voter)
    known(removing, everyone, "--remove-voter")
    plain = Conditions()
    delay = options.delay if options.delay is not None else scenario.delay_ms
    within = scenario.start_within_ms
    down = known((*scenario.down, *options.down), everyone, "--down") & frozenset(case.by_id)
    return case, Conditions(
        down=down | case.cannot_start,
        cut=cut,
        delay_ms=plain.delay_ms if delay is None else checked_delay(delay),
        start_within_ms=plain.start_within_ms if within is None else checked_delay(within),
        starts=plain.starts if within is None else (StartPace.TOGETHER,),
        added_voters=adding,
        removed_voters=removing,
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
