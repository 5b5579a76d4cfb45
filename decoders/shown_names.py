"""Names under which files are shown that lie somewhere else for a while, as those of a bundle do.

Owns which folder stands for what. Whoever writes text asks here, so that no report has to.
"""

from __future__ import annotations

import re

_SHOWN: dict[str, str] = {}
"""By folder."""
_ODD = re.compile(r"[^\w./~+@:,-]", re.ASCII)


def show_as(folder: str, name: str) -> None:
    """Show all that lies in the folder below the name, from now on.

    A character that a shell or JSON would have to quote is shown as `?`, which a shell takes for
    any character: a command that was made with the folder's name stays right.
    """
    _SHOWN[folder] = _ODD.sub("?", name)


def shown(text: str) -> str:
    for folder, name in _SHOWN.items():
        text = text.replace(folder, name)
    return text


def forget() -> None:
    """Show every folder as what it is again."""
    _SHOWN.clear()


def has_any() -> bool:
    return bool(_SHOWN)
