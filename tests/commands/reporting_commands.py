"""Command lines that report to people, on directories of real Kafka and on damaged ones.

Paths are from the fixtures, and from copies of a quorum with a plan: `{quorum}` and `{plan}`. The
plan was undone in `{quorum}/undone`.
"""

from __future__ import annotations

_QUORUM = "kafka-4.3.0/dynamic-quorum"
_STOPPED = "kafka-4.3.0/upgrade/node-1/data"
_NODES = tuple(f"{_QUORUM}/node-{number}/data" for number in (2, 3, 4))
_PARTITION = f"{_NODES[0]}/__cluster_metadata-0"
_SNAPSHOT = f"{_PARTITION}/00000000000000000203-0000000003.checkpoint"
_SETTINGS = f"{_QUORUM}/node-3/server.properties"
_EXPLAINED = (f"{_PARTITION}/quorum-state", "damaged/garbage-index/00000000000000000000.index")
_SECTIONS = (
    "topics", "partitions", "brokers", "controllers", "features", "configs", "quotas", "acls",
    "scram", "tokens",
)  # fmt: skip

REPORTING: tuple[tuple[str, ...], ...] = (
    ("doctor", *_NODES),
    ("doctor", _QUORUM),
    ("doctor", "-v", _NODES[2]),
    ("doctor", _SETTINGS),
    ("doctor", "kafka-3.9.1/upgrade/node-1/data"),
    ("doctor", "damaged/broken-text-files"),
    ("doctor", "damaged/flipped-bit-in-record"),
    ("doctor", "damaged/snapshot-without-footer"),
    ("doctor", "--explain", "KT-SIG-STUCK-REASSIGNMENT"),
    ("doctor", "--explain", "list"),
    ("dump", _NODES[0]),
    ("dump", "-v", "damaged/flipped-bit-in-record"),
    ("dump", _SETTINGS),
    ("dump", f"{_PARTITION}/00000000000000000000.log"),
    ("dump", f"{_PARTITION}/00000000000000000000.timeindex"),
    ("dump", f"{_PARTITION}/leader-epoch-checkpoint"),
    ("dump", f"{_PARTITION}/quorum-state"),
    ("dump", _SNAPSHOT),
    ("state", _NODES[0]),
    ("state", "--topic", "orders-b", _STOPPED),
    *(("state", "-s", section, _STOPPED) for section in _SECTIONS),
    ("timeline", *_NODES),
    ("verify-log", _NODES[0]),
    ("verify-log", "damaged/flipped-bit-in-record"),
    ("verify-log", "damaged/garbage-log"),
    ("verify-snapshot", _SNAPSHOT),
    ("verify-snapshot", "damaged/truncated-snapshot"),
    ("diff-state", _NODES[0], "--at", "100", "--at", "200"),
    ("diff-voters", *_NODES),
    ("features", _NODES[0]),
    ("features", _SETTINGS, "--to", "4.0"),
    ("storage", "info", "-c", _SETTINGS),
    ("storage", "version-mapping"),
    ("simulate-election", *_NODES, "--runs", "3"),
    ("simulate-election", _NODES[0], "--runs", "3"),
    ("simulate-election", *_NODES, "--down", "2", "--wipe", "3", "--runs", "3"),
    ("recover", "apply", "{plan}", "--dir", "{quorum}/node-3", "--dry-run"),
    ("recover", "rehearse", "{plan}", "--dir", "{quorum}/node-3", "--no-nodes", "--seeds", "1"),
    ("recover", "verify", "{plan}", "--dir", "{quorum}/node-3"),
    ("recover", "undo", "{plan}", "--dir", "{quorum}/undone"),
    *(("explain", "--batches", "0", path) for path in _EXPLAINED),
)
PLANNED = ("recover", "plan", "{quorum}/node-3", "{quorum}/node-11", "--set", "lost=2,4")
NARRATED: tuple[tuple[str, ...], ...] = (
    PLANNED,
    ("recover", "collect", _NODES[0], "--out", "{quorum}/new.collect"),
    ("recover", "collect", "damaged/torn-tail", "--out", "{quorum}/new.collect"),
    ("recover", "guide"),
)
"""They show people on stderr what they do; stdout has a file, or nothing."""
