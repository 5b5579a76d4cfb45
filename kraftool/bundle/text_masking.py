"""Settings, lines of server logs and small text files without what may be secret in them.

Owns what may be secret in a text. It would rather mask too much: a line of a log ends where it
names a password, a key or a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from kraftool.decoders import properties
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.redact import BROKER, MASK, is_harmless
from kraftool.decoders.schema.resource_configs import NODE_CONFIGS

_MASK = MASK.encode()
_LONGEST_LINE = 1 << 14
_SECRET = re.compile(
    rb"pass(?:word|wd|phrase|wort)|storepass|keypass|\bpwd\b|secret|token|jaas|credential|hmac|salt"
    rb"|stored[_.]?key|server[_.]?key|api[-_.]?key|access[-_.]?key|private[-_. ]?key"
    rb"|keystore\.key|assertion|user_[^\s=]{1,80}=|loginmodule|authorization[\"']?\s{0,4}[:=]"
    rb"|\b(?:basic|bearer|apikey)\s|-----begin",
    re.IGNORECASE,
)
_VALUE_BEFORE = re.compile(rb"\bvalue\b", re.IGNORECASE)
_FRAME = re.compile(rb"\s+at [\w.$/@<>]+\(")
"""A line of a stack trace, which has names of classes and no values."""
_USER_INFO = re.compile(rb"://[^\s@]{1,2048}(?:@[^\s@]{1,2048})*@")
_JSON_WEB_TOKEN = re.compile(rb"\beyJ[\w-]{8,}\.[\w.-]+")
_GOES_ON = re.compile(rb"(?:[\\,({=:]|=>|->)\s*$")
_LONGEST_LIST = 40
"""Lines after which a login module or a key in a log has surely ended."""

_NAME = re.compile(r"[a-z][a-z0-9_]*(?:[.-][a-z0-9_]+)*\Z")
"""The form of a setting's name. Anything else may be a line of a key, or of something else."""
_PLAIN = {
    "BOOLEAN": re.compile(r"(?i:true|false)\Z"),
    "INT": (number := re.compile(r"-?\d+\Z")),
    "LONG": number,
    "SHORT": number,
    "DOUBLE": re.compile(r"-?[\d.eE+-]+\Z"),
}


def masked_settings(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a server.properties, each one property, with values that may be shown."""
    for line in lines:
        (entry,) = properties.decode(line)[0].entries
        if not _NAME.match(entry.key):
            yield f"# {MASK}".encode()
        elif _is_shown(entry.key, entry.value):
            yield _USER_INFO.sub(b"://" + _MASK + b"@", line)
        else:
            yield f"{entry.key}={MASK}".encode()


def _is_shown(key: str, value: str) -> bool:
    """True if the value of a setting may be shown. Damage may have joined its line with others."""
    if not value:
        return True
    config = NODE_CONFIGS.get(key)
    plain = _PLAIN.get(config.type) if config is not None else None
    if plain is not None:
        return plain.match(value.strip()) is not None
    is_joined = "\\" in value or _SECRET.search(value.encode("utf-8", "replace")) is not None
    return is_harmless(BROKER, key) and not is_joined


def is_text(data: bytes) -> bool:
    """False for what no line can be read of, such as a packed log."""
    return b"\0" not in data and not data.startswith((b"\x1f\x8b", b"PK\3\4", b"BZh", b"\xfd7zXZ"))


def masked_lines(text: bytes, *, is_cut: bool) -> bytes:
    """Lines of a log without passwords, keys and tokens, as far as their names show them.

    If it is cut, the first line is left out: it may be the rest of one whose name is not there.
    """
    lines = text.split(b"\n")[1 if is_cut else 0 :]
    return b"\n".join(_masked(lines))


def _masked(lines: Iterable[bytes]) -> Iterator[bytes]:
    hidden, ends = 0, b""
    for line in lines:
        if hidden:
            hidden -= 1
            yield _MASK
            if not ends or ends in line:
                hidden, ends = (1, b"") if not ends and _GOES_ON.search(line) else (0, b"")
            continue
        shown, found = _without_secret(line[:_LONGEST_LINE])
        if len(line) > _LONGEST_LINE:
            shown += b" ..."
        yield shown
        if not found:
            continue
        lower = line.lower()
        if b"-----begin" in lower and b"-----end" not in lower:
            hidden, ends = _LONGEST_LIST, b"-----END"
        elif b"loginmodule" in lower and b";" not in line:
            hidden, ends = _LONGEST_LIST, b";"
        elif _GOES_ON.search(line):
            hidden = 1


def _without_secret(line: bytes) -> tuple[bytes, bool]:
    """The line as it may be shown, and whether it names a secret."""
    if _FRAME.match(line):
        return line, False
    line = _JSON_WEB_TOKEN.sub(_MASK, _USER_INFO.sub(b"://" + _MASK + b"@", line))
    match = _SECRET.search(line)
    if match is None:
        return line, False
    before = _VALUE_BEFORE.search(line, 0, match.start())
    rest = line[match.end() :].strip(b"\r\"' .)")
    if not rest and before is None:
        return line, True
    return line[: before.start() if before is not None else match.end()] + b" " + _MASK, True


_KEYS = frozenset(
    rb"""clusterId leaderId leaderEpoch votedId votedDirectoryId appliedOffset currentVoters
    voterId data_version version topic_id null true false nodeId directoryId isLastResort processId
    startedAt quorumStateSha256 quorumStateTime __cluster_metadata __consumer_offsets
    __transaction_state __share_group_state""".split()
)
"""The words of Kafka's small files."""
_META_KEYS = (b"version", b"broker.id", b"node.id", b"cluster.id", b"directory.id", b"#")
_PARTS = frozenset(part for key in _KEYS for part in re.findall(rb"[A-Za-z]{4,}", key))
_ID = re.compile(rb"(?<![\w-])[A-Za-z0-9_-]{22}(?![\w-])|(?<![\w-])[0-9a-f]{64}(?![\w-])")
_RUN = re.compile(rb"[A-Za-z]{4,}")
_CLASSES = bytes.maketrans(
    bytes(range(256)),
    bytes(
        ord("x") if chr(byte).isalpha() else ord("0") if chr(byte).isdigit() else byte
        for byte in range(128)
    )
    + bytes(range(128, 256)),
)
_LONGEST_META_LINE = 128
_NEAR = 0.75
"""So alike is a word that lost or changed one letter in four, or a bit in each."""


def masked_small_file(data: bytes, kind: FileKind) -> bytes:
    """A small text file of Kafka, masked if it has words that Kafka does not write.

    Damaged words stay as they are, since what is wrong with the file is in them. Of a masked file
    sizes, lines and braces stay.
    """
    if kind is FileKind.META_PROPERTIES:
        return b"\n".join(map(_masked_meta_line, data.split(b"\n")))
    return data if _is_kafkas(data) else data.translate(_CLASSES)


def _masked_meta_line(line: bytes) -> bytes:
    key, separator, value = line.partition(b"=")
    if len(line) <= _LONGEST_META_LINE and (
        (key.startswith(b"#") and not separator) or any(_is_near(key, one) for one in _META_KEYS)
    ):
        return line
    return key + separator + value.translate(_CLASSES) if separator else line.translate(_CLASSES)


def _is_kafkas(data: bytes) -> bool:
    """True if all words are Kafka's, or look like damaged ones of them."""
    return all(
        any(run in part or _is_near(run, part) for part in _PARTS)
        for run in _RUN.findall(_ID.sub(b"", data))
    )


def _is_near(word: bytes, other: bytes) -> bool:
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= _NEAR
