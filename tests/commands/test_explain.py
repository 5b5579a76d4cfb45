"""`kraftool explain`: what it prints, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import framing
from kraftool.decoders.batch import encode_batch
from tests.support.places import LOG

Run = Callable[..., Any]


def topic(name: str) -> tuple[None, bytes]:
    return None, framing.encode_record("TopicRecord", 0, {"name": name})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two batches, of offsets 0 and 1 to 2."""
    path = tmp_path / LOG
    path.write_bytes(
        encode_batch([topic("orders")], base_offset=0, epoch=1, timestamp=1_700_000_000_000)
        + encode_batch(
            [topic("[red]pay\x1b[31m\u202e"), topic("c")], base_offset=1, epoch=1, timestamp=5
        )
    )
    return path


def test_the_first_batch_is_shown_and_how_to_go_on(log: Path, kraftool: Run) -> None:
    ran = kraftool("explain", log)
    assert ran.code == 0
    lines = ran.text.splitlines()
    assert lines[0].split() == ["at", "bytes", "field", "type", "value"]
    assert lines[2].split() == ["0", "0000", "0000", "0000", "0000", "baseOffset", "int64", "0"]
    assert any(line.split()[-3:] == ["name", "string", '"orders"'] for line in lines)
    assert ran.err == f"134 bytes follow. Continue with kraftool explain {log} --position 95\n"
    again = kraftool("explain", log, "--position", 95)
    assert again.text.splitlines()[1].split()[:2] == ["95", "batch"]
    assert again.err == ""


def test_nothing_is_wider_than_80_columns(fixtures_dir: Path, kraftool: Run) -> None:
    partition = fixtures_dir / "kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0"
    files = [partition / LOG, *partition.glob("*.checkpoint"), partition / "quorum-state"]
    files += fixtures_dir.glob("damaged/*/*.log")
    for path in files:
        text = kraftool("explain", "--batches", 0, path).text
        assert max(map(len, text.splitlines()), default=0) <= 80, path


def test_position_marks_its_row_and_offset_its_record(log: Path, kraftool: Run) -> None:
    ran = kraftool("explain", log, "--position", 80)
    assert [line.split()[1] for line in ran.text.splitlines() if line.startswith(">")] == ["77"]
    ran = kraftool("explain", log, "--offset", 2)
    (marked,) = [line for line in ran.text.splitlines() if line.startswith(">")]
    assert "records[1]" in marked
    assert "offset 2" in marked


