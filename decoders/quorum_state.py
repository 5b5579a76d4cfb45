"""quorum-state: the election state that a node has promised not to forget.

Owns versions 0 and 1 of the file, what Kafka reads of a damaged one and the exact bytes that Kafka
writes.
"""

from dataclasses import dataclass

from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.findings import Findings, shown
from kraftool.decoders.java_text import (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    malformed_utf8,
    read_lines,
    read_uuid,
    without_lone_surrogates,
)
from kraftool.decoders.json_marks import in_json_before
from kraftool.decoders.json_text import JsonError, Member, read_members, skip_blanks
from kraftool.decoders.wire import ZERO_UUID

FILE_NAME = "quorum-state"

LOWEST_VERSION = 0
HIGHEST_VERSION = 1

DEAD_FIELDS = frozenset({"clusterId", "appliedOffset", "currentVoters"})
"""Demanded by version 0, but their values are evidence of nothing: clusterId is always "" and
appliedOffset always 0. currentVoters had to match the configuration until 3.8; 3.9 and later
rewrite it from the configuration without a look."""

MAX_LINE_BYTES = 1 << 20
"""Far beyond any voter set; a longer first line is not a quorum-state."""

_FIELDS = {
    0: ("clusterId", "leaderId", "leaderEpoch", "votedId", "appliedOffset", "currentVoters"),
    1: ("leaderId", "leaderEpoch", "votedId", "votedDirectoryId"),
}
_DATA_VERSION = "data_version"
_KNOWN = frozenset({*_FIELDS[0], *_FIELDS[1], _DATA_VERSION})
_JSON_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumState:
    """An election state with Kafka's field names; -1 and the zero uuid stand for none."""

    data_version: int = HIGHEST_VERSION
    leader_id: int = -1
    leader_epoch: int = -1
    voted_id: int = -1
    voted_directory_id: str = ZERO_UUID
    cluster_id: str = ""
    applied_offset: int = 0
    current_voters: tuple[int, ...] = ()
    unknown_fields: tuple[tuple[str, str], ...] = ()
    """Name and JSON text of members that Kafka does not know; it ignores and then drops them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumStateField:
    """A member of a quorum-state exactly as in the file, whether or not it makes sense."""

    name: str
    json: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumStateFile:
    """A quorum-state."""

    # None exactly when Kafka refuses to start on the file; the first finding says why.
    quorum_state: QuorumState | None
    fields: tuple[QuorumStateField, ...] = ()

    @property
    @in_json_before("quorum_state")
    def accepted(self) -> bool:
        """True if Kafka starts on it."""
        return self.quorum_state is not None


def decode(data: bytes) -> tuple[QuorumStateFile, tuple[DecodeError, ...]]:
    """Read a quorum-state as FileQuorumStateStore does: one JSON object on the first line."""
    findings = Findings()
    bad = malformed_utf8(data)
    if bad is not None:
        findings.refuse("not UTF-8", position=bad, expected="JSON", found=f"0x{data[bad]:02x}")
    line = next(read_lines(data), None)
    if line is None:
        findings.refuse("the file is empty", position=0, expected="a JSON object on one line")
        return QuorumStateFile(quorum_state=None), findings.listed()
    if len(line.text) > MAX_LINE_BYTES:
        findings.refuse(
            "the first line is too long for a quorum-state",
            position=0,
            expected=f"at most {MAX_LINE_BYTES} characters",
            found=str(len(line.text)),
        )
        return QuorumStateFile(quorum_state=None), findings.listed()
    reader = _Reader(line.text, len(data), findings)
    reader.read_object()
    after = data[len(line.text.encode("utf-8")) :] if bad is None else b""
    if after.strip():
        findings.note(
            "Kafka reads the first line only, more follows",
            position=len(data) - len(after.lstrip()),
            expected="the end of the file",
            found=shown(after.strip()[:80].decode("utf-8", "replace")),
        )
    state = reader.state() if findings.accepted else None
    if not findings.accepted:
        state = None
    fields = tuple(
        QuorumStateField(
            name=without_lone_surrogates(member.name),
            json=member.text,
            position=reader.position(member.name_index),
        )
        for member in reader.members
    )
    return QuorumStateFile(quorum_state=state, fields=fields), findings.listed()


class _Reader:
    """Walks over one line; every problem becomes a finding and reading goes on."""

    def __init__(self, text: str, end: int, findings: Findings) -> None:
        self.text = text
        self.end = end
        self.findings = findings
        self.members: list[Member] = []
        self._by_name: dict[str, Member] = {}
        self._ascii = text.isascii()

    def position(self, index: int) -> int:
        # Replaced characters may take more bytes than what they stand for: no further than the end.
        return index if self._ascii else min(len(self.text[:index].encode("utf-8")), self.end)

    def read_object(self) -> None:
        start = skip_blanks(self.text, 0)
        if self.text[start : start + 1] != "{":
            self._refuse("not a JSON object", start, expected="'{'", found=self._at(start))
            return
        try:
            end = read_members(self.text, start, self.members)
        except JsonError as error:
            self._refuse(error.reason, error.index, found=self._at(error.index))
        else:
            tail = skip_blanks(self.text, end)
            if tail < len(self.text):
                self.findings.note(
                    "text after the JSON object, Kafka does not look at it",
                    position=self.position(tail),
                    expected="the end of the line",
                    found=self._at(tail),
                )
        for member in self.members:
            earlier = self._by_name.get(member.name)
            if earlier is not None:
                self.findings.note(
                    "the field is given again, Kafka takes the last",
                    position=self.position(member.name_index),
                    path=member.name,
                    expected=f"one value, {shown(earlier.text)}",
                    found=shown(member.text),
                )
            self._by_name[member.name] = member

    def _at(self, index: int) -> str:
        return shown(self.text[index : index + 40]) if index < len(self.text) else "the end"

    def _refuse(
        self, reason: str, index: int, *, path: str = "", expected: str = "", found: str = ""
    ) -> None:
        self.findings.refuse(
            reason, position=self.position(index), path=path, expected=expected, found=found
        )

    def state(self) -> QuorumState | None:
        version = self._data_version()
        if version is None:
            return None
        for name in _FIELDS[version]:
            if name not in self._by_name:
                self._refuse(
                    f"a field is missing that version {version} demands",
                    len(self.text),
                    path=name,
                )
        state = QuorumState(
            data_version=version,
            leader_id=self._whole("leaderId", -1, INT32_MIN, INT32_MAX),
            leader_epoch=self._whole("leaderEpoch", -1, INT32_MIN, INT32_MAX),
            voted_id=self._whole("votedId", -1, INT32_MIN, INT32_MAX),
            voted_directory_id=self._voted_directory_id(),
            cluster_id=self._cluster_id(),
            applied_offset=self._whole("appliedOffset", 0, INT64_MIN, INT64_MAX),
            current_voters=self._current_voters(version),
            unknown_fields=self._unknown_fields(),
        )
        for name in sorted((DEAD_FIELDS | {"votedDirectoryId"}) - set(_FIELDS[version])):
            member = self._by_name.get(name)
            if member is not None:
                self.findings.note(
                    f"version {version} has no such field",
                    position=self.position(member.name_index),
                    path=name,
                    found=shown(member.text),
                )
        return state

    def _data_version(self) -> int | None:
        member = self._by_name.get(_DATA_VERSION)
        if member is None:
            self._refuse("the field is missing", len(self.text), path=_DATA_VERSION)
            return None
        version = _short_value(member.value)
        if not LOWEST_VERSION <= version <= HIGHEST_VERSION:
            self._refuse(
                "unsupported version",
                member.value_index,
                path=_DATA_VERSION,
                expected=f"{LOWEST_VERSION} or {HIGHEST_VERSION}",
                found=shown(member.text),
            )
            return None
        if type(member.value) is not int or member.value != version:
            self.findings.note(
                f"not a version, but Kafka takes it for {version}",
                position=self.position(member.value_index),
                path=_DATA_VERSION,
                expected=str(version),
                found=shown(member.text),
            )
        return version

    def _whole(self, name: str, default: int, lowest: int, highest: int) -> int:
        member = self._by_name.get(name)
        return default if member is None else self._number(member, name, default, lowest, highest)

    def _number(self, member: Member, path: str, default: int, lowest: int, highest: int) -> int:
        value = member.value
        if type(value) is int and lowest <= value <= highest:
            return value
        self._refuse(
            "unreadable value",
            member.value_index,
            path=path,
            expected=f"a whole number of {32 if highest == INT32_MAX else 64} bits",
            found=shown(member.text),
        )
        return default

    def _voted_directory_id(self) -> str:
        member = self._by_name.get("votedDirectoryId")
        if member is None:
            return ZERO_UUID
        uuid = read_uuid(member.value) if isinstance(member.value, str) else None
        if uuid is None:
            self._refuse(
                "unreadable value",
                member.value_index,
                path="votedDirectoryId",
                expected="a uuid of 22 base64 characters",
                found=shown(member.text),
            )
            return ZERO_UUID
        return uuid

    def _cluster_id(self) -> str:
        member = self._by_name.get("clusterId")
        if member is None:
            return ""
        if not isinstance(member.value, str):
            self._refuse(
                "unreadable value",
                member.value_index,
                path="clusterId",
                expected="a string",
                found=shown(member.text),
            )
            return ""
        return without_lone_surrogates(member.value)

    def _current_voters(self, version: int) -> tuple[int, ...]:
        path = "currentVoters"
        member = self._by_name.get(path)
        if member is None:
            return ()
        # A null is in the schema, but Kafka's ElectionState dies on it in every version.
        if not isinstance(member.value, list) or (version > 0 and member.value):
            self._refuse(
                "unreadable value",
                member.value_index,
                path=path,
                expected="an array of voters" if version == 0 else "nothing in this version",
                found=shown(member.text),
            )
            return ()
        voters: list[int] = []
        for number, element in enumerate(member.value):
            voter = element.get("voterId") if isinstance(element, dict) else None
            if type(voter) is int and INT32_MIN <= voter <= INT32_MAX:
                voters.append(voter)
                continue
            self._refuse(
                "unreadable voter",
                member.value_index,
                path=f"{path}[{number}]",
                expected='{"voterId": a whole number of 32 bits}',
                found=shown(repr(element)[:80]),
            )
        return tuple(voters)

    def _unknown_fields(self) -> tuple[tuple[str, str], ...]:
        unknown: list[tuple[str, str]] = []
        for member in self._by_name.values():
            if member.name in _KNOWN:
                continue
            name = without_lone_surrogates(member.name)
            unknown.append((name, member.text))
            self.findings.note(
                "a field that Kafka does not know, it drops it on the next write",
                position=self.position(member.name_index),
                path=name,
                found=shown(member.text),
            )
        return tuple(unknown)


def _short_value(value: object) -> int:
    """Return what Jackson's JsonNode.shortValue makes of any value: 0 where it is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    if isinstance(value, float):
        # Java narrows a double to int first, which stops at the bounds; NaN cannot come here.
        value = INT32_MAX if value >= INT32_MAX else INT32_MIN if value <= INT32_MIN else int(value)
    return ((value + 0x8000) & 0xFFFF) - 0x8000


