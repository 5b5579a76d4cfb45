"""The contents of a bundle: `bundle.json`, which is also what `kraftool bundle -o json` prints."""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.json_marks import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class NotHad:
    """Something that was looked for and is not in the bundle."""

    subject: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledFile:
    """A file in the bundle."""

    path: str
    size: int
    """In bytes, as it was on the node, or as much of it as is here."""
    masked_bytes: int
    """The bytes of it that have others in their place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInBundle:
    """A node: its folder, and its places on its host."""

    name: str
    """The folder in the bundle."""
    source: str
    """The host, the pod or the PATH that was asked."""
    node_id: int | None = None
    cluster_id: str | None = None
    directory: str = ""
    """The metadata log directory. Empty if the node's files did not arrive."""
    properties: str = ""
    """The path of server.properties; empty if a directory was named."""
    log_dirs: tuple[str, ...] = ()
    setting_lines: tuple[str, ...] = ()
    """The lines of server.properties, without the values that may be secret."""
    other_folders: tuple[str, ...] = ()
    """Folders of topics and others, which are not in the bundle."""
    pipes: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    """Directories whose lock a process has."""
    is_changed_meanwhile: bool = False
    """True if Kafka wrote while the files were read."""
    files: tuple[BundledFile, ...] = ()
    not_had: tuple[NotHad, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleContents:
    """A bundle."""

    kind: str
    """kraftool bundle"""
    format_version: int
    created: Moment
    kraftool_version: str
    host: str
    """The machine that made it."""
    has_secrets: bool
    """False unless --with-secrets was given."""
    nodes: tuple[NodeInBundle, ...]
    files: tuple[BundledFile, ...] = ()
    """Reports and answers of the live quorum."""
    not_had: tuple[NotHad, ...] = ()
