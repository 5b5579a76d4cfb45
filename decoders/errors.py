"""The errors of the whole project; every other error class derives from these.

Owns the base class and the error of a decoder. It refuses to know about exit codes or
rendering: `commands/output.py` maps errors to both.
"""


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

    def describe(self) -> str:
        where = f"{self.file}: " if self.file else ""
        where += f"position {self.position}"
        if self.path:
            where += f", {self.path}"
        sides = ""
        if self.expected or self.found:
            sides = (
                f" (expected {self.expected or 'something else'}, found {self.found or 'nothing'})"
            )
        return f"{where}: {self.reason}{sides}"

    def at(self, base: int, *, path: str = "", file: str = "") -> "DecodeError":
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
