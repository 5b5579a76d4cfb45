"""The judgement of a quorum at rest, in sentences: the same in every command.

Owns the wording.
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
    assessment: Assessment, *, with_next: bool = True, with_running: bool = True
) -> Iterator[str]:
    """Yield what was looked at, what can be said, and what to do next, unless a plan says that.

    A verdict that begins with the voters that run leaves them out here.
    """
    yield f"{looked_at(assessment)}."
    if with_running:
        yield from running_sentences(assessment)
    yield f"{state_sentence(assessment)}."
    if assessment.to_repair:
        nodes = f"node{'s' if len(assessment.to_repair) > 1 else ''} {listed(assessment.to_repair)}"
        yield f"Kafka exits when it starts on {nodes}."
    for voter in _relevant(assessment):
        yield f"Voter {voter.id} {voter.reason}."
    for lag in assessment.lagging:
        end = lag.log_end_offset
        behind = many(lag.ahead_log_end_offset - end, "offset")
        yield f"Node {lag.id} ends at offset {end}, {behind} behind node {lag.ahead_id}."
    if assessment.may_be_committed_to is not None and not assessment.running_voters.running:
        unless = (
            ", unless a directory is an old copy or lost its end" if assessment.is_doubted else ""
        )
        yield f"Nothing was committed from offset {assessment.may_be_committed_to} on{unless}."
    is_said = assessment.next_step in (NextStep.NOTHING, NextStep.START_ONE_MORE)
    if with_next and (assessment.to_repair or not is_said):
        yield f"{next_sentence(assessment)}."


def running_sentences(assessment: Assessment) -> Iterator[str]:
    """Yield which voters run, and what that means for logs that were read one after another."""
    running = assessment.running_voters
    if not running.running:
        return
    several = len(running.running) > 1
    who = f"{voters(running.running).capitalize()} {'are' if several else 'is'} running"
    if running.is_majority:
        yield f"{who}, which is a majority: the live quorum knows more than these files."
    elif running.to_start and len(running.to_start) >= running.lacking:
        needs = f"and need{'' if several else 's'} {many(running.lacking, 'more voter')}"
        yield f"{who} {needs} for a majority. {_which_to_start(assessment)}."
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


def _which_to_start(assessment: Assessment) -> str:
    running = assessment.running_voters
    if running.lacking > 1:
        return f"Start {listed(running.to_start[: running.lacking])}"
    first, *others = running.to_start
    best = f"{first} (best)" if running.has_best else f"{first}"
    return f"Start {listed((best, *others), 'or')}"


def _relevant(assessment: Assessment) -> Iterator[ForgetfulVoter]:
    """The voters that forgot; those that may have, only if the verdict depends on them."""
    for voter in assessment.forgetful:
        is_open = assessment.state is QuorumSafety.AT_RISK or assessment.is_doubted
        if not voter.is_doubt or is_open:
            yield voter


def looked_at(assessment: Assessment) -> str:
    """Return how many voters' directories were looked at, as a headline."""
    if assessment.doubtful_voters:
        return f"Only a damaged file names the voters: {listed(assessment.doubtful_voters)}"
    if not assessment.voters:
        return "The voters are not known"
    count = len(assessment.voters)
    if assessment.is_live:
        of = "the only voter" if count == 1 else f"{len(assessment.given)} of {count} voters"
        return f"The leader reported the log end{'' if count == 1 else 's'} of {of}"
    if count == 1:
        was = "was checked" if assessment.given else "was not given"
        return f"The directory of voter {assessment.voters[0]}, the only one, {was}"
    checked = "was checked" if len(assessment.given) == 1 else "were checked"
    text = f"{len(assessment.given)} of {count} voters' directories {checked}"
    if not assessment.not_given:
        return text
    were = "was" if len(assessment.not_given) == 1 else "were"
    return f"{text}: {voters(assessment.not_given)} {were} not given"


def voters(ids: tuple[int, ...], word: str = "and") -> str:
    """`voter 1`, `voters 1 and 2`."""
    return f"voter{'s' if len(ids) > 1 else ''} {listed(ids, word)}"


def directories(ids: tuple[int, ...]) -> str:
    """`the directory of voter 1`, `the directories of voters 1 and 2`."""
    return f"the director{'y' if len(ids) == 1 else 'ies'} of {voters(ids)}"


def why_unknown(assessment: Assessment) -> str:
    """Why voters may have had records that no directory shows."""
    forgetful = (voter for voter in assessment.forgetful if not voter.is_doubt)
    reasons = [f"voter {voter.id} {voter.reason}" for voter in forgetful]
    if assessment.not_given:
        were = "was" if len(assessment.not_given) == 1 else "were"
        reasons.insert(0, f"{voters(assessment.not_given)} {were} not given")
    return listed(reasons)


