"""A node on which Kafka exits is down in every command: by the starts that the claims describe.

`tests/interop/start_claims.py` says of each damage whether a real Kafka starts on it, and its tests
show that. Here the commands judge the same damaged directories, without Kafka.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from kraftool.repair.judging import surveyed_case
from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.election.read import read_case
from kraftool.reports.findings.kinds import KINDS
from tests.interop.start_claims import Claim
from tests.interop.start_claims_quorum import CLAIMS
from tests.interop.starts import CLEANED, SEGMENTS, STATIC, Server, Starts, server
from tests.repair.directories import survey_path

WITHOUT_A_START = (STATIC, SEGMENTS, CLEANED)
"""The healthy directories that are made without Kafka. A node of the others has to be formatted."""
AT_A_RECORD = {
    "KT-LOG-REPLAY", "KT-LOG-UNKNOWN-TYPE", "KT-LOG-RECORD-FORM", "KT-SIG-FEATURE-RANGE",
    "KT-SIG-NO-METADATA-VERSION",
    "KT-SNAP-REPLAY", "KT-SNAP-UNKNOWN-TYPE", "KT-SNAP-RECORD-FORM", "KT-SNAP-METADATA-VERSION",
    "KT-SNAP-FEATURE", "KT-SNAP-BROKER-CONFIG", "KT-SNAP-RECORD", "KT-LOG-CRC-no-index-dies",
}  # fmt: skip
"""Kafka starts, and its controller stops at a record. Only a replay shows that."""
BY_RELEASE = {
    "KT-LOG-UNKNOWN-TYPE", "KT-SNAP-UNKNOWN-TYPE", "KT-SIG-FEATURE-RANGE", "KT-SNAP-FEATURE",
    "KT-SIG-NO-METADATA-VERSION", "KT-SNAP-BROKER-CONFIG", "KT-SNAP-RECORD",
}  # fmt: skip
"""It depends on Kafka's release, or on the record."""
OF_A_BROKER = {"KT-DIR-OFFSETS", "KT-SIG-FOLDER-NAME"}
"""The controller of the node starts."""
OF_NO_VOTER = {"KT-SIG-UNKNOWN-NODE"}
"""The directory is no voter's by its node id, so that no command counts it as one."""
OF_LOG_DIRS = "KT-DIR-LOG-DIR"


def test_each_kind_that_stops_controllers_was_seen_to_do_so() -> None:
    """doctor names such nodes in its block of the quorum."""
    stops = {code for code, kind in KINDS.items() if kind.stops_controller}
    assert stops == {code for code in AT_A_RECORD if code in KINDS} - BY_RELEASE
    for code in stops:
        assert any(_exits(claim) for claim in CLAIMS if claim.code == code), code


def _exits(claim: Claim) -> bool:
    return any(check.__qualname__.startswith("exits.") for check in claim.shows)


def _is_judged(claim: Claim) -> bool:
    return (
        claim.repair is None
        and not claim.peers
        and claim.base in WITHOUT_A_START
        and "4.3.0" in claim.versions
        and not {str(claim), claim.code} & AT_A_RECORD
        and claim.code not in OF_A_BROKER | OF_NO_VOTER
    )


JUDGED = [claim for claim in CLAIMS if _is_judged(claim)]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Server]:
    """Healthy directories without their indexes, which Kafka would write."""
    root = tmp_path_factory.mktemp("healthy")
    starts = Starts("4.3.0", root)
    made = {base: root / base / "data" for base in WITHOUT_A_START}
    starts._static(made[STATIC])
    starts._split(made[SEGMENTS])
    shutil.copytree(made[SEGMENTS], made[CLEANED])
    partition = made[CLEANED] / "__cluster_metadata-0"
    min(partition.glob("*.log")).unlink()
    for path in sorted(partition.glob("*.checkpoint"))[:-2]:
        path.unlink()
    for base in (SEGMENTS, CLEANED):
        for path in (made[base] / "__cluster_metadata-0").glob("*.log"):
            path.with_suffix(".index").touch()
    count = 0

    def copied(base: str) -> Server:
        nonlocal count
        count += 1
        data = root / str(count) / "data"
        shutil.copytree(made[base], data)
        return server(data)

    return copied


@pytest.mark.parametrize("claim", JUDGED, ids=str)
def test_a_node_is_down_where_kafka_exits_and_nowhere_else(
    claim: Claim, copy: Callable[[str], Server]
) -> None:
    node = copy(claim.base)
    claim.damage(node)
    node.write()
    path = str(node.properties)
    sources = read_sources([path])
    locations, findings = locations_of([path])
    verdicts = {
        "diff-voters": any(source.keeps_from_starting for source in sources),
        "doctor": any(
            examined.judged.keeps_from_starting
            for examined in examine(locations, findings).directories
        ),
        "simulate-election": bool(read_case([path]).cannot_start),
        "recover plan": bool(surveyed_case(survey_path(path, now_ms=0)).cannot_start),
    }
    assert verdicts == dict.fromkeys(verdicts, _exits(claim)), sources[0].findings


def test_both_answers_are_asked_for() -> None:
    assert len([claim for claim in JUDGED if _exits(claim)]) > 15
    assert len([claim for claim in JUDGED if not _exits(claim)]) > 40
