"""The page says what the model says, in the order in which somebody on call needs it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from kraftool.reports.findings.finding import FindingKind, Severity
from kraftool.reports.fleet import page_nodes, page_tables
from kraftool.reports.fleet.model import (
    AUDIT,
    ClusterSummary,
    FleetAudit,
    FleetCounts,
    FleetFinding,
    LeftOut,
)
from kraftool.reports.fleet.page import page
from kraftool.reports.fleet.page_overview import verdict
from kraftool.reports.fleet.page_parts import PageContext
from kraftool.reports.fleet.page_text import unique_tails
from kraftool.reports.text.json_forms import FindingCounts
from tests.reports.fleet.page_fleets import RUN, STARTED, assembled, sick, sound
from tests.reports.fleet.page_reader import Page

EMPTY = assembled([], [])


def test_sections_come_in_the_order_in_which_they_are_needed() -> None:
    read = Page.of(sick(12))
    assert list(read.sections) == [
        "verdict", "now", "first", "plots", "nodes", "clusters", "directories", "findings", "about",
    ]  # fmt: skip


def test_a_fleet_without_findings_is_green() -> None:
    read = Page.of(sound(3))
    assert "No problems found in all 3 clusters" in read.sections["verdict"].text
    assert verdict(sound(3))[1] == "good"
    assert "Nothing: no finding from warning up" in read.sections["first"].text
    assert "No two logs of a cluster differ" in read.sections["nodes"].text


def test_a_fleet_without_a_directory_is_told_with_what_was_searched() -> None:
    read = Page.of(EMPTY)
    assert "No data directory of Kafka was found" in read.sections["verdict"].text
    assert RUN.roots[0] in read.sections["first"].text
    assert "sound" not in read.text
    assert "plots" not in read.sections


@pytest.mark.parametrize(
    ("clusters", "with_worst", "numbers", "words"),
    [
        (
            200,
            (28, 6, 0),
            (94, 78, 8),
            "28 of 200 clusters have errors, 6 more have warnings; no errors",
        ),
        (
            5,
            (1, 0, 0),
            (1, 0, 0),
            "1 of 5 clusters has errors; no errors and no warnings were found in the other 4",
        ),
        (
            5,
            (0, 2, 3),
            (0, 2, 9),
            "2 of 5 clusters have warnings; no errors and no warnings were found in the other 3",
        ),
        (2, (1, 1, 0), (1, 1, 0), "1 of 2 clusters has errors, 1 more has warnings"),
        (1, (1, 0, 0), (3, 0, 0), "1 of 1 cluster has errors"),
        (1, (0, 0, 1), (0, 0, 4), "No problems found in the cluster"),
        (3, (0, 0, 0), (2, 1, 0), "2 errors and 1 warning outside of any cluster"),
    ],
)
def test_the_verdict_is_one_sentence_with_the_numbers(
    clusters: int, with_worst: tuple[int, ...], numbers: tuple[int, ...], words: str
) -> None:
    names = ("error", "warning", "info")
    counts = FleetCounts(
        clusters=clusters,
        directories=clusters * 3,
        clusters_with=FindingCounts(**dict(zip(names, with_worst, strict=True))),
        finding_counts=FindingCounts(**dict(zip(names, numbers, strict=True))),
    )
    sentence, kind = verdict(FleetAudit(run=RUN, counts=counts))
    assert sentence.startswith(words)
    assert kind == ("error" if numbers[0] else "warning" if numbers[1] else "info")


@pytest.mark.parametrize("left_out", ["undecoded", "ignored"])
def test_a_fleet_that_was_not_examined_whole_is_not_green(left_out: str) -> None:
    audit = sound(3)
    changed: dict[str, Any] = {left_out: 2}
    read = replace(audit, counts=replace(audit.counts, **changed))
    assert verdict(read) == ("No problems found in what was examined of all 3 clusters", "info")
    html = page(read)
    assert 'class="verdict good"' not in html
    assert 'class="card fine"' not in html


def test_what_was_not_decoded_and_what_was_ignored_is_said_with_the_verdict() -> None:
    audit = sound(3)
    counts = replace(audit.counts, undecoded=2, ignored=1, divergences=4)
    text = Page.of(replace(audit, counts=counts)).sections["verdict"].text
    assert "2 findings of what could not be read or decoded" in text
    assert "1 finding left out by --ignore" in text
    assert "in 4 places" in text


def test_the_tiles_have_the_counts_of_the_model() -> None:
    audit = sick(40)
    read = Page.of(audit)
    counts = audit.counts
    assert read.tile("clusters") == "40"
    assert read.tile("directories") == "120"
    assert read.tile("errors") == f"✕{counts.finding_counts.error}"
    assert read.tile("warnings") == f"▲{counts.finding_counts.warning}"
    assert read.tile("divergences") == str(counts.divergences)
    assert read.tile("not decoded") == str(counts.undecoded)


def test_every_cluster_has_a_row_with_its_numbers() -> None:
    audit = sick(60)
    rows = Page.of(audit).table("Clusters").rows[1:]
    assert [row[0].partition(" ")[0] for row in rows] == [
        summary.name for summary in audit.clusters
    ]
    for row, cluster in zip(rows, audit.clusters, strict=True):
        assert row[5] == f"{cluster.end_offset:,}"
        assert row[6] == f"{cluster.lag:,}"
        assert row[10] == f"{cluster.elections:,}"
        counts = cluster.finding_counts
        for glyph, number in (("✕", counts.error), ("▲", counts.warning), ("●", counts.info)):
            assert (f"{glyph} {number}" in row[1]) == bool(number)
        assert ("mixed" in row[7]) == (len(cluster.metadata_versions) > 1)


def test_clusters_with_errors_come_first_each_with_its_folder_and_what_to_do() -> None:
    audit = sick(60)
    read = Page.of(audit)
    urgent = [cluster.name for cluster in audit.clusters if cluster.finding_counts.error]
    assert len(urgent) > 2
    text = read.sections["now"].text
    positions = [text.index(name) for name in urgent[:12]]
    assert positions == sorted(positions)
    for cluster in urgent[:12]:
        assert f"/archive/controllers/{cluster}" in text
        worst = next(
            finding.finding
            for finding in audit.findings
            if finding.cluster == cluster and finding.finding.severity is Severity.ERROR
        )
        assert worst.code in text
        assert worst.advice in text
    assert "now" not in Page.of(sound(3)).sections


def test_the_folder_of_a_cluster_is_what_its_directories_share() -> None:
    audit = sound(1)
    (cluster,) = audit.clusters
    moved = tuple(
        replace(directory, name=f"/fleet/payments/node-{number}/data")
        for number, directory in enumerate(audit.directories)
    )
    view = PageContext.of(replace(audit, directories=moved), 10, 10)
    assert view.folders == {cluster.name: "/fleet/payments"}
    assert "/fleet/payments" in view.cluster(cluster.name).replace("<wbr>", "")
    alone = replace(audit, directories=moved[:1])
    assert PageContext.of(alone, 10, 10).folders == {cluster.name: "/fleet/payments/node-0/data"}


def test_a_square_has_the_shortest_path_that_no_other_one_has() -> None:
    folders = {
        "a": "/fleet/eu/c1/data", "b": "/fleet/us/c1/data", "c": "/fleet/us/c2/data",
        "d": "/other/kafka", "e": "/twice/x", "f": "/twice/x", "g": "", "h": "/data",
    }  # fmt: skip
    tails = {"a": "eu/c1/data", "b": "us/c1/data", "c": "c2/data", "d": "kafka"}
    assert unique_tails(folders) == tails


def test_a_finding_of_several_places_says_how_many() -> None:
    audit = sick(20)
    first = audit.findings[0]
    many = replace(first, finding=replace(first.finding, count=8))
    read = Page.of(replace(audit, findings=(many, *audit.findings[1:])))
    assert "(8 places)" in read.table("Findings").rows[1][-1]


def test_every_directory_has_a_row_below_its_cluster() -> None:
    audit = sick(20)
    rows = Page.of(audit).table("Directories").rows[1:]
    cluster = ""
    for row, directory in zip(rows, audit.directories, strict=True):
        if len(row) == 11:
            cluster = row.pop(0).partition(" ")[0]
        assert cluster == directory.cluster
        assert row[0] == str(directory.node_id)
        assert directory.name in row[1]
        assert ("in use" in row[1]) == directory.is_live
        assert row[4].startswith(f"{directory.start_offset:,} .. {directory.end_offset:,}")


def test_every_cause_is_told_with_its_reach_its_advice_and_a_command() -> None:
    audit = sick(60)
    read = Page.of(audit)
    causes = [
        element for element in read.of_tag("li") if "cause" in element.attributes.get("class", "")
    ]
    urgent = [code for code in audit.codes if code.severity is not Severity.INFO]
    assert len(causes) == min(len(urgent), 12)
    for item, cause in zip(causes, urgent, strict=False):
        assert cause.code in item.text
        assert f"{cause.findings} finding" in item.text
        assert f"in {cause.clusters} cluster" in item.text
        advice = [
            finding.finding.advice
            for finding in audit.findings
            if finding.finding.code == cause.code
        ]
        assert all(sentence in item.text for sentence in advice)
        assert "kraftool " in item.text
    rest = read.sections["first"].text
    assert all(code_count.code in rest for code_count in urgent), "what does not fit is named"


def test_each_cluster_has_its_own_advice() -> None:
    """One code in many clusters, of which each group has to do something else."""
    audit = sick(60)
    code = next(code_count.code for code_count in audit.codes if code_count.clusters > 3)
    advices = ("restore it from node 1", "let Kafka fetch it again", "Keep a copy of both")
    findings: list[FleetFinding] = []
    expected: dict[str, str] = {}
    for finding in audit.findings:
        if finding.finding.code == code:
            advice = expected.setdefault(finding.cluster, advices[len(expected) % 3])
            findings.append(replace(finding, finding=replace(finding.finding, advice=advice)))
        else:
            findings.append(finding)
    read = Page.of(replace(audit, findings=tuple(findings)))
    (card,) = [
        element
        for element in read.of_tag("li")
        if "cause" in element.attributes.get("class", "") and code in element.text
    ]
    groups = re.split(r"In (?=\S{22})", card.text)[1:]
    assert len(groups) == 3
    for group in groups:
        clusters = {name for name in expected if name in group}
        assert clusters
        (advice,) = {expected[cluster] for cluster in clusters}
        assert [text for text in advices if text in group] == [advice]


def test_what_is_only_worth_knowing_is_no_cause() -> None:
    audit = sick(60)
    infos = [code_count.code for code_count in audit.codes if code_count.severity is Severity.INFO]
    assert infos
    first = Page.of(audit).sections["first"].text
    assert not [code for code in infos if code in first]


def test_divergences_are_located_with_who_has_what() -> None:
    audit = sick(40)
    read = Page.of(audit)
    nodes = read.sections["nodes"].text
    assert audit.divergences
    for one in audit.divergences:
        assert f"{one.first_offset:,}" in nodes
        assert one.cluster in nodes
        for side in one.sides:
            assert f"{side.crc:08x}" in nodes
            assert f"position {side.position:,}" in nodes
            assert all(name in nodes for name in side.paths)


def test_a_divergence_is_not_told_again_as_a_finding_between_directories() -> None:
    audit = sick(40)
    other = FindingKind(code="KT-FLEET-OTHER", severity=Severity.WARNING, meaning="").at(
        "", "levels differ"
    )
    fleet_finding = FleetFinding(finding=other, cluster=audit.clusters[0].name, by=(AUDIT,))
    audit = replace(audit, findings=(fleet_finding, *audit.findings))
    rows = Page.of(audit).table("Other findings between directories").rows[1:]
    assert ["KT-FLEET-OTHER" in row[0] for row in rows] == [True]


def test_of_too_many_logs_those_that_differ_are_drawn() -> None:
    audit = sick(1)
    cluster, one = audit.clusters[0], audit.divergences[0]
    base = audit.directories[0]
    others = tuple(
        replace(base, name=f"/archive/copy-{number}", node_id=100 + number) for number in range(20)
    )
    read = Page.of(replace(audit, directories=(*others, *audit.directories), divergences=(one,)))
    drawn = next(
        element for element in read.of_tag("svg") if f"Logs of {cluster.name}" in element.text
    )
    for node in (1, 2, 3):
        assert f"node {node}" in drawn.text
    assert "12 of 23 are drawn" in read.sections["nodes"].text


def test_findings_name_their_place_and_who_says_it() -> None:
    audit = sick(12)
    rows = Page.of(audit).table("Findings").rows[1:]
    assert len(rows) == audit.counts.finding_counts.total
    for row, fleet_finding in zip(rows, audit.findings, strict=True):
        assert fleet_finding.finding.severity.value in row[0]
        assert fleet_finding.finding.code in row[0]
        assert all(source in row[0] for source in fleet_finding.by)
        assert fleet_finding.cluster in row[1]
        assert fleet_finding.finding.text in row[2]
        assert fleet_finding.finding.advice in row[2]
        assert (
            f"position {fleet_finding.finding.position}" in row[1]
            or fleet_finding.finding.position is None
        )


def test_numbers_of_the_plots_are_those_of_the_model() -> None:
    audit = sick(60)
    read = Page.of(audit)
    codes = read.table("Findings by code: Findings").rows[1:]
    assert codes == [
        [f"{'✕' if code.severity is Severity.ERROR else '▲'} {code.code}", f"{code.findings}"]
        for code in audit.codes[:12]
    ]
    worst = read.table("Clusters with the most serious findings: Info").rows[1:]
    assert worst == [
        [
            summary.name,
            *map(
                str,
                (
                    summary.finding_counts.error,
                    summary.finding_counts.warning,
                    summary.finding_counts.info,
                ),
            ),
        ]
        for summary in [cluster for cluster in audit.clusters if cluster.finding_counts.total][:12]
    ]
    lag = read.table("Lag between the nodes of a cluster: Clusters").rows[1:]
    assert sum(int(many) for _, many in lag) == len(audit.clusters)
    assert next(int(many) for bin, many in lag if bin == "0") == sum(
        cluster.lag == 0 for cluster in audit.clusters
    )
    highest = read.table("Lag between the nodes of a cluster: Offsets").rows[1]
    assert highest[1] == f"{max(cluster.lag or 0 for cluster in audit.clusters):,}"
    days = read.table("Elections by day: Elections").rows[1:]
    assert sum(int(many) for _, many in days) == sum(
        cluster.elections for cluster in audit.clusters
    )


def test_every_plot_can_be_read_as_a_table() -> None:
    read = Page.of(sick(60))
    figures = read.of_tag("figure")
    assert len(figures) == 8
    for figure in figures:
        assert "Numbers" in figure.text


def test_a_cluster_of_which_nothing_is_known_shows_dashes_and_no_zeros() -> None:
    blank = ClusterSummary(name="/archive/lost", directories=1)
    counts = FleetCounts(clusters=1, directories=1)
    row = Page.of(FleetAudit(run=RUN, counts=counts, clusters=(blank,))).table("Clusters").rows[1]
    assert row[0] == "/archive/lost"
    assert [row[at] for at in (4, 5, 6, 7, 9, 12, 13)] == ["\N{EN DASH}"] * 7


def test_a_record_from_the_future_and_from_nowhere_do_no_harm() -> None:
    base = ClusterSummary(name="x", directories=1)
    odd = [
        replace(base, name=f"c{at}", last_timestamp=stamp)
        for at, stamp in enumerate((STARTED + 10**12, -1, 2**63 - 1, 0, None))
    ]
    counts = FleetCounts(clusters=5, directories=5)
    read = Page.of(replace(assembled(odd, []), counts=counts))
    ages = {row[0]: row[1] for row in read.table("Age of the last record: Age").rows[1:]}
    assert "ahead" in ages["c0"]
    assert ages["c4"] == "\N{EN DASH}"
    rows = {row[0]: row[9] for row in read.table("Clusters").rows[1:]}
    assert rows["c2"] == f"{2**63 - 1} ms"
    assert rows["c3"] == "1970-01-01 00:00:00Z"


def test_what_the_page_leaves_out_is_told_and_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("MOST_CLUSTERS", "MOST_DIRECTORIES", "MOST_FINDINGS"):
        monkeypatch.setattr(page_tables, name, 7)
    monkeypatch.setattr(page_nodes, "MOST_CLUSTERS", 1)
    audit = sick(40)
    read = Page.of(audit)
    total = audit.counts.finding_counts.total
    assert len(read.table("Clusters").rows) == len(read.table("Directories").rows) == 8
    assert "33 more clusters left out" in read.sections["clusters"].text
    assert "113 more directories left out" in read.sections["directories"].text
    assert f"{total - 7} more findings left out" in read.sections["findings"].text
    assert f"The first 7 of {total}" in read.sections["findings"].text
    assert "not shown here" in read.sections["nodes"].text
    for id in ("clusters", "directories", "findings", "nodes"):
        assert f"kraftool pipeline audit {RUN.roots[0]} {RUN.roots[1]} -o json" in (
            read.sections[id].text
        )


def test_what_the_model_left_out_is_told_too() -> None:
    audit = sick(12)
    counts = replace(audit.counts, clusters=5000, finding_counts=FindingCounts(error=9999))
    left = LeftOut(clusters=4988, findings=9000, divergences=77, codes=3)
    read = Page.of(replace(audit, counts=counts, left_out=left))
    assert "4,988 more clusters left out" in read.sections["clusters"].text
    assert "more findings left out" in read.sections["findings"].text
    assert "77 more divergences not shown" in read.sections["nodes"].text
    assert "3 further codes" in read.sections["first"].text


def test_nothing_is_said_to_be_left_out_where_nothing_is() -> None:
    assert "left out of this page" not in Page.of(sick(12)).text


def test_how_the_audit_was_made_is_told() -> None:
    about = Page.of(sound(2)).sections["about"].text
    for text in (*RUN.roots, RUN.kraftool_version, RUN.spark_version, RUN.master, "7 min 11 s"):
        assert text in about


def test_a_thousand_clusters_fit_into_three_megabytes() -> None:
    audit = sick(1000)
    assert len(audit.directories) == 3000
    parts = list(page(audit))
    assert sum(len(part.encode()) for part in parts) < 3_000_000
    assert max(len(part) for part in parts) < 100_000, "it comes in pieces"
