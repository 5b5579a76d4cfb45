"""The verdict in words: one or two sentences, and what to do next.

Owns the wording for whoever reads it at three in the morning. It refuses to find anything out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kraftool.reports.election.case import NodeCase
from kraftool.reports.election.losses import Loss, Standing
from kraftool.reports.kinds import log as log_kinds
from kraftool.sim.election.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What it comes to."""

    possible: bool
    headline: str
    details: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()


def verdict(report: Report) -> Verdict:
    if not report.leaders:
        return Verdict(
            possible=False,
            headline=f"No leader is possible: {_why(report)}.",
            details=_standing(report),
            next_steps=tuple(_ways_out(report)),
        )
    return Verdict(
        possible=True,
        headline=_who(report),
        details=(*_graves(report), *_doubts(report), *_standing(report)),
        next_steps=tuple(_next(report)),
    )


def listed(ids: Iterable[int | str], word: str = "and") -> str:
    """1, 2 and 3"""
    names = [str(each) for each in ids]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def seconds(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "never"
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# --- with a leader ----------------------------------------------------------------------------


def _who(report: Report) -> str:
    leaders = report.leaders
    total = sum(report.wins.values())
    half, most = seconds(report.quantile_ms(0.5)), seconds(report.quantile_ms(0.95))
    within = f"within {half} in half of {counted(report.runs, 'run')}, {most} in 95%"
    if len(leaders) == 1:
        return f"A leader is elected: {leaders[0]}, the only one that can win; {within}."
    best = max(report.wins, key=lambda each: report.wins[each], default=leaders[0])
    share = round(100 * report.wins.get(best, 0) / total) if total else 0
    likely = f", most often {best} ({share}%)" if share else ""
    return f"A leader is elected: {listed(leaders, 'or')}{likely}; {within}."


def _graves(report: Report) -> Iterable[str]:
    for leader in report.leaders:
        grave = [each for each in report.losses_by(leader) if each.standing.weighs]
        if grave:
            yield f"DATA LOSS if {leader} leads: {'; '.join(map(lost, grave))}."


def lost(loss: Loss) -> str:
    """Records that are cut off, in words."""
    words = {
        Standing.COMMITTED: "which were committed",
        Standing.MAJORITY: "which are on a majority, so take them for committed",
        Standing.POSSIBLE: "which may have been committed",
        Standing.NOT: "which no majority had",
    }[loss.standing]
    what = (
        f"offset {loss.first}" if loss.records == 1 else f"offsets {loss.first} to {loss.end - 1}"
    )
    return (
        f"{what} ({counted(loss.records, 'record')}) of {listed(loss.holders)} are cut off, {words}"
    )


def _doubts(report: Report) -> Iterable[str]:
    if report.without_leader:
        yield (
            f"In {report.without_leader} of {counted(report.runs, 'run')} nobody could lead within"
            " a minute."
        )
    for node, why, runs in report.broken:
        yield (
            f"{node} ends with an error in {runs} of {counted(report.runs, 'run')} ({why}), as"
            " Kafka would: it has to be started again."
        )


def _standing(report: Report) -> tuple[str, ...]:
    case = report.case
    found = []
    if report.failures is not None:
        found.append(
            f"The quorum stands {counted(report.failures, 'more failure')}."
            if report.failures
            else "The quorum stands no further failure: one more stopped voter can leave it without"
            " a leader."
        )
    missing = [each for each in case.unknown if each in case.voters.ids]
    if missing:
        found.append(f"No directory was given for {listed(missing)}, which counts as down.")
    found += _empties(report)
    return tuple(found)


def _empties(report: Report) -> Iterable[str]:
    for node in report.case.nodes:
        if node.id in report.conditions.down or node.id in report.conditions.adding:
            continue
        if node.id in report.case.voters.ids and not report.case.voters.has(node.key):
            yield (
                f"{node.id} was formatted anew: the voter {node.id} is another replica, so this one"
                " only observes."
            )
        elif report.case.voters.has(node.key) and _is_empty(node) and not _all_empty(report):
            yield f"{node.id} is a voter with an empty log: it votes for whoever asks first."


def _is_empty(node: NodeCase) -> bool:
    return node.log.view().end_offset == 0


def _all_empty(report: Report) -> bool:
    return all(_is_empty(each) for each in report.case.nodes)


def _next(report: Report) -> Iterable[str]:
    if report.grave:
        yield from _save(report)
        return
    empty = [
        each.id
        for each in report.case.nodes
        if each.id in report.up and report.case.voters.has(each.key) and _is_empty(each)
    ]
    if _all_empty(report):
        empty = []
    yield from _refill(report, empty)
    yield from _replaced(report)
    unsafe = [each for each in report.restarts if not each.is_safe]
    safe = [each.node for each in report.restarts if each.is_safe]
    down = sorted(report.conditions.down | set(report.case.unknown))
    if len(report.case.voters) == 1:
        yield "It is the only voter: while it is down there is no leader."
    elif report.failures == 0:
        back = f" Bring back {listed(down)} first." if down else ""
        yield f"Restart no voter now: without it there may be no leader.{back}"
    elif unsafe:
        yield f"Do not restart {listed(each.node for each in unsafe)} now."
        if safe:
            yield f"Restart {listed(safe)} one by one only, each once the last has caught up."
    elif not empty:
        yield (
            "Nothing has to be done. Restart one node after another, each once the one before has"
            " caught up."
        )


def _refill(report: Report, empty: Sequence[int]) -> Iterable[str]:
    """What to do about voters that lost their log."""
    if not empty:
        return
    names = listed(empty)
    voteless = [each for each in empty if report.case.by_id[each].election is None]
    if voteless and any(each.code == log_kinds.NONE.code for each in report.case.findings):
        yield f"Before {listed(voteless)} starts, do what {log_kinds.NONE.code} says below."
    if any(each.node in empty and not each.leaders for each in report.restarts):
        yield (
            f"Only the vote of {names} makes a majority: bring back another voter first if you can."
        )
    else:
        yield f"Start {names} last, once the others have a leader."
    yield f"Stop nothing before {names} has copied the log."


def _save(report: Report) -> Iterable[str]:
    leaders = sorted({each.leader for each in report.grave})
    holders: set[int] = set.intersection(*(set(each.holders) for each in report.grave))
    down = sorted(holders & report.conditions.down)
    yield "Do not start the nodes like this. Copy all directories first."
    if down:
        yield f"{listed(down, 'or')} still has what would be lost: start it before the others."
    elif holders:
        lacking = [each for each in leaders if each not in holders]
        has = "has" if len(holders) == 1 else "have"
        yield (
            f"{listed(sorted(holders))} still {has} it: keep {listed(lacking)} stopped until"
            f" {listed(sorted(holders), 'or')} leads."
        )


def _replaced(report: Report) -> Iterable[str]:
    for node in report.case.nodes:
        voter = report.case.voters.voters.get(node.id)
        if voter is None or report.case.voters.has(node.key) or node.id in report.conditions.down:
            continue
        if report.case.kraft_version < 1:
            continue
        yield (
            f"Replace voter {node.id}: kafka-metadata-quorum --bootstrap-controller HOST:PORT"
            f" remove-controller --controller-id {node.id} --controller-directory-id"
            f" {voter.key.directory_id}, then, once the new {node.id} has caught up,"
            f" --command-config its server.properties add-controller."
        )


# --- without ----------------------------------------------------------------------------------


def _why(report: Report) -> str:
    case = report.case
    voters = case.voters
    if not voters:
        return "no directory tells who votes"
    reaching = [each for each in report.up if voters.has(case.by_id[each].key)]
    gone = sorted(voters.ids - set(reaching))
    if len(reaching) < voters.majority:
        have = f"{listed(reaching)} alone" if reaching else "none"
        is_are = "is" if len(reaching) < 2 else "are"
        return (
            f"{have} of the {len(voters)} voters {listed(sorted(voters.ids))} {is_are} there, and"
            f" {voters.majority} are needed ({listed(gone)} {'is' if len(gone) == 1 else 'are'}"
            f" {_missing(report, gone)})"
        )
    refusals = [each for chance in report.chances for each in chance.refusals]
    reasons = [each.sentence for each in refusals if each.kind != "silent"]
    if reasons:
        return "; ".join(reasons[:3])
    cut = "the partition leaves no side with a majority" if report.conditions.cut else ""
    told = [each.why_not for each in report.chances if each.why_not]
    return cut or "; ".join(told[:3]) or "nobody gets a majority"


def _missing(report: Report, gone: Sequence[int]) -> str:
    down = [each for each in gone if each in report.conditions.down]
    unknown = [each for each in gone if each in report.case.unknown]
    if len(down) == len(gone):
        return "down"
    if len(unknown) == len(gone):
        return "without a directory here, so taken as down"
    return "down, unknown or formatted anew"


def _ways_out(report: Report) -> Iterable[str]:
    if report.revivals:
        groups = [listed(each) for each in report.revivals]
        either = "either" if len(groups) == 2 else "any" if len(groups) > 2 else "it"
        yield f"Start {listed(groups, 'or')}: with {either} a leader can be elected."
    if report.heals:
        yield "Mend the network: without the partition a leader can be elected."
    unknown = [each for each in report.case.unknown if each in report.case.voters.ids]
    if unknown:
        yield (
            f"Give the directories of {listed(unknown)} too, or ask what if they run:"
            f" {' '.join(f'--assume-up {each}' for each in unknown)}."
        )
    if not (report.revivals or report.heals or unknown):
        best = report.case.most_complete
        if best is not None and best.log.end:
            yield (
                f"Copy all directories before anything else. {best.id} has the most complete log"
                f" ({best.end.offset} of epoch {best.end.epoch})."
            )
        yield from _replaced(report)
