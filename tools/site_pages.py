"""The pages of the site that are made from the code: commands, findings, JSON schemas, tables.

Owns their Markdown. Every word comes from the help, the catalogue of findings, the schemas and the
comments of columns; it refuses to hold prose about one of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from typer.main import get_command

from kraftool.commands.app import app
from kraftool.commands.command_table import SECTIONS
from kraftool.commands.command_tree import CommandNode, walk
from kraftool.commands.exit_code import ExitCode
from kraftool.commands.help_text import PROGRAM, keeps_its_lines, read_help
from kraftool.reports.doctor.explain import Explanation, explain
from kraftool.reports.findings.kinds import KINDS

ROOT = Path(__file__).resolve().parent.parent
COMMANDS, FINDINGS = "reference/commands", "reference/findings"
SCHEMAS, TABLES = "reference/schemas", "reference/tables"
_PLACE = (
    "The finding names the file, the position in it and the offset, what was expected, and what was"
    " found there."
)
_ANSWERS = "The finding names the nodes, and the answers or records of theirs that show it."


class CodeArea(NamedTuple):
    """What the codes with one beginning have in common."""

    title: str
    commands: tuple[str, ...]
    """Those that look there, the first one first."""
    evidence: str = _PLACE


AREAS = {
    "KT-LOG": CodeArea("The metadata log", ("verify-log", "doctor", "dump")),
    "KT-SNAP": CodeArea("Snapshots", ("verify-snapshot", "doctor", "dump")),
    "KT-DIR": CodeArea("Data directories", ("doctor", "dump", "diff-voters")),
    "KT-SIG": CodeArea("Known failures", ("doctor",)),
    "KT-LIVE": CodeArea("Live quorums", ("quorum health", "watch", "exporter"), _ANSWERS),
    "KT-REC": CodeArea("Repair", ("recover rehearse", "recover apply", "recover verify")),
    "KT-BAK": CodeArea("Backups", ("backup verify",)),
    "KT-FLEET": CodeArea("Fleets", ("pipeline audit",), _ANSWERS),
}
ISSUE = re.compile(r"KAFKA-\d+|apache/kafka #\d+")
_SPECIAL = re.compile(r"([\\`*_<>\[\]|$~#])")
Pages = dict[str, str]
_APART = "---\norphan: true\n---\n\n"
"""Before a page that its index lists, and not the navigation: that is on every page."""


def escaped(text: str) -> str:
    """Return text as Markdown shows it unchanged, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def command_pages() -> Pages:
    """Return a page for each command, and their index."""
    nodes = list(walk(get_command(app)))
    pages = {
        f"{COMMANDS}/{node.page}.md": _APART + _command(node, nodes) for node in nodes if node.words
    }
    text = "# Commands\n\nThese pages are the help of each command: `kraftool help COMMAND`.\n\n"
    for section, names in SECTIONS.items():
        rows = [(f"[`{name}`]({PROGRAM}-{name}.md)", words) for name, words in names.items()]
        text += f"## {section}\n\n{table(['command', 'what it does'], rows)}\n"
    codes = [(str(int(code)), escaped(code.meaning)) for code in ExitCode]
    text += f"## Exit codes\n\n{table(['code', 'meaning'], codes)}\n"
    pages[f"{COMMANDS}/index.md"] = text
    return pages


def _command(node: CommandNode, nodes: Sequence[CommandNode]) -> str:
    text = read_help(node.command.help or "")
    parameters = [p for p in node.command.get_params(node.context) if not p.hidden]
    arguments = [p for p in parameters if p.param_type_name == "argument"]
    options = [p for p in parameters if p.param_type_name == "option"]
    below = [n for n in nodes if n.words and n.words[:-1] == node.words]
    parts = [f"# {node.invocation}", escaped(text.summary)]
    if not below:
        usage = " ".join(p for a in arguments for p in a.get_usage_pieces(node.context))
        parts.append(f"```\n{node.invocation} [OPTIONS] {usage}".rstrip() + "\n```")
    parts.append("```\n" + "\n".join(f"$ {example}" for example in text.examples) + "\n```")
    parts += [
        f"```\n{paragraph}\n```" if keeps_its_lines(paragraph) else escaped(paragraph)
        for paragraph in text.paragraphs
    ]
    for title, members in (("Arguments", arguments), ("Options", options)):
        rows = [_parameter(*member.get_help_record(node.context)) for member in members]
        if rows and not below:
            parts.append(f"## {title}\n\n{table([title.lower().rstrip('s'), 'meaning'], rows)}")
    if below:
        rows = [
            (f"[`{n.invocation}`]({n.page}.md)", escaped(read_help(n.command.help or "").summary))
            for n in below
        ]
        parts.append(f"## Commands\n\n{table(['command', 'what it does'], rows)}")
    parts.append("[All commands](index.md)")
    return "\n\n".join(parts) + "\n"


