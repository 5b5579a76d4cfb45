"""One name for one thing, and one place for one fact.

A reader who meets a class named Change or Place has to know without the imports which one it is.
"""

import ast
import re
from collections import defaultdict
from functools import cache

from tests.support.places import ROOT

PRODUCT = ("commands", "decoders", "kraftool", "tui")


@cache
def modules() -> dict[str, str]:
    return {
        str(path.relative_to(ROOT)): path.read_text()
        for folder in PRODUCT
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.resolve() == path  # and not by a link in kraftool/
    }


def test_no_two_modules_define_a_class_of_the_same_name() -> None:
    classes = defaultdict(list)
    for name, text in modules().items():
        for class_name in re.findall(r"^class ([A-Z]\w*)", text, re.MULTILINE):
            classes[class_name].append(name)
    assert "VoterSet" in classes
    assert {name: where for name, where in classes.items() if len(where) > 1} == {}


MAJORITY = "kraftool/raft/names.py"
CHECKERS = ROOT / "tests" / "simulator" / "checkers"  # they judge the core, and do not use its sums


def is_half(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and ast.unparse(node).endswith("// 2")


def majorities(text: str) -> list[str]:
    """Expressions that count a majority: half and one more, or compared with half of a length."""
    expressions = []
    for node in ast.walk(ast.parse(text)) if "// 2" in text else ():
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            if is_half(node.left) and ast.unparse(node.right) == "1":
                expressions.append(ast.unparse(node))
        elif isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(is_half(side) and "len(" in ast.unparse(side) for side in sides):
                expressions.append(ast.unparse(node))
    return expressions


def test_a_majority_is_counted_in_one_place() -> None:
    by_module = {name: majorities(text) for name, text in modules().items()}
    assert by_module.pop(MAJORITY) == ["count // 2 + 1"]
    assert {name for name, places in by_module.items() if places} == set()
    assert any(majorities(path.read_text()) for path in CHECKERS.glob("*.py")), "this test sees one"
