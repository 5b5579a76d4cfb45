"""Findings as rows of a table: a sign, the code, the place, and the sentence.

Owns how severities look in a row: by a sign and a word, so that colour is never all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.text import Text

from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.status import status_of
from kraftool.tui.palette import Palette
from kraftool.tui.table import Row

SIGNS = {level: status_of(level).mark for level in Severity}
MEANINGS = {level: status_of(level).meaning for level in Severity}


_ZEROS = re.compile(r"(?<!\d)0{6,}(?=\d{4})")


def shortened(name: str) -> str:
    """A file's name with the end of its long numbers: `…0203-…0003.checkpoint`."""
    return _ZEROS.sub("…", name)


def joined(*parts: Text) -> Text:
    """Texts in one line, each in its own style; a text that is appended to takes on no other's."""
    line = Text(no_wrap=True, end="")
    for part in parts:
        line.append_text(part)
    return line


def tail(path: str, room: int) -> str:
    """A path, or its end where it is longer than the room."""
    return path if len(path) <= room else f"…{path[-max(room - 1, 1) :]}"


def severity(palette: Palette, level: Severity) -> Text:
    """A severity with its sign."""
    return palette.text(f"{SIGNS[level]} {level.value}", MEANINGS[level])


def finding_rows(palette: Palette, findings: Sequence[Finding], below: str) -> list[Row]:
    """Rows by the number of the finding; files are named below what the reader looks at."""
    return list(_rows(palette, findings, below))


def _rows(palette: Palette, findings: Sequence[Finding], below: str) -> Iterator[Row]:
    for number, finding in enumerate(findings):
        yield (
            str(number),
            (
                severity(palette, finding.severity),
                palette.text(finding.code.removeprefix("KT-")),
                palette.text(shortened(place(finding, below).rpartition("/")[2]), "quiet"),
                palette.text(finding.sentence()),
            ),
        )


def place(finding: Finding, below: str = "") -> str:
    """The file and the place in it; without the part that is known already."""
    file = finding.file
    if below:
        file = "" if file == below else file.removeprefix(f"{below.rstrip('/')}/")
    parts = [file] if file else []
    parts += [f"position {finding.position}"] if finding.position is not None else []
    parts += [f"offset {finding.offset}"] if finding.offset is not None else []
    return " ".join(parts)
