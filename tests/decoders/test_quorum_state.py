"""quorum-state: real files, what Kafka 4.3.0 reads of damaged ones, exact bytes when written.

The table of verdicts was taken from FileQuorumStateStore of Kafka 4.3.0, which was given every one
of these files.
"""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import quorum_state
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.quorum_state import QuorumState
from kraftool.decoders.wire import ZERO_UUID

# Written by 3.3.2, 3.7.2, 4.3.0 and 4.4.0 alike (static voters).
V0 = (
    b'{"clusterId":"","leaderId":1,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
    b'"currentVoters":[{"voterId":1}],"data_version":0}'
)
# Written by 4.3.0 (dynamic voters).
V1 = (
    b'{"leaderId":1,"leaderEpoch":2,"votedId":-1,'
    b'"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'
)
ZERO = b"AAAAAAAAAAAAAAAAAAAAAA"


def v1(old: bytes, new: bytes) -> bytes:
    assert old in V1
    return V1.replace(old, new, 1)


def v0(old: bytes, new: bytes) -> bytes:
    assert old in V0
    return V0.replace(old, new, 1)


def test_real_files_are_read_and_written_back_to_the_same_bytes() -> None:
    for data in (V0, V1):
        file, findings = quorum_state.decode(data)
        assert findings == ()
        assert file.quorum_state is not None
        assert quorum_state.encode(file.quorum_state) == data


def test_fields_have_their_values_and_positions() -> None:
    file, _ = quorum_state.decode(V1)
    assert file.quorum_state == QuorumState(leader_id=1, leader_epoch=2, data_version=1)
    assert [(field.name, field.json, field.position) for field in file.fields][:2] == [
        ("leaderId", "1", 1),
        ("leaderEpoch", "2", 14),
    ]


@pytest.mark.parametrize(
    "data",
    [
        V1 + b"\n",
        V1 + b"\r\nrubbish",
        V1 + b"rubbish",
        b" " + V1,
        v1(b'"data_version":1', b'"data_version":65537'),
        v1(b'"data_version":1', b'"data_version":1.9'),
        v1(b'"data_version":1', b'"data_version":4294967297'),
        v1(b'"data_version":1', b'"data_version":18446744073709551617'),
        v0(b'"data_version":0', b'"data_version":"1"'),
        v0(b'"data_version":0', b'"data_version":null'),
        v0(b'"data_version":0', b'"data_version":true'),
        v0(b'"data_version":0', b'"data_version":0.5'),
        v1(b'"leaderId":1', b'"leaderId":1,"leaderId":7'),
        v1(b'"leaderId":1', b'"leaderId":-2147483648'),
        v1(ZERO, b"AAAAAAAAAAAAAAAAAAAAAB"),
        v1(ZERO, b"AAAAAAAAAAAAAAAAAAAAEA=="),
        v1(b"{", b'{"x":[1,{"y":2}],'),
        v1(b"{", b'{"x":' + b"9" * 999 + b","),
        v1(b"{", b'{"x":"\\ud800",'),
        v1(b"{", b'{"currentVoters":[],'),
        v1(b"{", b'{"clusterId":"x","appliedOffset":3,'),
        v0(b'[{"voterId":1}]', b'[{"voterId":1,"z":2},{"voterId":2}]'),
        v0(b"{", b'{"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAQ",'),
        v0(b'"appliedOffset":0', b'"appliedOffset":9223372036854775807'),
        v0(b'"votedId":-1', b'"votedId":2147483647'),
    ],
)
def test_what_kafka_starts_on_is_accepted(data: bytes) -> None:
    file, _ = quorum_state.decode(data)
    assert file.accepted


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"\n" + V1,
        bytes(10),
        V1[:-1],
        V1[:40],
        b"\xef\xbb\xbf" + V1,
        V1 + b"\n\xff",
        b"\xff" + V1,
        b"[1]",
        b"null",
        b"1",
        b'"x"',
        b"{}",
        v1(b'"data_version":1', b'"data_version":"1"'),
        v1(b'"data_version":1', b'"data_version":2'),
        v1(b'"data_version":1', b'"data_version":-1'),
        v1(b'"data_version":1', b'"data_version":1e99'),
        v1(b'"leaderId":1', b'"leaderId":"1"'),
        v1(b'"leaderId":1', b'"leaderId":1.0'),
        v1(b'"leaderId":1', b'"leaderId":2147483648'),
        v1(b'"leaderId":1', b'"leaderId":null'),
        v1(b'"leaderId":1', b'"leaderId":01'),
        v1(b'"leaderId":1', b'"leaderId":NaN'),
        v1(b'"leaderId":1,', b""),
        v1(ZERO, ZERO + b"="),
        v1(ZERO, b"AAAA"),
        v1(b'"' + ZERO + b'"', b"null"),
        v1(ZERO, b"AAAAAAAAAAAAAAAAAAAA+/"),
        v1(b"{", b'{"x":' + b"[" * 2000 + b"]" * 2000 + b","),
        v1(b"{", b'{"x":' + b"9" * 1001 + b","),
        v1(b"{", b'{"x":"\x01",'),
        v1(b"{", b"{'x':1,"),
        v1(b"{", b"{/*c*/"),
        v1(b"1}", b"1,}"),
        v1(b"{", b'{"currentVoters":[{"voterId":1}],'),
        v1(b"{", b'{"currentVoters":null,'),
        v0(b'[{"voterId":1}]', b"null"),
        v0(b'[{"voterId":1}]', b"{}"),
        v0(b'[{"voterId":1}]', b"[1]"),
        v0(b'[{"voterId":1}]', b"[{}]"),
        v0(b'"clusterId":""', b'"clusterId":null'),
        v0(b'"appliedOffset":0', b'"appliedOffset":9223372036854775808'),
        v0(b'"appliedOffset":0,', b""),
    ],
)
def test_what_kafka_refuses_has_no_state_and_a_finding_within_the_file(data: bytes) -> None:
    file, findings = quorum_state.decode(data)
    assert file.quorum_state is None
    assert findings
    assert all(0 <= finding.position <= len(data) for finding in findings)


