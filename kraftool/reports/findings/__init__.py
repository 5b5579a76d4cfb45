"""Findings: their form, their catalogue, and how a verdict is marked.

One catalogue for all commands, `reports/findings/kinds/`: `KT-LOG`, `KT-SNAP`, `KT-DIR` by place,
`KT-SIG` for what only several things together show, `KT-FLEET`, `KT-LIVE` and `KT-REC` of fleets,
live quorums and recovery plans (`reports/findings/urgency.py` orders them where there are many). A
kind has everything that all its findings share: severity, meaning, advice, what is at stake,
references, and the remedy, whose commands `doctor/next_steps.py` fills in. A `Finding` adds the
case. `kraftool doctor --explain CODE` prints a kind. A signature that one rule of doctor makes is
declared in the file of that rule. `Finding.keeps_from_starting` decides if Kafka exits when it
starts. The kind says so, or the case does (`with_exit` in `reports/files/snapshot_advice.py`). A
`JudgedDirectory` and a `Survey` have it, so such a node is down in every command.
`tests/interop/start_claims.py` has the starts of real Kafka that decide it, and
`tests/repair/test_start_rule.py` compares. `findings.in_order` is the one place that merges: the
places of one kind and severity in one file become one finding with their `count` and the first of
them. Rules yield each place, so that each can be weighed first.

`reports/findings/status.py` is the only mapping from severities, and from what was not examined, to
the mark and the meaning of a verdict. Commands (`finding_view.py`) and the dashboard (`palette.py`)
have a colour for each meaning. A verdict is green only if it is complete and nothing was found.
`watching/overview.py` gives the title and the tabs the worst of all views, so that a new kind of
error needs no code there to be red.
"""
