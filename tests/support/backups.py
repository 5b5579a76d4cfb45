"""Backups for tests of several folders: created at a time that the test chooses."""

from __future__ import annotations

from kraftool.backup.create import BackupOptions, create
from kraftool.backup.manifest import Manifest
from kraftool.storage.backup_files import BackupFiles
from kraftool.storage.paths import open_path

FIRST_MS = 1_796_083_200_000
"""2026-12-01T00:00:00Z, which is in the examples of the documents."""
FIRST = "2026-12-01T00-00-00Z"
"""The name of a backup that was created then."""
PUBLIC_KEY = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
"""The key of age's own documents, whose identity nobody here has."""
HOUR_MS = 3_600_000
NODE = "kafka-4.3.0/dynamic-quorum/node-2/data"
"""A fixture with topics, configs, ACLs, quotas, SCRAM users and tokens."""


def back_up(
    store: object,
    path: object,
    *,
    now_ms: int = FIRST_MS,
    at: int | None = None,
    with_secrets: bool = True,
    recipients: tuple[str, ...] = (),
) -> Manifest:
    """Create a backup of a directory."""
    options = BackupOptions(at=at, with_secrets=with_secrets, recipients=recipients, now_ms=now_ms)
    files, location = BackupFiles(str(store)), open_path(str(path))
    return create(files, location, options, str(path), lambda *_: None)
