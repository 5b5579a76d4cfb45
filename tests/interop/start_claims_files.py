"""The tables of snapshots, small files and settings; see `start_claims.py`."""

from __future__ import annotations

from tests.interop import start_damages as d
from tests.interop import start_damages_snapshots as s
from tests.interop.start_claims import (
    EPOCHS,
    QUORUM_STATE,
    Claim,
    W,
    active,
    cured,
    does_not_report,
    exits,
    has_file,
    has_no_text,
    keeps_log,
    kept,
    logs,
    logs_not,
    never_leads,
    removed,
    reports,
    wiped,
)
from tests.interop.starts import CLEANED, DYNAMIC
from tests.support.places import PARTITION

_SECOND = "Two records of a snapshot are about the same thing. Kafka keeps the second"
_DIES = "Kafka exits on it, when it starts or later"
_BAD = "CorruptRecordException|Record is corrupt|Encountered fatal fault"

SNAPSHOTS = (
    Claim(code="KT-SNAP-DAMAGE", says=_DIES, damage=s.flip_snapshot(), shows=(exits(_BAD),)),
    Claim(
        code="KT-SNAP-DAMAGE", says=_DIES, damage=s.cut_snapshot, name="cut", is_variant=True,
        shows=(exits(_BAD),),
    ),
    Claim(
        code="KT-SNAP-DAMAGE", name="cut-in-footer", damage=s.cut_in_footer,
        says="Kafka does not check this, and loads what is there", shows=(active, keeps_log),
    ),
    Claim(
        code="KT-SNAP-DAMAGE", name="cut-in-half", damage=s.cut_in_second_half, is_variant=True,
        says="Kafka does not check this, and loads what is there", shows=(active, keeps_log),
    ),
    Claim(
        code="KT-SNAP-DAMAGE", name="older", damage=s.flip_snapshot(0),
        says="Kafka starts from the newest snapshot; this older one is not needed for that",
        shows=(active, keeps_log), versions=("4.3.0",),
    ),
    Claim(
        code="KT-SNAP-DAMAGE", name="moved", damage=s.flip_snapshot(), base=CLEANED,
        says="move the snapshot away. Kafka then uses the one at {start}",
        repair=s.remove_newest_snapshot, shows=(active, keeps_log),
    ),
    Claim(
        code="KT-SNAP-DAMAGE", name="reads-log",
        damage=d.all_of(s.only_newest_snapshot, s.flip_snapshot()),
        says="move the snapshot away. Kafka then reads the log",
        repair=s.remove_newest_snapshot, shows=(active, keeps_log),
    ),
    Claim(
        code="KT-SNAP-FORM", says="Kafka does not check this, and loads what is there",
        damage=s.cut_footer, shows=(active, keeps_log),
    ),
    Claim(
        code="KT-SNAP-FORM", says=_DIES, damage=s.empty_snapshot, name="empty",
        shows=(exits("Error while loading snapshot"),),
    ),
    Claim(
        code="KT-SNAP-FORM", says=_DIES, damage=s.cut_header, name="header",
        shows=(exits("First batch is not a control batch"),),
    ),
    Claim(
        code="KT-SNAP-DAMAGE", damage=s.bootstrap(s.noise), name="bootstrap",
        says="Kafka exits on it when it starts, because it finds no metadata.version in it",
        shows=(exits("No FeatureLevelRecord for metadata.version"),),
    ),
    Claim(
        code="KT-SNAP-FORM", damage=s.bootstrap(lambda _: b""), name="bootstrap-empty",
        says="Kafka exits on it when it starts, because it finds no metadata.version in it",
        shows=(exits("No FeatureLevelRecord for metadata.version"),), is_variant=True,
    ),
    Claim(
        code="KT-SNAP-FORM", damage=s.bootstrap(s.without_footer), name="bootstrap-cut",
        says="Kafka starts on it, because it finds metadata.version in it",
        shows=(active, keeps_log),
    ),
    Claim(
        code="KT-SNAP-DAMAGE", damage=s.bootstrap(s.noise), name="bootstrap-moved",
        says="A node that has metadata starts without the file",
        repair=s.remove_bootstrap, shows=(active, keeps_log),
    ),
    Claim(
        code="KT-SNAP-NAME", says="Kafka refuses to start", damage=d.put("backup.checkpoint", b""),
        shows=(exits("Exception"),),
    ),
    Claim(
        code="KT-SNAP-FILE-NAME", says="It takes it for 19-0",
        damage=s.rename_newest_snapshot(f"{196:021}-{3:010}.checkpoint"),
        shows=(logs(r"offset=19, epoch=0"),),
    ),
    Claim(
        code="KT-SNAP-UNKNOWN-TYPE", says="An older Kafka stops at it",
        damage=s.with_record(d.FROM_THE_FUTURE), shows=(exits("Exception"),),
    ),
    Claim(
        code="KT-SNAP-MISSING", says="no snapshot covers its start: Kafka refuses to start",
        damage=W, base=CLEANED, shows=(exits("Inconsistent snapshot state"),),
    ),
    Claim(
        code="KT-SNAP-AHEAD", says="Kafka deletes the log when it next starts",
        damage=s.cut_log_below_newest_snapshot, shows=(active, wiped),
    ),
    Claim(
        code="KT-SNAP-AHEAD", name="bad",
        says="If it is bad, Kafka deletes the log and snapshots and then exits",
        damage=d.all_of(s.cut_log_below_newest_snapshot, s.flip_snapshot()),
        shows=(exits(_BAD), wiped),
    ),
    Claim(
        code="KT-SNAP-REPLAY", says="A controller that loads it stops",
        damage=s.with_record(d.UNKNOWN_PARTITION),
        shows=(exits("Unable to apply PartitionChangeRecord record from snapshot"),),
    ),
    Claim(
        code="KT-SNAP-METADATA-VERSION", damage=s.edit_snapshot(s.without_metadata_version),
        says="The snapshot has no metadata.version. Without it Kafka cannot read or write its"
            " metadata",
        shows=(exits("Encountered fatal fault"),),
    ),
    Claim(
        code="KT-SNAP-FEATURE", says="A controller that does not know it stops",
        damage=s.with_record(d.FUTURE_FEATURE), shows=(exits("Encountered fatal fault"),),
    ),
    Claim(
        code="KT-SNAP-BROKER-CONFIG", versions=("4.3.0",),
        says="A controller of Kafka 4.3 that loads it stops",
        damage=s.with_record(s.broker_config_of_no_number()),
        shows=(exits("Unable to apply ConfigRecord record from snapshot"),),
    ),
    Claim(
        code="KT-SNAP-BROKER-CONFIG", says="one of 3.9 continues", versions=("3.9.1",), name="3.9",
        damage=s.with_record(s.broker_config_of_no_number()), shows=(active, keeps_log),
    ),
    *(
        Claim(
            code="KT-SNAP-BATCH-FORM", name=name, is_variant=True,
            says="Kafka can read this batch", damage=s.rewrite_data(**header),
            shows=(active, keeps_log),
        )
        for name, header in (
            ("append-time", {"attributes": 8}),
            ("producer", {"producer_id": 7, "producer_epoch": 1, "base_sequence": 0}),
            ("max-time", {"max_timestamp": 9}),
            ("offsets", {"last_offset_delta": 1000}),
        )
    ),
    Claim(
        code="KT-SNAP-RECORD-FORM", damage=s.first_record_with_another_time,
        says="Kafka's raft reader refuses the form of a record. A node that loads the snapshot"
            " exits",
        shows=(exits("Exception"),),
    ),
    Claim(
        code="KT-SNAP-RECORD", says="Kafka loads it", damage=s.with_record(d.NO_OP),
        shows=(active, keeps_log, does_not_report("KT-SNAP-REPLAY")),
    ),
    Claim(
        code="KT-SNAP-RECORD", says="Kafka loads it", name="removal", is_variant=True,
        damage=s.with_record(s.threads(None)),
        shows=(active, keeps_log, does_not_report("KT-SNAP-REPLAY")),
    ),
    Claim(
        code="KT-SNAP-RECORD", says="unless KT-SNAP-REPLAY reports it too", name="producer-ids",
        is_variant=True,
        damage=s.with_record(s.NEGATIVE_PRODUCER_IDS),
        shows=(exits("Encountered fatal fault"), reports("KT-SNAP-REPLAY")),
    ),
    Claim(
        code="KT-SNAP-TWICE", says=_SECOND, damage=s.twice(s.threads(5), s.threads(6)),
        shows=(active, keeps_log, logs("num.io.threads -> 6"), logs_not("num.io.threads -> 5")),
    ),
    Claim(
        code="KT-SNAP-TWICE", says=_SECOND, name="acl", is_variant=True,
        damage=s.twice(s.acl("User:a"), s.acl("User:b")), shows=(active, keeps_log),
    ),
    Claim(
        code="KT-SNAP-TWICE", says=_SECOND, name="all", is_variant=True,
        damage=s.edit_snapshot(s.repeated), shows=(active, keeps_log),
    ),
    Claim(
        code="KT-SIG-JUNK-SNAPSHOT", damage=d.put(s.JUNK, b"junk" * 100),
        says="At its next start Kafka deletes the log and all older snapshots because of it, and"
            " then exits on it",
        shows=(exits(_BAD), wiped),
    ),
    Claim(
        code="KT-SIG-STALE-SNAPSHOT", damage=s.stale_snapshot,
        says="Kafka keeps the log. If no other snapshot has a higher epoch, it loads this one",
        shows=(active, keeps_log, logs(r"handleLoadSnapshot\(0+(196|1\d\d|2\d\d)-0+3\)")),
        versions=("4.3.0",),
    ),
    Claim(
        code="KT-SIG-STALE-SNAPSHOT", damage=s.only_stale_snapshot, name="loaded",
        says="and then skips the log's records below the snapshot's offset",
        shows=(active, keeps_log, logs(r"handleLoadSnapshot\(0+\d+-0+1\)")),
    ),
    Claim(
        code="KT-SIG-SNAPSHOT-ATTEMPTS", says="Kafka removes them when it starts",
        damage=d.all_of(*(d.put(f"{at:020}-{9:010}.checkpoint.part") for at in (300, 301, 302))),
        shows=(active, *(removed(f"{at:020}-{9:010}.checkpoint.part") for at in (300, 301, 302))),
    ),
)  # fmt: skip

