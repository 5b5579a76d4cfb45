"""The filters of a log dump, as written on the command line.

A dump without filters does not import the modules that read them.
"""

from __future__ import annotations

import re

from kraftool.commands.dump_log_options import DumpLogOptions
from kraftool.commands.exit_code import UsageError
from kraftool.commands.times import as_usage, parse_time
from kraftool.reports.logs.dump import Selection


def selection_of(options: DumpLogOptions) -> Selection:
    """Read the filters; what cannot be read is a usage error."""
    first, last = offset_range(options.offsets)
    try:
        pattern = re.compile(options.grep) if options.grep else None
    except re.error as error:
        raise UsageError(f"--grep {options.grep!r} is not a regular expression: {error}") from None
    return Selection(
        first_offset=first,
        last_offset=last,
        epoch=options.epoch,
        types=frozenset().union(*map(_type, options.type_)),
        topic=options.topic,
        broker=options.broker,
        since=parse_time(options.since, "--since"),
        until=parse_time(options.until, "--until"),
        grep=pattern,
        control=options.control,
    )


def _type(name: str) -> frozenset[str]:
    """The words of a record type, if there is one of that name."""
    from kraftool.reports.logs.query import record_types

    return as_usage(record_types, name, "--type")


def check_type(name: str) -> None:
    """Raise UsageError for an unknown --type, with the types of similar names, or all types."""
    _type(name)


def offset_range(text: str) -> tuple[int | None, int | None]:
    """Read --offsets."""
    if not text:
        return None, None
    from kraftool.reports.logs.query import offset_range as read_range

    return as_usage(read_range, text, "--offsets")
