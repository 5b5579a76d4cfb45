"""Names under which files are shown that lie somewhere else for a while, as those of a bundle do.

Owns which folder stands for what. Whoever writes text asks here, so that no report has to.
"""

from __future__ import annotations

import re

_SHOWN: dict[str, str] = {}
"""By folder."""
ODD = re.compile(r"[^\w./~+@:,-]")
"""A character that a shell or JSON would have to quote, in such a name."""
_FOR_HOSTS = re.compile(
    r"kraftool recover (?:collect|apply|verify|undo)\b|^(?: *\$ )?(?:cp|mv|tar|chown) "
)
"""Commands for the host of a node, where its files have their own paths."""


def show_as(folder: str, name: str) -> None:
    """Show all that lies in the folder below the name, from now on."""
    _SHOWN[folder] = name


def shown(text: str) -> str:
    """The text with these names; without any in a command for hosts."""
    for folder, name in _SHOWN.items():
        before, *rest = text.split(folder)
        made = [before]
        for part in rest:
            # A command ends with its line, or with its text in JSON.
            before = re.split(r'[\n"]', before)[-1]
            made += ["" if _FOR_HOSTS.search(before) else name, part]
            before += part
        text = "".join(made)
    return text


def forget() -> None:
    """Show every folder as what it is again."""
    _SHOWN.clear()


def every() -> dict[str, str]:
    """The name of each folder that has one."""
    return dict(_SHOWN)


def has_any() -> bool:
    return bool(_SHOWN)
