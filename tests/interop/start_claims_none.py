"""Sentences about Kafka that no row of `start_claims.py` shows, each with the reason.

Owns the exceptions of `test_start_claims.py`: by the code, words of the sentence and why.
"""

from __future__ import annotations

_CASE = "the case's own sentence has the offsets, and rows"
_STATE = "says what the state lacks, not what a start does"

NO_START: dict[str, dict[str, str]] = {
    "KT-DIR-NODE-ID-EDITED": {
        "Kafka refuses to start if server.properties": "kraftool then reports KT-DIR-NODE-ID"
    },
    "KT-DIR-META-V0": {"A broker that was migrated": "it takes ZooKeeper and a migration by 3.9.1"},
    "KT-LOG-CRC": {"Kafka cuts the log at the first bad batch": _CASE},
    "KT-LOG-DAMAGE": {"Kafka cuts the log at the first bad batch": _CASE},
    "KT-SIG-NO-SNAPSHOT": {"each start reads all of it": "a matter of time, not of the outcome"},
    "KT-SIG-SCRAM-CONTROLLERS": {
        "Kafka keeps SCRAM credentials": "a matter of logins, not of what is on a disk"
    },
    "KT-SIG-WHOLE-COPY": {"Kafka cuts a damaged log at every start": "KT-LOG-CRC has the rows"},
    "KT-SNAP-DIFFERS": {"continues with another state": _STATE},
    "KT-SNAP-SCRAM-LOST": {
        "A broker that starts from": "tests/interop/test_scram_loss.py shows it"
    },
    "KT-SNAP-TOPIC-CONFIG": {"Kafka leaves them": _STATE},
    "severity_in_context": {
        "Kafka recreates the index when it starts": "KT-LOG-INDEX-DIFFERS has the row"
    },
}
