"""Kinds of files by name and by content, on the first bytes of real files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import kinds
from kraftool.decoders.kinds import Detected, FileKind
from kraftool.decoders.names import FileState

# First bytes of files written by 4.3.0: __cluster_metadata-0 (a LeaderChange batch comes first),
# a topic, and the 0-0 checkpoint of `kafka-storage format --standalone`.
METADATA_LOG = bytes.fromhex(
    "00000000000000000000004f0000000102544eeca9002000000000000001a1fc37d0bf000001a1fc37d0bfff"
    "ffffffffffffffffffffffffff000000013a0000000800000002260000000000010200000001000200000001"
    "000000"
)
TOPIC_LOG = bytes.fromhex(
    "00000000000000000000003b0000000002b87be535000000000000000001a1fc3802cd000001a1fc3802cd00"
    "000000000000000000000000000000000112000000026b04763000"
)
CHECKPOINT = bytes.fromhex(
    "00000000000000000000009a0000000002a565510b002000000002000001a1fc4b5562000001a1fc4b5562ff"
    "ffffffffffffffffffffffffff000000032a0000000800000003160000000001a1fc4b553300001e00000208"
    "000000"
)
INDEX = bytes.fromhex("0000000100000047000000020000008e00000003000000d5")
TIME_INDEX = bytes.fromhex("000001a1fc38039900000001000001a1fc3803fc00000002")
TXN_INDEX = bytes.fromhex(
    "0000000000000000000100000000000000050000000000000007000000000000000800000000000000000001"
    "000000000000000b000000000000000d000000000000000e"
)
PRODUCER_STATE = bytes.fromhex("000148674bc700000000")
QUORUM_STATE = b'{"leaderId":1,"leaderEpoch":2,"votedId":-1,"data_version":1}'
META_PROPERTIES = b"#\n#Sat Nov 21 03:48:14 UTC 2026\nnode.id=1\nversion=1\ncluster.id=x\n"
SERVER_PROPERTIES = b"process.roles=controller\nnode.id=1\nlog.dirs=/data\n"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("00000000000000000000.log", FileKind.LOG),
        ("00000000000000000000.index", FileKind.OFFSET_INDEX),
        ("00000000000000000000.timeindex", FileKind.TIME_INDEX),
        ("00000000000000000000.txnindex", FileKind.TXN_INDEX),
        ("00000000000000000000.snapshot", FileKind.PRODUCER_STATE),
        ("00000000000000000123-0000000004.checkpoint", FileKind.CHECKPOINT),
        ("bootstrap.checkpoint", FileKind.BOOTSTRAP_CHECKPOINT),
        ("quorum-state", FileKind.QUORUM_STATE),
        ("meta.properties", FileKind.META_PROPERTIES),
        ("leader-epoch-checkpoint", FileKind.LEADER_EPOCH_CHECKPOINT),
        ("recovery-point-offset-checkpoint", FileKind.OFFSET_CHECKPOINT),
        ("replication-offset-checkpoint", FileKind.OFFSET_CHECKPOINT),
        ("log-start-offset-checkpoint", FileKind.OFFSET_CHECKPOINT),
        ("cleaner-offset-checkpoint", FileKind.OFFSET_CHECKPOINT),
        ("partition.metadata", FileKind.PARTITION_METADATA),
        ("server.properties", FileKind.PROPERTIES),
        (".lock", FileKind.LOCK),
        (".kafka_cleanshutdown", FileKind.CLEAN_SHUTDOWN),
        ("kraftool-witness", FileKind.WITNESS),
        ("server.log", None),
        ("my.checkpoint", None),
        ("notes.txt", None),
        ("", None),
    ],
)
def test_a_name_tells_the_kind(name: str, kind: FileKind | None) -> None:
    assert kinds.kind_by_name(name) is kind


@pytest.mark.parametrize(
    ("name", "kind", "state"),
    [
        ("00000000000000000123.log.deleted", FileKind.LOG, FileState.DELETED),
        ("00000000000000000123.index.cleaned", FileKind.OFFSET_INDEX, FileState.CLEANED),
        ("00000000000000000123.log.swap", FileKind.LOG, FileState.SWAP),
        (
            "00000000000000000123-0000000004-98.checkpoint.part",
            FileKind.CHECKPOINT,
            FileState.PART,
        ),
        (
            "00000000000000000123-0000000004.checkpoint.deleted",
            FileKind.CHECKPOINT,
            FileState.DELETED,
        ),
        ("quorum-state.tmp", FileKind.QUORUM_STATE, FileState.TEMPORARY),
        ("meta.properties.tmp", FileKind.META_PROPERTIES, FileState.TEMPORARY),
    ],
)
def test_a_suffix_gives_a_state_and_leaves_the_kind(
    name: str, kind: FileKind, state: FileState
) -> None:
    assert kinds.detect(name, b"", 0) == Detected(kind=kind, state=state)


@pytest.mark.parametrize(
    ("head", "size", "kind"),
    [
        (METADATA_LOG, 4263, FileKind.LOG),
        (TOPIC_LOG, 1015, FileKind.LOG),
        (TOPIC_LOG[:20], 20, FileKind.LOG),
        (CHECKPOINT, 241, FileKind.CHECKPOINT),
        (INDEX, 24, FileKind.OFFSET_INDEX),
        (INDEX + bytes(4072), 10485760, FileKind.OFFSET_INDEX),
        (TIME_INDEX, 24, FileKind.TIME_INDEX),
        (TIME_INDEX + bytes(4072), 10485756, FileKind.TIME_INDEX),
        (TXN_INDEX, 68, FileKind.TXN_INDEX),
        (PRODUCER_STATE, 10, FileKind.PRODUCER_STATE),
        (QUORUM_STATE, 60, FileKind.QUORUM_STATE),
        (b'{"version":0,"brokerEpoch":11}', 30, FileKind.CLEAN_SHUTDOWN),
        (b'{"a":1}', 7, FileKind.UNKNOWN),
        (META_PROPERTIES, 70, FileKind.META_PROPERTIES),
        (SERVER_PROPERTIES, 60, FileKind.PROPERTIES),
        (b"0\n1\n1 0\n", 8, FileKind.LEADER_EPOCH_CHECKPOINT),
        (b"0\n1\norders.eu 0 14\n", 20, FileKind.OFFSET_CHECKPOINT),
        (b"0\n1\n7 0 14\n", 11, FileKind.OFFSET_CHECKPOINT),
        (b"0\n1\nrubbish\n", 12, FileKind.UNKNOWN),
        (b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ", 43, FileKind.PARTITION_METADATA),
        (b"just some words\n", 16, FileKind.UNKNOWN),
        (b"", 0, FileKind.UNKNOWN),
        (bytes(4096), 4096, FileKind.UNKNOWN),
        (b"\xff" * 4096, 4096, FileKind.UNKNOWN),
    ],
)
def test_a_content_tells_the_kind(head: bytes, size: int, kind: FileKind) -> None:
    assert kinds.kind_by_content(head, size) is kind


def test_a_name_of_kafkas_wins_over_the_content() -> None:
    detected = kinds.detect("00000000000000000000.log", QUORUM_STATE, len(QUORUM_STATE))
    assert detected == Detected(kind=FileKind.LOG)


def test_the_content_wins_over_the_suffix_of_any_other_name() -> None:
    detected = kinds.detect("broken.log", CHECKPOINT, 241)
    assert detected == Detected(kind=FileKind.CHECKPOINT, by_name=False)


def test_a_damaged_copy_is_what_its_suffix_says() -> None:
    assert kinds.detect("broken.log", b"\xff" * 100, 100) == Detected(kind=FileKind.LOG)


@pytest.mark.parametrize("kind", FileKind)
def test_the_word_for_a_kind_can_be_typed(kind: FileKind) -> None:
    assert kind.value.replace("-", "").isalpha()


HEADS = [METADATA_LOG, CHECKPOINT, INDEX, TIME_INDEX, TXN_INDEX, QUORUM_STATE, META_PROPERTIES]


@given(st.sampled_from(HEADS), st.integers(0, 90), st.integers(0, 4), st.binary(max_size=8))
def test_any_content_has_a_kind(head: bytes, at: int, cut: int, put: bytes) -> None:
    mutated = head[:at] + put + head[at + cut :]
    assert kinds.kind_by_content(mutated, len(mutated)) in FileKind


@given(st.binary(max_size=120), st.integers(0, 2**40), st.text(max_size=20))
def test_any_file_is_detected_without_an_error(head: bytes, size: int, name: str) -> None:
    assert kinds.detect(name, head, size).kind in FileKind
