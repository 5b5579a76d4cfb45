"""`kraftool verify-snapshot`: what it prints, the document, and how it ends."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import ROOT

Run = Callable[..., Any]

DAMAGED = ROOT / "fixtures" / "damaged"
NODE = "kafka-4.3.0/dynamic-quorum/node-2/data"
LOST = "kafka-4.3.0/dynamic-quorum/node-4/data"
NAME = f"{203:020}-{3:010}.checkpoint"
HASH = "1de0822f94381559499f9a9031274dade16ce1a99a638f38f780fb4c8c65263d"


def test_each_snapshot_is_told_with_the_hash_of_its_state(
    kraftool: Run, fixtures_dir: Path
) -> None:
    ran = kraftool("verify-snapshot", fixtures_dir / NODE)
    assert ran.code == 0
    lines = ran.text.splitlines()
    at = next(number for number, line in enumerate(lines) if NAME in line)
    assert lines[at].startswith(f"  __cluster_metadata-0/{NAME}  7.0 kB,")
    assert (
        f" __cluster_metadata-0/{NAME} 7.0 kB, 77 records, metadata.version 4.3-IV0,"
        f" voters 2, 3, 4, compared with its own log state {HASH} "
    ) in ran.words
    assert lines[-1] == (
        "verified: 5 snapshots, 14 batches, 179 records checked, 3 compared with a log"
    )


def test_a_finding_says_where_what_it_means_and_what_to_do(
    kraftool: Run, fixtures_dir: Path
) -> None:
    ran = kraftool("verify-snapshot", fixtures_dir / LOST)
    assert ran.code == 1
    words = " ".join(ran.text.split())
    assert "error KT-SNAP-SCRAM-LOST" in words
    assert "expected SCRAM-SHA-256 of alice-a, found none of these" in words
    assert "because of a bug in Kafka up to 4.4" in words
    assert "→ set the passwords of these users again" in words
    assert ran.text.splitlines()[-1].startswith("2 errors: 3 snapshots")


def test_the_replay_is_left_out_on_request(kraftool: Run, fixtures_dir: Path) -> None:
    ran = kraftool("verify-snapshot", "--no-replay", fixtures_dir / LOST)
    assert ran.code == 0
    assert ran.text.splitlines()[-1].endswith("0 compared with a log")


def test_against_names_the_directory_whose_log_was_replayed(
    kraftool: Run, fixtures_dir: Path
) -> None:
    path = fixtures_dir / NODE / "__cluster_metadata-0" / NAME
    ran = kraftool("verify-snapshot", path, "--against", fixtures_dir / NODE)
    assert ran.code == 0
    assert f"compared with {fixtures_dir / NODE}" in ran.words
    assert ran.text.splitlines()[-1].endswith("1 compared with a log")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("wrong-file-name", 1),
        ("snapshot-without-footer", 1),
        ("empty-files", 1),
        ("truncated-snapshot", 3),
    ],
)
def test_the_exit_code_tells_odd_from_undecoded(kraftool: Run, name: str, code: int) -> None:
    (file,) = (DAMAGED / name).glob("*.checkpoint")
    assert kraftool("verify-snapshot", file).code == code


def test_a_file_that_is_no_snapshot_cannot_be_verified(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / NODE / "__cluster_metadata-0" / f"{0:020}.log"
    ran = kraftool("verify-snapshot", path)
    assert ran.code == 3
    assert ran.text == ""
    assert "is not a snapshot: log" in ran.err


def test_the_document_s_counts_are_of_the_exit_code(kraftool: Run, fixtures_dir: Path) -> None:
    paths = [
        *sorted(fixtures_dir.glob("kafka-*/*/node-*/data")),
        *sorted(DAMAGED.glob("*/*.checkpoint")),
    ]
    codes = set()
    for path in paths:
        ran = kraftool("verify-snapshot", "-o", "json", path)
        document = json.loads(ran.out)
        counts = document["findingCounts"]
        assert (ran.code == 0) == (counts["error"] + counts["warning"] == 0), path
        codes.add(ran.code)
    assert codes == {0, 1, 3}


def test_the_document_has_what_the_table_has(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / NODE
    document = json.loads(kraftool("verify-snapshot", "-o", "json", path).out)
    (verified,) = document["verified"]
    *_, newest = verified["snapshots"]
    assert newest["file"].endswith(NAME)
    assert (newest["offset"], newest["epoch"], newest["state"]) == (203, 3, "live")
    assert (newest["metadataVersionName"], sorted(newest["voterIds"])) == ("4.3-IV0", [2, 3, 4])
    assert (newest["stateHash"], newest["comparedWith"]) == (HASH, ["its own log"])
    bootstrap = verified["snapshots"][0]
    assert (bootstrap["offset"], bootstrap["recordCount"]) == (None, 6)


def test_snapshots_that_differ_between_two_paths_are_a_finding_of_neither(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    one = fixtures_dir / NODE / "__cluster_metadata-0" / NAME
    other = tmp_path / NAME
    source = fixtures_dir / NODE / "__cluster_metadata-0" / f"{153:020}-{3:010}.checkpoint"
    other.write_bytes(source.read_bytes())
    ran = kraftool("verify-snapshot", one, other)
    assert ran.code == 1
    assert "Between the snapshots of the PATHs" in ran.text
    document = json.loads(kraftool("verify-snapshot", "-o", "json", one, other).out)
    (finding,) = document["findings"]
    assert finding["code"] == "KT-SNAP-DIVERGED"
    assert (finding["file"], finding["offset"]) == (str(other), 203)
    assert str(one) in finding["reason"]


def test_a_tar_stream_from_stdin_is_verified(kraftool: Run, fixtures_dir: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(fixtures_dir / NODE, arcname="data")
    ran = kraftool("verify-snapshot", "-", stdin=buffer.getvalue())
    assert ran.code == 0
    assert f"state {HASH}" in ran.text


def test_every_code_of_a_snapshot_has_a_meaning_that_ends_a_sentence() -> None:
    from kraftool.reports.findings.kinds import KINDS

    kinds = [kind for code, kind in KINDS.items() if code.startswith("KT-SNAP-")]
    assert len(kinds) > 25
    assert all(kind.meaning.endswith(".") for kind in kinds)
    assert not any(kind.advice.endswith(".") for kind in kinds)
