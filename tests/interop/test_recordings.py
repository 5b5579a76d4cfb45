"""Kafka still says what is recorded of it, and a recording notices what it no longer fits.

`make test` asks the newest release again, and the soak all of them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.interop import kafka, recorded
from tests.interop.record import RECORDINGS
from tests.interop.recorded import Outdated, Recording

NEWEST = [recording for recording in RECORDINGS if recording.release == kafka.NEWEST]
OLDER = [recording for recording in RECORDINGS if recording.release != kafka.NEWEST]


@pytest.mark.interop
@pytest.mark.parametrize(
    "recording",
    [*NEWEST, *(pytest.param(recording, marks=pytest.mark.soak) for recording in OLDER)],
    ids=str,
)
def test_kafka_still_says_what_is_recorded(recording: Recording) -> None:
    if problem := kafka.available(recording.release):
        pytest.skip(problem)
    differences = list(recording.differences(recording.ask_again()))
    assert not differences, "\n".join(differences)


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_a_recording_is_about_what_is_there(recording: Recording) -> None:
    assert recording.answers()


def test_every_recording_is_read_by_a_test() -> None:
    """Each file is in the list of recordings, and no two have the same name."""
    kept = set(recorded.FOLDER.rglob("*.json.xz"))
    assert kept == {recording.path for recording in RECORDINGS}
    assert len(RECORDINGS) == len(kept)


# --- what a recording notices ---------------------------------------------------------------------


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recording:
    """A recording of its own folder, with one answer."""
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    source = tmp_path / "Ask.java"
    source.write_text("class Ask {}")
    recording = Recording(
        name="example",
        release="4.3.0",
        command="java/Ask.java FILE",
        sources=(source,),
        about=lambda: {"file": b"bytes"},
        ask=lambda: {"file": "what Kafka says"},
    )
    recording.keep(recording.ask_again())
    return recording


def test_answers_are_given_while_nothing_has_changed(example: Recording) -> None:
    assert example.answers() == {"file": "what Kafka says"}
    assert list(example.differences(example.ask_again())) == []


def test_other_bytes_make_a_recording_outdated(example: Recording) -> None:
    with pytest.raises(Outdated, match="make record KAFKA=4"):
        replace(example, about=lambda: {"file": b"others"}).answers()


def test_another_command_makes_a_recording_outdated(example: Recording) -> None:
    with pytest.raises(Outdated):
        replace(example, command="java/Ask.java --all FILE").answers()


def test_another_source_makes_a_recording_outdated(example: Recording) -> None:
    example.sources[0].write_text("class Ask { int more; }")
    with pytest.raises(Outdated):
        example.answers()


def test_a_recording_that_was_never_made_is_missing(example: Recording) -> None:
    with pytest.raises(Outdated, match="is missing"):
        replace(example, name="other").answers()


def test_another_answer_is_a_difference(example: Recording) -> None:
    [difference] = example.differences({"file": "something else"})
    assert "what Kafka says" in difference
    assert "something else" in difference


def test_a_question_that_is_no_longer_asked_is_a_difference(example: Recording) -> None:
    [difference] = example.differences({})
    assert "file" in difference