def test_a_refusal_names_position_field_and_both_sides() -> None:
    _, findings = quorum_state.decode(v1(b'"leaderEpoch":2', b'"leaderEpoch":"2"'))
    assert str(findings[0]) == (
        "position 28, leaderEpoch: unreadable value "
        "(expected a whole number of 32 bits, found '\"2\"')"
    )


def test_fields_before_the_damage_are_still_returned() -> None:
    file, findings = quorum_state.decode(V1[:40])
    assert [field.name for field in file.fields] == ["leaderId", "leaderEpoch"]
    assert findings[0].position == 40


def test_positions_count_bytes_and_not_characters() -> None:
    data = v1(b"{", '{"é":"é€",'.encode()).replace(b'"leaderId":1', b'"leaderId":x')
    _, findings = quorum_state.decode(data)
    assert findings[0].position == data.index(b"x,")


@pytest.mark.parametrize(("between", "text"), [(b"", b"x"), (b" \t", b"x"), (b"", b"rubbish")])
def test_text_after_the_object_is_reported_where_it_begins(between: bytes, text: bytes) -> None:
    _, (finding,) = quorum_state.decode(V1 + between + text)
    assert finding.position == len(V1 + between)
    assert "Kafka does not look at it" in finding.reason


@pytest.mark.parametrize("end", [b"", b" ", b"\n", b"\r\n"])
def test_nothing_is_reported_after_the_object_where_nothing_is(end: bytes) -> None:
    assert quorum_state.decode(V1 + end)[1] == ()


def test_the_last_of_two_values_counts_and_is_reported() -> None:
    file, findings = quorum_state.decode(v1(b'"leaderId":1', b'"leaderId":1,"leaderId":7'))
    assert file.quorum_state is not None
    assert file.quorum_state.leader_id == 7
    assert [finding.path for finding in findings] == ["leaderId"]


