"""New files, for example of --out: a file gets its name when it is complete.

It refuses to overwrite anything.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import IO, TextIO

from kraftool.commands.exit_code import RefusedError, UsageError


def discard_unfinished() -> None:
    """Remove what the run did not keep."""
    while _unfinished:
        _unfinished[-1].discard()


class NewFile:
    """The file of --out, which only its owner may read.

    It has a passing name beside its own until `keep`; without that the run removes it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        passing = f".kraftool-{os.urandom(8).hex()}.part"
        self._passing = os.path.join(os.path.dirname(path), passing)
        _unfinished.append(self)
        self.file = os.fdopen(self._create(self._passing), "wb")

    def _create(self, path: str) -> int:
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            raise _already_there(self.path) from None
        except OSError as error:
            raise UsageError(unwritable(self.path, error)) from None

    def keep(self) -> None:
        """Give the file its own name. What got that name meanwhile is not overwritten.

        Raise OSError where the file system does not let it have that name.
        """
        if self not in _unfinished:
            return
        try:
            os.link(self._passing, self.path)
        except FileExistsError:
            raise _already_there(self.path) from None
        except OSError:  # FAT and some network file systems have no links
            self._rename()
        with suppress(OSError):
            os.unlink(self._passing)
        _unfinished.remove(self)

    def _rename(self) -> None:
        """Take the name with an empty file first: a rename alone would overwrite another's."""
        os.close(self._create(self.path))
        try:
            os.rename(self._passing, self.path)
        except OSError:
            os.unlink(self.path)
            raise

    def discard(self) -> None:
        """Remove the file, which has its passing name still."""
        _unfinished.remove(self)
        if hasattr(self, "file") and not self.file.closed:
            abandon(self.file)
            with suppress(OSError):
                self.file.close()
        with suppress(OSError):
            os.unlink(self._passing)


_unfinished: list[NewFile] = []


def open_existing(path: str) -> IO[bytes] | None:
    """Open --out where it is a pipe or a device that is there; None where nothing is."""
    import stat

    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return open(path, "wb")
    except FileNotFoundError as error:
        if os.path.islink(path):
            raise UsageError(unwritable(path, error)) from None
        return None
    except OSError as error:
        raise UsageError(unwritable(path, error)) from None
    raise _already_there(path)


def _already_there(path: str) -> RefusedError:
    return RefusedError(
        f"{path} exists already", hint="name another file, or remove this one first"
    )


def unwritable(name: str, error: OSError) -> str:
    """Return what a run says of a file that takes nothing."""
    return f"{name} cannot be written: {error.strerror or error}"


def abandon(stream: IO[bytes] | TextIO) -> None:
    """Send the rest of a stream nowhere. Python would try to write it at its end, and complain."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