_ALL_LOG_DIRS = (
    "Kafka checks meta.properties in every directory of log.dirs before it starts. It exits"
)
_REFUSED = "Kafka refuses to start"

FILES = (
    Claim(
        code="KT-DIR-UNKNOWN-FILE",
        says="Kafka does not know this file. It ignores such files",
        damage=d.put("README", b"what"), shows=(active, keeps_log, kept("README")),
    ),
    Claim(
        code="KT-DIR-QUORUM-STATE", says="Kafka refuses to start on this quorum-state",
        damage=d.put("quorum-state", b""), shows=(exits("Exception"),),
    ),
    Claim(
        code="KT-DIR-QUORUM-STATE", says="Kafka refuses to start on this quorum-state", name="half",
        is_variant=True,
        damage=d.put("quorum-state", b'{"leaderEpoch": 1,'), shows=(exits("Exception"),),
    ),
    Claim(
        code="KT-DIR-QUORUM-STATE-ODD",
        says="Kafka accepts this quorum-state, but ignores part of it",
        damage=d.quorum_state(extra=1),
        shows=(active, keeps_log, has_no_text(QUORUM_STATE, "extra")),
    ),
    Claim(
        code="KT-DIR-QUORUM-STATE-MISSING", damage=d.remove("quorum-state"),
        says="Kafka starts and does not know whether this node voted before",
        shows=(active, keeps_log, has_file(QUORUM_STATE, "leaderEpoch")),
    ),
    Claim(
        code="KT-DIR-QUORUM-STATE-BEHIND", says="Kafka raises the epoch when it starts",
        damage=d.quorum_state(leaderEpoch=1),
        shows=(active, keeps_log, logs("is 1, which is smaller than last written epoch"),
               cured("KT-DIR-QUORUM-STATE-BEHIND")),
    ),
    Claim(
        code="KT-DIR-QUORUM-VERSION", base=DYNAMIC,
        says="Kafka accepts it, and rewrites it at its next change",
        damage=d.quorum_state(
            data_version=0, currentVoters=[], votedDirectoryId=None, clusterId="", appliedOffset=0
        ),
        shows=(active, keeps_log, cured("KT-DIR-QUORUM-VERSION")),
    ),
    Claim(
        code="KT-DIR-META-MISSING", damage=d.remove_meta,
        says="Kafka treats the directory as unformatted and does not start",
        shows=(exits("No readable meta.properties files found"),),
    ),
    Claim(
        code="KT-DIR-META", says="Kafka refuses to start on this meta.properties",
        damage=d.meta(cluster_id=None), shows=(exits("No readable meta.properties files found"),),
    ),
    Claim(
        code="KT-DIR-META", says="Kafka refuses to start on this meta.properties", name="version",
        is_variant=True,
        damage=d.meta(version="9"), shows=(exits("No readable meta.properties files found"),),
    ),
    Claim(
        code="KT-DIR-META", says="Kafka refuses to start on this meta.properties", name="negative",
        is_variant=True, damage=d.meta(node_id="-4"), shows=(exits("Stored node id -4"),),
    ),
    Claim(
        code="KT-DIR-META-ODD", says="Kafka starts with this meta.properties",
        damage=d.append_meta(b"node.id=1\n"), shows=(active, keeps_log),
    ),
    Claim(
        code="KT-DIR-META-ODD", says="Kafka starts with this meta.properties", name="uuid",
        base=DYNAMIC, is_variant=True, damage=d.respell_directory_id, shows=(active, keeps_log),
    ),
    Claim(
        code="KT-DIR-META-ODD", says="Kafka starts with this meta.properties", name="key",
        is_variant=True, damage=d.append_meta(b"a\1=b\n"), shows=(active, keeps_log),
    ),
    Claim(
        code="KT-DIR-META-V0", says="Kafka starts with it and leaves it unchanged",
        damage=d.meta(version="0", node_id=None, broker_id="1"),
        shows=(active, keeps_log, has_file("meta.properties", "version=0")),
    ),
    Claim(
        code="KT-DIR-CLUSTER-ID",
        damage=d.second_directory(d.meta(cluster_id="AAAAAAAAAAAAAAAAAAAAAQ")),
        says="a node of one cluster refuses to start with them",
        shows=(exits("Invalid cluster.id in"),),
    ),
    Claim(
        code="KT-DIR-LOG-DIR", says=_ALL_LOG_DIRS,
        damage=d.second_directory(d.meta(cluster_id="AAAAAAAAAAAAAAAAAAAAAQ")),
        shows=(exits("Invalid cluster.id in"),),
    ),
    Claim(
        code="KT-DIR-LOG-DIR", says=_ALL_LOG_DIRS, name="node-id", is_variant=True,
        damage=d.second_directory(d.meta(node_id="7")),
        shows=(exits("Stored node id 7 doesn't match previous node id 1"),),
    ),
    Claim(
        code="KT-DIR-LOG-DIR", says=_ALL_LOG_DIRS, name="directory-id", is_variant=True,
        damage=d.second_directory(d.copy_first_meta), shows=(exits("Duplicate directory ID"),),
    ),
    Claim(
        code="KT-DIR-LOG-DIR", says=_ALL_LOG_DIRS, name="missing", is_variant=True,
        damage=d.second_directory(d.remove_meta), shows=(exits("No `meta.properties` found in"),),
    ),
    Claim(
        code="KT-DIR-METADATA-PLACE", damage=d.metadata_elsewhere(),
        says="Kafka exits when it starts", shows=(exits("Found unexpected metadata location"),),
    ),
    Claim(
        code="KT-DIR-METADATA-PLACE", damage=d.metadata_elsewhere(also_here=True), name="both",
        says="A log directory in which Kafka does not look for the metadata has"
            " __cluster_metadata-0. Kafka exits when it starts",
        shows=(exits("Found unexpected metadata location"),),
    ),
    Claim(
        code="KT-DIR-LOG-DIR-OFFLINE", says="It starts without that directory",
        damage=d.second_directory(d.meta(version="9")), shows=(active, keeps_log),
    ),
    Claim(
        code="KT-DIR-CLUSTER-ID-EMPTY", says="Kafka starts with it", damage=d.meta(cluster_id=""),
        shows=(active, keeps_log),
    ),
    Claim(
        code="KT-DIR-NODE-ID", says=_REFUSED, damage=d.meta(node_id="2"),
        shows=(exits("Stored node id 2 doesn't match previous node id 1"),),
    ),
    Claim(
        code="KT-DIR-EPOCHS", says="Kafka refuses to start on this leader-epoch-checkpoint",
        damage=d.put("leader-epoch-checkpoint", b"what is this"), shows=(exits("Exception"),),
    ),
    Claim(
        code="KT-DIR-EPOCHS", says="delete it: Kafka recreates it from the log", name="deleted",
        damage=d.put("leader-epoch-checkpoint", b"what is this"),
        repair=d.remove("leader-epoch-checkpoint"),
        shows=(active, keeps_log, cured("KT-DIR-EPOCHS-DIFFER"),
               has_file(EPOCHS, r"\n1 0\n2 \d+\n")),
    ),
    Claim(
        code="KT-DIR-EPOCHS-DIFFER", says="Kafka trusts the file",
        damage=d.put("leader-epoch-checkpoint", b"0\n2\n1 0\n77 20\n"),
        shows=(active, keeps_log, has_file(EPOCHS, r"^0\n3\n1 0\n77 20\n78 ")),
    ),
    Claim(
        code="KT-DIR-EPOCHS-DIFFER", says="adds only epochs above the file's last one from the log",
        name="adds", damage=d.put("leader-epoch-checkpoint", b"0\n1\n1 0\n"),
        shows=(active, keeps_log, has_file(EPOCHS, r"\n1 0\n2 \d+\n")),
    ),
    Claim(
        code="KT-DIR-EPOCHS-EMPTY", says="Kafka recreates it from the log when it starts",
        damage=d.put("leader-epoch-checkpoint", b"0\n0\n"),
        shows=(active, keeps_log, has_file(EPOCHS, r"\n1 0\n2 \d+\n")),
    ),
    Claim(
        code="KT-DIR-EPOCHS-EMPTY", says="Kafka recreates it from the log when it starts",
        name="no-byte", damage=d.put("leader-epoch-checkpoint", b""), is_variant=True,
        shows=(active, keeps_log, has_file(EPOCHS, r"\n1 0\n2 \d+\n")),
    ),
    Claim(
        code="KT-DIR-TOPIC-ID",
        says="names another topic than the metadata topic: Kafka refuses to start",
        damage=d.put("partition.metadata", b"version: 0\ntopic_id: BBBBBBBBBBBBBBBBBBBBBQ\n"),
        shows=(exits("Exception"),),
    ),
    Claim(
        code="KT-DIR-TOPIC-ID", says="delete it: Kafka recreates it", name="deleted",
        damage=d.put("partition.metadata", b"version: 0\ntopic_id: BBBBBBBBBBBBBBBBBBBBBQ\n"),
        repair=d.remove("partition.metadata"),
        shows=(active, keeps_log,
               has_file(f"{PARTITION}/partition.metadata", "AAAAAAAAAAAAAAAAAAAAAQ")),
    ),
    Claim(
        code="KT-DIR-LEFTOVER", says="Kafka removes this file itself when it starts",
        damage=d.all_of(*(d.put(name) for name in d.LEFTOVERS)),
        shows=(active, keeps_log, removed(*d.LEFTOVERS)),
    ),
    Claim(
        code="KT-DIR-NO-DIRECTORY-ID", base=DYNAMIC, damage=d.meta(directory_id=None), seconds=3,
        says="Otherwise Kafka writes a random one, and a voter loses its vote",
        shows=(never_leads, has_file("meta.properties", "directory.id=")),
    ),
    Claim(
        code="KT-DIR-STALE-VOTER", base=DYNAMIC, seconds=3,
        damage=d.meta(directory_id="9PTPM4xATAiPu0uKMvmPmg"),
        says="another directory id for this node, as after a change of disks. The node does not"
            " vote",
        shows=(never_leads,),
    ),
    Claim(
        code="KT-DIR-CURRENT-VOTERS", says="Later versions rewrite them",
        damage=d.quorum_state(currentVoters=[{"voterId": 1}, {"voterId": 2}]),
        shows=(active, keeps_log, has_no_text(QUORUM_STATE, r'"voterId": ?2')),
    ),
    Claim(
        code="KT-DIR-STATIC-IGNORED", base=DYNAMIC, says="Kafka ignores it",
        damage=d.settings(controller_quorum_voters="1@localhost:1"), shows=(active, keeps_log),
    ),
    Claim(
        code="KT-DIR-BOOTSTRAP-FORM", base=DYNAMIC, says=_REFUSED,
        damage=d.settings(controller_quorum_bootstrap_servers="nonsense"),
        shows=(exits("Failed to parse host name|controller.quorum.bootstrap.servers"),),
    ),
    Claim(
        code="KT-DIR-NO-QUORUM", base=DYNAMIC, says="the node cannot find its quorum",
        damage=d.settings(controller_quorum_bootstrap_servers=None),
        shows=(exits("controller.quorum.bootstrap.servers must"),),
    ),
    Claim(
        code="KT-SIG-UPGRADE-DIRECTORY-ID", damage=d.meta(directory_id=None),
        says="start that node once with Kafka 3.7 or later, which writes a directory.id",
        shows=(active, has_file("meta.properties", "directory.id=")),
    ),
    Claim(
        code="KT-SIG-NO-LEADER", seconds=4,
        damage=d.all_of(d.quorum_state(leaderEpoch=50, leaderId=-1), d.three_voters),
        says="Kafka does not report this. It only tries again", shows=(never_leads,),
    ),
    Claim(
        code="KT-SIG-NO-METADATA-VERSION", damage=d.without_metadata_version, versions=("4.3.0",),
        says="Kafka 4 exits as soon as it has read such metadata",
        shows=(exits("Unknown metadata version"),),
    ),
    Claim(
        code="KT-SIG-NO-METADATA-VERSION", name="lowest", damage=d.without_metadata_version,
        versions=("3.9.1",), says="exits if the state does not fit that level",
        shows=(exits("could not be represented in metadata.version 3.0"),),
    ),
    Claim(
        code="KT-SIG-FEATURE-RANGE", damage=d.append_records(d.FUTURE_FEATURE),
        says="a controller stops when it reads the record",
        shows=(exits("Unable to apply FeatureLevelRecord|Encountered fatal fault"),),
    ),
    *(
        Claim(
            code="KT-DIR-OFFSETS", name=name, is_variant=name != d.CHECKPOINTS[0],
            says="takes the log directory offline when it starts, and exits if it has no other",
            damage=d.all_of(d.broker_too, d.garble_checkpoint(name)),
            shows=(exits("Shutdown broker because all log dirs"),),
        )
        for name in d.CHECKPOINTS
    ),
    Claim(
        code="KT-DIR-OFFSETS", name="controller", says="A controller does not read the file",
        damage=d.all_of(*map(d.garble_checkpoint, d.CHECKPOINTS)), shows=(active, keeps_log),
    ),
    Claim(
        code="KT-DIR-OFFSETS", name="deleted", says="delete it: the broker writes it again",
        damage=d.all_of(d.broker_too, *map(d.garble_checkpoint, d.CHECKPOINTS)),
        repair=d.remove_checkpoints,
        shows=(active, *(has_file(name, r"^0\n") for name in d.CHECKPOINTS[:3])),
    ),
    Claim(
        code="KT-SIG-FOLDER-NAME", is_variant=True, says="The broker does not start",
        damage=d.all_of(d.broker_too, d.folder("lost+found")),
        shows=(exits("Error starting LogManager"),),
    ),
)  # fmt: skip
