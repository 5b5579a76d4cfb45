"""The tables of voters and of several nodes, and all tables together; see `start_claims.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tests.interop import start_damages as d
from tests.interop import start_damages_quorum as q
from tests.interop import start_damages_snapshots as s
from tests.interop.start_claims import (
    EPOCHS,
    LOG,
    Claim,
    active,
    exits,
    has_file,
    keeps_log,
    logs,
    logs_not,
    never_leads,
)
from tests.interop.start_claims_files import FILES, SNAPSHOTS
from tests.interop.starts import DYNAMIC, Started, whole_batches
from tests.support.places import PARTITION


def _log(files: Mapping[str, bytes]) -> bytes:
    names = sorted(name for name in files if name.startswith(PARTITION) and name.endswith(".log"))
    return b"".join(files[name] for name in names)


def keep_what_differs(nodes: Sequence[Started]) -> None:
    """One leads and one follows: each has its own log, and the leader's new batch behind it."""
    assert {node.outcome for node in nodes} == {"active", "started"}, nodes[0].log[-3000:]
    first, second = nodes
    assert _log(first.before) != _log(second.before)
    for node in nodes:
        assert _log(node.after).startswith(_log(node.before))
    assert first.new_batches[0].data == second.new_batches[0].data


def last_truncates(nodes: Sequence[Started]) -> None:
    """The last node's own records are gone, and it has those of the first, which leads."""
    first, last = nodes
    assert (first.outcome, last.outcome) == ("active", "started"), last.log[-3000:]
    own = whole_batches(_log(last.before))[-1]
    theirs = whole_batches(_log(first.before))[-1]
    assert theirs.data not in _log(last.before)
    assert own.data not in _log(last.after)
    assert theirs.data in _log(last.after)


def only_info_of_it(started: Started) -> None:
    """Kafka logs the truncation, and as information only."""
    lines = [line for line in started.log.splitlines() if re.search("[Tt]runcat(ed|ing) to ", line)]
    assert lines
    assert all("] INFO " in line for line in lines), lines


def keeps_copy(started: Started) -> None:
    copies = [name for name in started.before if name.startswith("__cluster_metadata-1/")]
    assert copies
    assert all(started.after[name] == started.before[name] for name in copies)


QUORUM = (
    Claim(
        code="KT-SNAP-KRAFT-VERSION", base=DYNAMIC, seconds=4,
        says="a node that starts from it may know no voters",
        damage=q.snapshot_at_end(voters=False),
        shows=(never_leads, logs(r"[Ss]tarting voters are .*voters=\{\}")),
    ),
    Claim(
        code="KT-SNAP-LOG-VOTERS", base=DYNAMIC, seconds=4, is_variant=True,
        says="A node that starts from the snapshot has other voters than one that reads the log",
        damage=q.snapshot_at_end(voters=True, only=(q.STRANGER,)),
        shows=(never_leads, logs(r"[Ss]tarting voters are .*voters=\{9=")),
    ),
    Claim(
        code="KT-SNAP-LOG-VOTERS", base=DYNAMIC, name="log", is_variant=True,
        says="A node that starts from the snapshot has other voters than one that reads the log",
        damage=q.snapshot_at_end(voters=True, only=(q.STRANGER,)),
        repair=s.remove_newest_snapshot,
        shows=(active, keeps_log, logs(r"[Ss]tarting voters are .*voters=\{1=")),
    ),
    Claim(
        code="KT-SIG-VOTER-LISTENER", base=DYNAMIC,
        says="A node that has to send to this voter stops with an error",
        damage=q.other_listener_first,
        shows=(exits("Unable to find endpoint for voter 2 and listener"),),
    ),
    Claim(
        code="KT-SIG-SAME-PLACE", damage=d.append_records(s.threads(5)), seconds=60,
        peers=(d.append_records(s.threads(6)),),
        says="Kafka compares only these two numbers, so it never notices",
        shows=(logs_not("[Tt]runcat(ed|ing) to |[Dd]iverg"),), together=(keep_what_differs,),
    ),
    Claim(
        code="KT-LOG-DIVERGED", damage=d.append_records(d.NO_OP, epochs=1), is_variant=True,
        peers=(d.append_records(s.threads(6), d.NO_OP),),
        says="it truncates its log when it fetches from the next leader",
        shows=(active, keeps_log), together=(last_truncates,),
    ),
    Claim(
        code="KT-SIG-COMMITTED-MINORITY", damage=q.older_copy_that_went_on, is_variant=True,
        peers=(d.all_of(),),
        says="A node that follows it truncates them, and logs only INFO lines",
        shows=(only_info_of_it,), together=(last_truncates,),
    ),
)  # fmt: skip

DIRECTORY = (
    Claim(
        code="KT-DIR-NODE-ID-EDITED", base=DYNAMIC, seconds=4,
        says="Kafka starts as another node, and a quorum lacks its voter",
        damage=d.all_of(d.meta(node_id="2"), d.settings(node_id="2")), shows=(never_leads,),
    ),
    Claim(
        code="KT-SIG-UNKNOWN-NODE", is_variant=True, damage=d.all_of(
            d.meta(node_id="77", directory_id=None), d.settings(node_id="77")),
        says="controller.quorum.voters does not have this one",
        shows=(exits("node id 77 must be included in the set of voters"),),
    ),
    Claim(
        code="KT-DIR-EPOCHS-MISSING", says="Kafka recreates it from the log when it starts",
        damage=d.remove("leader-epoch-checkpoint"),
        shows=(active, keeps_log, has_file(EPOCHS, r"\n1 0\n2 \d+\n")),
    ),
    Claim(
        code="KT-SIG-LOST-LOG", damage=d.all_of(d.strand_log, d.broker_too),
        says="a sole voter of controller.quorum.voters elects itself in epoch 1 and begins an empty"
            " cluster. Its broker renames the folders of all topics to -stray",
        shows=(active, logs("The metadata log appears to be empty"), has_file(EPOCHS, r"\n1 0\n$"),
               logs("orders-0 marked stray and renamed to ")),
    ),
    Claim(
        code="KT-SIG-LOST-LOG", base=DYNAMIC, seconds=4, name="dynamic", damage=d.strand_log,
        says="A voter of a dynamic quorum starts without voters, and no leader is elected",
        shows=(never_leads, logs(r"[Ss]tarting voters are .*voters=\{\}")),
    ),
    Claim(
        code="KT-SIG-METADATA-COPY", damage=d.all_of(d.broker_too, d.second_partition),
        says="Kafka ignores it and uses only __cluster_metadata-0",
        shows=(active, keeps_log, keeps_copy),
    ),
)  # fmt: skip

CLAIMS = (*LOG, *SNAPSHOTS, *FILES, *QUORUM, *DIRECTORY)
