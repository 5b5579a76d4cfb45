"""meta.properties of a directory on disk, read by itself.

Owns the answer for whoever wants to know of one directory only whose it is: format, and the other
directories of log.dirs. Reports read it with all other files.
"""

from __future__ import annotations

import os

from kraftool.decoders import meta_properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import META_PROPERTIES

_LIMIT = 1 << 20


def read_meta(path: str) -> MetaProperties | None:
    """A directory's meta.properties; None where there is none. Raises KraftoolError, OSError."""
    if os.path.exists(path) and not os.path.isdir(path):
        raise NotADirectoryError(f"{path} is not a directory")
    if os.path.isdir(path):
        os.listdir(path)  # one that may not be read is not taken for an empty one
    try:
        with open(os.path.join(path, META_PROPERTIES), "rb") as file:
            data = file.read(_LIMIT)
    except FileNotFoundError:
        return None
    meta, findings = meta_properties.decode(data)
    if not meta.accepted:
        raise KraftoolError(
            f"{os.path.join(path, META_PROPERTIES)} cannot be read: {findings[0].describe()}",
            hint="Kafka would not start on it either",
        )
    return meta
