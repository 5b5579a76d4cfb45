"""How far back a live leader and a directory are looked at, and what is said of the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftool.raft.messages import FetchResponse, Response
from kraftool.raft.names import OffsetAndEpoch
from tests.client.scripted_leader import ScriptedLeader
from tests.client.test_earlier_log import FOLDER, WHOLE, cleaned_leader, whole_leader
from tests.commands.conftest import Run
from tests.commands.live_leader import OPTIONS, live_leader
from tests.support.places import FIXTURES

KAFKA_4_3 = FIXTURES / "kafka-4.3.0"
CLEANED = KAFKA_4_3 / "log-cleaning/node-1/data"
"""Its log begins at offset 63."""


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedLeader]:
    leader = whole_leader()
    with live_leader(leader, monkeypatch):
        yield leader


@pytest.fixture
def cleaned(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedLeader]:
    leader = cleaned_leader()
    with live_leader(leader, monkeypatch):
        yield leader


def _offsets(text: bytes) -> list[int]:
    lines = map(json.loads, text.splitlines())
    return [line["offset"] for line in lines if line["kind"] == "record"]


def test_dump_log_of_a_leader_reaches_back_beyond_its_snapshot(
    kraftool: Run, whole: ScriptedLeader
) -> None:
    done = kraftool("dump-log", *OPTIONS, "-o", "jsonl", "--since", "2020-01-01")
    assert done.code == 0, done.err
    assert _offsets(done.out) == list(range(1, whole.end))


@pytest.mark.usefixtures("whole")
def test_the_timeline_of_a_leader_is_that_of_its_directory(kraftool: Run) -> None:
    live = kraftool("timeline", *OPTIONS, "-o", "json", "--offsets", "1..", "--only", "topics")
    kept = kraftool("timeline", WHOLE, "-o", "json", "--offsets", "1..", "--only", "topics")
    assert (live.code, kept.code) == (0, 0), live.err
    events, expected = json.loads(live.out)["events"], json.loads(kept.out)["events"]
    assert [event["what"] for event in events] == [event["what"] for event in expected]
    assert len(events) > 5


@pytest.mark.parametrize(
    "asked",
    [("--since", "2020-01-01"), ("--offsets", "5.."), ("--until", "2020-01-01")],
    ids=["since", "offsets", "until"],
)
@pytest.mark.parametrize("command", ["dump-log", "timeline"])
@pytest.mark.usefixtures("cleaned")
def test_what_is_before_a_leaders_log_was_not_looked_at(
    kraftool: Run, command: str, asked: tuple[str, ...]
) -> None:
    done = kraftool(command, *OPTIONS, *asked)
    assert done.code == 3
    text = " ".join((done.text + done.err).split())
    assert "the log begins at offset 59" in text
    assert "kraftool read nothing before that" in text
    assert f"kraftool {command} DIR" in text


@pytest.mark.parametrize("command", ["dump-log", "timeline"])
@pytest.mark.usefixtures("cleaned")
def test_what_is_inside_of_a_leaders_log_was_looked_at(kraftool: Run, command: str) -> None:
    done = kraftool(command, *OPTIONS, "--offsets", "59..")
    assert done.code == 0, done.err
    assert "looked at" not in done.err


@pytest.mark.parametrize("command", ["dump-log", "timeline"])
def test_a_directory_is_held_to_the_same(kraftool: Run, command: str) -> None:
    for asked in (("--since", "2020-01-01"), ("--offsets", "5..70")):
        done = kraftool(command, CLEANED, *asked)
        assert done.code == 3
        assert "begins at offset 63" in " ".join((done.text + done.err).split())
    assert kraftool(command, CLEANED, "--offsets", "63..70").code == 0


def test_nothing_that_matches_is_told_with_where_the_log_begins(kraftool: Run) -> None:
    done = kraftool("dump-log", CLEANED, "--grep", "no-such-word")
    assert done.code == 0
    assert f"nothing matched. The log of {CLEANED} begins at offset 63" in done.err
    assert "--snapshots" in done.err
    whole = kraftool("dump-log", WHOLE, "--grep", "no-such-word")
    assert whole.err.strip().endswith("kraftool: nothing matched")


def test_a_leader_that_sends_no_older_log_is_told(
    kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    leader = whole_leader()
    newest = OffsetAndEpoch(196, 3)

    def shut(response: Response) -> Response:
        if isinstance(response, FetchResponse) and response.batches:
            first = response.batches[0].base_offset
            return response if first >= 190 else FetchResponse(
                leader_id=1, leader_epoch=leader.epoch, high_watermark=leader.end,
                snapshot_id=newest,
            )  # fmt: skip
        return response

    leader.spoil = shut
    with live_leader(leader, monkeypatch):
        done = kraftool("dump-log", *OPTIONS, "--since", "2020-01-01", "-o", "jsonl")
    assert done.code == 3
    assert "did not send the log before its newest snapshot" in done.err
    assert "the log begins at offset 196" in done.err
    assert _offsets(done.out) == list(range(196, leader.end))


# --- diff-state -----------------------------------------------------------------------------------


def test_a_copy_is_compared_with_what_the_leader_has_now(
    kraftool: Run, whole: ScriptedLeader, tmp_path: Path
) -> None:
    copy = tmp_path / "yesterday/__cluster_metadata-0"
    copy.mkdir(parents=True)
    name = f"{125:020}-{2:010}.checkpoint"
    (copy / name).write_bytes((WHOLE / FOLDER / name).read_bytes())
    live = kraftool("diff-state", tmp_path / "yesterday", *OPTIONS, "-o", "json")
    kept = kraftool("diff-state", WHOLE, "--at", "125", "-o", "json")
    assert live.code == kept.code == 1, live.err
    document, expected = json.loads(live.out), json.loads(kept.out)
    assert document["counts"] == expected["counts"]
    assert document["new"]["provenance"] == expected["new"]["provenance"]
    # The leader still has the records after the copy, so it shows when each change was made.
    last = [
        [change["lastOffset"] for change in each_side["changes"]]
        for each_side in (document, expected)
    ]
    assert last[0] == last[1]
    assert all(125 <= offset < whole.end for offset in last[0])


def test_each_change_has_the_record_that_made_it(kraftool: Run) -> None:
    done = kraftool("diff-state", WHOLE, "--at", "40", "--to", "70", "-o", "json")
    changes = json.loads(done.out)["changes"]
    (acl, _) = (change for change in changes if change["entityKind"] == "acl")
    assert (acl["lastOffset"], acl["lastTimestamp"]) == (46, "2026-11-21T04:11:05.489Z")
    (token,) = (change for change in changes if change["entityKind"] == "delegationToken")
    assert token["lastOffset"] == 63, "renewed after it was created at 61"
    assert all(40 <= change["lastOffset"] < 70 for change in changes)
    table = kraftool("diff-state", WHOLE, "--at", "40", "--to", "70")
    assert "2026-11-21T04:11:05.489Z at 46" in " ".join(table.text.split())
    rows = kraftool("diff-state", WHOLE, "--at", "40", "--to", "70", "-o", "csv").text.splitlines()
    assert rows[0].split(",")[:4] == ["entityKind", "changeType", "name", "field"]
    assert any("alice-a SCRAM-SHA-256" in row and ",57," in row for row in rows)


def test_no_time_is_shown_if_the_log_lacks_records(kraftool: Run) -> None:
    """The newer side is a checkpoint: it has the result, and not its time."""
    checkpoint = WHOLE / FOLDER / f"{125:020}-{2:010}.checkpoint"
    older = WHOLE / FOLDER / f"{59:020}-{1:010}.checkpoint"
    done = kraftool("diff-state", older, checkpoint, "-o", "json")
    assert {change["lastOffset"] for change in json.loads(done.out)["changes"]} == {None}


def test_no_time_is_shown_of_two_clusters(kraftool: Run) -> None:
    done = kraftool("diff-state", WHOLE, CLEANED, "--at-end", "-o", "json")
    assert {change["lastOffset"] for change in json.loads(done.out)["changes"]} == {None}


@pytest.mark.usefixtures("whole")
def test_a_leader_is_compared_with_its_own_past(kraftool: Run) -> None:
    live = kraftool("diff-state", *OPTIONS, "--at", "80", "-o", "json")
    kept = kraftool("diff-state", WHOLE, "--at", "80", "-o", "json")
    assert json.loads(live.out)["changes"] == json.loads(kept.out)["changes"]
    moment = json.loads(kept.out)["old"]["provenance"]["lastTimestamp"]
    timed = kraftool("diff-state", *OPTIONS, "--at-time", moment, "-o", "json")
    assert json.loads(timed.out)["old"]["provenance"]["offset"] >= 80


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("a", "b", *OPTIONS), "takes at most one PATH"),
        (OPTIONS, "--at-time 24h"),
        (("a", "--at", "3", "--at-time", "1h"), "contradict each other"),
    ],
)
def test_what_diff_state_cannot_mean_is_usage(
    kraftool: Run, options: tuple[str, ...], message: str
) -> None:
    done = kraftool("diff-state", *options)
    assert done.code == 2
    assert message in done.err
