"""The report as a whole: each rule is asked and tested, nothing twice, the worst first."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from kraftool.reports.doctor.explain import explain
from kraftool.reports.doctor.rules import rules
from kraftool.reports.findings.finding import FindingKind, Severity
from kraftool.reports.findings.kinds import KINDS, signatures
from tests.reports.doctor.cases import begun, broker, doctor, node, state

HERE = Path(__file__).resolve().parent


def test_every_rule_has_a_test_that_names_a_code_of_its_findings() -> None:
    assert len(rules()) >= 38
    for rule in rules():
        module = import_module(rule.find.__module__)
        names = re.findall(r"\bkinds\.([A-Z_]+)", Path(module.__file__ or "").read_text())
        kinds = [getattr(module.kinds, name) for name in names] or [module.KIND]
        codes = {kind.code for kind in kinds}
        text = (HERE / f"test_{rule.name}.py").read_text()
        assert codes & set(re.findall(r"\bKT-[A-Z-]+", text)), rule.name


@pytest.mark.soak
@pytest.mark.parametrize("name", [rule.name for rule in rules()])
def test_the_tests_of_a_rule_fail_without_it(name: str) -> None:
    without = f"""
import pytest
from kraftool.reports.doctor import rules
rest = tuple(each for each in rules.rules() if each.name != {name!r})
of_state = tuple(each for each in rules.rules_of_state() if each.name != {name!r})
rules.rules, rules.rules_of_state = lambda: rest, lambda: of_state
raise SystemExit(pytest.main(["-q", "-p", "no:cacheprovider", "{HERE / f"test_{name}.py"}"]))
"""
    done = subprocess.run([sys.executable, "-c", without], cwd=HERE.parents[2], check=False)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


def test_a_signature_is_declared_in_the_file_of_its_name_unless_others_make_it_too() -> None:
    of_rules = {rule.name: import_module(rule.find.__module__) for rule in rules()}
    shared = {kind.code for kind in vars(signatures).values() if isinstance(kind, FindingKind)}
    for code in KINDS:
        if not code.startswith("KT-SIG-"):
            continue
        module = of_rules.get(code.removeprefix("KT-SIG-").replace("-", "_").lower())
        assert code in shared or (module is not None and module.KIND.code == code), code
        assert explain(code)[0].meaning


def test_a_shared_signature_is_told_by_a_rule_too() -> None:
    folder = HERE.parents[2] / "kraftool/reports/doctor/rules"
    text = "".join(path.read_text() for path in folder.rglob("*.py"))
    shared = [name for name, kind in vars(signatures).items() if isinstance(kind, FindingKind)]
    assert shared
    assert [name for name in shared if f"kinds.{name}" not in text] == []


@pytest.mark.parametrize("code", ["KT-SIG-AUTO-JOIN", "KT-SIG-MIN-ISR", "KT-LOG-CRC"])
def test_a_kind_is_found_by_its_code_without_the_others(code: str) -> None:
    script = f"""
from kraftool.reports.findings import kinds
print(kinds.KINDS[{code!r}].code, "KT-SIG-WIPED-VOTER" in kinds._declared)
print([other for other in ("KT-SIG-NOTHING", "KT-SIG-a.b", "KT-SIG-", "KT-", "", "KT-NO-X")
       if other in kinds.KINDS])
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert done.stdout.decode() == f"{code} False\n[]\n"


def test_a_healthy_node_has_a_clean_bill(tmp_path: Path) -> None:
    report = doctor(state(tmp_path / "data", broker(11)))
    assert report.findings == ()
    assert report.deeper_commands[0] == f"kraftool verify-log {tmp_path / 'data'}"


def test_the_worst_comes_first_in_each_directory(fixtures_dir: Path) -> None:
    rank = [Severity.ERROR, Severity.WARNING, Severity.INFO]
    report = doctor(*fixtures_dir.glob("kafka-3.9.1/dynamic-quorum/node-*/server.properties"))
    for section in report.sections:
        ranks = [rank.index(diagnosis.finding.severity) for diagnosis in section.diagnoses]
        assert ranks == sorted(ranks)


def test_what_dump_and_diff_voters_share_is_told_once(tmp_path: Path) -> None:
    path = node(tmp_path / "data", begun(), 2, directory="New-directory-of-nodeA")
    log = path / "__cluster_metadata-0" / f"{0:020}.log"
    log.write_bytes(log.read_bytes() + b"\x01" * 100)
    codes = [finding.code for finding in doctor(path).findings]
    assert codes.count("KT-DIR-STALE-VOTER") == 1
    assert len([code for code in codes if code.startswith("KT-LOG-")]) == 1


def test_ignored_codes_are_left_out_and_counted(fixtures_dir: Path) -> None:
    path = fixtures_dir / "kafka-3.9.1/upgrade/node-1/data"
    before = doctor(path)
    after = doctor(path, ignore=["KT-LOG-FALSE-UPGRADE"])
    assert after.ignored == 1
    assert len(after.findings) == len(before.findings) - 1


def test_a_directory_and_the_settings_that_lead_to_it_are_one_examined(fixtures_dir: Path) -> None:
    node_1 = fixtures_dir / "kafka-4.3.0/static-single/node-1"
    report = doctor(node_1 / "data", node_1 / "server.properties")
    assert [section.path for section in report.sections if section.path] == [str(node_1 / "data")]
    assert report.sections[0].examined is not None
    assert report.sections[0].examined.settings_file.endswith("server.properties")


def test_the_log_directories_of_one_broker_are_no_two_nodes(fixtures_dir: Path) -> None:
    node_11 = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-11"
    report = doctor(node_11 / "data-a", node_11 / "data-b")
    assert {
        finding.code for finding in report.findings if finding.severity is not Severity.INFO
    } == {"KT-SIG-LOST-REPLICAS"}


def test_the_folder_of_a_topic_is_no_metadata_log(fixtures_dir: Path) -> None:
    folders = sorted(fixtures_dir.glob("kafka-4.3.0/static-single/node-1/data/orders-*"))
    assert folders
    for folder in folders:
        assert {finding.severity for finding in doctor(folder).findings} <= {Severity.INFO}


def test_a_path_that_leads_nowhere_is_a_finding_beside_the_others(tmp_path: Path) -> None:
    report = doctor(tmp_path / "nothing", state(tmp_path / "data", broker(11)))
    assert [finding.code for finding in report.findings] == ["KT-DIR-READ"]


def test_a_formatted_directory_that_never_ran_is_fine(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "meta.properties").write_text(
        "version=1\nnode.id=1\ncluster.id=xxuyFdGYSvOPfcYJRNjaMA\n"
        "directory.id=Directory-of-node-001A\n"
    )
    assert {finding.severity for finding in doctor(data).findings} <= {Severity.INFO}


def test_settings_by_themselves_are_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("process.roles=controller\nnode.id=1\nlog.dirs=/nowhere/at/all\n")
    assert "KT-DIR-NO-QUORUM" in [finding.code for finding in doctor(file).findings]
