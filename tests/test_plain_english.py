"""What people read says it in plain words: none of those that `retired_words.py` lists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from typer.main import get_command

from kraftool.commands.app import app
from kraftool.commands.command_tree import walk
from kraftool.commands.exit_code import ExitCode
from kraftool.reports.findings.kinds import KINDS
from tests.support.places import ROOT
from tests.support.retired_words import RETIRED

_CODE = re.compile(r"^```.*?^```|^(?: {4}|\t)[^\n]*$|`[^`]*`", re.MULTILINE | re.DOTALL)
_RUNS = re.compile(r"^(?:Examples?:|\$).*$", re.MULTILINE)


def retired_uses(text: str) -> list[str]:
    """Return each retired use in a text, with the words around it and what to write instead."""
    flat = " ".join(text.split())
    uses = []
    for retired in RETIRED:
        searched = flat
        for allowed in retired.allowed:
            searched = re.sub(allowed, "…", searched, flags=re.IGNORECASE)
        for use in re.finditer(retired.pattern, searched, re.IGNORECASE):
            around = searched[max(0, use.start() - 40) : use.end() + 30]
            uses.append(f"…{around}… write: {retired.instead}")
    return uses


def help_texts() -> Iterator[tuple[str, str]]:
    for node in walk(get_command(app)):
        yield node.invocation, _RUNS.sub("", node.command.help or "")
        for parameter in node.command.params:
            if not getattr(parameter, "hidden", False):
                yield f"{node.invocation} {parameter.opts[0]}", parameter.help or ""


HELP = dict(help_texts())
DOCUMENTS = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "ARCHITECTURE", "CHANGELOG")),
    *sorted((ROOT / "docs").glob("*.md")),
]


def test_a_retired_word_is_found_and_its_allowed_use_is_not() -> None:
    assert retired_uses("Kafka makes it anew; nobody is told.")
    assert len(retired_uses("It ends with 5 where a check blocks.")) == 2
    assert not retired_uses("DATA LOSS, loss: none. There is none, and kraftool cannot tell why.")


def test_only_code_is_left_out_of_a_document() -> None:
    text = "Told.\n\n    $ code lies\n\nNobody is told `mend`.\n\n```\nanew\n```\nIt lies there.\n"
    assert len(retired_uses(_CODE.sub("…", text))) == 4


def test_help_has_no_retired_word() -> None:
    assert len(HELP) > 200
    assert {name: uses for name, text in HELP.items() if (uses := retired_uses(text))} == {}


def test_exit_codes_have_no_retired_word() -> None:
    assert {code: uses for code in ExitCode if (uses := retired_uses(code.meaning))} == {}


@pytest.mark.parametrize("code", sorted(KINDS))
def test_a_finding_has_no_retired_word(code: str) -> None:
    kind = KINDS[code]
    assert not retired_uses(" ".join((kind.meaning, kind.advice, kind.note, *kind.observed)))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_has_no_retired_word(document: Path) -> None:
    assert not retired_uses(_CODE.sub("…", document.read_text(encoding="utf-8")))


def test_make_help_has_no_retired_word() -> None:
    targets = re.findall(r"^[\w-]+:.*?## (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert len(targets) > 30
    assert not retired_uses("\n".join(targets))


@pytest.mark.parametrize("page", sorted((ROOT / "man").glob("*.1")), ids=lambda path: path.name)
def test_a_man_page_has_no_retired_word(page: Path) -> None:
    text = page.read_text(encoding="utf-8").replace("\\-", "-").replace("\\(aq", "'")
    assert not retired_uses(
        "\n".join(line for line in text.splitlines() if "Written by" not in line)
    )


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?]) ", " ".join(text.split()))


LONGEST_SENTENCE = 26
"""Words. The aim is 20; a list of names in a sentence may make it longer."""


@pytest.mark.parametrize("code", sorted(KINDS))
def test_a_finding_has_short_sentences(code: str) -> None:
    kind = KINDS[code]
    long = [
        sentence
        for text in (kind.meaning, kind.advice, kind.note, *kind.observed)
        for sentence in sentences(text)
        if len(sentence.split()) > LONGEST_SENTENCE
    ]
    assert not long


def test_options_say_what_they_take() -> None:
    noun_clause = re.compile(r"^(?:How|What|Whether|Where|Who|Which|Of|So)\b")
    options = {name: text for name, text in HELP.items() if " --" in name}
    assert not {name for name, text in options.items() if noun_clause.match(text)}


NOUN_CLAUSE = re.compile(r"^(?:Whether|What|Who|Whom|Whose|How|Where|Which)\b")
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
FOLDERS = ("commands", "decoders", "kraftool", "tui")


@cache
def docstrings() -> tuple[tuple[str, DOCUMENTED, str], ...]:
    """The place, the node and the docstring of each that has one. No import of this file reads
    them: each worker imports it, and one runs it."""
    return tuple(documented())


def documented() -> Iterator[tuple[str, DOCUMENTED, str]]:
    """Each module, class and function with a docstring, and its place."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path.resolve() != path:
                continue  # by a link in kraftool/
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, DOCUMENTED) and (docstring := ast.get_docstring(node)):
                    yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", node, docstring


def test_a_docstring_says_what_it_is_or_does() -> None:
    assert len(docstrings()) > 4000
    assert not [
        f"{place}: {docstring[:60]}"
        for place, _, docstring in docstrings()
        if NOUN_CLAUSE.match(docstring)
    ]


def _yields(function: ast.AST) -> bool:
    """True if the function itself yields, not one that is defined in it."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    return any(
        isinstance(child, ast.Yield | ast.YieldFrom)
        or (not isinstance(child, inner) and _yields(child))
        for child in ast.iter_child_nodes(function)
    )


def test_a_generator_yields_and_only_a_bool_is_true() -> None:
    wrong = []
    for place, node, docstring in docstrings():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            returned = "" if node.returns is None else ast.unparse(node.returns)
            if docstring.startswith("True if") and not re.search("bool|TypeGuard|TypeIs", returned):
                wrong.append(f"{place}: {docstring[:60]}")
            is_manager = any("contextmanager" in ast.unparse(one) for one in node.decorator_list)
            if docstring.startswith("Return ") and _yields(node) and not is_manager:
                wrong.append(f"{place}: {docstring[:60]}")
        if isinstance(node, ast.ClassDef):
            wrong += [f"{place}: {name}" for name in _called_true(node)]
    assert not wrong


def _called_true(node: ast.ClassDef) -> Iterator[str]:
    """Yield the attributes of a class that are described as true or false, and are not bool."""
    for attribute, following in zip(node.body, node.body[1:], strict=False):
        if (
            isinstance(attribute, ast.AnnAssign)
            and isinstance(following, ast.Expr)
            and isinstance(following.value, ast.Constant)
            and str(following.value.value).startswith("True if")
            and "bool" not in ast.unparse(attribute.annotation)
        ):
            yield ast.unparse(attribute)
