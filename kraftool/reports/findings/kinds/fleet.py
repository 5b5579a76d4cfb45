"""Problems that only a whole fleet shows: mixed-up clusters, and directories that cannot be
examined.

Owns codes, default severities and advice. What two nodes of one cluster show has the codes of the
other areas; here is what no command on a few directories says.
"""

from __future__ import annotations

from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-FLEET").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

FAILED = _kind(
    "FAILED",
    _ERROR,
    "kraftool failed while it examined a directory. Nothing is known about that directory.",
    "run kraftool doctor --debug on this directory alone, and report its output as a defect",
    undecoded=True,
)
SAME_CLUSTER_ID = _kind(
    "SAME-CLUSTER-ID",
    _ERROR,
    "Two clusters have the same cluster id, so a node of one can join the other.",
    "find out which cluster the id belongs to. The other cluster gets a new id only if you"
    " format it again. Until then keep their networks and bootstrap servers separate",
    stake=Stake.MIXED_UP,
)
OTHER_LOG = _kind(
    "OTHER-LOG",
    _ERROR,
    "A directory has the log of another cluster than its meta.properties names, as after"
    " disks or folders were mixed up. kraftool compares it with neither cluster.",
    "do not start Kafka on it, and delete nothing. Move the whole __cluster_metadata-0 back"
    " to the node that it came from, and look for this node's own",
    stake=Stake.MIXED_UP,
)
ONE_OF_CLONES = _kind(
    "ONE-OF-CLONES",
    _INFO,
    "The log of a directory begins as those of several clusters that were made from one template,"
    " and nothing shows to which of them it belongs. kraftool compares it with no other directory.",
    "name the directory together with those of its own cluster, or put it into their folder",
)
METADATA_VERSION = _kind(
    "METADATA-VERSION",
    _WARNING,
    "Nodes of one cluster are at different levels of metadata.version.",
    "run kraftool features on each directory to see since when. A node that is only behind"
    " catches up when it follows the leader",
)
KRAFT_VERSION = _kind(
    "KRAFT-VERSION",
    _WARNING,
    "Nodes of one cluster are at different levels of kraft.version, so they read the voters"
    " from different places.",
    "run kraftool diff-voters on all directories to see since when. A node that is only"
    " behind catches up when it follows the leader",
)
