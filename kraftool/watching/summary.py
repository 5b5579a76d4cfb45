"""The quorum report in words, for whoever shows it: lines on the whole, cells for each replica.

Owns the words and what each means (good, warn, bad, quiet, name, line); colours and layout are the
front ends' own. The dashboard and `--once` share it, so that neither says what the other does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.client.thresholds import LAG_MS, LAG_RECORDS, SILENT_MS
from kraftool.reports.election.assessment import Assessment, QuorumSafety
from kraftool.reports.election.assessment_words import state_sentence
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.status import Status, status_of
from kraftool.reports.text.blocks import Column, Fact, Phrase, TableBlock, TableRow
from kraftool.reports.text.words import many
from kraftool.watching.judging import Statement
from kraftool.watching.number_words import age, clock, count
from kraftool.watching.picture import WatchEvent
from kraftool.watching.quorum import QuorumReport, ReplicaStatus
from kraftool.watching.trends import SLOTS, SPAN_S, highest, is_steady, lag_line, rate_line
from kraftool.watching.voter_state import Commit

MOST_ELECTIONS = 5
_ROLES = {
    "leader": "● leader",
    "voter": "○ voter",
    "witness": "◌ witness",
    "observer": "· observer",
    "unknown": "? unknown",
}


def sign(severity: Severity) -> Phrase:
    """Stands before a statement: severity is not told by colour alone."""
    status = status_of(severity)
    return Phrase(status.mark, status.meaning)


def lines(report: QuorumReport, *, has_events: bool = False) -> Iterator[Fact]:
    """Yield the lines on the whole quorum; with `has_events`, a list of events has elections."""
    yield Fact("Leader", tuple(_leader(report)))
    yield Fact("Can lose", tuple(_tolerance(report)))
    if report.is_live:
        yield Fact("Committed", tuple(_committed(report)))
    yield Fact("Voters", tuple(_voters(report)))
    if report.assessment is not None:
        yield from _at_risk(report.assessment)
    if not has_events and (report.elections or report.polls > 1):
        yield Fact("Elections", tuple(_elections(report)))


def _at_risk(assessment: Assessment) -> Iterator[Fact]:
    """Yield what a start in any order may lose; nothing if each leader has all commits."""
    if assessment.state is QuorumSafety.AT_RISK:
        yield Fact("At risk", (Phrase(f"{state_sentence(assessment)}.", "bad"),))


def _leader(report: QuorumReport) -> Iterator[Phrase]:
    overdue = None if report.judgement is None else report.judgement.overdue_ms
    if report.leader_id is None:
        if overdue is not None:
            yield Phrase("? no answer yet", "quiet")
        elif report.is_live:
            yield Phrase("✖ none", "bad")
        else:
            yield Phrase("? unknown: no quorum-state names a leader", "warn")
    elif report.leader_runs_controller is False:
        yield Phrase(f"✖ node {report.leader_id}, without a controller", "bad")
    elif report.is_live:
        yield Phrase(f"● node {report.leader_id}", "quiet" if overdue else "name")
    else:
        yield Phrase(f"node {report.leader_id}, as the newest quorum-state has it")
    if report.epoch is not None:
        yield Phrase(f"epoch {report.epoch}")
    if overdue is not None:
        yield Phrase(f"waiting {age(overdue)}", "quiet")
    if report.unreached:
        yield Phrase(f"▲ {report.unreached} not reached", "warn")


def finding(statement: Statement) -> Iterator[Phrase]:
    """Yield a statement and what to do about it."""
    is_bad = statement.severity is Severity.ERROR
    yield Phrase(statement.reason, "bad" if is_bad else "")
    if statement.advice:
        yield Phrase(f"→ {statement.advice}", "key")


def event(watch_event: WatchEvent, now_ms: int) -> tuple[Phrase, ...]:
    """Return an event's time, sign and words."""
    meaning = watch_event.status.meaning
    return (
        Phrase(clock(watch_event.timestamp, now_ms), "quiet"),
        Phrase(watch_event.status.mark, meaning),
        Phrase(watch_event.reason, meaning if watch_event.status is Status.BAD else ""),
    )


def verdict(report: QuorumReport) -> tuple[Phrase, ...]:
    """Return a sign and words to show if there is no finding: green only for a judged quorum."""
    if report.is_live and report.tolerance.failures is not None:
        return (Phrase("✓", "good"), Phrase("the quorum has no problem", "good"))
    if report.is_live:
        return (Phrase("?", "quiet"), Phrase("the quorum is not known yet", "quiet"))
    words = "not judged yet: doctor examines the directories. Health (6) has its progress"
    return (Phrase("?", "quiet"), Phrase(words, "quiet"))


def _committed(report: QuorumReport) -> Iterator[Phrase]:
    if report.high_watermark is None:
        yield Phrase("no high watermark yet" if report.leader_id is not None else "?", "warn")
        return
    yield Phrase(count(report.high_watermark), "name")
    if report.leader_end is not None:
        yield Phrase(f"of {count(report.leader_end)}", "quiet")
    if report.rate is not None:
        yield Phrase(f"{report.rate:.1f} records/s")
        if is_steady(report.rate_trend):
            yield Phrase("steady", "quiet")
        else:
            yield Phrase(rate_line(report.rate_trend), "line")
            top = max(filter(None, report.rate_trend))
            yield Phrase(f"max {top:.1f}, last {SPAN_S} s", "quiet")