def _parameter(names: str, meaning: str) -> tuple[str, str]:
    return f"`{names}`".replace("|", "\\|"), escaped(meaning)


def finding_pages() -> Pages:
    """Return a page for each finding code, and their index."""
    known = explain("list")
    pages = {f"{FINDINGS}/{kind.code}.md": _APART + finding_page(kind) for kind in known}
    text = (
        "# Findings\n\nEach finding has a code, which never changes."
        " `kraftool doctor --explain CODE` prints the same.\n\n"
    )
    for prefix, area in AREAS.items():
        below = [kind for kind in known if kind.code.startswith(f"{prefix}-")]
        rows = [
            (f"[`{kind.code}`]({kind.code}.md)", kind.severity.value, escaped(first(kind.meaning)))
            for kind in below
        ]
        found = table(["code", "severity", "meaning"], rows)
        text += f"## {area.title}\n\n{_shown_by(area)}\n\n{found}\n"
    pages[f"{FINDINGS}/index.md"] = text
    return pages


def area_of(code: str) -> CodeArea:
    return AREAS["-".join(code.split("-")[:2])]


def _shown_by(area: CodeArea) -> str:
    links = (f"[`{name}`](../commands/{_page(name)}.md)" for name in area.commands)
    return f"Shown by {', '.join(links)}."


def _page(command: str) -> str:
    return f"{PROGRAM}-{command.replace(' ', '-')}"


def finding_page(kind: Explanation) -> str:
    """Return the page of a finding: severity, meaning, cure, and what Kafka was seen to do."""
    area = area_of(kind.code)
    parts = [
        f"# {kind.code}",
        f"**{kind.severity.value.capitalize()}**, unless a case differs. {_shown_by(area)}",
        f"## Meaning\n\n{escaped(kind.meaning)}",
    ]
    if KINDS[kind.code].keeps_from_starting:
        parts.append(
            "**Kafka exits when it starts on a directory with this**, unless a case differs."
        )
    if KINDS[kind.code].stops_controller:
        parts.append("**Kafka starts, and exits as soon as its controller reads this.**")
    if kind.note:
        parts.append(escaped(kind.note))
    if kind.advice:
        parts.append(f"## What to do\n\n{escaped(kind.advice[:1].upper() + kind.advice[1:])}.")
    parts.append(f"## Evidence\n\n{area.evidence}")
    if kind.observed:
        seen = "\n".join(f"- {escaped(sentence)}" for sentence in kind.observed)
        parts.append(f"## Observed on real Kafka\n\n{seen}")
    if kind.references:
        parts.append("## Discussed in\n\n" + ", ".join(map(escaped, kind.references)))
    parts.append(f"```\n$ kraftool doctor --explain {kind.code}\n```")
    parts.append("[All findings](index.md)")
    return "\n\n".join(parts) + "\n"


def first(text: str) -> str:
    """Return the first sentence."""
    return re.split(r"(?<=[.!?]) ", " ".join(text.split()), maxsplit=1)[0]


def known_issues() -> str:
    """Return the table of Kafka's issues that the findings name, with the command for each."""
    rows = []
    for kind in explain("list"):
        text = " ".join((*kind.references, kind.meaning, kind.note, *kind.observed))
        if issues := dict.fromkeys(ISSUE.findall(text)):
            command = area_of(kind.code).commands[0]
            shown = f"[`{command}`]({COMMANDS}/{_page(command)}.md)"
            link = f"[`{kind.code}`]({FINDINGS}/{kind.code}.md)"
            names = escaped(", ".join(issues).replace("apache/kafka ", ""))
            rows.append((names, escaped(first(kind.meaning)), shown, link))
    return table(["issue", "what happens", "command", "finding"], sorted(rows))


