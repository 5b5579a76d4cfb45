"""A collect file that an earlier kraftool wrote says what the directory says today."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from kraftool.repair import collect_file
from kraftool.repair.judging import judge
from kraftool.repair.survey import Survey
from kraftool.repair.surveying import read_directories

_EARLIER = Path(__file__).parent / "testdata" / "with-quorum.collect"
"""Of node 1 of kafka-4.3.0/dynamic-quorum with bit 0 of byte 4584 of its log flipped, by a kraftool
whose surveys had `quorum` and no `node`."""


def test_a_collect_file_with_quorum_gives_the_surveys_and_the_judgement_of_the_directory(
    fixtures_dir: Path, tmp_path: Path
) -> None:
    node = fixtures_dir / "kafka-4.3.0" / "dynamic-quorum" / "node-1" / "data"
    directory = shutil.copytree(node, tmp_path / "node-1")
    log = directory / "__cluster_metadata-0" / "00000000000000000000.log"
    damaged = bytearray(log.read_bytes())
    damaged[4584] ^= 1
    log.write_bytes(damaged)
    [earlier] = collect_file.read(str(_EARLIER)).directories()
    [today] = read_directories(str(directory), now_ms=earlier.survey.collected_ms)
    assert earlier.restored is not None, "the bit is found"
    assert today.restored is not None
    for one, other in ((earlier.survey, today.survey), (earlier.restored, today.restored)):
        assert judge([at_one_place(one)]) == judge([at_one_place(other)])
        assert without_node(one) == without_node(other)


def at_one_place(survey: Survey) -> Survey:
    return replace(survey, path="/data", collect_file="")


def without_node(survey: Survey) -> Survey:
    return replace(at_one_place(survey), tool="", node=None)
