"""What kraftool says that Kafka does with a damaged directory, and how a start of Kafka shows it.

Owns the tables: each row names the kind, the words that kraftool prints, the damage, and what is
seen when a real Kafka starts on it. A sentence about Kafka that has no row needs a reason in
`NO_START`; `test_start_claims.py` fails without one. Words may hold what the start showed: `{end}`
(where the node that leads goes on), `{start}` (where the log begins), `{old_end}`, `{lost}`
(offsets cut) and `{after}` (offsets behind the start of a wiped log).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.interop import start_damages as d
from tests.interop import start_damages_snapshots as s
from tests.interop.starts import CLEANED, SECONDS, SEGMENTS, STATIC, VERSIONS, Started
from tests.support.places import PARTITION

Check = Callable[[Started], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One sentence, and what proves it."""

    code: str
    says: str
    damage: d.Damage
    shows: tuple[Check, ...]
    base: str = STATIC
    peers: tuple[d.Damage, ...] = ()
    """Damages of copies of the healthy directory that nodes 2 and up start on, as voters too.

    Of two voters one is active only when the other has fetched its records.
    """
    together: tuple[Callable[[Sequence[Started]], None], ...] = ()
    """What all nodes together show, node 1 being the first."""
    repair: d.Damage | None = None
    """What the advice says to do, done before the start."""
    versions: tuple[str, ...] = VERSIONS
    seconds: int = SECONDS
    writes: bool = False
    """Stop the node only when it has written a record as the active controller."""
    name: str = ""
    is_variant: bool = False
    """Another row shows the same sentence: this one runs in the soak only."""

    def __str__(self) -> str:
        return f"{self.code}{f'-{self.name}' if self.name else ''}"


# --- what a start shows ---------------------------------------------------------------------------


def active(started: Started) -> None:
    assert started.outcome == "active", started.log[-3000:]


def exits(pattern: str) -> Check:
    """Kafka ended its process, and its log says why."""

    def check(started: Started) -> None:
        assert started.outcome == "exit", started.outcome
        assert re.search(pattern, started.log), started.log[-3000:]

    return check


def logs(pattern: str) -> Check:
    def check(started: Started) -> None:
        assert re.search(pattern, started.log), started.log[-3000:]

    return check


def logs_not(pattern: str) -> Check:
    def check(started: Started) -> None:
        assert not re.search(pattern, started.log), pattern

    return check


def says_nothing(started: Started) -> None:
    """No error in Kafka's log."""
    assert not started.errors


def warns(started: Started) -> None:
    """A warning of the cut, and no error."""
    assert "Corruption found in segment" in started.log
    assert not started.errors


def never_leads(started: Started) -> None:
    assert started.outcome in ("started", "waiting"), started.outcome
    assert not started.new_batches


