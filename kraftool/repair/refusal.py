"""What a plan is refused for, and the word by which a person takes it on themselves.

Owns that all reasons are told at once. It refuses to find them.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.plan import Risk
from kraftool.repair.request import Request


class PlanRefused(KraftoolError):
    """No plan is made, for safety."""


def accepted(request: Request, risks: Sequence[Risk]) -> tuple[Risk, ...]:
    """The risks, all of which were accepted. Raises PlanRefused for those that were not."""
    missing = [each for each in risks if each.word not in request.accepted]
    if missing:
        texts = "; ".join(each.text for each in missing)
        words = " ".join(f"--accept {each}" for each in dict.fromkeys(one.word for one in missing))
        raise PlanRefused(
            f"no plan is made: {texts}",
            hint=f"better make that untrue; to take it on yourself, add {words}",
        )
    return tuple(risks)
