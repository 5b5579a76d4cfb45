"""A session of the shell: the working directory, the history, and what each command does.

Owns the commands of kafka-metadata-shell 4.3.0. It writes nothing itself: lines and complaints are
handed to whoever runs it, who knows whether there is a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from kraftool.commands.shell_words import (
    USAGES,
    BadCommand,
    Command,
    Usage,
    quoted_word,
    read_command,
    split_line,
)
from kraftool.reports.state.shell.nodes import Directory, Leaf
from kraftool.reports.state.shell.paths import Path, TreeEntry, complete, find, written
from kraftool.reports.state.shell.walk import find_lines, list_lines, tree_lines

_NAME_WIDTH = 22


@dataclass(slots=True, kw_only=True)
class ShellSession:
    """One session over a tree."""

    root: Directory
    show: Callable[[Iterable[str]], None]
    """Takes the lines of a command's result, each without its end."""
    complain: Callable[[str], None]
    """Takes what a command could not do."""
    width: Callable[[], int | None] = lambda: None
    """The columns that ls may fill; None where it lists one name a line."""
    measure: Callable[[str], int] = len
    """How many columns a name takes."""
    working: Path = ()
    history: list[str] = field(default_factory=list)
    is_over: bool = False

    def run(self, line: str) -> None:
        """Run the commands of a line, one after the other; one that fails does not end it."""
        self._remember(line)
        for words in split_line(line):
            if self.is_over:
                return
            try:
                command = read_command([word.text for word in words])
            except BadCommand as error:
                self.complain(error.message)
                continue
            if command is None:
                continue
            if command.wants_help:
                self.show(_manual(command.usage))
            else:
                _HANDLERS[command.name](self, command)

    def _remember(self, line: str) -> None:
        """As Kafka's: nothing blank, nothing that begins with a blank, nothing twice in a row."""
        if line.strip() and not line.startswith(" ") and self.history[-1:] != [line]:
            self.history.append(line)

    def _find(self, path: str, missing: str) -> Iterator[TreeEntry]:
        is_there = False
        for entry in find(self.root, self.working, path):
            is_there = True
            yield entry
        if not is_there:
            self.complain(missing)

    # --- the commands ---------------------------------------------------------------------------

    def _ls(self, command: Command) -> None:
        entries: list[TreeEntry] = []
        for path in _paths(command):
            entries += self._find(path, f"ls: {path}: no such file or directory.")
        self.show(list_lines(entries, self.width(), self.measure))

    def _cat(self, command: Command) -> None:
        for path in command.words:
            for entry in self._find(path, f"cat: {path}: No such file or directory."):
                if isinstance(entry.node, Leaf):
                    self.show([entry.node.text()])
                else:
                    self.complain(f"cat: {path}: Is a directory")

    def _find_command(self, command: Command) -> None:
        for path in _paths(command):
            for entry in self._find(path, f"find: {path}: no such file or directory."):
                self.show(find_lines(entry.node, path))

    def _tree(self, command: Command) -> None:
        for path in command.words:
            for entry in self._find(path, f"tree: {path}: No such file or directory."):
                self.show(tree_lines(entry.node))

    def _cd(self, command: Command) -> None:
        path = command.words[0] if command.words else "/"
        # As in Kafka's, a pattern leads to the last directory that it matches.
        for entry in list(self._find(path, f"cd: {path}: no such directory.")):
            if isinstance(entry.node, Directory):
                self.working = entry.path
            else:
                self.complain(f"cd: {path}: not a directory.")

    def _pwd(self, command: Command) -> None:
        self.show([written(self.working)])

    def _history(self, command: Command) -> None:
        count = int(command.words[0]) if command.words else len(self.history)
        first = max(len(self.history) - max(count, 0), 0)
        self.show(f"{first + at:5d}  {line}" for at, line in enumerate(self.history[first:]))

    def _man(self, command: Command) -> None:
        usage = USAGES.get(command.words[0])
        if usage is None:
            self.complain(
                f"man: unknown command {command.words[0]}. Type help to get a list of commands."
            )
        else:
            self.show(_manual(usage))

    def _help(self, command: Command) -> None:
        self.show(_help())

    def _exit(self, command: Command) -> None:
        self.is_over = True

    # --- completion -----------------------------------------------------------------------------

    def completions(self, line: str) -> list[str]:
        """Return what the line, whose end is where one types, could be completed to."""
        words = split_line(line)[-1]
        at_new_word = not words or (line[-1:].isspace() and _is_whole(line))
        start = len(line) if at_new_word else words[-1].start
        typed = "" if at_new_word else words[-1].text
        before = words if at_new_word else words[:-1]
        if not before or before[0].text == "man":
            candidates = [f"{name} " for name in USAGES if name.startswith(typed)]
        elif before[0].text in ("ls", "cat", "cd", "find", "tree"):
            paths = complete(
                self.root, self.working, typed, directories_only=before[0].text == "cd"
            )
            candidates = [quoted_word(path) + ("" if path.endswith("/") else " ") for path in paths]
        else:
            candidates = []
        return [line[:start] + candidate for candidate in candidates]


def _is_whole(line: str) -> bool:
    """True if the last blank of a line ends a word, and is not part of one."""
    words = split_line(f"{line}x")[-1]
    return words[-1].text == "x"


def _paths(command: Command) -> list[str]:
    return [word for word in command.words if word] or ["."]


def _manual(usage: Usage) -> Iterator[str]:
    yield f"{usage.name}: {usage.about}"
    yield ""
    yield f"usage: {usage.synopsis()}"
    if usage.word:
        yield ""
        yield "positional arguments:"
        yield f"  {usage.word:{_NAME_WIDTH}} {usage.word_about}"


def _help() -> Iterator[str]:
    yield "The cluster's metadata as a tree of directories and files."
    yield ""
    yield "commands:"
    for usage in USAGES.values():
        yield f"  {usage.name:{_NAME_WIDTH}} {usage.about}"
    yield ""
    yield "Paths may hold patterns (* ? {a,b}); ; separates commands; man explains one of them."


_HANDLERS: dict[str, Callable[[ShellSession, Command], None]] = {
    "cat": ShellSession._cat,
    "cd": ShellSession._cd,
    "exit": ShellSession._exit,
    "find": ShellSession._find_command,
    "help": ShellSession._help,
    "history": ShellSession._history,
    "ls": ShellSession._ls,
    "man": ShellSession._man,
    "pwd": ShellSession._pwd,
    "tree": ShellSession._tree,
}
