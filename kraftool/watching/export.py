"""The files that the dashboard leaves behind: exported views, and what it remembers of itself.

Owns the two ways of writing. An export is a new file for its owner alone, and never takes the place
of another; what is remembered lies in the XDG state folder, and losing it is no error.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from kraftool.decoders.errors import KraftoolError

_LARGEST_MEMORY = 64 << 10


def write_new(path: str, text: str) -> str:
    """Write a new file, readable by its owner alone; its whole path. Raises KraftoolError."""
    whole = os.path.abspath(os.path.expanduser(path))
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(whole, flags, 0o600)
    except FileExistsError:
        raise KraftoolError(f"{whole} is there already", hint="choose another name") from None
    except OSError as error:
        raise KraftoolError(f"{whole} cannot be written: {error.strerror}") from None
    with open(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return whole


def json_text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


class Memory:
    """A few words that are kept from run to run, below $XDG_STATE_HOME/kraftool."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        home = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
        self._path = (folder or Path(home).expanduser() / "kraftool") / f"{name}.json"

    def read(self) -> dict[str, str]:
        """Return what was kept; nothing if the file cannot be read or has another form."""
        with suppress(OSError, ValueError):
            with open(self._path, encoding="utf-8") as file:
                loaded = json.loads(file.read(_LARGEST_MEMORY))
            if isinstance(loaded, dict):
                return {str(key): value for key, value in loaded.items() if isinstance(value, str)}
        return {}

    def write(self, words: Mapping[str, str]) -> None:
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=".watch-")
            try:
                with open(descriptor, "w", encoding="utf-8") as file:
                    json.dump(dict(words), file)
                os.replace(name, self._path)
            except OSError:
                os.unlink(name)