def test_data_cannot_act_on_a_terminal(log: Path, kraftool: Run) -> None:
    text = kraftool("explain", log, "--batches", 0).text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[red]pay\\u001b[31m" in text


def test_colour_is_for_those_who_ask(log: Path, kraftool: Run) -> None:
    assert "\x1b[" in kraftool("explain", log, "--color", "always").text
    assert "\x1b[" not in kraftool("explain", log).text


def test_damage_is_shown_and_the_exit_code_says_so(log: Path, kraftool: Run) -> None:
    data = bytearray(log.read_bytes())
    data[70] = 0x7F
    log.write_bytes(data)
    ran = kraftool("explain", log)
    assert ran.code == 3
    assert "! the batch's CRC does not match its bytes" in ran.text
    assert "! the bytes end before the field does" in ran.text
    assert "2 places are damaged or unknown" in ran.err


def test_json_tiles_the_file(log: Path, fixtures_dir: Path, kraftool: Run) -> None:
    files = [log, *fixtures_dir.glob("damaged/*/*.log"), *fixtures_dir.glob("damaged/*/*.index")]
    files += [fixtures_dir / "kafka-4.3.0/static-single/node-1/data/meta.properties"]
    for path in files:
        document = json.loads(kraftool("explain", "-o", "json", path).out)
        rows = [row for row in document["lines"] if not row["isGroup"]]
        edges = [row["position"] + row["size"] for row in rows]
        assert [row["position"] for row in rows[1:]] == edges[:-1], path


def test_json_rebuilds_the_bytes(log: Path, kraftool: Run) -> None:
    document = json.loads(kraftool("explain", "-o", "json", "--batches", 0, log).out)
    assert document["rest"] is None
    assert document["kind"] == "log"
    rebuilt = "".join(row["hex"] for row in document["lines"] if not row["isGroup"])
    assert bytes.fromhex(rebuilt) == log.read_bytes()
    document = json.loads(kraftool("explain", "-o", "json", log).out)
    assert document["rest"] == {"position": 95, "size": 134}


@pytest.mark.parametrize("output", ["table", "json"])
def test_secrets_are_in_no_form_of_the_output(
    output: str, fixtures_dir: Path, kraftool: Run
) -> None:
    partition = fixtures_dir / "kafka-4.3.0/static-single/node-1/data/__cluster_metadata-0"
    assert b"CANARY" in (partition / LOG).read_bytes()
    for path in [partition / LOG, *partition.glob("*.checkpoint")]:
        ran = kraftool("explain", "-o", output, "--batches", 0, path)
        assert ran.code == 0, ran.err
        assert "CANARY" not in ran.text + ran.err
        # As hex, too, whichever way the columns break it.
        digits = "".join(ran.text.split())
        assert b"CANA".hex() not in digits
        assert b"NARY".hex() not in digits
        assert "[redacted]" in ran.text
    shown = kraftool("explain", "-o", output, "--batches", 0, "--show-secrets", partition / LOG)
    assert "CANARY" in shown.text


def test_a_file_comes_from_stdin_too(log: Path, kraftool: Run) -> None:
    ran = kraftool("explain", "-", stdin=log.read_bytes())
    assert ran.code == 0
    assert ran.text == kraftool("explain", log).text
    assert "explain - --position 95" in ran.err


def test_a_kind_may_be_told(tmp_path: Path, kraftool: Run) -> None:
    path = tmp_path / "copy"
    path.write_bytes(bytes.fromhex("00000007000001ff"))
    ran = kraftool("explain", "--as", "index", path)
    assert ran.code == 0
    assert "[0] relativeOffset" in ran.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--position", "1", "--offset", "1"], "cannot be used together"),
        (["--as", "nonsense"], "is not a kind of file"),
        (["--as", "quorum-state", "--offset", "1"], "has no offsets"),
    ],
)
def test_a_wrong_command_line_is_told(
    arguments: list[str], message: str, log: Path, kraftool: Run
) -> None:
    ran = kraftool("explain", log, *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert ran.out == b""


def test_what_is_not_there_is_told(log: Path, tmp_path: Path, kraftool: Run) -> None:
    for arguments in (
        [tmp_path / "missing"],
        [tmp_path],
        [log, "--position", 229],
        [log, "--offset", 3],
        [log, "--offset", 3, "-o", "json"],
    ):
        ran = kraftool("explain", *arguments)
        assert ran.code == 3, arguments
        assert ran.err.startswith("kraftool: ")
        assert "Traceback" not in ran.err


def test_an_unknown_kind_of_file_is_told(tmp_path: Path, kraftool: Run) -> None:
    path = tmp_path / "what.bin"
    path.write_bytes(b"\x00\x01\x02")
    ran = kraftool("explain", path)
    assert ran.code == 2
    assert "--as" in ran.err


def test_an_empty_log_has_no_rows(tmp_path: Path, kraftool: Run) -> None:
    path = tmp_path / LOG
    path.write_bytes(b"")
    assert kraftool("explain", path).code == 0
    document = json.loads(kraftool("explain", "-o", "json", path).out)
    assert document["lines"] == []


@pytest.mark.parametrize("columns", [80, 120])
def test_the_name_of_a_field_is_never_broken(
    kraftool: Run, fixtures_dir: Path, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A type that does not fit beside its field is below it, and the value stays in its column."""
    log = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data/__cluster_metadata-0" / LOG
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = kraftool("explain", log, "--batches", 0).text.splitlines()
    assert max(map(len, lines)) <= columns
    for name in ("minSupportedVersion", "maxSupportedVersion", "partitionLeaderEpoch"):
        assert sum(name in line for line in lines) == sum(name[:12] in line for line in lines) > 0
    row = next(number for number, line in enumerate(lines) if "minSupportedVersion" in line)
    assert "int16" in lines[row] or lines[row + 1].strip() == "int16"
    value = lines[row].split()[-1]
    heading = next(line for line in lines if line.endswith(" value"))
    assert lines[row].index(value, len(lines[row]) - len(value)) == heading.index("value")


def test_a_name_wider_than_the_column_has_a_line_of_its_own(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "a" * 40
    (tmp_path / "meta.properties").write_text(f"{name}=1\n")
    lines = kraftool("explain", tmp_path / "meta.properties").text.splitlines()
    row = next(number for number, line in enumerate(lines) if name in line)
    assert lines[row].endswith(name), "nothing is beside it"
    assert lines[row + 1].endswith("pair [redacted]")
