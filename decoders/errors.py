"""The errors of the whole project, and `Fault`: a problem at a place, which is a value.

Owns the base class of errors, the error of a decoder, and the words of a fault. It refuses to know
about exit codes: `commands/output.py` maps errors to them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A problem at a place, with both sides of a mismatch. What is unknown is empty.

    `position` is a byte in `file`, `offset` a record in the log, `field` the field at that place.
    """

    reason: str
    file: str = ""
    position: int | None = None
    offset: int | None = None
    field: str = ""
    expected: str = ""
    found: str = ""

    @property
    def has_place(self) -> bool:
        """True if it is at a byte or at an offset, not only in a file."""
        return self.position is not None or self.offset is not None

    def where(self) -> str:
        """The place in the file, in words."""
        words = [f"position {self.position}"] if self.position is not None else []
        words += [f"offset {self.offset}"] if self.offset is not None else []
        return " ".join(words)

    def sides(self) -> str:
        """Both sides of the mismatch in brackets, behind a space; empty without any."""
        if self.expected:
            return f" (expected {self.expected}, found {self.found or 'nothing'})"
        return f" (found {self.found})" if self.found else ""

    def sentence(self) -> str:
        """The reason, with the field and both sides of the mismatch."""
        head = f"{self.field}: {self.reason}" if self.field else self.reason
        return head + self.sides()

    def describe(self) -> str:
        """The file, the byte and the sentence in one line, as an error has them."""
        file = f"{self.file}: " if self.file else ""
        field = f", {self.field}" if self.field else ""
        return f"{file}position {self.position}{field}: {self.reason}{self.sides()}"


class KraftoolError(Exception):
    """Anything that kraftool reports to its user as a sentence instead of a traceback."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class DecodeError(KraftoolError):
    """Bytes that are not what their format demands, with the place and both sides of the mismatch.

    `position` is a byte position in whatever the decoder was given; callers that know more add
    their base with `at`.
    """

    def __init__(
        self,
        reason: str,
        *,
        position: int,
        path: str = "",
        expected: str = "",
        found: str = "",
        file: str = "",
        count: int = 1,
    ) -> None:
        self.reason = reason
        self.position = position
        self.path = path
        self.expected = expected
        self.found = found
        self.file = file
        self.count = count
        """The number of mismatches that the error stands for."""
        super().__init__(self.describe())

    def __eq__(self, other: object) -> bool:
        """True if both say the same: a report keeps errors as values."""
        return isinstance(other, DecodeError) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.message)

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is made again from its message alone, and this one takes more than that.
        return DecodeError.__new__, (DecodeError, self.message), vars(self)

    def describe(self) -> str:
        return self.fault().describe()

    def fault(self, file: str = "") -> Fault:
        """Return the error as a value."""
        return Fault(
            reason=self.reason,
            file=file or self.file,
            position=self.position,
            field=self.path,
            expected=self.expected,
            found=self.found,
        )

    def at(self, base: int, *, path: str = "", file: str = "") -> DecodeError:
        """Return the same error seen from outside: shifted by `base`, its path below `path`."""
        joined = f"{path}.{self.path}" if path and self.path else path or self.path
        return DecodeError(
            self.reason,
            position=self.position + base,
            path=joined,
            expected=self.expected,
            found=self.found,
            file=file or self.file,
            count=self.count,
        )
