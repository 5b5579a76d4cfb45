"""One name for one thing: no two modules of the product define a public class of the same name.

A reader who meets `Change` or `Place` has to know without the imports which one it is.
"""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
PRODUCT = ("commands", "decoders", "kraftool", "tui")


def modules_by_class() -> dict[str, list[str]]:
    found = defaultdict(list)
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*.py")):  # does not follow the links in kraftool/
            if not path.resolve().is_relative_to(ROOT / folder):
                continue
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].append(str(path.relative_to(ROOT)))
    return found


def test_no_two_modules_define_a_class_of_the_same_name() -> None:
    classes = modules_by_class()
    assert "VoterSet" in classes
    assert {name: where for name, where in classes.items() if len(where) > 1} == {}