def _voters(report: QuorumReport) -> Iterator[Phrase]:
    voters = report.voters
    if not voters.now:
        yield Phrase("? voters unknown: no node reported them", "warn")
        return
    yield Phrase(", ".join(str(key.id) for key in sorted(voters.now)), "name")
    if voters.is_uncommitted:
        before = ", ".join(str(key.id) for key in sorted(voters.before))
        yield Phrase(f"▲ not committed; committed: {before or '?'}", "warn")
    elif voters.source == "history":
        yield Phrase("as the last leader had them", "warn")
    else:
        words = {
            Commit.COMMITTED: "committed",
            Commit.STATIC: "static, from settings",
            Commit.UNKNOWN: "unknown whether committed",
        }[voters.commit]
        yield Phrase(words, "quiet")
    yield Phrase(f"majority {voters.majority}", "quiet")


def _tolerance(report: QuorumReport) -> Iterator[Phrase]:
    tolerance = report.tolerance
    if tolerance.is_lost:
        yield Phrase(f"✖ 0 voters: {tolerance.reason}", "bad")
    elif tolerance.failures is None:
        is_waiting = report.judgement is not None and report.judgement.waiting
        is_warning = report.is_live and not is_waiting
        yield Phrase(f"? {tolerance.reason}", "warn" if is_warning else "quiet")
    else:
        status = Status.GOOD if tolerance.failures else Status.WARN
        if report.leader_runs_controller is False:
            status = Status.BAD
        count = many(tolerance.failures, "voter")
        yield Phrase(f"{status.mark} {count}", status.meaning)
        yield Phrase(tolerance.reason, "quiet")


def _elections(report: QuorumReport) -> Iterator[Phrase]:
    if report.polls > 1:
        seen = report.elections_seen
        since = clock(report.since_ms, report.at_ms)
        yield Phrase(f"{seen or 'none'} seen since {since}", "warn" if seen else "quiet")
    for election in report.elections[: -MOST_ELECTIONS - 1 : -1]:
        who = "?" if election.leader_id is None else f"node {election.leader_id}"
        yield Phrase(
            f"epoch {election.epoch}: {who}, {clock(election.timestamp, report.at_ms)}", "quiet"
        )


# --- replicas ---------------------------------------------------------------------------------

NODE, ROLE, ENDPOINT, DIRECTORY = "node", "role", "endpoint", "directory id"
END, LAG, BEHIND, FETCHED, CAUGHT_UP = "log end", "lag", "behind", "fetched", "caught up"
RESTART, SAYS, DISK, TREND = "restart?", "says", "on disk", f"lag, last {SPAN_S} s"
_NARROW_TREND = 10
_RIGHT = frozenset({NODE, END, LAG, BEHIND, FETCHED, CAUGHT_UP, DISK})
"""Columns whose numbers stand right."""


def replica_table(report: QuorumReport, width: int, *, has_trend: bool = True) -> TableBlock:
    """A row for each replica, with the columns that there is room for."""
    names = [name for name in columns(report, width) if has_trend or name != TREND]
    top = highest(replica.trend for replica in report.replicas) if has_trend else 0
    rows: dict[str, TableRow] = {}
    for replica in report.replicas:
        key = replica.key if replica.key not in rows else f"{replica.key}#{len(rows)}"
        shown = cells(report, replica, top=top, width=width)
        rows[key] = TableRow(key, [shown[name] for name in names])
    return TableBlock(
        title="Replicas",
        columns=[Column(name, is_right=name in _RIGHT) for name in names],
        rows=[*rows.values()],
    )


def columns(report: QuorumReport, width: int) -> list[str]:
    """The columns that there is room for, the most important ones."""
    if not report.is_live:
        return [NODE, ROLE, *([DIRECTORY] if width >= 76 else []), END, LAG, SAYS]
    names = [NODE, ROLE, END, LAG, BEHIND, FETCHED, RESTART, TREND]
    if width >= 100:
        names.insert(2, ENDPOINT)
    if width >= 120:
        names.insert(-2, CAUGHT_UP)
    if width >= 140:
        names.insert(3, DIRECTORY)
    if width >= 160:
        names.insert(-1, SAYS)
    if width >= 176 and any(replica.path for replica in report.replicas):
        names.insert(-1, DISK)
    return names


