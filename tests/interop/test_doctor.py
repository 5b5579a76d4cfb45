"""Doctor against real Kafka: that dies where doctor says so, and starts after doctor's command.

Starts of a controller are recorded; those of a broker are real.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftool.reports.doctor.model import Diagnosis
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.findings.finding import Severity
from tests.interop import kafka
from tests.interop.clusters import Cluster
from tests.interop.recorded_starts import RecordedStarts, recording_of_starts
from tests.interop.scenarios import SMALL_SNAPSHOTS
from tests.interop.starts import Started, Starts, server
from tests.support.places import FIXTURES, PARTITION

BUILT = FIXTURES / "built/aborted-transaction/node-1/data"


def backup_of_a_snapshot(data: Path) -> None:
    (data / PARTITION / "backup.checkpoint").write_bytes(b"")


def lost_and_found(data: Path) -> None:
    (data / "lost+found").mkdir()


def partition_put_aside(data: Path) -> None:
    shutil.copytree(data / PARTITION, data / f"{PARTITION}.aside")


def garbage_epochs(data: Path) -> None:
    (data / PARTITION / "leader-epoch-checkpoint").write_text("garbage\n")


def foreign_topic_id(data: Path) -> None:
    text = "version: 0\ntopic_id: RlGsKpAMTTKnsaRtAXfYRg"
    (data / PARTITION / "partition.metadata").write_text(text)


def junk_snapshot(data: Path) -> None:
    (data / PARTITION / f"{99999:020}-{99:010}.checkpoint").write_bytes(b"junk" * 100)


def diagnoses(data: Path) -> list[Diagnosis]:
    locations, findings = locations_of([str(data)])
    report = diagnose(examine(locations, findings))
    return [diagnosis for section in report.sections for diagnosis in section.diagnoses]


def mended(data: Path, make_ill: Callable[[Path], None], code: str) -> None:
    """Doctor reports the problem, and no longer does after its command was run."""
    shutil.copytree(BUILT, data)
    make_ill(data)
    fitting = [diagnosis for diagnosis in diagnoses(data) if diagnosis.finding.code == code]
    assert fitting
    assert fitting[0].finding.severity is Severity.ERROR
    subprocess.run(["bash", "-c", fitting[0].commands[0]], check=True)
    assert code not in [diagnosis.finding.code for diagnosis in diagnoses(data)]


ILLS = {
    "KT-SNAP-NAME": backup_of_a_snapshot,
    "KT-DIR-EPOCHS": garbage_epochs,
    "KT-DIR-TOPIC-ID": foreign_topic_id,
    "KT-SIG-JUNK-SNAPSHOT": junk_snapshot,
}
"""What is done to a directory, by what doctor reports of it."""


def ill_and_cured(starts: Starts, code: str) -> list[Started]:
    """Start on the directory as it is, and on one that doctor's command was run on."""
    ill, cured = starts.root / code / "ill/data", starts.root / code / "cured/data"
    shutil.copytree(BUILT, ill)
    ILLS[code](ill)
    mended(cured, ILLS[code], code)
    return [*starts.start(server(ill)), *starts.start(server(cured))]


RECORDING = recording_of_starts("doctor", kafka.TOOLS_VERSION, ill_and_cured, tuple(ILLS))


@pytest.mark.parametrize("code", ILLS)
def test_a_controller_dies_on_what_doctor_finds_and_starts_after_its_command(
    tmp_path: Path, code: str
) -> None:
    starts = RecordedStarts(RECORDING, tmp_path)
    starts.question = code
    died, started = ill_and_cured(starts, code)
    assert died.outcome == "exit", died.log[-3000:]
    assert started.outcome == "active", started.log[-3000:]


@pytest.mark.interop
@pytest.mark.parametrize(
    "make_ill", [lost_and_found, pytest.param(partition_put_aside, marks=pytest.mark.soak)]
)
def test_a_broker_dies_on_what_doctor_finds_and_starts_after_its_command(
    tmp_path: Path, make_ill: Callable[[Path], None]
) -> None:
    """Controllers look at the folder of their log only."""
    if problem := kafka.available(kafka.TOOLS_VERSION):
        pytest.skip(problem)
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes", common=SMALL_SNAPSHOTS) as cluster:
        node = cluster.add_node(1, ("broker", "controller"))
        cluster.use_static_voters()
        data = node.directory / "data"
        shutil.copytree(BUILT, data)
        make_ill(data)
        with pytest.raises(kafka.KafkaFailed):
            cluster.start(node)
        node.process = None
        shutil.rmtree(data)
        mended(data, make_ill, "KT-SIG-FOLDER-NAME")
        cluster.start(node)
        assert cluster.wait_leader() is node
