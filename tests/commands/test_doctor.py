"""`kraftool doctor`: what it prints, the document, --explain, --ignore, and how it ends."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

Run = Callable[..., Any]

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs/schemas"
DAMAGED = ROOT / "fixtures" / "damaged"
HEALTHY = "kafka-4.3.0/static-single/node-1/data"
FALSE_UPGRADE = "kafka-3.9.1/upgrade/node-1/data"
LOG = f"{0:020}.log"


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    loaded = json.loads((SCHEMAS / "doctor.json").read_text())
    Draft202012Validator.check_schema(loaded)
    return Draft202012Validator(loaded)


def test_a_diagnosis_is_a_finding_with_evidence_and_commands():
    of_dump = json.loads((SCHEMAS / "dump.json").read_text())["$defs"]["finding"]
    ours = json.loads((SCHEMAS / "doctor.json").read_text())["$defs"]["diagnosis"]
    assert {**ours["properties"], **of_dump["properties"]} == ours["properties"]
    assert set(ours["required"]) == {*of_dump["required"], "evidence", "commands"}


def test_a_clean_bill_says_how_many_rules_looked(kraftool: Run, fixtures_dir: Path):
    ran = kraftool("doctor", fixtures_dir / HEALTHY)
    assert ran.code == 0
    assert "no problems found, 3 info: " in ran.text
    assert " rules looked at 1 directory\n" in ran.text
    assert f"kraftool verify-log {fixtures_dir / HEALTHY}" in ran.text


def test_a_finding_has_cause_evidence_and_the_next_command(kraftool: Run, fixtures_dir: Path):
    ran = kraftool("doctor", fixtures_dir / FALSE_UPGRADE)
    assert ran.code == 1
    lines = ran.text.splitlines()
    head = lines.index("warning  KT-LOG-FALSE-UPGRADE")
    assert lines[head + 1].startswith("cause    a metadata record says kraft.version")
    assert lines[head + 3] == "evidence 1, where 0 was expected"
    assert lines[head + 4].startswith("next     the quorum still has static voters")
    commands = [each.strip() for each in lines[head + 5 :] if "kafka-features" in each]
    assert commands == [
        "kafka-features --bootstrap-controller 127.0.0.1:39923 describe",
        "kafka-features --bootstrap-controller 127.0.0.1:39923 upgrade --feature kraft.version=1",
    ]


def test_the_place_stands_beside_the_code(kraftool: Run, fixtures_dir: Path):
    ran = kraftool("doctor", fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-4/data")
    snapshot = "__cluster_metadata-0/00000000000000000183-0000000003.checkpoint"
    assert f"error    KT-SNAP-SCRAM-LOST  {snapshot}: offset 183" in ran.text.splitlines()


def test_commands_are_not_broken_over_lines(kraftool: Run, fixtures_dir: Path):
    nodes = sorted(fixtures_dir.glob("kafka-4.3.0/dynamic-quorum/node-*/server.properties"))
    ran = kraftool("doctor", *nodes)
    assert f"  kraftool diff-voters {' '.join(map(str, nodes))}" in ran.text.splitlines()


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        (FALSE_UPGRADE, ("--fail-on", "error"), 0),
        (FALSE_UPGRADE, ("--fail-on", "warning"), 1),
        (FALSE_UPGRADE, ("--ignore", "kt-log-false-upgrade"), 0),
        (FALSE_UPGRADE, ("--ignore", "KT-DIR-EMPTY,kt-log-false-upgrade"), 0),
        (HEALTHY, ("--fail-on", "info"), 1),
        ("damaged/broken-quorum-state", (), 3),
        ("damaged/broken-quorum-state", ("--ignore", "KT-DIR-QUORUM-STATE"), 0),
        ("damaged/torn-tail", ("--fail-on", "error"), 0),
        ("damaged/flipped-bit-in-crc", ("--fail-on", "error"), 3),
    ],
)
def test_the_exit_code_goes_by_severity_and_what_is_ignored(
    kraftool: Run, fixtures_dir: Path, name: str, arguments: tuple[str, ...], code: int
):
    assert kraftool("doctor", *arguments, fixtures_dir / name).code == code


def test_an_unknown_code_and_no_path_are_usage_errors(kraftool: Run, fixtures_dir: Path):
    ran = kraftool("doctor", "--ignore", "KT-NOTHING", fixtures_dir / HEALTHY)
    assert (ran.code, "--explain list" in ran.err) == (2, True)
    assert kraftool("doctor").code == 2
    assert kraftool("doctor", "--explain", "nothing").code == 2


def test_explain_tells_one_code_in_full_and_all_in_a_line_each(kraftool: Run):
    ran = kraftool("doctor", "--explain", "KT-SIG-STUCK-REASSIGNMENT")
    assert ran.code == 0
    assert ran.text.startswith("KT-SIG-STUCK-REASSIGNMENT  warning\nmeaning  ")
    assert "see      KIP-455" in ran.text
    lines = kraftool("doctor", "--explain", "list").text.splitlines()
    assert all(each.startswith("KT-") for each in lines)
    assert len(lines) > 100


def test_the_document_fits_the_schema(
    kraftool: Run, fixtures_dir: Path, schema: Draft202012Validator
):
    cases = [[each] for each in sorted(DAMAGED.iterdir())]
    cases += [sorted(fixtures_dir.glob("kafka-4.3.0/dynamic-quorum/node-*/server.properties"))]
    for paths in cases:
        ran = kraftool("doctor", "-o", "json", *paths)
        document = json.loads(ran.out)
        schema.validate(document)
        counts = document["findingCounts"]
        assert ran.code == (0 if not counts["error"] + counts["warning"] else ran.code)
    assert len(document["directories"]) == 6
    schema.validate(json.loads(kraftool("doctor", "--explain", "list", "-o", "json").out))


def test_what_is_no_document_is_refused(schema: Draft202012Validator):
    assert not schema.is_valid({"schemaVersion": 1, "directories": []})


def test_a_tar_of_a_directory_is_looked_at_too(kraftool: Run, fixtures_dir: Path, tmp_path: Path):
    node = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-4"
    archive = shutil.make_archive(str(tmp_path / "node"), "tar", node, "data")
    assert "KT-SNAP-SCRAM-LOST" in kraftool("doctor", archive).text
    streamed = kraftool("doctor", "-", stdin=Path(archive).read_bytes())
    assert "KT-SNAP-SCRAM-LOST" in streamed.text


def test_a_stream_tells_what_the_directory_and_the_archive_tell(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
):
    """Two nodes in one archive, too: the state of each is looked at."""
    node = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-4"
    archive = shutil.make_archive(str(tmp_path / "node"), "tar", node, "data")
    one = kraftool("doctor", "-o", "json", node / "data")
    streamed = kraftool("doctor", "-o", "json", "-", stdin=Path(archive).read_bytes())
    codes = _codes(json.loads(one.out))
    assert any(each.startswith("KT-SIG-") for each in codes)
    assert _codes(json.loads(streamed.out)) == codes
    assert streamed.code == one.code
    both = shutil.make_archive(str(tmp_path / "both"), "tar", node.parent)
    told = json.loads(kraftool("doctor", "-o", "json", both).out)
    assert "KT-DIR-SKIPPED" not in _codes(told)
    assert any(each.startswith("KT-SIG-") for each in _codes(told))


def _codes(document: dict[str, Any]) -> list[str]:
    """The findings that are not about the file system, which a stream has none of."""
    found = [each["code"] for one in document["directories"] for each in one["diagnoses"]]
    found += [each["code"] for each in document["between"]]
    return sorted(each for each in found if each not in ("KT-DIR-OWNER", "KT-DIR-MODE"))


def test_names_from_data_do_not_act_on_a_terminal_nor_on_a_shell(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
):
    """A user of this fixture has a line break, an escape and an override in the name."""
    node = tmp_path / "node"
    shutil.copytree(fixtures_dir / "kafka-4.4.0/upgrade/node-2/data", node)
    strange = tmp_path / "a\x1b[31m\nb '$(c)\u202e"
    node.rename(strange)
    ran = kraftool("doctor", strange)
    assert "\x1b" not in ran.text
    assert "\u202e" not in ran.text
    document = json.loads(kraftool("doctor", "-o", "json", strange).out)
    (told, *_) = document["deeper"]
    assert told.isprintable()
    words = subprocess.run(
        ["bash", "-c", f"kraftool() {{ printf '%s\\0' \"$@\"; }}; {told}"],
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")
    assert words[1] == os.fsencode(strange)


def test_nothing_in_the_directory_changes(kraftool: Run, fixtures_dir: Path, tmp_path: Path):
    copy = tmp_path / "data"
    shutil.copytree(fixtures_dir / HEALTHY, copy)

    def seen() -> dict[str, tuple[int, bytes]]:
        files = [each for each in copy.rglob("*") if each.is_file()]
        return {str(each): (each.stat().st_mtime_ns, each.read_bytes()) for each in files}

    before = seen()
    assert kraftool("doctor", copy).code == 0
    assert seen() == before