def test_unknown_fields_are_kept_as_text_and_not_written() -> None:
    file, findings = quorum_state.decode(v1(b"{", b'{"x":[1, {"y":2}],'))
    assert file.quorum_state is not None
    assert file.quorum_state.unknown_fields == (("x", '[1, {"y":2}]'),)
    assert [finding.path for finding in findings] == ["x"]
    assert quorum_state.encode(file.quorum_state) == V1


def test_deep_nesting_anywhere_is_a_finding() -> None:
    for opening in (b"[", b'{"a":'):
        data = b'{"currentVoters":' + opening * 100_000
        file, findings = quorum_state.decode(data)
        assert file.quorum_state is None
        assert "nested too deeply" in findings[0].reason


def test_how_deep_values_may_be_nested_does_not_depend_on_the_caller() -> None:
    """Jackson takes 1000 levels, the file's own object among them."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        for levels, is_taken in ((999, True), (1000, False), (2000, False)):
            data = v1(b"{", b'{"x":' + b"[" * levels + b"]" * levels + b",")
            assert (quorum_state.decode(data)[0].quorum_state is not None) is is_taken, levels
    finally:
        sys.setrecursionlimit(limit)


def test_a_first_line_of_megabytes_is_refused_before_it_is_parsed() -> None:
    file, findings = quorum_state.decode(b'{"x":"' + b"a" * (2 << 20) + b'"}')
    assert file.quorum_state is None
    assert "too long" in findings[0].reason


def test_a_value_that_the_version_has_no_field_for_is_not_written() -> None:
    with pytest.raises(KraftoolError):
        quorum_state.encode(QuorumState(data_version=1, current_voters=(1,)))
    with pytest.raises(KraftoolError):
        quorum_state.encode(QuorumState(data_version=1, applied_offset=1))
    with pytest.raises(KraftoolError):
        quorum_state.encode(
            QuorumState(data_version=0, voted_directory_id="AAAAAAAAAAAAAAAAAAAAAQ")
        )
    with pytest.raises(KraftoolError):
        quorum_state.encode(QuorumState(data_version=2))


int32 = st.integers(-(2**31), 2**31 - 1)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(int32, int32, int32, text, st.lists(int32, max_size=4))
def test_version_0_comes_back(
    leader: int, epoch: int, voted: int, cluster: str, voters: list[int]
) -> None:
    state = QuorumState(
        data_version=0,
        leader_id=leader,
        leader_epoch=epoch,
        voted_id=voted,
        cluster_id=cluster,
        current_voters=tuple(voters),
    )
    file, findings = quorum_state.decode(quorum_state.encode(state))
    assert (file.quorum_state, findings) == (state, ())


@given(int32, int32, int32, st.sampled_from([ZERO_UUID, "J8aAPcfLQt2bqs1JT_rMgQ"]))
def test_version_1_comes_back(leader: int, epoch: int, voted: int, directory: str) -> None:
    state = QuorumState(
        leader_id=leader, leader_epoch=epoch, voted_id=voted, voted_directory_id=directory
    )
    file, findings = quorum_state.decode(quorum_state.encode(state))
    assert (file.quorum_state, findings) == (state, ())


@given(
    st.sampled_from([V0, V1]),
    st.integers(0, 150),
    st.integers(0, 3),
    st.one_of(st.binary(max_size=4), st.sampled_from([b"{", b"[", b'"', b"NaN", b"1e400"])),
)
def test_mutated_files_never_raise_and_refusals_say_why(
    data: bytes, at: int, cut: int, put: bytes
) -> None:
    file, findings = quorum_state.decode(data[:at] + put + data[at + cut :])
    assert file.accepted or findings
    if file.quorum_state is not None:
        file.quorum_state.leader_epoch.to_bytes(4, "big", signed=True)


@given(st.binary(max_size=200))
def test_random_bytes_never_raise(data: bytes) -> None:
    file, findings = quorum_state.decode(data)
    assert file.accepted or findings
