"""meta.properties: which node and cluster a log directory belongs to.

Owns version 0 (`broker.id`, from before KRaft) and version 1 (`node.id`), both with `directory.id`
where dynamic voters or JBOD need it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kraftool.decoders import properties
from kraftool.decoders.errors import DecodeError, KraftoolError
from kraftool.decoders.findings import Findings, shown
from kraftool.decoders.java_text import read_int32, read_uuid, write_date

VERSION = "version"
CLUSTER_ID = "cluster.id"
BROKER_ID = "broker.id"
NODE_ID = "node.id"
DIRECTORY_ID = "directory.id"

_KNOWN = frozenset({VERSION, CLUSTER_ID, BROKER_ID, NODE_ID, DIRECTORY_ID})


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """A meta.properties; what is absent or cannot be read is None."""

    version: int | None = 1
    cluster_id: str | None = None
    node_id: int | None = None
    directory_id: str | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Keys that Kafka does not know; it drops them when it writes the file again."""
    accepted: bool = True
    """True if Kafka accepts the file; it does not start on one that it refuses."""


def decode(data: bytes) -> tuple[MetaProperties, tuple[DecodeError, ...]]:
    """Read meta.properties as MetaProperties.Builder does."""
    loaded, syntax = properties.decode(data)
    findings = Findings()
    if not loaded.accepted:
        first = syntax[0]
        findings.refuse(
            first.reason,
            position=first.position,
            path=first.path,
            expected=first.expected,
            found=first.found,
        )
        syntax = syntax[1:]
    for finding in syntax:
        findings.note(
            finding.reason,
            position=finding.position,
            path=finding.path,
            expected=finding.expected,
            found=finding.found,
        )
    version = _version(loaded, findings)
    node_key = BROKER_ID if version == 0 else NODE_ID
    node_id = _node_id(loaded, node_key, findings)
    cluster_id = loaded.get(CLUSTER_ID)
    if cluster_id is None and version != 0:
        _missing(CLUSTER_ID, "a cluster id", findings)
    if node_id is None and version != 0 and loaded.get(node_key) is None:
        _missing(node_key, "a whole number", findings)
    meta = MetaProperties(
        version=version,
        cluster_id=cluster_id,
        node_id=node_id,
        directory_id=_directory_id(loaded, findings),
        unknown={key: value for key, value in loaded.as_dict().items() if key not in _KNOWN},
        accepted=findings.accepted,
    )
    return meta, findings.listed()


def _missing(key: str, expected: str, findings: Findings) -> None:
    findings.refuse("a required key is missing", position=0, path=key, expected=expected)


def _unreadable(
    entry: properties.Property, expected: str, findings: Findings, reason: str = "unreadable value"
) -> None:
    findings.refuse(
        reason,
        position=entry.position,
        path=entry.key,
        expected=expected,
        found=shown(entry.value),
    )


def _version(loaded: properties.Properties, findings: Findings) -> int | None:
    entry = loaded.entry(VERSION)
    if entry is None:
        return 0  # MetaProperties.Builder takes a file without a version for version 0.
    # Java's trim cuts everything up to and including the blank, control characters too.
    version = read_int32(entry.value.strip("".join(map(chr, range(0x21)))))
    if version is None:
        _unreadable(entry, "0 or 1", findings)
        return None
    if version not in (0, 1):
        _unreadable(entry, "0 or 1", findings, "unknown version")
    return version


def _node_id(loaded: properties.Properties, key: str, findings: Findings) -> int | None:
    entry = loaded.entry(key)
    if entry is None:
        return None
    node_id = read_int32(entry.value)
    if node_id is None:
        _unreadable(entry, "a whole number of 32 bits", findings)
    return node_id


def _directory_id(loaded: properties.Properties, findings: Findings) -> str | None:
    entry = loaded.entry(DIRECTORY_ID)
    if entry is None:
        return None
    directory_id = read_uuid(entry.value)
    if directory_id is None:
        _unreadable(entry, "a uuid of 22 base64 characters", findings)
    elif directory_id != entry.value:
        findings.note(
            "the uuid is not in the form that Kafka writes",
            position=entry.position,
            path=DIRECTORY_ID,
            expected=directory_id,
            found=shown(entry.value),
        )
    return directory_id


def encode(meta: MetaProperties, *, written_at: datetime) -> bytes:
    """Write the file as Kafka does: two comment lines, then the keys in Java's hash order.

    Unknown keys are left out, as Kafka leaves them out.
    """
    if meta.version not in (0, 1):
        raise KraftoolError(f"meta.properties of version {meta.version} cannot be written")
    if meta.version == 1 and (meta.cluster_id is None or meta.node_id is None):
        raise KraftoolError("meta.properties of version 1 needs cluster.id and node.id")
    entries: list[tuple[str, str]] = []
    if meta.node_id is not None:
        entries.append((BROKER_ID if meta.version == 0 else NODE_ID, str(meta.node_id)))
    if meta.directory_id is not None:
        entries.append((DIRECTORY_ID, meta.directory_id))
    entries.append((VERSION, str(meta.version)))
    if meta.cluster_id is not None:
        entries.append((CLUSTER_ID, meta.cluster_id))
    return properties.encode(entries, comments=("", write_date(written_at)))
