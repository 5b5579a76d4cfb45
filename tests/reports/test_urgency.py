"""Urgency: the severity decides, then what is at stake."""

from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.findings.urgency import urgency_of


def urgency(code: str, severity: Severity) -> int:
    return urgency_of(KINDS[code].at("file", "text", severity=severity))


def test_the_severity_decides_before_the_stake() -> None:
    nuisance = urgency("KT-LOG-INDEX-DIFFERS", Severity.ERROR)
    assert nuisance < urgency("KT-SIG-OLD-MAJORITY", Severity.WARNING)


def test_two_leaders_come_before_no_leader_and_that_before_damage() -> None:
    assert KINDS["KT-LOG-CRC"].undecoded
    assert not KINDS["KT-LOG-INDEX-DIFFERS"].undecoded
    codes = (
        "KT-SIG-OLD-MAJORITY",
        "KT-SIG-NO-MAJORITY",
        "KT-FLEET-OTHER-LOG",
        "KT-LOG-CRC",
        "KT-LOG-INDEX-DIFFERS",
    )
    ranks = [urgency(code, Severity.ERROR) for code in codes]
    assert ranks == sorted(set(ranks))
