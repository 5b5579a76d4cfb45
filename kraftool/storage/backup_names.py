"""The names by which a PATH is known as a backup. Owns no reading: every command imports it."""

from __future__ import annotations

import os
import re

from kraftool.storage.directory import is_metadata_partition, looks_like_data_directory

MANIFEST = "backup.json"
NAME_PATTERN = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(?:-\d{1,3})?"
BACKUP_NAME = re.compile(NAME_PATTERN, re.ASCII)


def is_backup(path: str) -> bool:
    """True if a PATH is a backup: a URL that ends with its name, or a folder with a manifest."""
    if "://" in path and not os.path.exists(path):
        return BACKUP_NAME.fullmatch(path.rstrip("/").rpartition("/")[2]) is not None
    if not os.path.isfile(os.path.join(path, MANIFEST)):
        return False
    # An export of a state may have the same name, and be in a data directory.
    return not looks_like_data_directory(path) and not is_metadata_partition(path)
