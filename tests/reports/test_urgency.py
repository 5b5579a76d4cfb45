"""Urgency: what is at stake counts, and every code of the list is a code of the catalogue."""

from kraftool.reports import urgency as module
from kraftool.reports.findings import Severity
from kraftool.reports.kinds import KINDS
from kraftool.reports.urgency import MIXED_UP, NO_QUORUM, TWO_HISTORIES, urgency


def test_every_listed_code_exists_once() -> None:
    listed = [*TWO_HISTORIES, *NO_QUORUM, *MIXED_UP, module._WHOLE_COPY]
    assert len(listed) == len(set(listed))
    assert set(listed) <= KINDS.keys()


def test_the_severity_decides_before_the_stake() -> None:
    nuisance = urgency("KT-LOG-INDEX-DIFFERS", Severity.ERROR)
    assert nuisance < urgency("KT-SIG-OLD-MAJORITY", Severity.WARNING)


def test_two_leaders_come_before_no_leader_and_that_before_damage() -> None:
    ranks = [
        urgency("KT-SIG-OLD-MAJORITY", Severity.ERROR),
        urgency("KT-SIG-NO-MAJORITY", Severity.ERROR),
        urgency("KT-FLEET-OTHER-LOG", Severity.ERROR),
        urgency("KT-LOG-CRC", Severity.ERROR, undecoded=True),
        urgency("KT-LOG-INDEX-DIFFERS", Severity.ERROR),
    ]
    assert ranks == sorted(set(ranks))
