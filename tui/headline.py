"""The first line: who leads, how much may fail, whose quorum it is, and how old what one sees is.

Owns its words. Its colour is that of the worst thing that any view has found.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from kraftool.client.grades import Grade
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.times import utc
from kraftool.reports.text.words import listed, many, numbered
from kraftool.tui.bars import NAME
from kraftool.tui.palette import Palette
from kraftool.watching.number_words import age
from kraftool.watching.overview import Overview
from kraftool.watching.picture import Picture
from kraftool.watching.quorum import QuorumReport

_ID = 10


def headline(
    picture: Picture | None, overview: Overview, palette: Palette, *, is_paused: bool
) -> tuple[Text, Text]:
    """Return what is at the left and at the right."""
    left = Text(NAME, style=palette.name, no_wrap=True, end="")
    report = overview.report
    if picture is None or report is None:
        return left.append("  asking …", style=palette.quiet), Text("")
    parts = _live(report) if report.is_live else _directories(picture, overview)
    words = " · ".join([*parts, *_unexamined(picture, overview)])
    if words:
        status = overview.status
        left.append("  ").append_text(palette.text(f"{status.mark} {words}", status.meaning))
    if picture.view is not None and picture.view.cluster_ids:
        left.append("  ").append_text(
            palette.text(", ".join(map(_short, picture.view.cluster_ids)))
        )
    at = utc(picture.at_ms, "%H:%M:%SZ")
    late = f"dashboard {age(picture.late_ms)} late " if picture.late_ms else ""
    right = Text(f"{'‖ paused ' if is_paused else ''}{late}{at}", end="")
    right.stylize(palette.warn if is_paused or late else palette.quiet)
    return left, right


def _short(cluster_id: str) -> str:
    """Return both ends of an id, as the rest of the line has to be seen on 80 columns."""
    return cluster_id if len(cluster_id) <= _ID else f"{cluster_id[:5]}…{cluster_id[-4:]}"


def _live(report: QuorumReport) -> Iterator[str]:
    judgement = report.judgement
    overdue = None if judgement is None else judgement.overdue_ms
    if report.leader_id is None:
        yield "no node leads" if overdue is None else "asking"
    else:
        yield f"node {report.leader_id} leads epoch {report.epoch}"
        if report.leader_runs_controller is False:
            yield "no controller"
    down = {
        replica.id: replica.down_ms
        for replica in report.replicas
        if replica.is_voter and replica.is_down and replica.id is not None
    }
    if down:
        noun = "voter" if len(down) == 1 else "voters"
        longest = max(ms or 0 for ms in down.values())
        yield f"{noun} {listed(sorted(down))} down{f' {age(longest)}' if longest else ''}"
    unreached = [
        replica.id
        for replica in report.replicas
        if replica.is_voter and replica.grade is Grade.OUT_OF_REACH
    ]
    if unreached:
        yield f"{numbered('voter', unreached)} out of reach from here"
    waiting = () if judgement is None else judgement.waiting
    if overdue is not None:
        yield f"waiting {age(overdue)}"
    elif waiting and report.tolerance.failures is None:
        longest = max(voter.waiting_ms or 0 for voter in waiting)
        yield f"waiting {age(longest)} for {numbered('voter', [voter.id for voter in waiting])}"
    # Its beginning is enough where a narrow terminal cuts the end off.
    if report.tolerance.failures is not None:
        yield f"{many(report.tolerance.failures, 'failure')} tolerated"


def _directories(picture: Picture, overview: Overview) -> Iterator[str]:
    if not picture.directories:
        return
    yield many(len(picture.directories), "directory")
    counts = [
        (overview.loud.count(severity), severity) for severity in (Severity.ERROR, Severity.WARNING)
    ]
    words = ", ".join(many(count, severity.value) for count, severity in counts if count)
    if words:
        yield words
    elif overview.examined is not None:
        yield "no problems found"


def _unexamined(picture: Picture, overview: Overview) -> Iterator[str]:
    if picture.directories and overview.examined is None:
        what = "directories " if picture.view is not None else ""
        yield f"{what}not examined yet"
