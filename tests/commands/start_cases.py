"""Commands on small fixtures: what start-up is measured and tested with.

No case needs a live quorum, a terminal, Spark or a directory to write to.
"""

from __future__ import annotations

DATA = "fixtures/kafka-4.3.0/dynamic-quorum/node-2/data"
LOG = f"{DATA}/__cluster_metadata-0/{0:020}.log"
CASES = {
    "version": ["--version"],
    "help": ["--help"],
    "help-of-one": ["help", "dump"],
    "completion": [],
    "dump": ["dump", DATA],
    "dump-json": ["dump", DATA, "-o", "json"],
    "doctor": ["doctor", DATA],
    "doctor-json": ["doctor", DATA, "-o", "json"],
    "state": ["state", DATA],
    "dump-log": ["dump-log", DATA, "--tail", "20"],
    "dump-log-kafka": ["dump-log", LOG, "-o", "kafka"],
    "timeline": ["timeline", DATA],
    "verify-log": ["verify-log", DATA],
    "verify-snapshot": ["verify-snapshot", DATA],
    "diff-voters": ["diff-voters", DATA],
    "diff-state": ["diff-state", DATA, DATA],
    "features": ["features", DATA],
    "explain": ["explain", f"{DATA}/meta.properties"],
    "shell": ["shell", DATA, "--command", "ls"],
    "simulate-election": ["simulate-election", DATA, "--jobs", "1"],
    "recover-plan": ["recover", "plan", DATA, "--set", "lost=3,4"],
    "node-help": ["node", "run", "--help"],
}
"""What is run, by its name; `completion` with the variables of COMPLETION."""
COMPLETION = {
    "_KRAFTOOL_COMPLETE": "complete_bash",
    "COMP_WORDS": "kraftool dump-log --type Par",
    "COMP_CWORD": "3",
}


def variables(name: str) -> dict[str, str]:
    """Return what the environment of this case has beside everything else."""
    return COMPLETION if name == "completion" else {}
