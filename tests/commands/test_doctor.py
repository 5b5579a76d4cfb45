"""`kraftool doctor`: what it prints, the document, --explain, --ignore, and how it ends."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands import finding_view
from tests.repair.directories import APART, EQUAL, Quorum, batches, cut_log, flip_in_batch, poisoned
from tests.support.json_contract import schema
from tests.support.places import ROOT

Run = Callable[..., Any]

DAMAGED = ROOT / "fixtures" / "damaged"
HEALTHY = "kafka-4.3.0/static-single/node-1/data"
FALSE_UPGRADE = "kafka-3.9.1/upgrade/node-1/data"


def test_a_diagnosis_is_a_finding_with_evidence_and_commands() -> None:
    finding = schema("verify-log")["$defs"]["finding"]["properties"]
    diagnosis = schema("doctor")["$defs"]["diagnosis"]["properties"]
    assert diagnosis.keys() - finding.keys() == {"evidence", "commands"}
    assert {**diagnosis, **finding} == diagnosis


def test_a_clean_bill_says_how_many_rules_looked(kraftool: Run, fixtures_dir: Path) -> None:
    ran = kraftool("doctor", fixtures_dir / HEALTHY)
    assert ran.code == 0
    assert "no problems found, 3 notes: " in ran.text
    assert " rules looked at 1 directory\n" in ran.text
    assert f"kraftool verify-log {fixtures_dir / HEALTHY}" in ran.text


def test_a_finding_has_cause_evidence_and_the_next_command(
    kraftool: Run, fixtures_dir: Path
) -> None:
    ran = kraftool("doctor", fixtures_dir / FALSE_UPGRADE)
    assert ran.code == 1
    lines = ran.text.splitlines()
    head = next(number for number, line in enumerate(lines) if "KT-LOG-FALSE-UPGRADE" in line)
    assert re.match(
        r"▲ a metadata record sets kraft\.version.* warning KT-LOG-FALSE-UPGRADE", lines[head]
    )
    assert "    1, where 0 was expected" in lines[head:]
    assert any(line.startswith("  → the quorum still has static voters") for line in lines[head:])
    commands = [line for line in lines[head:] if "kafka-features" in line]
    features = "kafka-features.sh --bootstrap-controller 127.0.0.1:39923"
    assert commands == [
        f"    $ {features} describe",
        f"    $ {features} upgrade --feature kraft.version=1",
    ]


def test_the_place_is_below_the_title(kraftool: Run, fixtures_dir: Path) -> None:
    ran = kraftool("doctor", fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-4/data")
    snapshot = "__cluster_metadata-0/00000000000000000183-0000000003.checkpoint"
    lines = ran.text.splitlines()
    head = next(number for number, line in enumerate(lines) if "error KT-SNAP-SCRAM-LOST" in line)
    assert f"    {snapshot}: offset 183" in lines[head : head + 4]


def test_commands_are_not_broken_over_lines(kraftool: Run, fixtures_dir: Path) -> None:
    nodes = sorted(fixtures_dir.glob("kafka-4.3.0/dynamic-quorum/node-*/server.properties"))
    ran = kraftool("doctor", *nodes)
    assert f"  $ kraftool diff-voters {' '.join(map(str, nodes))}" in ran.text.splitlines()


def test_notes_are_one_line_until_asked_for(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    short, full = kraftool("doctor", path), kraftool("doctor", "-v", path)
    assert short.code == full.code == 0
    codes = re.findall(r"info KT-SIG-\S+", full.text)
    assert len(codes) == 3
    assert not re.findall("KT-SIG-", short.text)
    (line,) = [line for line in short.text.splitlines() if line.startswith("· 3 notes: ")]
    for code in codes:
        assert code.removeprefix("info KT-SIG-").replace("-", " ").lower() in line


def test_the_quorum_comes_first_and_the_worst_node_next(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    nodes = []
    for node in (1, 2, 3):
        source = fixtures_dir / f"kafka-4.3.0/upgrade/node-{node}/data"
        nodes.append(shutil.copytree(source, tmp_path / f"node-{node}"))
    (nodes[2] / "__cluster_metadata-0" / "quorum-state").write_text("{")
    lines = kraftool("doctor", *nodes).text.splitlines()
    assert lines[0] == "The quorum"
    heads = [line.split("  ")[0] for line in lines if re.match(r"[✖▲✓·] node \d  ", line)]
    assert heads[0] == "✖ node 3"
    assert len(heads) == 3


def test_a_folder_of_nodes_is_taken_for_the_directories_below_it(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    for node in (2, 3):
        source = fixtures_dir / f"kafka-4.3.0/dynamic-quorum/node-{node}/data"
        shutil.copytree(source, tmp_path / f"node-{node}/data")
    (tmp_path / "empty").mkdir()
    (tmp_path / "node-9").symlink_to(tmp_path / "node-2")
    ran = kraftool("doctor", tmp_path)
    assert ran.words.startswith(f"2 data directories below {tmp_path}: node-2/data, node-3/data ")
    assert " rules looked at 2 of 3 voters' directories\n" in ran.text
    document = json.loads(kraftool("doctor", "-o", "json", tmp_path).out)
    assert [directory["path"] for directory in document["directories"]][:2] == [
        str(tmp_path / "node-2/data"),
        str(tmp_path / "node-3/data"),
    ]


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
) -> None:
    assert kraftool("doctor", *arguments, fixtures_dir / name).code == code


def test_an_unknown_code_and_no_path_are_usage_errors(kraftool: Run, fixtures_dir: Path) -> None:
    ran = kraftool("doctor", "--ignore", "KT-NOTHING", fixtures_dir / HEALTHY)
    assert (ran.code, "--explain list" in ran.err) == (2, True)
    assert kraftool("doctor").code == 2
    assert kraftool("doctor", "--explain", "nothing").code == 2


def test_explain_tells_one_code_in_full_and_all_in_a_line_each(kraftool: Run) -> None:
    ran = kraftool("doctor", "--explain", "KT-SIG-STUCK-REASSIGNMENT")
    assert ran.code == 0
    assert ran.text.startswith("KT-SIG-STUCK-REASSIGNMENT  warning\nmeaning  ")
    assert "see      KIP-455" in ran.text
    lines = kraftool("doctor", "--explain", "list").text.splitlines()
    for words in (("--explain",), ("--explain", "--color", "never"), ("--quiet", "--explain")):
        assert kraftool("doctor", *words).text.splitlines() == lines, words
    lines = [line for line in lines if not line.startswith(" ")]
    assert all(line.startswith("KT-") for line in lines)
    assert len(lines) > 100


def test_the_document_counts_the_findings_and_csv_has_them_all(
    kraftool: Run, fixtures_dir: Path
) -> None:
    cases = [[path] for path in sorted(DAMAGED.iterdir())]
    cases += [sorted(fixtures_dir.glob("kafka-4.3.0/dynamic-quorum/node-*/server.properties"))]
    for paths in cases:
        ran = kraftool("doctor", "-o", "json", *paths)
        document = json.loads(ran.out)
        counts = document["findingCounts"]
        assert ran.code == (0 if not counts["error"] + counts["warning"] else ran.code)
    assert len(document["directories"]) == 6
    rows = list(csv.DictReader(kraftool("doctor", "-o", "csv", *paths).text.splitlines()))
    assert len(rows) == sum(counts.values())
    assert {row["code"] for row in rows} == set(_all_codes(document))


def test_explanations_in_json_and_csv(kraftool: Run) -> None:
    document = json.loads(kraftool("doctor", "--explain", "list", "-o", "json").out)
    rows = list(
        csv.DictReader(kraftool("doctor", "--explain", "list", "-o", "csv").text.splitlines())
    )
    assert [row["code"] for row in rows] == [code["code"] for code in document["codes"]]


def test_a_tar_of_a_directory_is_looked_at_too(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    node = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-4"
    archive = shutil.make_archive(str(tmp_path / "node"), "tar", node, "data")
    assert "KT-SNAP-SCRAM-LOST" in kraftool("doctor", archive).text
    streamed = kraftool("doctor", "-", stdin=Path(archive).read_bytes())
    assert "KT-SNAP-SCRAM-LOST" in streamed.text


def test_a_stream_tells_what_the_directory_and_the_archive_tell(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    """Two nodes in one archive, too: the state of each is looked at."""
    node = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-4"
    archive = shutil.make_archive(str(tmp_path / "node"), "tar", node, "data")
    one = kraftool("doctor", "-o", "json", node / "data")
    streamed = kraftool("doctor", "-o", "json", "-", stdin=Path(archive).read_bytes())
    codes = _codes(json.loads(one.out))
    assert any(code.startswith("KT-SIG-") for code in codes)
    assert _codes(json.loads(streamed.out)) == codes
    assert streamed.code == one.code
    both = shutil.make_archive(str(tmp_path / "both"), "tar", node.parent)
    document = json.loads(kraftool("doctor", "-o", "json", both).out)
    assert "KT-DIR-SKIPPED" not in _codes(document)
    assert any(code.startswith("KT-SIG-") for code in _codes(document))


def _codes(document: dict[str, Any]) -> list[str]:
    """The findings that are not about the file system, which a stream has none of."""
    all_codes = _all_codes(document)
    return sorted(code for code in all_codes if code not in ("KT-DIR-OWNER", "KT-DIR-MODE"))


def _all_codes(document: dict[str, Any]) -> list[str]:
    of_directories = [
        diagnosis["code"] for one in document["directories"] for diagnosis in one["diagnoses"]
    ]
    return of_directories + [diagnosis["code"] for diagnosis in document["diagnoses"]]


def test_names_from_data_do_not_act_on_a_terminal_nor_on_a_shell(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    """A user of this fixture has a line break, an escape and an override in the name."""
    node = tmp_path / "node"
    shutil.copytree(fixtures_dir / "kafka-4.4.0/upgrade/node-2/data", node)
    strange = tmp_path / "a\x1b[31m\nb '$(c)\u202e"
    node.rename(strange)
    ran = kraftool("doctor", strange)
    assert "\x1b" not in ran.text
    assert "\u202e" not in ran.text
    document = json.loads(kraftool("doctor", "-o", "json", strange).out)
    (command, *_) = document["deeperCommands"]
    assert command.isprintable()
    words = subprocess.run(
        ["bash", "-c", f"kraftool() {{ printf '%s\\0' \"$@\"; }}; {command}"],
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")
    assert words[1] == os.fsencode(strange)


def test_nothing_in_the_directory_changes(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "data"
    shutil.copytree(fixtures_dir / HEALTHY, copy)

    def seen() -> dict[str, tuple[int, bytes]]:
        files = [path for path in copy.rglob("*") if path.is_file()]
        return {str(file): (file.stat().st_mtime_ns, file.read_bytes()) for file in files}

    before = seen()
    assert kraftool("doctor", copy).code == 0
    assert seen() == before


# --- the quorum by what was given ---------------------------------------------------------------


def told_of(ran: Any) -> str:
    """The part on the quorum and the verdict, as one line."""
    _, heading, rest = ran.text.partition("The quorum\n")
    return " ".join(f"{heading}{rest}".split())


def test_one_directory_of_a_quorum_is_no_whole_quorum(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / "kafka-4.3.0/upgrade/node-1/data"
    ran = kraftool("doctor", path)
    text = told_of(ran)
    assert ran.code == 0, "one healthy directory is no alarm"
    assert "1 of 3 voters' directories was checked: voters 2 and 3 were not given." in text
    assert "Committed records from offset 160 on may exist that no directory shows" in text
    assert f"kraftool recover plan {path} --set lost=2,3 --out plan.yaml" in ran.text
    assert f"kraftool simulate-election {path}\n" in ran.text
    assert "no problems found in what was looked at, 3 notes: 51 rules looked at 1 of 3" in text
    whole = kraftool("doctor", *sorted(path.parents[1].glob("node-[123]/data")))
    assert "3 of 3 voters' directories were checked. In any order of starts" in told_of(whole)
    assert "rules looked at 3 directories" in told_of(whole)


def test_a_voter_behind_the_broker_that_was_given_too(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1, 11])
    cut_log(quorum, 1, 5)
    end = batches(quorum.segment(1))[-1].last_offset + 1
    text = told_of(kraftool("doctor", quorum[1], quorum[11]))
    assert f"Node 1 ends at offset {end}, {160 - end} offsets behind node 11." in text
    assert "looked at 1 of 3 voters' directories and 1 other directory" in text


def test_no_host_has_the_path_of_a_tar_stream(kraftool: Run, tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, EQUAL, [1])
    with tarfile.open(tmp_path / "node-1.tar", "w") as tar:
        tar.add(quorum[1], "data")
    ran = kraftool("doctor", tmp_path / "node-1.tar")
    assert "# replace path: kraftool recover collect path --out voter-2.collect" in ran.text
    assert "recover collect " + str(tmp_path) not in ran.text


def test_the_commands_leave_out_settings_whose_directory_is_gone(
    kraftool: Run, tmp_path: Path
) -> None:
    """Each of the commands is one that the next command takes."""
    quorum = Quorum(tmp_path, EQUAL, [1, 3])
    for node, number in ((1, -4), (3, -8)):
        flip_in_batch(quorum.segment(node), number)
    given = []
    for node in (1, 2, 3):
        settings = tmp_path / f"{node}.properties"
        folder = tmp_path / f"node-{node}"
        settings.write_text(f"process.roles=controller\nnode.id={node}\nlog.dirs={folder}\n")
        given.append(settings)
    (tmp_path / "node-2").mkdir()
    for there in ("empty", "gone"):
        if there == "gone":
            (tmp_path / "node-2").rmdir()
        ran = kraftool("doctor", *given)
        commands = re.findall(r"\$ kraftool (recover plan .*)", ran.text)
        (command,) = [line for line in commands if ".collect" not in line]
        assert str(given[1]) not in command
        assert "its data directory is missing or empty" in told_of(ran)
        assert str(given[1]) in told_of(ran)
        words = shlex.split(command.replace("plan.yaml", str(tmp_path / f"{there}.yaml")))
        assert kraftool(*words).code == 0, command


def test_a_path_longer_than_the_line_has_its_code_below_it(kraftool: Run, tmp_path: Path) -> None:
    path = tmp_path / ("long-" * 20)
    lines = kraftool("doctor", path).text.splitlines()
    assert [line.strip() for line in lines if "KT-DIR-READ" in line] == ["error KT-DIR-READ"]


def test_a_broker_directory_without_metadata_may_be_one_of_several(
    kraftool: Run, fixtures_dir: Path
) -> None:
    text = told_of(kraftool("doctor", fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-11/data-b"))
    assert "give the one with the metadata, or server.properties" in text


def test_what_an_emptied_voter_needs(kraftool: Run, tmp_path: Path) -> None:
    dynamic = Quorum(tmp_path / "dynamic", APART, [2, 3])
    shutil.rmtree(dynamic.partition(3))
    ran = kraftool("doctor", dynamic[2], dynamic[3])
    text = told_of(ran)
    assert "Node 3 is a voter with an empty log" in text
    assert "Start 3 only after the other voters have a leader." in text
    assert "with directory.id=2Z8JApBiRl-Vj1-Gz3rfbg in meta.properties" in text
    assert "Static voters" not in text
    leaders = "--bootstrap-controller 127.0.0.1:41733"
    assert f"$ kraftool quorum remove-controller {leaders} -i 3 -d 2Z8J" in ran.text
    static = Quorum(tmp_path / "static", "kafka-3.7.2/static-quorum", [1, 2])
    shutil.rmtree(static.partition(2))
    text = told_of(kraftool("doctor", static[1], static[2]))
    assert "Static voters (controller.quorum.voters): format 2 with its node.id" in text
    assert "Dynamic voters" not in text
    alone = told_of(kraftool("doctor", static[2]))
    assert "Static voters" in alone
    assert "Dynamic voters" in alone
    (tmp_path / "nothing").mkdir()
    nothing = kraftool("doctor", tmp_path / "nothing")
    assert nothing.code == 3
    assert "If a voter had it, the voter lost its log and its identity." in told_of(nothing)


def test_controllers_that_exit_at_a_record_are_named_with_the_quorum(
    kraftool: Run, tmp_path: Path
) -> None:
    """Every log can be read, and any of them could lead; but no controller gets over the record."""
    quorum = Quorum(tmp_path, "kafka-4.3.0/upgrade", [1, 2, 3])
    for node in (1, 2, 3):
        poisoned(quorum, node)
    paths = [quorum[node] for node in (1, 2, 3)]
    shown = " ".join(kraftool("doctor", *paths).text.split())
    head, _, _ = shown.partition(" error KT-LOG-REPLAY")
    assert (
        "Kafka starts on nodes 1, 2 and 3, and exits as soon as its controller has read the"
        " metadata: see below. To plan the repair of nodes 1, 2 and 3: $ kraftool recover plan"
    ) in head
    plan = " ".join(kraftool("recover", "plan", *paths).err.split())
    assert "a record stops controllers" in plan
    simulated = " ".join(kraftool("simulate-election", "--runs", 1, *paths).text.split())
    assert "kraftool doctor also replays the records" in simulated


def test_explain_without_a_code_lists_all(kraftool: Run, fixtures_dir: Path) -> None:
    listed = kraftool("doctor", "--explain", "list")
    alone = kraftool("doctor", "--explain")
    assert alone.code == listed.code == 0
    assert alone.text == listed.text
    assert "KT-LIVE-NO-LEADER" in alone.text
    one = kraftool("doctor", "--explain", "KT-LIVE-NO-LEADER")
    assert len(one.text) < len(listed.text)
    missing = kraftool("doctor", fixtures_dir, "--ignore")
    assert (missing.code, "--ignore requires a value" in missing.err) == (2, True)


def test_a_page_is_named_only_if_the_build_was_given_the_site(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "doctor", fixtures_dir / FALSE_UPGRADE
    page = "https://kraftool.example/reference/findings/KT-LOG-FALSE-UPGRADE.html"
    assert "https://" not in kraftool(*words).text
    site = tmp_path / "site.txt"
    site.write_text("https://kraftool.example\n")
    monkeypatch.setattr(finding_view, "SITE_FILE", site)
    finding_view._site.cache_clear()
    try:
        assert f"\n    {page}\n" in kraftool(*words).text
        assert f"page     {page}\n" in kraftool("doctor", "--explain", "KT-LOG-FALSE-UPGRADE").text
    finally:
        finding_view._site.cache_clear()
