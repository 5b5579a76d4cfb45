"""What only a whole fleet shows: clusters that are mixed up, and directories that defy examination.

Owns codes, default severities and advice. What two nodes of one cluster show has the codes of the
other areas; here is what no command on a few directories says.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-FLEET").kind
_ERROR, _WARNING = Severity.ERROR, Severity.WARNING

FAILED = _kind(
    "FAILED",
    _ERROR,
    "A directory could not be examined, since kraftool failed on it; nothing is known of it.",
    "run kraftool doctor --debug on this directory alone, and report what it says",
    undecoded=True,
)
SAME_CLUSTER_ID = _kind(
    "SAME-CLUSTER-ID",
    _ERROR,
    "Two clusters have one cluster id: nothing keeps a node of one from joining the other.",
    "find out which one has the id by right; the other can get a new one only by being formatted"
    " anew. Until then keep their networks and bootstrap servers apart",
    stake=Stake.MIXED_UP,
)
OTHER_LOG = _kind(
    "OTHER-LOG",
    _ERROR,
    "A directory holds the log of another cluster than its meta.properties names, as after disks or"
    " folders were mixed up; it is not compared with either.",
    "do not start Kafka on it, and delete nothing: __cluster_metadata-0 is to go back to the node"
    " that it is from, as a whole, and this node's own is to be looked for",
    stake=Stake.MIXED_UP,
)
METADATA_VERSION = _kind(
    "METADATA-VERSION",
    _WARNING,
    "Nodes of one cluster are at different levels of metadata.version.",
    "kraftool features on each directory tells since when; a node that is merely behind catches up"
    " when it follows the leader",
)
KRAFT_VERSION = _kind(
    "KRAFT-VERSION",
    _WARNING,
    "Nodes of one cluster are at different levels of kraft.version, so that they look for the"
    " voters in different places.",
    "kraftool diff-voters on all directories tells since when; a node that is merely behind catches"
    " up when it follows the leader",
)
