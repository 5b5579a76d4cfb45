"""Ids chosen by lot: of directories, and of clusters, as `kafka-storage random-uuid` gives them."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from uuid import uuid4

from kraftool.image.uuids import is_reserved_directory


def random_directory_id() -> str:
    """An id for a directory: none that Kafka reserves or that begins like an option."""
    while True:
        text = _text_of(secrets.token_bytes(16))
        if not text.startswith("-") and not is_reserved_directory(text):
            return text


def random_uuid() -> str:
    """A uuid as `kafka-storage random-uuid` gives it."""
    while True:
        text = _text_of(uuid4().bytes)
        if not text.startswith("-"):
            return text


def _text_of(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode("ascii").rstrip("=")
