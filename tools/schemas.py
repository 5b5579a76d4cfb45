"""Writes docs/schemas/*.json from the classes that the documents are made of.

Owns the way from a type to its schema: members, their types, and the docstrings below them as
descriptions; and the table of documents. It refuses to hold prose about a document: that belongs to
its class.

    python -m tools.schemas            write docs/schemas, remove schemas of documents that are gone
    python -m tools.schemas --check    exit 1 and say how to mend it when a schema is not fresh
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from kraftool.reports.text.json_document import SCHEMA_VERSION, JsonLines, members, twin_name, word
from kraftool.reports.text.json_form import form_hint

ROOT = Path(__file__).resolve().parent.parent

SCHEMAS = ROOT / "docs" / "schemas"
MEND = "make schemas"
DRAFT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
_LISTS = (tuple, list, frozenset, set, Sequence, Iterable, Iterator, JsonLines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """The documents of a schema, each `module:class` below kraftool, and lines of -o jsonl by their
    kind."""

    title: str
    documents: tuple[str, ...] = ()
    lines: Mapping[str, str] = field(default_factory=dict)


_ENTITIES = "reports.state.entity_objects"

DOCUMENTS = {
    "doctor": Described(
        title="kraftool doctor -o json",
        documents=(
            "reports.doctor.report:DoctorReport",
            "reports.doctor.explain:ExplanationsDocument",
        ),
    ),
    "verify-log": Described(
        title="kraftool verify-log -o json",
        documents=("reports.verify.log:LogVerification",),
    ),
    "diff-voters": Described(
        title="kraftool diff-voters -o json",
        documents=("reports.voters.diff:VoterDiff",),
    ),
    "quorum": Described(
        title="kraftool quorum -o json",
        documents=tuple(
            f"client.quorum_json:{name}"
            for name in (
                "QuorumDocument",
                "HealthDocument",
                "MayStopDocument",
                "ReadyDocument",
                "ChangeDocument",
            )
        ),
    ),
    "watch": Described(
        title="kraftool watch --once -o json",
        documents=("watching.document:WatchDocument",),
    ),
    "simulate-election": Described(
        title="kraftool simulate-election -o json",
        documents=("sim.document:SimulateElectionDocument",),
    ),
    "verify-snapshot": Described(
        title="kraftool verify-snapshot -o json",
        documents=("reports.verify.snapshot_values:SnapshotVerification",),
    ),
    "features": Described(
        title="kraftool features -o json",
        documents=("reports.features.document:FeaturesDocument",),
    ),
    "state": Described(
        title="kraftool state -o json, and the lines of -o jsonl",
        documents=("reports.state.export:StateDocument",),
        lines={
            "state": "reports.state.export:StateHead",
            "feature": f"{_ENTITIES}:FeatureEntity",
            "broker": f"{_ENTITIES}:BrokerEntity",
            "controller": f"{_ENTITIES}:ControllerEntity",
            "topic": f"{_ENTITIES}:TopicEntity",
            "partition": f"{_ENTITIES}:PartitionEntity",
            "config": f"{_ENTITIES}:ConfigEntity",
            "clientQuota": f"{_ENTITIES}:ClientQuotaEntity",
            "acl": f"{_ENTITIES}:AclEntity",
            "scramCredential": f"{_ENTITIES}:ScramCredentialEntity",
            "delegationToken": f"{_ENTITIES}:DelegationTokenEntity",
            "finding": "reports.text.json_forms:FindingObject",
        },
    ),
    "diff-state": Described(
        title="kraftool diff-state -o json, and the lines of -o jsonl",
        documents=("reports.state.diff_json:DiffStateDocument",),
        lines={
            "states": "reports.state.diff_json:TwoStatesObject",
            "change": "reports.state.diff:EntityChange",
            "summary": "reports.state.diff_json:DiffSummary",
        },
    ),
    "recover": Described(
        title="kraftool recover collect, plan, apply, undo, verify and rehearse -o json",
        documents=(
            "commands.recover_collect_json:CollectDocument",
            "commands.recover_plan_json:PlanDocument",
            "commands.recover_apply_json:ApplyDocument",
            "commands.recover_apply_json:UndoDocument",
            "commands.recover_verify_json:VerifyDocument",
            "commands.recover_rehearse_json:RehearseDocument",
        ),
    ),
    "bundle": Described(
        title="kraftool bundle -o json",
        documents=("bundle.contents:BundleContents",),
    ),
    "backup": Described(
        title="kraftool backup -o json",
        documents=(
            "backup.manifest:Manifest",
            "backup.listing:BackupList",
            "backup.verify:BackupVerification",
            "backup.prune:PruneReport",
            "backup.restoring:RestoreReport",
        ),
    ),
    "explain": Described(
        title="kraftool explain -o json", documents=("commands.explain_json:ExplainDocument",)
    ),
    "format": Described(
        title="kraftool storage format -o json",
        documents=("storage.format_plan:FormatPlan",),
    ),
    "storage-info": Described(
        title="kraftool storage info -o json",
        documents=("storage.formatted:Formatted",),
    ),
    "timeline": Described(
        title="kraftool timeline -o json, and the lines of -o jsonl",
        documents=("reports.timeline.document:TimelineDocument",),
        lines={
            "node": "reports.timeline.events:NodeView",
            "event": "reports.timeline.document:EventObject",
            "finding": "reports.text.json_forms:FindingObject",
            "statistics": "reports.timeline.events:Statistics",
        },
    ),
    "pipeline-audit": Described(
        title="kraftool pipeline audit -o json",
        documents=("reports.fleet.document:AuditDocument",),
    ),
    "pipeline-tables": Described(
        title="kraftool pipeline tables -o json",
        documents=("spark.tables.run:TablesReport",),
    ),
    "dump": Described(
        title="kraftool dump -o json",
        documents=("reports.directory.report:DumpReport",),
    ),
}


class Definitions:
    """The classes that one schema uses, by the name of their definition."""

    def __init__(self) -> None:
        self.by_name: dict[str, Schema] = {}
        self._kinds: dict[str, Any] = {}

    def of(self, kind: Any) -> Schema:
        """A reference to the definition of a class, which is made when it is first needed."""
        name = definition_name(kind)
        if name not in self._kinds:
            self._kinds[name] = kind
            self.by_name[name] = {}  # a class may hold itself
            self.by_name[name] = self.members_of(kind)
        if self._kinds[name] is not kind:
            raise TypeError(f"{kind} and {self._kinds[name]} would have the same definition")
        return {"$ref": f"#/$defs/{name}"}

    def members_of(self, kind: Any, first: Schema | None = None) -> Schema:
        """A class as an object that has each of its members and no other, behind the `first`."""
        properties: Schema = dict(first or {})
        for member in members(kind):
            about = docstrings(member.owner).get(member.attribute, "")
            properties[member.name] = _described(about, self.type_of(member.hint))
            if member.is_moment:
                twin = f"{member.name} in ISO-8601; null where it is not known."
                properties[twin_name(member)] = _described(twin, {"type": ["string", "null"]})
        return {
            **_described(_summary(kind), {"type": "object"}),
            "additionalProperties": False,
            "required": list(properties),
            "properties": properties,
        }

    def type_of(self, hint: Any) -> Schema:
        """The schema of a type."""
        hint = form_hint(hint)
        origin, given = get_origin(hint), get_args(hint)
        if origin is Annotated:
            return self.type_of(given[0])
        if origin in (Union, types.UnionType):
            return _one_of([self.type_of(argument) for argument in given])
        if origin is Literal:
            return {"enum": list(given)}
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        if hint is Any or hint is object:
            return {}
        if origin in (dict, Mapping):
            return self._mapping(*given)
        if origin in _LISTS:
            return {"type": "array", "items": self.type_of(given[0])}
        if isinstance(hint, type) and issubclass(hint, Enum):
            return {"enum": [word(enum) for enum in hint]}
        if is_dataclass(hint) or hasattr(hint, "_fields"):
            return self.of(hint)
        raise TypeError(f"no schema for {hint!r}")

    def _mapping(self, key: Any, value: Any) -> Schema:
        if isinstance(key, type) and issubclass(key, Enum):
            names = [word(enum) for enum in key]
            return {
                "type": "object",
                "propertyNames": {"enum": names},
                "additionalProperties": self.type_of(value),
            }
        rest = self.type_of(value)
        return {"type": "object", "additionalProperties": rest} if rest else {"type": "object"}


def _one_of(schemas: list[Schema]) -> Schema:
    """What a union's types are together; plain ones share one list of types."""
    if all(set(schema) == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    if all(set(schema) <= {"enum"} or schema == {"type": "null"} for schema in schemas):
        return {"enum": [one for schema in schemas for one in schema.get("enum", [None])]}
    if len(schemas) == 2 and schemas[1] == {"type": "null"} and "type" in schemas[0]:
        return {**schemas[0], "type": [schemas[0]["type"], "null"]}
    return {"anyOf": schemas}


def _described(about: str, schema: Schema) -> Schema:
    return {"description": about, **schema} if about else schema


def definition_name(kind: Any) -> str:
    name: str = kind.__name__.removesuffix("Object")
    return name[0].lower() + name[1:]


def _summary(kind: Any) -> str:
    text = inspect.cleandoc(kind.__dict__.get("__doc__") or "")
    return "" if text.startswith(f"{kind.__name__}(") else _plain_text(text)


def _plain_text(text: str) -> str:
    """A docstring as one paragraph, without the marks of code, and with JSON's name for None."""
    plain = re.sub(r"\s+", " ", inspect.cleandoc(text)).replace("`", "").strip()
    return re.sub(r"\bNone\b", "null", plain)


@cache
def docstrings(kind: Any) -> dict[str, str]:
    """What stands below each attribute of a class, and in its properties."""
    texts: dict[str, str] = {}
    for owner in reversed(kind.__mro__[:-1]):
        if owner is tuple or not owner.__module__.startswith("kraftool"):
            continue
        texts |= _attributes_of(owner.__module__).get(owner.__name__, {})
    return texts


@cache
def _attributes_of(module: str) -> dict[str, dict[str, str]]:
    tree = ast.parse(inspect.getsource(import_module(module)))
    return {
        node.name: dict(_said_in(node)) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    }


def _said_in(owner: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for before, stmt in zip([None, *owner.body], owner.body, strict=False):
        if isinstance(stmt, ast.FunctionDef):
            yield stmt.name, _plain_text(ast.get_docstring(stmt) or "")
        elif (
            isinstance(before, ast.AnnAssign)
            and isinstance(before.target, ast.Name)
            and isinstance(stmt, ast.Expr)
            and isinstance(stmt.value, ast.Constant)
        ):
            yield before.target.id, _plain_text(str(stmt.value.value))


def _class(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(f"kraftool.{module}"), name)


def schema_of(described: Described) -> Schema:
    """The whole schema of a command's documents and lines."""
    definitions = Definitions()
    documents = [
        definitions.members_of(_class(document), {"schemaVersion": {"const": SCHEMA_VERSION}})
        for document in described.documents
    ]
    lines = {
        kind: definitions.members_of(_class(line), {"kind": {"const": kind}})
        for kind, line in described.lines.items()
    }
    head: Schema = {"$schema": DRAFT, "title": described.title}
    schema = {**head, **documents[0]} if len(documents) == 1 else {**head, "anyOf": documents}
    if lines:
        named = {f"{kind}Line": line for kind, line in lines.items()}
        refs = [{"$ref": f"#/$defs/{name}"} for name in named]
        definitions.by_name |= {**named, "line": {"anyOf": refs}}
    return {**schema, "$defs": definitions.by_name} if definitions.by_name else schema


def _written(value: Any, indent: int = 0) -> str:
    """JSON in which what fits on a line has one."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) + indent <= 96 or not isinstance(value, dict | list) or not value:
        return short
    pad, end = "\n" + " " * (indent + 2), "\n" + " " * indent
    if isinstance(value, list):
        return "[" + ",".join(pad + _written(member, indent + 2) for member in value) + end + "]"
    lines = (
        f"{pad}{json.dumps(name)}: {_written(member, indent + 2)}" for name, member in value.items()
    )
    return "{" + ",".join(lines) + end + "}"


def schema_files() -> dict[Path, str]:
    return {
        SCHEMAS / f"{name}.json": _written(schema_of(document)) + "\n"
        for name, document in DOCUMENTS.items()
    }


def main(arguments: list[str]) -> int:
    wanted = schema_files()
    present = {path: path.read_text() for path in SCHEMAS.glob("*.json")}
    if arguments == ["--check"]:
        stale = sorted(path.name for path in wanted if wanted.get(path) != present.get(path))
        for name in stale:
            print(f"docs/schemas/{name} is not what its classes say: run `{MEND}`", file=sys.stderr)
        return 1 if stale else 0
    for path, text in wanted.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
