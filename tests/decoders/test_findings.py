"""The bounded list of findings."""

from kraftool.decoders.findings import MAX_LISTED, Findings, shown


def test_refusals_come_first_and_make_a_file_unaccepted() -> None:
    findings = Findings()
    findings.note("odd", position=1)
    assert findings.accepted
    findings.refuse("bad", position=2)
    assert not findings.accepted
    assert [finding.reason for finding in findings.listed()] == ["bad", "odd"]


def test_the_first_refusal_is_listed_even_after_too_many_notes() -> None:
    findings = Findings()
    for position in range(MAX_LISTED + 50):
        findings.note("odd", position=position)
    findings.refuse("bad", position=7)
    listed = findings.listed()
    assert listed[0].reason == "bad"
    assert not findings.accepted
    assert (listed[-1].reason, listed[-1].position) == (
        "50 more findings from here on are not listed",
        MAX_LISTED,
    )


def test_what_is_shown_of_the_input_is_short_and_on_one_line() -> None:
    assert shown("a\nb\x1b") == "'a\\nb\\x1b'"
    assert len(shown("x" * 10_000)) < 80
