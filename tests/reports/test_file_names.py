"""A file whose name Kafka can make nothing of is no part of the log to any command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.decoders.names import segment_offset
from kraftool.reports.directory.report import read_location
from kraftool.reports.directory.voter_sources import read_source
from kraftool.reports.findings.finding import Finding
from kraftool.reports.logs.file_names import misnamed
from kraftool.reports.logs.source import log_files
from kraftool.reports.state.load import load_state
from kraftool.reports.timeline.report import build
from kraftool.reports.timeline.sources import open_nodes
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.paths import open_path
from tests.support.places import LOG, PARTITION

STRAYS = {
    "notes.log": "KT-LOG-NAME",
    "backup.log": "KT-LOG-NAME",
    f"{0:020} (copy).log": "KT-LOG-NAME",
    "0.log": "KT-LOG-NAME-FORM",
    "5.log": "KT-LOG-NAME-FORM",
    "-5.log": "KT-LOG-NAME-FORM",
    f"{0:020}.old.log": "KT-LOG-NAME-FORM",
    "notes.index": "KT-LOG-NAME",
    "notes.snapshot": "KT-LOG-NAME",
    "notes.checkpoint": "KT-SNAP-NAME",
}


def code(name: str) -> str | None:
    finding = misnamed(f"some/where/{name}")
    return finding.code if finding is not None else None


def test_what_kafka_cannot_read_an_offset_from_ends_its_start() -> None:
    """As the server of 4.3.0 was seen to do with each of these."""
    assert {name: code(name) for name in STRAYS} == STRAYS


@pytest.mark.parametrize(
    "name",
    [
        LOG,
        f"{0:020}.index",
        f"{131:020}.snapshot",
        f"{0:020}.log.deleted",
        "notes.log.bak",
        "notes",
        "quorum-state",
        f"{10:020}-{1:010}.checkpoint",
        f"{10:020}-{1:010}-123.checkpoint.part",
        f"{10:020}-{1:010}.checkpoint.deleted",
    ],
)
def test_other_names_are_no_obstacle(name: str) -> None:
    assert code(name) is None


def test_a_segment_is_what_kafka_reads_as_one() -> None:
    assert segment_offset(f"{17:020}.log") == 17
    for name in ("17.log", "notes.log", f"{17:020}.index", f"{17:020}.log.deleted", f"{17:020}"):
        assert segment_offset(name) is None


@pytest.fixture(params=[name for name in STRAYS if name.endswith(".log")])
def stray(request: pytest.FixtureRequest, tmp_path: Path, fixtures_dir: Path) -> Path:
    """A data directory with a copy of its log under a name that is none."""
    path = tmp_path / "data"
    shutil.copytree(fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data", path)
    shutil.copy(path / PARTITION / LOG, path / PARTITION / request.param)
    return path


@pytest.fixture
def clean(fixtures_dir: Path) -> Path:
    return fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data"


def test_it_is_the_one_finding_of_every_command(stray: Path) -> None:
    (name,) = (file.name for file in (stray / PARTITION).glob("*.log") if file.name != LOG)
    path = str(stray)
    nodes, findings = open_nodes([open_path(path)], lambda name, at: None)
    (source,) = read_source(path)
    reports = {
        "diff-voters": source.findings,
        "dump": read_location(open_path(path)).all_findings,
        "verify-log": verify_logs([open_path(path)]).rows,
        "state": load_state(path).findings,
        "timeline": build(nodes, findings).findings,
    }
    for command, reported in reports.items():
        worst = [finding for finding in reported if finding.severity.value != "info"]
        assert [(finding.code, finding.file) for finding in worst] == [
            (STRAYS[name], f"{path}/{PARTITION}/{name}")
        ], command


def test_nothing_else_is_read_otherwise(stray: Path, clean: Path) -> None:
    here, there = load_state(str(stray)), load_state(str(clean))
    assert (here.image, here.end_offset) == (there.image, there.end_offset)
    one, other = (
        read_location(open_path(str(path))).directories[0].directory for path in (stray, clean)
    )
    assert one.summary.log == other.summary.log
    assert one.summary.voter_set is not None
    assert other.summary.voter_set is not None
    assert one.summary.voter_set.voters == other.summary.voter_set.voters
    nodes, _ = open_nodes([open_path(str(stray))], lambda name, at: None)
    assert [segment.basename for segment in nodes[0].segments] == [LOG]
    passed: list[Finding] = []
    files = log_files([str(stray)], pytest.fail, stray=passed.append)
    assert ([file.entry.basename for file in files], len(passed)) == ([LOG], 1)


def test_a_copy_that_kafka_does_not_look_at_is_no_segment_either(
    tmp_path: Path, clean: Path
) -> None:
    path = tmp_path / "data"
    shutil.copytree(clean, path)
    shutil.copy(path / PARTITION / LOG, path / PARTITION / "backup")
    (directory,) = read_location(open_path(str(path))).directories
    assert directory.directory.summary.log is not None
    assert directory.directory.summary.log.segments == 1
    assert [finding.code for finding in directory.findings] == ["KT-DIR-UNKNOWN-FILE"]


def test_a_file_named_by_itself_may_have_any_name(tmp_path: Path, clean: Path) -> None:
    path = tmp_path / "backup.log"
    shutil.copy(clean / PARTITION / LOG, path)
    assert load_state(str(path)).end_offset == load_state(str(clean)).end_offset
    assert not read_location(open_path(str(path))).all_findings
