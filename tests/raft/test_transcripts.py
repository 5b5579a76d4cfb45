"""The raft core does what the transcripts in testdata/ say, and they cover all scenarios.

A scenario is one line of testdata/scenarios.txt. It counts as covered where a block cites its
number, or a test named here proves it.
"""

import functools
import re
from pathlib import Path

import pytest

from tests.raft import transcript
from tests.raft.transcript import Case
from tests.raft.transcript_words import TranscriptError

TESTDATA = Path(__file__).resolve().parent / "testdata"
FILES = sorted(TESTDATA.glob("[a-lw]_*.txt"))

PROVED_ELSEWHERE = {
    18: "tests/decoders/test_quorum_state.py::test_what_kafka_refuses_has_no_state_and_a_finding",
    19: "tests/decoders/test_quorum_state.py::test_version_1_comes_back",
    68: "tests/raft/test_tally.py::test_a_candidates_voter_cannot_take_its_answer_back",
    124: "tests/raft/test_fetch_versions.py::test_a_voter_s_fetch_commits_whatever_its_version",
    219: "tests/raft/test_names.py::test_sets_overlap_if_at_most_one_key_differs_each_way",
    222: "tests/raft/test_log_view.py::"
    "test_an_epoch_that_began_without_a_record_gives_way_to_the_next",
    223: "tests/raft/test_log_view.py::test_an_epoch_ends_where_the_next_that_is_known_begins",
    225: "tests/storage/test_metadata_log.py::test_a_read_begins_at_the_batch_that_has_the_offset",
    226: "tests/storage/test_metadata_log.py::test_a_read_of_what_is_committed_ends_there",
    227: "tests/storage/test_power_loss.py::"
    "test_what_was_flushed_is_there_after_a_crash_and_the_rest_may_be_lost",
    228: "tests/storage/test_recovery.py::test_what_is_no_batch_at_the_end_is_cut_off",
    229: "tests/storage/test_recovery.py::test_a_log_that_starts_later_needs_its_snapshot",
    230: "tests/storage/test_recovery.py::test_snapshots_below_the_start_of_the_log_go",
    231: "tests/storage/test_metadata_log_snapshots.py::"
    "test_the_oldest_snapshot_goes_when_there_is_too_much",
    233: "tests/sim/test_scenarios.py::test_233_all_start_and_find_one_leader_and_commit",
    234: "tests/sim/test_scenarios.py::test_234_the_others_go_on_without_the_leader_that_ends",
    235: "tests/sim/test_scenarios.py::test_235_a_majority_is_enough_after_all_have_ended",
    236: "tests/sim/test_scenarios.py::"
    "test_236_the_others_go_on_without_a_leader_that_nobody_reaches",
    237: "tests/sim/test_scenarios.py::test_237_the_majority_goes_on_and_the_minority_catches_up",
    238: "tests/sim/test_scenarios.py::test_238_one_leader_after_the_other_is_cut_off",
    239: "tests/sim/test_scenarios.py::test_239_nothing_committed_goes_with_a_disk_that_is_lost",
}
"""Scenarios of files, values, bytes and whole quorums, which no transcript of one node can show;
where they are tested."""

READ_BY_THE_RUNNER = {
    135: "tests/sim/test_serving.py::"
    "test_one_whole_batch_is_given_though_it_is_larger_than_what_was_asked_for",
    170: "tests/sim/test_serving.py::test_a_position_at_the_end_of_a_snapshot_is_out_of_range",
    171: "tests/sim/test_serving.py::test_the_slices_of_a_snapshot_make_the_file",
    220: "tests/storage/test_metadata_log.py::test_an_append_that_does_not_follow_is_refused",
    221: "tests/storage/test_metadata_log.py::test_an_append_that_does_not_follow_is_refused",
    224: "tests/storage/test_truncation.py::test_committed_records_are_not_truncated",
    232: "tests/storage/test_metadata_log.py::"
    "test_a_batch_that_the_next_start_would_take_for_damage_is_refused",
}
"""Scenarios of which transcripts show the core's part, and these tests the rest."""


def _cases() -> list[tuple[Path, Case]]:
    return [(path, case) for path in FILES for case in transcript.parse(path.read_text())]


def _name(value: object) -> str:
    return value.stem if isinstance(value, Path) else getattr(value, "title", "")


@functools.cache
def _rewrite(path: Path) -> None:
    transcript.rewrite(path)


@pytest.mark.parametrize(("path", "case"), _cases(), ids=_name)
def test_the_core_does_what_the_transcript_says(path: Path, case: Case) -> None:
    if transcript.wants_rewrite():
        _rewrite(path)
        return
    for block, shown in case.run():
        assert shown == block.expected, (
            f"{path.name}:{block.line} after {block.commands};"
            f" if that is right: KRAFTOOL_REWRITE=1 pytest tests/raft, and read the diff"
        )


def _scenarios() -> dict[int, str]:
    lines = (TESTDATA / "scenarios.txt").read_text().splitlines()
    numbered = [re.fullmatch(r"(\d+) (\S.*)", line) for line in lines]
    return {int(match[1]): match[2] for match in numbered if match is not None}


def _cited() -> set[int]:
    return {number for _, case in _cases() for block in case.blocks for number in block.scenarios}


def test_every_scenario_is_cited_by_a_transcript() -> None:
    covered = _cited() | PROVED_ELSEWHERE.keys()
    missing = [f"{number} {title}" for number, title in _scenarios().items()
               if number not in covered]  # fmt: skip
    assert not missing, "no transcript shows:\n" + "\n".join(missing)


def test_what_is_cited_is_a_scenario() -> None:
    assert set(_scenarios()) == set(range(1, 240))
    assert _cited() <= set(_scenarios())
    assert set(READ_BY_THE_RUNNER) <= _cited()


@pytest.mark.parametrize("where", [*PROVED_ELSEWHERE.values(), *READ_BY_THE_RUNNER.values()])
def test_what_is_proved_elsewhere_is_there(where: str) -> None:
    name, _, function = where.partition("::")
    source = (TESTDATA.parents[2] / name).read_text()
    assert f"def {function}" in source


def test_titles_of_cases_are_unique_in_a_file() -> None:
    for path in FILES:
        titles = [case.title for case in transcript.parse(path.read_text())]
        assert len(titles) == len(set(titles)), path.name


def test_rewriting_refuses_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KRAFTOOL_REWRITE", "1")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(TranscriptError, match="CI"):
        transcript.wants_rewrite()


def test_rewriting_changes_expectations_and_nothing_else() -> None:
    before = "# Purpose.\n\ncase a node\n# why\nnode 1\nvoters 1 2\nstart\n---- # 1\nwrong\n\n"
    after = transcript.rewritten(before)
    head, _, expected = after.partition("---- # 1\n")
    assert head == before.partition("---- # 1\n")[0]
    assert expected.startswith("persist epoch 0 (v1)\n= Unattached epoch 0")
    assert transcript.rewritten(after) == after


@pytest.mark.parametrize(
    "text",
    [
        "case without purpose\nstart\n----\n",
        "# Purpose.\nstart\n----\n",
        "# Purpose.\ncase no end\nstart\n",
        "# Purpose.\ncase no command\n----\n",
        "# Purpose.\ncase no end of a block\nstart\n\ncase another\n",
    ],
)
def test_a_transcript_out_of_form_is_refused(text: str) -> None:
    with pytest.raises(TranscriptError):
        transcript.parse(text)
