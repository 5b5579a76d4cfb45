"""The judgement of a quorum at rest, in sentences: the same in every command.

Owns the wording. It refuses to judge.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.election.assessment import (
    MOST_VOTERS,
    Assessment,
    ForgetfulVoter,
    NextStep,
    QuorumSafety,
)
from kraftool.reports.text.words import listed, many, offsets


def sentences(
    found: Assessment, *, with_next: bool = True, with_running: bool = True
) -> Iterator[str]:
    """Yield what was looked at, what can be said, and what to do next, unless a plan says that.

    A verdict that begins with the voters that run leaves them out here.
    """
    yield f"{looked_at(found)}."
    if with_running:
        yield from running_sentences(found)
    yield f"{state_sentence(found)}."
    for each in _relevant(found):
        yield f"Voter {each.id} {each.reason}."
    for lag in found.lagging:
        end = lag.log_end_offset
        behind = many(lag.ahead_log_end_offset - end, "offset")
        yield f"Node {lag.id} ends at offset {end}, {behind} behind node {lag.ahead_id}."
    if found.may_be_committed_to is not None and not found.running.ids:
        unless = ", unless a directory is an old copy or lost its end" if found.is_doubted else ""
        yield f"Nothing was committed from offset {found.may_be_committed_to} on{unless}."
    is_said = found.next_step in (NextStep.NOTHING, NextStep.START_ONE_MORE)
    if with_next and not is_said:
        yield f"{next_sentence(found)}."


def running_sentences(found: Assessment) -> Iterator[str]:
    """Yield which voters run, and what that means for logs that were read one after another."""
    running = found.running
    if not running.ids:
        return
    several = len(running.ids) > 1
    who = f"{voters(running.ids).capitalize()} {'are' if several else 'is'} running"
    if running.is_majority:
        yield f"{who}, which is a majority: the live quorum knows more than these files."
    elif running.to_start and len(running.to_start) >= running.lacking:
        needs = f"and need{'' if several else 's'} {many(running.lacking, 'more voter')}"
        yield f"{who} {needs} for a majority. {_which_to_start(found)}."
    else:
        needed = many(running.lacking, "more voter")
        yield f"{who}, but a leader needs {needed}, and kraftool knows none that is safe to start."
    if running.read_apart:
        logs = "logs" if len(running.read_apart) > 1 else "log"
        yield (
            f"Directories are read one after another. kraftool takes the {logs} of"
            f" {voters(running.read_apart)} as long as the longest of a running voter with the"
            " same records."
        )


def _which_to_start(found: Assessment) -> str:
    running = found.running
    if running.lacking > 1:
        return f"Start {listed(running.to_start[: running.lacking])}"
    first, *others = running.to_start
    best = f"{first} (best)" if running.has_best else f"{first}"
    return f"Start {listed((best, *others), 'or')}"


def _relevant(found: Assessment) -> Iterator[ForgetfulVoter]:
    """The voters that forgot; those that may have, only if the verdict depends on them."""
    for voter in found.forgetful:
        is_open = found.state is QuorumSafety.AT_RISK or found.is_doubted
        if not voter.is_doubt or is_open:
            yield voter


def looked_at(found: Assessment) -> str:
    """Return how many voters' directories were looked at, as a headline."""
    if found.doubtful_voters:
        return f"Only a damaged file names the voters: {listed(found.doubtful_voters)}"
    if not found.voters:
        return "The voters are not known"
    count = len(found.voters)
    if found.is_live:
        of = "the only voter" if count == 1 else f"{len(found.given)} of {count} voters"
        return f"The leader reported the log end{'' if count == 1 else 's'} of {of}"
    if count == 1:
        was = "was checked" if found.given else "was not given"
        return f"The directory of voter {found.voters[0]}, the only one, {was}"
    told = f"{len(found.given)} of {count} voters' directories were checked"
    if not found.not_given:
        return told
    were = "was" if len(found.not_given) == 1 else "were"
    return f"{told}: {voters(found.not_given)} {were} not given"


def voters(ids: tuple[int, ...], word: str = "and") -> str:
    """`voter 1`, `voters 1 and 2`."""
    return f"voter{'s' if len(ids) > 1 else ''} {listed(ids, word)}"


