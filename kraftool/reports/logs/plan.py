"""The part of a log to render, and how."""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftool.reports.logs.dump import Selection
from kraftool.reports.logs.transactions import Transactions


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPlan:
    """The rendering and its format; small and picklable, since it travels to the worker
    processes."""

    format: str
    selection: Selection = field(default_factory=Selection)
    show_secrets: bool = False
    batches_only: bool = False
    skip_record_metadata: bool = False
    marks: Transactions | None = None
