"""kraftool's tree of a metadata log or snapshot, in the form that `shelltrees` has for Kafka's."""

from __future__ import annotations

from pathlib import Path

from kraftool.commands.shell_load import image_of
from kraftool.reports.state.load import LoadedState, load_state
from kraftool.reports.state.shell.nodes import Directory, Leaf, Node, in_order
from kraftool.reports.state.shell.tree import shell_tree


def state_of(path: Path, below: int | None = None) -> LoadedState:
    state = load_state(str(path), at=below)
    assert state.is_whole, state.findings
    return state


def tree_of(state: LoadedState) -> Directory:
    return shell_tree(image_of(state), show_secrets=True)


def nodes_of(root: Directory) -> dict[str, str]:
    """Every node's text by its path, as `shelltrees` has it."""
    nodes: dict[str, str] = {}

    def walk(node: Node, path: str) -> None:
        if isinstance(node, Leaf):
            nodes[path] = node.text()
            return
        nodes[f"{path}/"] = ""
        for name in in_order(node.names()):
            child = node.child(name)
            assert child is not None, f"{path}/{name}"
            walk(child, f"{path}/{name}")

    walk(root, "")
    return nodes


def differences(ours: dict[str, str], theirs: dict[str, str]) -> list[str]:
    paths = sorted(ours.keys() | theirs.keys())
    return [
        f"{path}: kraftool {ours.get(path)!r}, Kafka {theirs.get(path)!r}"
        for path in paths
        if ours.get(path) != theirs.get(path)
    ]
