"""A directory in which a plan was carried out, or half so: reports tell it, no plan is made."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftool.repair.backup import Backup
from kraftool.repair.half_done import half_done
from kraftool.repair.narration import complaints
from kraftool.repair.plan import Plan
from kraftool.repair.planner import plan_for
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.request import PlanRequest
from kraftool.reports.directory.report import read_location
from kraftool.reports.doctor.read import examine
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.paths import open_path
from kraftool.storage.repair_journal import FOLDER
from tests.repair.directories import Quorum, survey_path
from tests.repair.repair_cases import NOW, Killed, apply, undo
from tests.reports.voter_cases import server
from tests.support.places import PARTITION


def killed_at_the_first_change(monkeypatch: pytest.MonkeyPatch, run: Callable[[], object]) -> None:
    """Everything is ready, and then nothing more happens."""

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Backup, "switch", killed)
        patched.setattr(Backup, "remove", killed)
        with pytest.raises(Killed):
            run()


def told(directory: Path) -> list[Finding]:
    """What every report says of it."""
    dumped = read_location(open_path(str(directory))).all_findings
    verified = verify_logs([open_path(str(directory))]).rows
    partition = verify_logs([open_path(str(directory / PARTITION))]).rows
    diagnosed = diagnose(examine([open_path(str(directory))])).findings
    by_reader = [
        [finding for finding in findings if finding.code.startswith("KT-REC")]
        for findings in (dumped, verified, partition, diagnosed)
    ]
    codes = [[finding.code for finding in findings] for findings in by_reader]
    assert codes == codes[:1] * 4
    return by_reader[0]


def plan_again(directory: Path) -> None:
    surveys = survey_path(str(directory), now_ms=NOW)
    plan_for(PlanRequest(surveys=surveys, now_ms=NOW, lost=frozenset({2, 4})))


def test_a_directory_without_a_plan_says_nothing_of_plans(directory: Path) -> None:
    assert told(directory) == []
    plan_again(directory)


@pytest.mark.parametrize("verb", ["apply", "undo"])
def test_a_half_done_plan_is_told_with_the_command_that_finishes_it(
    directory: Path, plan: Plan, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if verb == "undo":
        apply(plan, directory)
    run = apply if verb == "apply" else undo
    killed_at_the_first_change(monkeypatch, lambda: run(plan, directory))
    (finding,) = told(directory)
    assert (finding.code, finding.severity) == ("KT-REC-HALF", Severity.ERROR)
    file = directory / PARTITION / FOLDER / plan.id[:12] / "plan.yaml"
    command = f"kraftool recover {verb} {file} --dir {directory}"
    assert command in finding.advice
    (survey,) = survey_path(str(directory), now_ms=NOW)
    assert command in survey.half_done
    assert command in next(complaints(survey))
    with pytest.raises(PlanRefused, match="half done there") as refused:
        plan_again(directory)
    assert command in refused.value.hint


def test_once_a_node_has_run_on_it_another_plan_may_be_made(
    directory: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_at_the_first_change(monkeypatch, lambda: apply(plan, directory))
    assert half_done(str(directory))
    (directory / PARTITION / "quorum-state").write_text('{"data_version":1,"leaderEpoch":9}')
    assert half_done(str(directory)) == ""
    assert told(directory)[0].code == "KT-REC-HALF", "the files alone do not tell a report so"


def test_what_was_carried_out_is_told_and_keeps_nobody_away(directory: Path, plan: Plan) -> None:
    apply(plan, directory)
    for stage in ("applied", "undone"):
        (finding,) = told(directory)
        assert (finding.code, finding.severity) == ("KT-REC-KEPT", Severity.INFO)
        assert finding.text == f"recovery plan {plan.id[:12]} is {stage} here"
        assert half_done(str(directory)) == ""
        if stage == "applied":
            undo(plan, directory)
    plan_again(directory)


def test_a_log_that_a_plan_took_away_is_not_missed(directory: Path, plan: Plan) -> None:
    """After a jump the node goes on from the checkpoint alone; any other log is missed."""

    def missing() -> list[Severity]:
        findings = read_location(open_path(str(directory))).all_findings
        return [finding.severity for finding in findings if finding.code == "KT-LOG-MISSING"]

    apply(plan, directory)
    assert not list((directory / PARTITION).glob("*.log"))
    assert missing() == [Severity.INFO]
    (checkpoint,) = [edit.target.name for edit in plan.hosts[0].edits if edit.snapshot is not None]
    path = directory / PARTITION / checkpoint
    path.rename(path.with_name(f"{9000:020}-{1003:010}.checkpoint"))
    assert missing() == [Severity.WARNING]


def test_a_journal_that_says_nothing_is_a_finding(directory: Path, plan: Plan) -> None:
    apply(plan, directory)
    journal = directory / PARTITION / FOLDER / plan.id[:12] / "journal"
    data = bytearray(journal.read_bytes())
    data[20] ^= 1
    journal.write_bytes(bytes(data))
    texts = [finding.text for finding in read_location(open_path(str(directory))).all_findings]
    assert any("its checksum does not match" in text for text in texts)
    assert half_done(str(directory)) == ""


def test_a_folder_of_somebody_else_is_told_of(
    directory: Path, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """apply was run as root, and doctor is not."""
    apply(plan, directory)
    folder = str(directory / PARTITION / FOLDER)
    scandir = os.scandir

    def shut(path: str) -> Iterator[os.DirEntry[str]]:
        if path == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", shut)
    (finding,) = told(directory)
    assert (finding.code, finding.severity) == ("KT-REC-KEPT", Severity.INFO)
    assert "cannot be read: Permission denied" in finding.text


def test_a_lost_static_majority_has_no_findings_that_a_plan_explains(tmp_path: Path) -> None:
    """Between apply and the first start: the epoch has no leader yet, and the new voters in
    server.properties have elected none."""
    quorum = Quorum(tmp_path, "kafka-3.7.2/static-quorum", [1, 11])
    plan = quorum.plan("lost=2,3", "endpoint.1=CONTROLLER://localhost:9091")
    explained = {"KT-SIG-NO-LEADER", "KT-DIR-STATIC-DIFFER", "KT-DIR-CURRENT-VOTERS"}

    def found(voters: str) -> list[Finding]:
        settings = {"controller_quorum_voters": voters, "log_dirs": str(quorum[1])}
        settings["controller_quorum_bootstrap_servers"] = ""
        properties = server(tmp_path / "server.properties", 1, **settings)
        findings = diagnose(examine([open_path(str(properties))])).findings
        return [finding for finding in findings if finding.code in explained]

    apply(plan, quorum[1])
    (finding,) = found("1@localhost:9091,2@localhost:9092,3@localhost:9093")
    assert "a recovery plan wrote these voters" in finding.advice
    assert not found("1@localhost:9091")
    state = quorum.partition(1) / "quorum-state"
    state.write_text(state.read_text().replace(":-1", ": -1"))
    assert {finding.code for finding in found("1@localhost:9091")} == {
        "KT-SIG-NO-LEADER",
        "KT-DIR-STATIC-DIFFER",
    }, "a node ran since"
