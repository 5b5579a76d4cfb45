"""Every damaged fixture is named by a code that fits it."""

from __future__ import annotations

import pytest

from tests.reports.doctor.cases import doctor
from tests.support.places import FIXTURES

DAMAGED = FIXTURES / "damaged"
FITTING = {
    "absurd-array-length": "KT-LOG-RECORDS",
    "absurd-batch-length": "KT-LOG-DAMAGE",
    "absurd-record-length": "KT-LOG-RECORDS",
    "broken-quorum-state": "KT-DIR-QUORUM-STATE",
    "broken-text-files": "KT-DIR-META",
    "empty-files": "KT-SIG-JUNK-SNAPSHOT",
    "flipped-bit-in-crc": "KT-LOG-CRC",
    "flipped-bit-in-header": "KT-LOG-CRC",
    "flipped-bit-in-record": "KT-LOG-CRC",
    "garbage-index": "KT-LOG-INDEX",
    "garbage-log": "KT-LOG-DAMAGE",
    "negative-batch-length": "KT-LOG-DAMAGE",
    "newer-record-version": "KT-LOG-UNKNOWN-TYPE",
    "newer-secret-version": "KT-LOG-UNKNOWN-TYPE",
    "snapshot-without-footer": "KT-SNAP-FORM",
    "torn-header": "KT-LOG-TORN-TAIL",
    "torn-tail": "KT-LOG-TORN-TAIL",
    "truncated-snapshot": "KT-SNAP-DAMAGE",
    "unknown-record-type": "KT-LOG-UNKNOWN-TYPE",
    "wrong-cluster-id": "KT-DIR-CLUSTER-ID",
    "wrong-file-name": "KT-SNAP-FILE-NAME",
    "zero-filled-middle": "KT-LOG-DAMAGE",
    "zero-filled-tail": "KT-LOG-ZERO-TAIL",
}


def test_every_case_is_listed() -> None:
    assert set(FITTING) == {path.parent.name for path in DAMAGED.glob("*/SOURCE")}


@pytest.mark.parametrize("case", FITTING)
def test_a_damaged_directory_is_named(case: str) -> None:
    path = DAMAGED / case
    parts = sorted(folder for folder in path.iterdir() if folder.is_dir())
    report = doctor(*(parts or [path]))
    findings = [finding for finding in report.findings if finding.code == FITTING[case]]
    assert findings, [finding.code for finding in report.findings]
    assert all(finding.file for finding in findings)


@pytest.mark.parametrize("case", FITTING)
def test_each_file_by_itself_is_named(case: str) -> None:
    for path in DAMAGED.glob(f"{case}/*.*"):
        alone = doctor(path)
        whole = "meta.properties" in path.name or (
            case == "garbage-index" and path.suffix == ".log"
        )
        assert bool(alone.findings) is not whole or case == "broken-text-files", path
