"""Marks of types that say what a number, a list or an attribute is, where JSON names it by that.

They change nothing else: a `Moment` is an int to everybody. `reports/text/json_document.py` reads
them, and docs/json.md has the rule.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

T = TypeVar("T")

MOMENT = "epoch milliseconds"
COUNT = "how many"
IDS = "ids of nodes"
HIDDEN = "not in JSON"

Moment = Annotated[int, MOMENT]
"""A time: its member ends with Ms, and a twin without Ms has it in ISO-8601."""
Count = Annotated[int, COUNT]
"""How many there are of what the attribute names in the plural: `records` is recordCount."""
Ids = Annotated[tuple[int, ...], IDS]
"""The ids of what the attribute names in the plural: `voters` is voterIds."""
Hidden = Annotated[T, HIDDEN]
"""An attribute that JSON does not have."""