def directories(ids: tuple[int, ...]) -> str:
    """`the directory of voter 1`, `the directories of voters 1 and 2`."""
    return f"the director{'y' if len(ids) == 1 else 'ies'} of {voters(ids)}"


def why_unknown(found: Assessment) -> str:
    """Why voters may have had records that no directory shows."""
    forgetful = (voter for voter in found.forgetful if not voter.is_doubt)
    reasons = [f"voter {each.id} {each.reason}" for each in forgetful]
    if found.not_given:
        were = "was" if len(found.not_given) == 1 else "were"
        reasons.insert(0, f"{voters(found.not_given)} {were} not given")
    return listed(reasons)


def state_sentence(found: Assessment) -> str:
    """Return what a start of the nodes can do to committed records."""
    if found.state is QuorumSafety.UNKNOWN:
        if found.voters:
            return f"More than {MOST_VOTERS} voters: the safety of a start was not checked"
        which = "No whole file" if found.doubtful_voters else "No file"
        return f"{which} names the voters, so kraftool cannot say anything about committed records"
    if found.state is QuorumSafety.NO_LEADER:
        return "No node that was given can be elected"
    if found.state is QuorumSafety.SAFE:
        safe = "In any order of starts, every possible leader has all committed records"
        return f"{safe}, unless a directory is an old copy" if found.is_doubted else safe
    return danger(found)


def danger(found: Assessment) -> str:
    """Return which records a start in the wrong order loses."""
    assert found.lost_range is not None, "only where something may be lost"
    who = f"node {listed(found.harmful, 'or')}"
    if found.lost_range[1] is None:
        return (
            f"Committed records from offset {found.lost_range[0]} on may exist that no directory"
            f" shows: they are lost if {who} is elected"
        )
    if found.is_on_minority:
        return (
            f"If {who} is elected, {lost_words(found)} {_are(found)} lost. Only a minority of the"
            " voters has this, and all voters were given: it is uncommitted unless a directory is"
            " an old copy or lost its end"
        )
    return f"If {who} is elected, {lost_words(found)} {_are(found)} lost, which may be committed"


def _are(found: Assessment) -> str:
    assert found.lost_range is not None, "only where something may be lost"
    first, end = found.lost_range
    return "is" if end == first + 1 else "are"


def danger_with_reasons(found: Assessment) -> str:
    """The danger, and why the records may be committed, as one line."""
    reasons = (f"voter {each.id} {each.reason}" for each in _relevant(found))
    return "; ".join((danger(found), *reasons))


def lost_words(found: Assessment) -> str:
    """The offsets that may be lost."""
    assert found.lost_range is not None, "only where something may be lost"
    first, end = found.lost_range
    if end is None:
        return f"all records from offset {first} on"
    return offsets(first, end)


def _with_a_live_majority(found: Assessment) -> str:
    running = found.running
    told = f"Leave {voters(running.ids)} running, and ask them with kraftool quorum health"
    if running.to_repair:
        told += f". Repair node {listed(running.to_repair)} before it starts"
    if running.to_start:
        told += f". Start {listed(running.to_start)}"
    return told


def next_sentence(found: Assessment) -> str:
    """Return what to do next, as an imperative."""
    if found.next_step is NextStep.ASK_LIVE:
        return _with_a_live_majority(found)
    if found.next_step is NextStep.START_ONE_MORE:
        return f"Leave {voters(found.running.ids)} running. {_which_to_start(found)}"
    if found.next_step is NextStep.START_FIRST:
        rest = tuple(voter for voter in found.voters if voter not in found.start_first)
        then = f", wait until they have a leader and equal logs, then start {listed(rest)}"
        return f"Start {listed(found.start_first)} first{then if rest else ''}"
    if found.next_step is NextStep.GIVE_OTHERS:
        if not found.voters:
            return "Give the directories of the other nodes too"
        return f"Give {directories(found.not_given)} too"
    if found.next_step is NextStep.NOTHING:
        return "Start the nodes in any order"
    return "Plan a recovery with kraftool recover plan before you start any node"