def cells(
    report: QuorumReport, status: ReplicaStatus, *, top: int = 0, width: int = 80
) -> dict[str, Phrase]:
    """Return all cells of a replica, by column; `top`: the scale that all lags are drawn on."""
    slots = SLOTS if width >= 100 else _NARROW_TREND
    name = "witness" if status.is_witness and status.role == "voter" else status.role
    role = _ROLES[name] + (" +" if status.is_joining else "")
    meaning = {"leader": "name", "observer": "quiet", "witness": "warn"}.get(name, "")
    if status.is_joining:
        meaning = "warn"
    if status.role == "leader" and status.runs_controller is False:
        role, meaning = "◌ leader", "bad"
    if status.is_down:
        role, meaning = f"✖ {name}", "bad"
    elif status.waiting_ms is not None:
        role, meaning = f"… {name}", "quiet"
    elif status.is_asked and not status.is_reached:
        role, meaning = f"▲ {name}", "warn"
    return {
        NODE: Phrase("?" if status.id is None else str(status.id), "name"),
        ROLE: Phrase(role, meaning),
        ENDPOINT: Phrase(status.endpoint or "-", "quiet"),
        DIRECTORY: Phrase(status.directory_id or "-", "quiet"),
        END: _end(status),
        LAG: _limited(status.lag, LAG_RECORDS, count(status.lag)),
        BEHIND: _limited(status.lag_ms, LAG_MS, age(status.lag_ms)),
        FETCHED: _fetched(status),
        CAUGHT_UP: _limited(status.caught_up_age_ms, LAG_MS, age(status.caught_up_age_ms)),
        RESTART: _restart(report, status),
        SAYS: says(report, status),
        DISK: _disk(status),
        TREND: Phrase(lag_line(status.trend, top, slots), "line"),
    }


def _disk(status: ReplicaStatus) -> Phrase:
    if not status.path:
        return Phrase("-")
    end = count(status.directory_end_offset)
    return Phrase(f"▲ {end}", "warn") if status.stale_reason else Phrase(end)


def _end(status: ReplicaStatus) -> Phrase:
    if status.log_end_offset is not None:
        # Of a live node the leader tells the end; without one, its directory.
        is_of_disk = status.stale_reason and not status.is_asked
        end = count(status.log_end_offset)
        return Phrase(f"▲ {end}", "warn") if is_of_disk else Phrase(end)
    return Phrase(
        "?" if status.last_known_end_offset is None else f"~{count(status.last_known_end_offset)}",
        "warn",
    )


def _limited(value: int | None, limit: int, shown: str) -> Phrase:
    if value is not None and value > limit:
        return Phrase(f"▲ {shown}", "warn")
    return Phrase(shown, "quiet" if value is None else "")


def _fetched(status: ReplicaStatus) -> Phrase:
    """Return the time since it fetched; without one, the time since it stopped answering."""
    if status.fetch_age_ms is None and status.down_ms:
        return Phrase(f"▲ {age(status.down_ms)}", "warn")
    return _limited(status.fetch_age_ms, SILENT_MS, age(status.fetch_age_ms))


def _restart(report: QuorumReport, status: ReplicaStatus) -> Phrase:
    if status.restart is None:
        return Phrase("-", "quiet")
    if status.waiting_ms is not None or (
        report.tolerance.failures is None and not status.restart.is_safe
    ):
        return Phrase("? waiting", "quiet")
    if not status.restart.is_safe:
        return Phrase("✖ no", "warn")
    if status.is_down:
        return Phrase("✓ start it", Status.GOOD.meaning)
    is_last = status.role == "leader" and status.runs_controller is not False
    return Phrase("✓ last" if is_last else "✓ yes", Status.GOOD.meaning)


def says(report: QuorumReport, status: ReplicaStatus) -> Phrase:
    """Return the leader and epoch that a node itself reports."""
    if status.epoch is None:
        return Phrase("-", "quiet")
    leader = "none" if status.leader_id is None else f"node {status.leader_id}"
    agrees = (status.leader_id, status.epoch) == (report.leader_id, report.epoch)
    words = f"{leader}, epoch {status.epoch}"
    return Phrase(words, "quiet") if agrees else Phrase(f"▲ {words}", "warn")


def details(report: QuorumReport, status: ReplicaStatus) -> Iterator[tuple[Phrase, ...]]:
    """A replica at length, line by line."""
    identity = [Phrase(f"{status.role} {'?' if status.id is None else status.id}", "name")]
    if status.directory_id:
        identity.append(Phrase(f"directory {status.directory_id}", "quiet"))
    if status.endpoint:
        identity.append(Phrase(status.endpoint, "quiet"))
    if status.is_witness:
        identity.append(Phrase("a witness: it runs no controller", "warn"))
    yield tuple(identity)
    if not status.is_asked and status.path is None:
        yield (Phrase("not asked: known from the leader only", "quiet"),)
    else:
        text = says(report, status)
        answer = (
            () if status.took_ms is None else (Phrase(f"answers in {status.took_ms} ms", "quiet"),)
        )
        yield (Phrase("says", "quiet"), text, *answer)
    if status.restart is not None:
        safe = status.restart.is_safe
        words = "can be restarted" if safe else "do not restart it"
        if status.is_down:
            words = "start it"
        yield (Phrase(f"{words}: {status.restart.reason}", "" if safe else "warn"),)
    if status.reason:
        yield (Phrase(status.reason, "bad"),)
    if status.path is not None:
        if status.stale_reason:
            yield (Phrase(f"▲ {status.path} is stale: {status.stale_reason}", "warn"),)
        else:
            yield (
                Phrase(f"{status.path}: log ends at {count(status.directory_end_offset)}", "quiet"),
            )
