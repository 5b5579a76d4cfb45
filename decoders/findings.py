"""The findings of a tolerant decoder: a bounded list, what Kafka refuses at its head.

Owns the order and the bound of findings. It refuses to judge severity: that is a matter of
reports, which know what the file is for.
"""

from kraftool.decoders.errors import DecodeError

MAX_LISTED = 100
"""A garbage index of 10 MiB has a million bad entries; nobody reads more than the first of them."""

MAX_SHOWN = 60


def shown(text: str) -> str:
    """Quote a piece of the input for a message, cut to a length that fits on a line."""
    cut = text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
    return repr(cut)


class Findings:
    """Collects findings while a file is decoded.

    `refuse` is for what makes Kafka's own reader give up on the file, `note` for what Kafka
    tolerates. `listed` gives refusals first, so a strict caller may raise the first of a file
    that was not `accepted`.
    """

    __slots__ = ("_noted", "_refused", "_unlisted", "_unlisted_position")

    def __init__(self) -> None:
        self._refused: list[DecodeError] = []
        self._noted: list[DecodeError] = []
        self._unlisted = 0
        self._unlisted_position = 0

    @property
    def accepted(self) -> bool:
        return not self._refused

    def refuse(
        self, reason: str, *, position: int, path: str = "", expected: str = "", found: str = ""
    ) -> None:
        self._add(self._refused, reason, position, path, expected, found)

    def note(
        self, reason: str, *, position: int, path: str = "", expected: str = "", found: str = ""
    ) -> None:
        self._add(self._noted, reason, position, path, expected, found)

    def _add(
        self,
        listing: list[DecodeError],
        reason: str,
        position: int,
        path: str,
        expected: str,
        found: str,
    ) -> None:
        # The first refusal is kept even after a hundred notes: `accepted` hangs on it.
        if len(self._refused) + len(self._noted) >= MAX_LISTED and (
            listing is self._noted or self._refused
        ):
            if not self._unlisted:
                self._unlisted_position = position
            self._unlisted += 1
            return
        listing.append(
            DecodeError(reason, position=position, path=path, expected=expected, found=found)
        )

    def listed(self) -> tuple[DecodeError, ...]:
        rest: tuple[DecodeError, ...] = ()
        if self._unlisted:
            rest = (
                DecodeError(
                    f"{self._unlisted} more findings from here on are not listed",
                    position=self._unlisted_position,
                    count=self._unlisted,
                ),
            )
        return (*self._refused, *self._noted, *rest)
