"""The first line: whose quorum, who leads, how far it is, and how old what one sees is.

Owns its words.
"""

from __future__ import annotations

import time

from rich.text import Text

from kraftool.reports.words import many
from kraftool.tui.palette import Palette
from kraftool.watching.picture import Picture


def headline(picture: Picture | None, palette: Palette, *, is_paused: bool) -> tuple[Text, Text]:
    """What stands at the left and at the right."""
    left = Text("kraftool", style=palette.name, no_wrap=True, end="")
    if picture is None:
        return left.append("  asking …", style=palette.quiet), Text("")
    view = picture.view
    if view is not None:
        if view.cluster_ids:
            left.append("  ").append_text(palette.text(", ".join(view.cluster_ids)))
        if view.leader is not None and view.lacks_controller:
            words = f"  ✖ node {view.leader.node_id} leads, no controller"
            left.append_text(palette.text(words, "bad"))
        elif view.leader is not None:
            words = f"  ● node {view.leader.node_id} leads epoch {view.epoch}"
            left.append_text(palette.text(words, "good"))
        else:
            left.append("  ▲ no node leads", style=palette.bad)
    elif picture.directories:
        left.append(f"  {many(len(picture.directories), 'directory')}")
    at = time.strftime("%H:%M:%SZ", time.gmtime(picture.at_ms / 1000))
    right = Text(f"{'‖ paused ' if is_paused else ''}{at}", end="")
    right.stylize(palette.warn if is_paused else palette.quiet)
    return left, right