def encode(state: QuorumState) -> bytes:
    """Write the bytes that Kafka writes for this state: one line without an end, no blanks.

    Like Kafka it refuses a value that the version has no field for; unknown fields are left out.
    """
    if state.data_version == 0:
        if state.voted_directory_id != ZERO_UUID:
            raise KraftoolError("quorum-state of version 0 has no votedDirectoryId")
        voters = ",".join(f'{{"voterId":{voter:d}}}' for voter in state.current_voters)
        members = (
            f'"clusterId":{_quoted(state.cluster_id)},{_election(state)},'
            f'"appliedOffset":{state.applied_offset:d},"currentVoters":[{voters}]'
        )
    elif state.data_version == 1:
        if state.cluster_id or state.applied_offset or state.current_voters != ():
            raise KraftoolError(
                "quorum-state of version 1 has no clusterId, appliedOffset or currentVoters"
            )
        members = f'{_election(state)},"votedDirectoryId":{_quoted(state.voted_directory_id)}'
    else:
        raise KraftoolError(f"quorum-state of version {state.data_version} cannot be written")
    return f'{{{members},"data_version":{state.data_version:d}}}'.encode()


def _election(state: QuorumState) -> str:
    return (
        f'"leaderId":{state.leader_id:d},"leaderEpoch":{state.leader_epoch:d},'
        f'"votedId":{state.voted_id:d}'
    )


def _quoted(text: str) -> str:
    """Quote as Jackson does: capital hexadecimal digits, nothing beyond ASCII escaped."""
    written = (
        f"\\u{ord(character):04X}"
        if character < " " and character not in _JSON_ESCAPES
        else _JSON_ESCAPES.get(character, character)
        for character in text
    )
    return '"' + "".join(written) + '"'
