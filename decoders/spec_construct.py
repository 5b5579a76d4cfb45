"""The typed view of `construct`, which ships no types, and the trace of a parse.

Owns what type checkers are told about the few construct classes in use, and the record of which
bytes became which value. Everything here is used through `spec_primitives.py`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class Params:
        """Shared values of a whole parse: the trace, and where the bytes end."""

        trace: ParseTrace
        end: int

    class Context:
        _params: Params

    class Construct:
        name: str | None

        def __init__(self) -> None: ...
        def __rtruediv__(self, name: str) -> Construct: ...
        def parse_stream(self, stream: BytesIO, **context: Any) -> Any: ...
        def build(self, obj: Any, **context: Any) -> bytes: ...
        def sizeof(self) -> int: ...
        def _parse(self, stream: BytesIO, context: Context, path: str) -> Any: ...
        def _parsereport(self, stream: BytesIO, context: Context, path: str) -> Any: ...
        def _build(self, obj: Any, stream: BytesIO, context: Context, path: str) -> Any: ...

    class Subconstruct(Construct):
        subcon: Construct

        def __init__(self, subcon: Construct) -> None: ...

    class Adapter(Subconstruct):
        def _decode(self, obj: Any, context: Context, path: str) -> Any: ...
        def _encode(self, obj: Any, context: Context, path: str) -> Any: ...

    class Struct(Construct):
        def __init__(self, *subcons: Construct) -> None: ...

    class Sequence(Construct):
        def __init__(self, *subcons: Construct) -> None: ...

    class Bytes(Construct):
        def __init__(self, length: int) -> None: ...

    class ConstructError(Exception): ...

    Flag = Float64b = Pass = Construct()
    Int8sb = Int16sb = Int16ub = Int32sb = Int32ub = Int64sb = Construct()
else:
    from construct import (
        Adapter,
        Bytes,
        Construct,
        ConstructError,
        Flag,
        Float64b,
        Int8sb,
        Int16sb,
        Int16ub,
        Int32sb,
        Int32ub,
        Int64sb,
        Pass,
        Sequence,
        Struct,
        Subconstruct,
    )
    from construct import Container as Context


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Bytes and what they are. One with `parts` is a group, and its parts tile it."""

    start: int
    end: int
    path: str
    type: str
    value: Any = None
    parts: tuple[Span, ...] = ()

    def leaves(self) -> Iterable[Span]:
        """The primitives below, in byte order."""
        waiting = [self]
        while waiting:
            span = waiting.pop()
            if span.parts:
                waiting += reversed(span.parts)
            else:
                yield span


@dataclass(slots=True)
class ParseTrace:
    """Collects the spans of one parse; groups that are open nest what comes next."""

    wanted: bool = True
    spans: list[Span] = field(default_factory=list)

    def leaf(self, start: int, end: int, path: str, kind: str, value: Any) -> None:
        if self.wanted and end > start:
            span = Span(start=start, end=end, path=dotted(path), type=kind, value=value)
            self.spans.append(span)

    @contextmanager
    def group(self, path: str, kind: str) -> Generator[None]:
        """Nest the spans of the body; those read before a failure are kept."""
        outer, self.spans = self.spans, []
        try:
            yield
        finally:
            inner, self.spans = self.spans, outer
            if inner:
                self.spans.append(
                    Span(
                        start=inner[0].start,
                        end=inner[-1].end,
                        path=dotted(path),
                        type=kind,
                        parts=tuple(inner),
                    )
                )


def dotted(path: str) -> str:
    """Turn construct's path, `(parsing) -> voters[0] -> host`, into `voters[0].host`."""
    return path.partition(" -> ")[2].replace(" -> ", ".")


__all__ = [
    "Adapter",
    "Bytes",
    "Construct",
    "ConstructError",
    "Context",
    "Flag",
    "Float64b",
    "Int8sb",
    "Int16sb",
    "Int16ub",
    "Int32sb",
    "Int32ub",
    "Int64sb",
    "ParseTrace",
    "Pass",
    "Sequence",
    "Span",
    "Struct",
    "Subconstruct",
    "dotted",
]
