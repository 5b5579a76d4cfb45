"""The notation of the catalogue: text to `MessageSchema` values and back.

Owns the grammar, one line a fact:

    PartitionRecord metadata 3 versions 0-2 flexible 0+
      partitionId int32 0+ default -1
      voters []Voter 0+ nullable 1+
        voterId int32 0+
      struct Topology
        …

A block opens with name, kind, api key (or -) and versions; its fields follow, two spaces deeper,
as name, type, versions and then facts in any number: `nullable RANGE`, `tag N`, `tagged RANGE`
(only where it is not the field's own versions), `default WORD`, `entity NAME`, `mapkey`,
`ignorable`, `flexible none`. Fields of a struct stand below it. `struct NAME` declares one that
several fields of the message share. It refuses anything else, so that a typo cannot pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftool.decoders.errors import KraftoolError

SCALARS = frozenset(
    {
        "bool",
        "int8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "float64",
        "string",
        "uuid",
        "bytes",
        "records",
    }
)
OPEN = 1 << 15
"""The upper end of a range written `N+`; above every possible version (int16)."""


class CatalogueError(KraftoolError):
    """A catalogue line that is not in the notation."""


@dataclass(frozen=True, slots=True)
class Versions:
    """A closed range of versions; `none` is the empty one."""

    low: int
    high: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.low <= version <= self.high

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))

    def __bool__(self) -> bool:
        return self.low <= self.high

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.high >= OPEN:
            return f"{self.low}+"
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"

    @classmethod
    def parse(cls, text: str) -> Versions:
        if text == "none":
            return NO_VERSIONS
        low, dash, high = text.partition("-")
        try:
            if text.endswith("+"):
                return cls(int(text[:-1]), OPEN)
            return cls(int(low), int(high if dash else low))
        except ValueError:
            raise CatalogueError(f"not a version range: {text!r}") from None


NO_VERSIONS = Versions(0, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a message or struct, as Kafka's definition has it."""

    name: str
    type: str
    versions: Versions
    nullable: Versions = NO_VERSIONS
    tag: int | None = None
    tagged: Versions = NO_VERSIONS
    default: str | None = None
    entity: str = ""
    map_key: bool = False
    ignorable: bool = False
    flexible: Versions | None = None
    fields: tuple[Field, ...] = ()

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element(self) -> str:
        """The type of one element, or of the field itself where it is no array."""
        return self.type.removeprefix("[]")

    @property
    def is_struct(self) -> bool:
        return self.element not in SCALARS

    def is_tagged(self, version: int) -> bool:
        return self.tag is not None and version in self.tagged


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSchema:
    """One message: a request, a response, a header, a metadata record or plain data."""

    name: str
    kind: str
    api_key: int | None
    versions: Versions
    flexible: Versions
    listeners: tuple[str, ...] = ()
    unstable: bool = False
    fields: tuple[Field, ...] = ()

    def is_flexible(self, version: int) -> bool:
        return version in self.flexible


@dataclass(slots=True)
class _Line:
    depth: int
    words: list[str]


def parse(block: str) -> MessageSchema:
    """Read one block of the catalogue."""
    lines = [
        _Line((len(line) - len(line.lstrip())) // 2, line.split())
        for line in block.splitlines()
        if line.strip()
    ]
    words = lines[0].words
    name, kind, key = words[:3]
    facts = _facts(words[3:], {"versions": 1, "flexible": 1, "listeners": 1, "unstable": 0})
    structs: dict[str, tuple[Field, ...]] = {}
    body = _fields(lines, 1, 1, structs)[0]
    return MessageSchema(
        name=name,
        kind=kind,
        api_key=None if key == "-" else int(key),
        versions=Versions.parse(facts.get("versions", "none")),
        flexible=Versions.parse(facts.get("flexible", "none")),
        listeners=tuple(facts["listeners"].split(",")) if "listeners" in facts else (),
        unstable="unstable" in facts,
        fields=_with_structs(body, structs),
    )


def _facts(words: list[str], known: dict[str, int]) -> dict[str, str]:
    facts = {}
    rest = iter(words)
    for word in rest:
        if word not in known:
            raise CatalogueError(f"unknown fact {word!r} in {' '.join(words)!r}")
        facts[word] = next(rest, "") if known[word] else ""
    return facts


_FIELD_FACTS = {
    "nullable": 1,
    "tag": 1,
    "tagged": 1,
    "default": 1,
    "entity": 1,
    "flexible": 1,
    "mapkey": 0,
    "ignorable": 0,
}


def _fields(
    lines: list[_Line], at: int, depth: int, structs: dict[str, tuple[Field, ...]]
) -> tuple[tuple[Field, ...], int]:
    fields = []
    while at < len(lines) and lines[at].depth == depth:
        words = lines[at].words
        below, following = _fields(lines, at + 1, depth + 1, structs)
        at = following
        if words[0] == "struct" and len(words) == 2:
            structs[words[1]] = below
        else:
            fields.append(_field(words, below))
    if at < len(lines) and lines[at].depth > depth:
        raise CatalogueError(f"indented too far: {' '.join(lines[at].words)!r}")
    return tuple(fields), at


def _field(words: list[str], below: tuple[Field, ...]) -> Field:
    name, kind, versions = words[:3]
    facts = _facts(words[3:], _FIELD_FACTS)
    own = Versions.parse(versions)
    tag = int(facts["tag"]) if "tag" in facts else None
    tagged = Versions.parse(facts["tagged"]) if "tagged" in facts else own
    default = facts.get("default")
    return Field(
        name=name,
        type=kind,
        versions=own,
        nullable=Versions.parse(facts.get("nullable", "none")),
        tag=tag,
        tagged=tagged if tag is not None else NO_VERSIONS,
        default="" if default == '""' else default,
        entity=facts.get("entity", ""),
        map_key="mapkey" in facts,
        ignorable="ignorable" in facts,
        flexible=Versions.parse(facts["flexible"]) if "flexible" in facts else None,
        fields=below,
    )


def _with_structs(
    fields: tuple[Field, ...], structs: dict[str, tuple[Field, ...]]
) -> tuple[Field, ...]:
    """Put the fields of shared structs below the fields that name them."""
    from dataclasses import replace

    whole = []
    for field in fields:
        below = field.fields or (structs.get(field.element, ()) if field.is_struct else ())
        whole.append(replace(field, fields=_with_structs(below, structs)) if below else field)
    return tuple(whole)
