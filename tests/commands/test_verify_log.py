"""`kraftool verify-log`: what it prints, the document, and how it ends."""

import csv
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import LOG, ROOT

Run = Callable[..., Any]

DAMAGED = ROOT / "fixtures" / "damaged"
NODE = "kafka-4.3.0/dynamic-quorum/node-2/data"


def test_the_verdict_says_what_was_checked(kraftool: Run, fixtures_dir: Path) -> None:
    ran = kraftool("verify-log", fixtures_dir / NODE)
    assert ran.code == 0
    assert "offsets 0 to 223, replayed 0 to 223" in ran.text
    last = ran.text.splitlines()[-1]
    assert last == "verified: 13 files, 116 batches, 421 records, 224 offsets checked"


def test_a_finding_says_where_what_it_means_and_what_to_do(kraftool: Run) -> None:
    ran = kraftool("verify-log", DAMAGED / "flipped-bit-in-record" / LOG)
    assert ran.code == 3
    words = " ".join(ran.text.split())
    assert "✖ the batch's CRC does not match its bytes error KT-LOG-CRC" in words
    assert "position 1162 offset 13 (expected" in words
    assert "The bytes of a batch do not match its CRC." in words
    assert "→ keep a copy before you start Kafka here: it cuts the log at offset 13" in words
    last = ran.text.splitlines()[-1]
    assert last == "1 error, 1 note: 1 file, 12 batches, 30 records, 32 offsets checked"


@pytest.mark.parametrize(
    ("name", "code"),
    [("wrong-file-name", 1), ("torn-tail", 1), ("unknown-record-type", 3), ("garbage-index", 3)],
)
def test_the_exit_code_tells_odd_from_undecoded(kraftool: Run, name: str, code: int) -> None:
    files = [path for path in sorted((DAMAGED / name).iterdir()) if path.name != "SOURCE"]
    assert kraftool("verify-log", *files).code == code


def test_the_document_s_counts_are_of_the_exit_code(kraftool: Run, fixtures_dir: Path) -> None:
    paths = [
        *sorted(fixtures_dir.glob("kafka-*/*/node-1/data")),
        *(child for child in sorted(DAMAGED.glob("*/*")) if child.name != "SOURCE"),
    ]
    codes = set()
    for path in paths:
        ran = kraftool("verify-log", "-o", "json", path)
        document = json.loads(ran.out)
        counts = document["findingCounts"]
        assert (ran.code == 0) == (counts["error"] + counts["warning"] == 0), path
        codes.add(ran.code)
    assert codes == {0, 1, 3}


def test_the_document_counts_what_the_table_counts(kraftool: Run, fixtures_dir: Path) -> None:
    document = json.loads(kraftool("verify-log", "-o", "json", fixtures_dir / NODE).out)
    (verified,) = document["verified"]
    checked = verified["checked"]
    assert {
        name: checked[name] for name in ("fileCount", "batchCount", "recordCount", "endOffset")
    } == {
        "fileCount": 13,
        "batchCount": 116,
        "recordCount": 421,
        "endOffset": 224,
    }
    assert (checked["replayedFrom"], checked["replayedTo"]) == (0, 224)


def test_a_tar_stream_from_stdin_is_verified(kraftool: Run, fixtures_dir: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(fixtures_dir / NODE, arcname="data")
    ran = kraftool("verify-log", "-", stdin=buffer.getvalue())
    assert ran.code == 0, ran.text
    assert "verified, 3 notes: 13 files" in ran.text


def test_several_paths_are_compared(kraftool: Run, fixtures_dir: Path) -> None:
    other = fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    ran = kraftool("verify-log", fixtures_dir / NODE, other)
    assert ran.code == 1
    assert "Between the directories" in ran.text
    assert "KT-DIR-CLUSTER-ID" in ran.text


def test_a_topics_own_segment_is_no_metadata_and_not_judged_by_its_rules(
    kraftool: Run, fixtures_dir: Path
) -> None:
    folder = next(fixtures_dir.glob("kafka-*/*/node-*/data*/orders-*-0"))
    ran = kraftool("verify-log", "-o", "json", folder / LOG)
    findings = json.loads(ran.out)["verified"][0]["findings"]
    assert [finding["code"] for finding in findings] == ["KT-LOG-NOT-METADATA"]
    assert ran.code == 0


def test_a_path_that_is_not_there_is_an_error(kraftool: Run, tmp_path: Path) -> None:
    ran = kraftool("verify-log", tmp_path / "nothing")
    assert ran.code not in (0, 1)
    assert "Traceback" not in ran.err


def test_csv_has_a_row_for_each_finding(kraftool: Run) -> None:
    ran = kraftool("verify-log", "-o", "csv", DAMAGED / "torn-tail" / LOG)
    (row,) = csv.DictReader(io.StringIO(ran.text))
    (verified,) = json.loads(kraftool("verify-log", "-o", "json", DAMAGED / "torn-tail" / LOG).out)[
        "verified"
    ]
    (finding,) = verified["findings"]
    assert (row["code"], row["position"]) == ("KT-LOG-TORN-TAIL", str(finding["position"]))
    assert row["isUndecoded"] == "false"
    assert ran.code == 1