def state_sentence(assessment: Assessment) -> str:
    """Return what a start of the nodes can do to committed records."""
    if assessment.state is QuorumSafety.UNKNOWN:
        if assessment.voters:
            return f"More than {MOST_VOTERS} voters: the safety of a start was not checked"
        which = "No whole file" if assessment.doubtful_voters else "No file of a known node"
        return f"{which} names the voters, so kraftool cannot say anything about committed records"
    if assessment.state is QuorumSafety.NO_LEADER:
        return "No node that was given can be elected"
    if assessment.state is QuorumSafety.SAFE:
        safe = "In any order of starts, every possible leader has all committed records"
        return f"{safe}, unless a directory is an old copy" if assessment.is_doubted else safe
    return danger(assessment)


def danger(assessment: Assessment) -> str:
    """Return which records a start in the wrong order loses."""
    assert assessment.lost_range is not None, "only where something may be lost"
    first, end = assessment.lost_range
    who = f"node {listed(assessment.harmful, 'or')}"
    unseen = assessment.unseen_from
    if end is None:
        unseen = first if unseen is None else unseen
        exist = f"Committed records from offset {unseen} on may exist that no directory shows"
        if first < unseen and assessment.cutting:
            lost, cutting = offsets(first, unseen), f"node {listed(assessment.cutting, 'or')}"
            known = f"If {cutting} is elected, {lost} can be lost, which may be committed"
            return f"{known}. {exist}: they are lost if {who} is elected"
        return f"{exist}: they are lost if {who} is elected"
    loss = f"If {who} is elected, {lost_words(assessment)} {_are(assessment)} lost"
    if assessment.is_on_minority:
        return (
            f"{loss}. Only a minority of the voters has this, and all voters were given: it is"
            " uncommitted unless a directory is an old copy or lost its end"
        )
    return f"{loss}, which may be committed"


def _are(assessment: Assessment) -> str:
    assert assessment.lost_range is not None, "only where something may be lost"
    first, end = assessment.lost_range
    return "is" if end == first + 1 else "are"


def danger_with_reasons(assessment: Assessment) -> str:
    """The danger, and why the records may be committed, as one line."""
    reasons = (f"voter {voter.id} {voter.reason}" for voter in _relevant(assessment))
    return "; ".join((danger(assessment), *reasons))


def lost_words(assessment: Assessment) -> str:
    """The offsets that may be lost."""
    assert assessment.lost_range is not None, "only where something may be lost"
    first, end = assessment.lost_range
    if end is None:
        return f"all records from offset {first} on"
    return offsets(first, end)


def _with_a_live_majority(assessment: Assessment) -> str:
    running = assessment.running_voters
    advice = f"Leave {voters(running.running)} running, and ask them with kraftool quorum health"
    if running.to_start:
        advice += f". Start {listed(running.to_start)}"
    return advice


def next_sentence(assessment: Assessment) -> str:
    """Return what to do next, as an imperative."""
    sentence = _next_sentence(assessment)
    if not assessment.to_repair or assessment.next_step is NextStep.RECOVER:
        return sentence
    is_one = len(assessment.to_repair) == 1
    repair = f"Repair node{'' if is_one else 's'} {listed(assessment.to_repair)} before you start"
    return f"{sentence}. {repair} {'it' if is_one else 'them'}"


def _next_sentence(assessment: Assessment) -> str:
    if assessment.next_step is NextStep.ASK_LIVE:
        return _with_a_live_majority(assessment)
    if assessment.next_step is NextStep.START_ONE_MORE:
        running = voters(assessment.running_voters.running)
        return f"Leave {running} running. {_which_to_start(assessment)}"
    if assessment.next_step is NextStep.START_FIRST:
        later = {*assessment.start_first, *assessment.to_repair}
        rest = tuple(voter for voter in assessment.voters if voter not in later)
        then = "wait until they have a leader and equal logs"
        if not rest:
            return f"Start {listed(assessment.start_first)} together, and {then}"
        return f"Start {listed(assessment.start_first)} first, {then}, then start {listed(rest)}"
    if assessment.next_step is NextStep.GIVE_OTHERS:
        if not assessment.voters:
            return "Give the directories of the other nodes too"
        return f"Give {directories(assessment.not_given)} too"
    if assessment.next_step is NextStep.NOTHING:
        if assessment.to_repair:
            able = [node for node in assessment.given if node not in assessment.to_repair]
            return f"Start {listed(able)}{' in any order' if len(able) > 1 else ''}"
        return "Start the nodes in any order"
    return "Plan a recovery with kraftool recover plan before you start any node"
