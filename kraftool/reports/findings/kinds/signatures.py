"""Failure signatures of which doctor's rule is not the only maker.

Every other signature is declared in the file of its rule, below `reports/doctor/rules/`.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES

LOST_LOG = SIGNATURES.kind(
    "LOST-LOG",
    Severity.WARNING,
    "Kafka ran on this directory, and there is no metadata log. If Kafka starts, a sole voter of"
    " controller.quorum.voters elects itself in epoch 1 and begins an empty cluster. Its broker"
    " renames the folders of all topics to -stray. A voter of a dynamic quorum starts without"
    " voters, and no leader is elected.",
    "do not start Kafka. Look for the folder __cluster_metadata-0, which may have been moved or"
    " renamed, and put it back. If another directory of log.dirs has the metadata, name that one"
    " too, or server.properties",
    stake=Stake.TWO_HISTORIES,
)
SAME_PLACE = SIGNATURES.kind(
    "SAME-PLACE",
    Severity.ERROR,
    "Two logs have different bytes at the same offset and epoch. Kafka compares only these"
    " two numbers, so it never notices. The nodes have different metadata from there on.",
    "choose one side, and let it elect a leader. Then treat the nodes of the other side one"
    " at a time: stop Kafka, and move all of __cluster_metadata-0 except quorum-state away"
    " (not meta.properties). The node then fetches everything again",
    stake=Stake.TWO_HISTORIES,
    references=("KIP-595",),
)
NOT_REGISTERED = SIGNATURES.kind(
    "NOT-REGISTERED",
    Severity.WARNING,
    "A voter has not registered as a controller. That blocks every feature upgrade.",
    "start it, or find out why its ControllerRegistration fails. Remove a voter that is gone"
    " for good",
    references=("KIP-919",),
)
RECOVERING = SIGNATURES.kind(
    "RECOVERING",
    Severity.WARNING,
    "A leader was elected uncleanly. Records that were acknowledged may be lost. This state"
    " ends with the next change of the ISR.",
    "compare what producers sent with the records on disk. Find out why the other replicas do not"
    " join the ISR",
    references=("KIP-704",),
    observed=(
        (
            "4.1.1 and later: partitions of one replica stay RECOVERING in the log after an "
            "unclean election, since nothing changes their ISR."
        ),
    ),
)