def keeps_log(started: Started) -> None:
    assert started.end == started.old_end
    for name in started.names(".log", before=True):
        old = started.before[f"{PARTITION}/{name}"]
        assert started.after[f"{PARTITION}/{name}"].startswith(old[: len(old) // 2]), name


def cut(started: Started) -> None:
    assert started.end is not None
    assert started.end < started.old_end


def deletes_later_segments(started: Started) -> None:
    assert len(started.names(".log", before=True)) > 1
    assert len(started.names(".log")) == 1


def keeps_later_segments(started: Started) -> None:
    assert started.names(".log") == started.names(".log", before=True)


def wiped(started: Started) -> None:
    """The log begins at the newest snapshot, and no other snapshot is left."""
    newest = max(started.names(".checkpoint", before=True), key=lambda name: (name[21:], name))
    assert started.start == int(newest[:20])
    assert started.names(".log") == [f"{newest[:20]}.log"]
    assert started.names(".checkpoint") == [newest]


def removed(*names: str) -> Check:
    def check(started: Started) -> None:
        for name in names:
            assert f"{PARTITION}/{name}" in started.before
            assert f"{PARTITION}/{name}" not in started.after

    return check


def kept(*names: str) -> Check:
    def check(started: Started) -> None:
        for name in names:
            path = f"{PARTITION}/{name}"
            assert started.after[path] == started.before[path]

    return check


def cured(code: str) -> Check:
    """kraftool does not report the code after the start."""

    def check(started: Started) -> None:
        assert code not in started.codes_now()

    return check


def reports(code: str) -> Check:
    """kraftool reports this code, too."""

    def check(started: Started) -> None:
        assert code in {finding.code for finding in started.findings}

    return check


def does_not_report(code: str) -> Check:
    def check(started: Started) -> None:
        assert code not in {finding.code for finding in started.findings}

    return check


def has_file(name: str, pattern: str) -> Check:
    """A file of the data directory has a text after the start."""

    def check(started: Started) -> None:
        assert re.search(pattern, started.after[name].decode()), started.after[name]

    return check


def has_no_text(name: str, pattern: str) -> Check:
    def check(started: Started) -> None:
        assert not re.search(pattern, started.after[name].decode()), started.after[name]

    return check


EPOCHS = f"{PARTITION}/leader-epoch-checkpoint"
QUORUM_STATE = f"{PARTITION}/quorum-state"
W = d.without_snapshots
_CUT = (
    "it cuts the log at offset {end} and only writes warnings to its own log. {lost} offsets are"
    " lost with it"
)
_WIPED = (
    "it deletes the whole log and continues from the snapshot at {start} and only writes"
    " warnings to its own log. {after} offsets after the snapshot are lost with the log"
)
_HOLE = "Kafka cuts only this segment, at offset {cut}, and keeps the later ones"

LOG = (
    Claim(
        code="KT-LOG-CRC", says=_CUT, damage=d.all_of(W, d.flip_batch()),
        shows=(active, cut, warns),
    ),
    Claim(
        code="KT-LOG-CRC", says=_CUT, name="clean-stop", is_variant=True,
        damage=d.all_of(W, d.flip_batch(), d.mark_clean_stop), shows=(active, cut, warns),
    ),
    Claim(
        code="KT-LOG-CRC", says=_CUT, name="segments", base=SEGMENTS,
        damage=d.all_of(W, d.flip_batch()),
        shows=(active, cut, warns, deletes_later_segments),
    ),
    Claim(
        code="KT-LOG-CRC", says=_CUT, name="first-batch",
        is_variant=True, damage=d.all_of(W, d.flip_batch(part=0)),
        shows=(active, cut, warns),
    ),
    Claim(
        code="KT-LOG-CRC", says=_CUT, name="behind-snapshot", damage=d.damage_after_newest_snapshot,
        shows=(active, cut, warns),
    ),
    Claim(
        code="KT-LOG-CRC", says=_WIPED, name="snapshot", damage=d.flip_batch(),
        shows=(active, wiped, warns),
    ),
    Claim(
        code="KT-LOG-CRC", says=_WIPED, name="cleaned",
        is_variant=True, base=CLEANED, damage=d.flip_batch(),
        shows=(active, wiped, warns),
    ),
    Claim(
        code="KT-LOG-CRC", name="bad-snapshot", damage=d.all_of(s.flip_snapshot(), d.flip_batch()),
        says="it deletes the whole log. Then it exits on the snapshot at {start}, which is damaged",
        shows=(exits("CorruptRecordException|Record is corrupt|crc"), wiped),
    ),
    Claim(
        code="KT-LOG-CRC", name="cut-snapshot", damage=d.all_of(s.cut_footer, d.flip_batch()),
        says="or loads what is left of it", shows=(active, wiped),
    ),
    Claim(
        code="KT-LOG-CRC", says=_HOLE, name="no-index", base=SEGMENTS,
        damage=d.all_of(W, d.flip_batch(), d.remove(f"{0:020}.index")),
        shows=(keeps_later_segments, logs("Found invalid messages in log segment")),
    ),
    Claim(
        code="KT-LOG-CRC", name="no-index-dies", base=SEGMENTS,
        says="a controller may stop at a record after them",
        damage=d.all_of(W, d.flip_batch(segment=1, part=0), d.remove_index(1)),
        shows=(exits("Unable to apply .* record"), keeps_later_segments),
    ),
    Claim(
        code="KT-LOG-DAMAGE", says=_CUT, damage=d.all_of(W, d.overwrite_batch(b"")),
        shows=(active, cut, warns),
    ),
    Claim(
        code="KT-LOG-DAMAGE", says=_CUT, name="magic-1", is_variant=True,
        damage=d.all_of(W, d.overwrite_batch(b"\1", at=16)), shows=(active, cut, warns),
    ),
    Claim(
        code="KT-LOG-DAMAGE", says=_CUT, name="length", is_variant=True,
        damage=d.all_of(W, d.overwrite_batch(b"\x7f\xff\xff\xff", at=8)),
        shows=(active, cut, warns),
    ),
    Claim(
        code="KT-LOG-DAMAGE", says=_WIPED, name="snapshot",
        is_variant=True, damage=d.overwrite_batch(b""),
        shows=(active, wiped, warns),
    ),
    Claim(
        code="KT-LOG-DAMAGE", says=_CUT, name="torn-segment", base=SEGMENTS,
        damage=d.all_of(W, d.tear_tail(0)), shows=(active, cut, warns, deletes_later_segments),
    ),
    Claim(
        code="KT-LOG-DAMAGE", says="Kafka cuts them off when it next starts", name="tail",
        damage=d.append(b"\xa5" * 300), shows=(active, keeps_log, warns),
    ),
    Claim(
        code="KT-LOG-MAGIC", says="It exits when it starts",
        damage=d.all_of(W, d.overwrite_batch(b"\x77", at=16)),
        shows=(exits("Invalid magic found in record: 119"), keeps_later_segments),
    ),
    Claim(
        code="KT-LOG-MAGIC", says="write 2 into that byte to repair the batch", name="repaired",
        damage=d.all_of(W, d.overwrite_batch(b"\x77", at=16)),
        repair=d.replace_byte(b"\x77", b"\2", at=16), shows=(active,),
    ),
    Claim(
        code="KT-LOG-TORN-TAIL", says="Kafka cuts it off when it next starts", damage=d.tear_tail(),
        shows=(active, keeps_log, warns),
    ),
    Claim(
        code="KT-LOG-END-LOST", says="Kafka deletes these traces when it starts", base=SEGMENTS,
        damage=d.lose_newest_segment, shows=(active, cured("KT-LOG-END-LOST")),
    ),
    Claim(
        code="KT-LOG-ZERO-TAIL", says="Kafka cuts them off when it next starts",
        damage=d.append(bytes(5000)), shows=(active, keeps_log, warns),
    ),
    Claim(
        code="KT-LOG-UNKNOWN-TYPE", says="An older Kafka stops at it",
        damage=d.append_records(d.FROM_THE_FUTURE), shows=(exits("Unknown metadata id|Exception"),),
    ),
    Claim(
        code="KT-LOG-REPLAY", says="A controller that replays it stops",
        damage=d.append_records(d.UNKNOWN_PARTITION),
        shows=(exits("Unable to apply PartitionChangeRecord record at offset"),),
    ),
    Claim(
        code="KT-LOG-REPLAY", name="no-ops", damage=d.append_records(d.UNKNOWN_PARTITION),
        says="To bring the controller back, replace the record's batch with NoOps at the same"
            " offsets and epoch. That keeps",
        repair=d.replace_last_by_no_ops, shows=(active, keeps_log),
    ),
    Claim(
        code="KT-LOG-RECORD-FORM", damage=d.record_with_another_time,
        says="Kafka's raft reader refuses the form of a record. Every node that reads it exits",
        shows=(exits("Exception"),),
    ),
    Claim(
        code="KT-LOG-BATCH-FORM", says="Kafka can read this batch",
        damage=d.rewrite_last(attributes=8), shows=(active, keeps_log),
    ),
    Claim(
        code="KT-LOG-EPOCH-START", damage=d.raise_epoch,
        says="no CRC covers the epoch, and Kafka trusts it in elections",
        shows=(active, keeps_log, logs("smaller than last written epoch 67"),
               has_file(EPOCHS, r"\n68 ")),
    ),
    Claim(
        code="KT-LOG-GAP", damage=d.all_of(W, d.drop_batch()),
        says="Kafka continues without noticing, and a node that reads this log lacks the records"
            " of",
        shows=(active, keeps_log, says_nothing),
    ),
    Claim(
        code="KT-LOG-GAP", name="kind", damage=d.all_of(W, d.drop_batch()),
        says="Kafka checks each batch on its own and does not notice most gaps",
        shows=(active, keeps_log, says_nothing),
    ),
    Claim(
        code="KT-LOG-GAP", name="twice", damage=d.all_of(W, d.repeat_batch()),
        says="Kafka continues without noticing, and a node that reads this log may read records"
" twice.",
        shows=(active, keeps_log, says_nothing),
    ),
    Claim(
        code="KT-LOG-GAP", name="long-step", versions=("4.3.0",),
        damage=d.all_of(W, d.repeat_half), base=SEGMENTS,
        says="Kafka empties this segment and deletes those after it",
        shows=(logs("Found invalid offset during recovery"), deletes_later_segments),
    ),
    Claim(
        code="KT-LOG-GAP", name="overflow", damage=d.all_of(W, d.overwrite_batch(b"\x40", at=0)),
        says="Kafka exits when it starts, because its index cannot hold that offset",
        shows=(exits("segments with overflow|overflow"),),
    ),
    Claim(
        code="KT-LOG-NAME", says="Kafka refuses to start", damage=d.put("notes.log"),
        shows=(exits('For input string: "notes"'),),
    ),
    Claim(
        code="KT-LOG-NAME", says="Kafka refuses to start", name="copy", is_variant=True,
        damage=d.put(f"{0:020} (copy).log"), shows=(exits("For input string"),),
    ),
    Claim(
        code="KT-LOG-NAME", says="Kafka refuses to start", name="snapshot", is_variant=True,
        damage=d.put("notes.snapshot"), shows=(exits("For input string"),),
    ),
    Claim(
        code="KT-LOG-NAME-FORM",
        says="It ignores this file and opens the segment with the correct name instead",
        damage=d.put("0.log"), shows=(active, keeps_log, kept("0.log")),
    ),
    Claim(
        code="KT-LOG-NAME-FORM", damage=d.put("5.log"), name="costs-the-log",
        says="If there is none, Kafka creates an empty one, and that may cost the whole log",
        shows=(active, removed(f"{0:020}.log"), says_nothing),
    ),
    Claim(
        code="KT-LOG-SWAP", damage=d.put(f"{779:020}.log.swap"), seconds=4,
        says="When Kafka starts, it makes a segment of it, and the log then ends after that"
            " segment",
        shows=(never_leads, logs("by renaming from .swap files"), removed(f"{779:020}.log.swap"),
               has_file(f"{PARTITION}/{779:020}.log", "")),
    ),
    Claim(
        code="KT-LOG-INDEX", says="Kafka recreates it when it starts", damage=d.garble_indexes,
        shows=(active, keeps_log, cured("KT-LOG-INDEX")),
    ),
    Claim(
        code="KT-LOG-INDEX", says="Kafka recreates it when it starts", damage=d.zero_indexes,
        name="zeros", is_variant=True, shows=(active, keeps_log, cured("KT-LOG-INDEX")),
    ),
    Claim(
        code="KT-LOG-INDEX-DIFFERS", says="Kafka recreates it when it starts",
        damage=d.misplace_index, shows=(active, keeps_log, cured("KT-LOG-INDEX-DIFFERS")),
    ),
    Claim(
        code="KT-LOG-PRODUCER-STATE", says="Kafka deletes it and reads the log instead",
        damage=d.garble_producer_state, shows=(active, keeps_log, cured("KT-LOG-PRODUCER-STATE")),
    ),
    Claim(
        code="KT-LOG-TXN-OPEN", says="the next active controller aborts it",
        damage=d.append_records(d.BEGIN), shows=(active, keeps_log, cured("KT-LOG-TXN-OPEN")),
        writes=True,
    ),
    Claim(
        code="KT-LOG-MISSING",
        says="The records after the snapshots are gone. Kafka starts with an empty log",
        damage=d.lose_log, shows=(active, wiped),
    ),
    Claim(
        code="KT-LOG-MISSING", says="Kafka deletes other traces of them when it starts",
        damage=d.lose_segments, shows=(active, wiped, removed(f"{0:020}.index")),
    ),
)  # fmt: skip