def schema_pages() -> Pages:
    """Return a page for each JSON schema, and their index."""
    files = sorted((ROOT / "docs" / "schemas").glob("*.json"))
    pages, rows = {}, []
    for file in files:
        schema = json.loads(file.read_text(encoding="utf-8"))
        pages[f"{SCHEMAS}/{file.stem}.md"] = _APART + schema_page(file.name, schema)
        rows.append((f"[{file.stem}]({file.stem}.md)", escaped(str(schema["title"]))))
    text = (
        "# JSON schemas\n\nThe documents of `-o json`. [json.md](../../json.md) says how names are"
        " made and what is promised.\n\n"
    )
    pages[f"{SCHEMAS}/index.md"] = text + table(["schema", "documents"], rows)
    return pages


def schema_page(name: str, schema: Mapping[str, Any]) -> str:
    parts = [
        f"# {escaped(str(schema['title']))}",
        f"The whole schema: [{name}](../../schemas/{name}).",
    ]
    for document in schema.get("anyOf", [schema]):
        found = _resolved(document, schema)
        if "description" in found:
            parts.append(escaped(str(found["description"])))
        parts.append(_properties(found))
    for definition, found in sorted(schema.get("$defs", {}).items()):
        if "properties" in found:
            parts.append(f"## {escaped(definition)}")
            parts.append(escaped(str(found.get("description", ""))))
            parts.append(_properties(found))
    return "\n\n".join(filter(None, parts)) + "\n"


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = str(document.get("$ref", ""))
    if not reference:
        return document
    found: Mapping[str, Any] = schema["$defs"][reference.rpartition("/")[2]]
    return found


def _properties(document: Mapping[str, Any]) -> str:
    required = document.get("required", ())
    rows = [
        (
            f"`{name}`" + ("" if name in required else " (may be missing)"),
            escaped(type_words(member)),
            escaped(str(member.get("description", ""))),
        )
        for name, member in document.get("properties", {}).items()
    ]
    return table(["member", "type", "meaning"], rows) if rows else ""


def type_words(member: Mapping[str, Any]) -> str:
    """Return the type of a member in words."""
    if "$ref" in member:
        return str(member["$ref"]).rpartition("/")[2]
    if "const" in member:
        return json.dumps(member["const"])
    if "enum" in member:
        return ", ".join(json.dumps(value) for value in member["enum"])
    for several in ("anyOf", "oneOf"):
        if several in member:
            return " or ".join(type_words(one) for one in member[several])
    kind = member.get("type", "any")
    if kind == "array":
        return f"list of {type_words(member.get('items', {}))}"
    if kind == "object" and isinstance(member.get("additionalProperties"), dict):
        return f"map to {type_words(member['additionalProperties'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def table_pages() -> Pages:
    """Return a page for each Delta table but those of record types, which share one."""
    from kraftool.arrow.columns import record_types
    from kraftool.spark.tables.layout import TABLES as KNOWN
    from kraftool.spark.tables.layout import commented_schema

    types = set(record_types())
    own = [name for name in KNOWN if name not in types]
    pages = {
        f"{TABLES}/{name}.md": f"{_APART}# Table {escaped(name)}\n\n"
        + _columns(commented_schema(name))
        for name in own
    }
    text = f"{_APART}# Tables of record types\n\nEach has a column for each field of the record.\n"
    for name in sorted(types):
        text += f"\n## {name}\n\n{_columns(commented_schema(name))}"
    pages[f"{TABLES}/record-types.md"] = text
    listed = "".join(f"- [{name}]({name}.md)\n" for name in own)
    pages[f"{TABLES}/index.md"] = (
        "# Delta tables\n\nThe tables that `kraftool pipeline tables` writes."
        " [pipelines.md](../../pipelines.md#tables) says what a row of each is.\n\n"
        f"{listed}- [one for each record type](record-types.md)\n"
    )
    return pages


def _columns(schema: Any) -> str:
    return table(
        ["column", "type", "meaning"], [_column(schema.field(n)) for n in range(len(schema.names))]
    )


def _column(field: Any) -> tuple[str, str, str]:
    comment = (field.metadata or {}).get(b"comment", b"").decode()
    return f"`{field.name}`", escaped(str(field.type).replace("element: ", "")), escaped(comment)


def generated() -> Iterator[tuple[str, str]]:
    """Yield each page's path and its Markdown."""
    for pages in (command_pages(), finding_pages(), schema_pages(), table_pages()):
        yield from pages.items()
