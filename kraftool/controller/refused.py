"""The refusals of a request."""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from kraftool.decoders.errors import KraftoolError


class RequestRefused(KraftoolError):
    """An error that the client is told; nothing is written for it."""

    def __init__(self, error: Error, message: str | None = None) -> None:
        super().__init__(message or error.name)
        self.error = error
        self.text = message
        """What the answer says; None where Kafka says nothing but the code."""
