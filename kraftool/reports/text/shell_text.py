"""Command lines that a person copies: with real ids, endpoints and paths in them.

Owns how a command line of Kafka's tools or of kraftool is written. What comes from data is quoted
for a shell. It refuses to choose: each report says what it wants to have run.
"""

from __future__ import annotations

import os
import shlex

from kraftool.reports.text.words import listed
from kraftool.storage.entry import METADATA_PARTITION


class Unknown(str):
    """A word of a command that kraftool does not know. It names the value that belongs there."""

    __slots__ = ()


ANYWHERE = Unknown("host:port")
"""Where no endpoint of a controller or broker is known."""
NO_PATH = Unknown("path")
NO_CLUSTER_ID = Unknown("cluster-id")


def line(*words: object) -> str:
    """Return a command line. With an unknown word it is a comment, so that no shell runs an
    incomplete command. Kafka's own tools have the names that its archive and its image have."""
    tool, *rest = map(str, words)
    tool += ".sh" if tool.startswith("kafka-") else ""
    command = " ".join(map(quoted, (tool, *rest)))
    unknown = dict.fromkeys(str(word) for word in words if isinstance(word, Unknown))
    return f"# replace {listed(unknown)}: {command}" if unknown else command


def quoted(word: str) -> str:
    """A word as a shell takes it; one that holds what no terminal should see, in escapes."""
    if word.isprintable():
        return shlex.quote(word)
    escapes = (char if char.isprintable() and char not in "'\\" else _escape(char) for char in word)
    return f"$'{''.join(escapes)}'"


def _escape(character: str) -> str:
    """By its bytes, whatever the locale; those of a name that is no UTF-8 stand as surrogates."""
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def on(path: str, command: str, *options: object) -> str:
    return line("kraftool", command, path, *options)


def _beside(path: str) -> str:
    """The data directory of a PATH, to put something next to it.

    Never into it: a broker refuses to start where a folder's name is no partition's.
    """
    path = os.path.normpath(path)
    if os.path.basename(path) in ("", ".", ".."):
        path = os.path.abspath(path)
    if os.path.basename(path) == METADATA_PARTITION:
        path = os.path.dirname(os.path.abspath(path))
    return path


def keep_copy(path: str) -> str:
    """Copy a directory to a place beside the data directory."""
    return line("cp", "-a", path, f"{_beside(path)}.copy")


def aside(file: str) -> str:
    """Move a file or folder out of a data directory, beside it, under its own name."""
    directory, name = os.path.split(os.path.normpath(file))
    return line("mv", file, f"{_beside(directory)}.{name}")


def settings(file: str, key: str, value: str) -> str:
    """A line of a server.properties, as a comment between commands."""
    return f"# in {quoted(file)}: {key}={value}"
