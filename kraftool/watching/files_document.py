"""The document of the dashboard's view of files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kraftool.decoders.json_marks import Inline
from kraftool.watching.files import DirectoryFiles, FileReading
from kraftool.watching.verification import DirectoryVerification


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedDirectory:
    """A directory, and what verifying it found."""

    files: Inline[DirectoryFiles]
    verification: DirectoryVerification | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedFile:
    """A file in CSV."""

    directory: str
    file: Inline[FileReading]
    is_verified: bool
    problems: tuple[str, ...]
    """What was found in it, a sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesView:
    """The files of all directories."""

    view: Literal["files"] = "files"
    directories: tuple[WatchedDirectory, ...]

    @property
    def rows(self) -> tuple[WatchedFile, ...]:
        return tuple(row for directory in self.directories for row in _rows(directory))


def _rows(directory: WatchedDirectory) -> Iterator[WatchedFile]:
    verification = directory.verification
    for file in directory.files.files:
        findings = file.findings if verification is None else verification.of(file.name)
        yield WatchedFile(
            directory=directory.files.path,
            file=file,
            is_verified=verification is not None,
            problems=tuple(finding.sentence() for finding in findings),
        )
