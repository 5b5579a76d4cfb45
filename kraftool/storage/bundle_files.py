"""A bundle: the metadata of several nodes in one ZIP file, read as the directories that they are.

Owns the names in it, and where its files lie while a command runs. A bundle may be hostile: its
sizes are bounded, and every file that is written lies in a folder of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kraftool.decoders import shown_names
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.shown_names import ODD, show_as
from kraftool.storage.ending import ending_in_order
from kraftool.storage.node_copy import (
    DirectoriesOf,
    NodePlaces,
    complete,
    copy_below,
    locked_as_there,
)

if TYPE_CHECKING:
    from contextlib import ExitStack
    from zipfile import ZipFile, ZipInfo

KIND = "kraftool bundle"
FORMAT_VERSION = 1
MANIFEST = "bundle.json"
FILES = "files"
"""The folder of a node in which its files are, each at its path there."""
COLLECT = "node.collect"
_MOST_MANIFEST = 64 << 20
_DEEPEST = 64
_MOST_NODES = 1000
_MOST_FOLDERS = 500_000
"""Names of folders in all paths of one kind."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledNode:
    """A node in a bundle: the name of its folder, and its places on the node."""

    name: str
    places: NodePlaces
    has_log: bool = True
    """False if the log did not fit into the bundle."""
    modified_ms: Mapping[str, int] = field(default_factory=dict)
    """When its files were written, by their names in the bundle."""


@dataclass(slots=True)
class Bundle:
    """An opened bundle. A node is unpacked when it is asked for."""

    path: str
    nodes: dict[str, BundledNode]
    manifest: dict[str, Any]
    _unpacked: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By node: the folder of its copies, and the PATH to read in it."""

    def node(self, name: str) -> BundledNode:
        if name not in self.nodes:
            raise KraftoolError(
                f"{self.path} has no node {name}", hint=f"its nodes: {', '.join(self.nodes)}"
            )
        return self.nodes[name]

    def unpacked(self, name: str, directories_of: DirectoriesOf) -> tuple[str, str]:
        """Return the folder of a node's copies, and the PATH to read in it."""
        node = self.node(name)
        if name not in self._unpacked:
            self._unpacked[name] = _unpack(self.path, node, directories_of)
        return self._unpacked[name]


_opened: dict[str, Bundle] = {}
Carried = tuple[dict[str, Bundle], dict[str, str]]


def here(file: str, within: str, directories_of: DirectoriesOf) -> str:
    """The path of a copy of what a PATH names in a bundle. Raises KraftoolError."""
    bundle = opened(file)
    name, _, rest = within.partition("/")
    if not name and len(bundle.nodes) == 1:
        name = next(iter(bundle.nodes))
    if (odd := ODD.search(file)) is not None:
        raise KraftoolError(
            f"{file} has {odd[0]!r} in its name, which commands that are shown for it would need"
            " quoted",
            hint="rename the bundle, or name it from its own folder",
        )
    if not name and not bundle.nodes:
        raise KraftoolError(f"{file} has the files of no node", hint=f"its {MANIFEST} says why")
    if not name:
        names = ", ".join(f"{file}:{node}" for node in bundle.nodes)
        raise KraftoolError(f"{file} is a bundle of several nodes", hint=f"name one: {names}")
    if not bundle.node(name).has_log:
        raise KraftoolError(
            f"{file} has no log of {name}, which was larger than --most",
            hint="make the bundle again with a larger --most; kraftool recover plan reads this one",
        )
    root, path = bundle.unpacked(name, directories_of)
    if not rest:
        return path
    copy = copy_below(root, rest)
    if not os.path.lexists(copy):
        raise KraftoolError(f"{file} has no /{rest} of {name}")
    return copy


def collect_file(file: str, within: str, directories_of: DirectoriesOf) -> str | None:
    """The path of the collect file of a bundle's node; None for a node without one."""
    name = within.partition("/")[0] or next(iter(opened(file).nodes), "")
    root, _ = opened(file).unpacked(name, directories_of)
    copy = os.path.join(os.path.dirname(root), COLLECT)
    return copy if os.path.exists(copy) else None


def opened(file: str) -> Bundle:
    """Return what a bundle has, which is read once. Raises KraftoolError."""
    if file not in _opened:
        _opened[file] = _read(file)
    return _opened[file]


def carried() -> Carried:
    """Return what another process needs to read the copies that this one made."""
    return dict(_opened), shown_names.every()


def carry(there: Carried) -> None:
    """Read the copies of another process, which removes them. It is the parent of this one."""
    bundles, names = there
    _opened.update(bundles)
    for folder, name in names.items():
        show_as(folder, name)


def forget() -> None:
    """Open every bundle anew from now on."""
    _opened.clear()


def _read(file: str) -> Bundle:
    with _Zip(file) as bundle:
        manifest = bundle.manifest()
    nodes = {}
    every = _objects(manifest.get("nodes"))
    if len(every) > _MOST_NODES:
        raise KraftoolError(f"{file} is damaged: it lists {len(every)} nodes")
    for number, node in enumerate(every, 1):
        name = node.get("name")
        if not isinstance(name, str) or not name or "/" in name or name in nodes:
            raise KraftoolError(f"{file} is damaged: node {number} has no name of its own")
        if node.get("directory"):
            nodes[name] = BundledNode(
                name=name,
                places=_places(node, file),
                has_log=node.get("isLogLeftOut") is not True,
                modified_ms={
                    part["path"]: part["modifiedMs"]
                    for part in _objects(node.get("files"))
                    if isinstance(part.get("path"), str) and isinstance(part.get("modifiedMs"), int)
                },
            )
    return Bundle(path=file, nodes=nodes, manifest=manifest)


def _places(node: dict[str, Any], file: str) -> NodePlaces:
    def texts(key: str) -> tuple[str, ...]:
        values = node.get(key, [])
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise KraftoolError(f"{file} is damaged: {key} is no list of texts")
        return tuple(values)

    def paths(key: str) -> tuple[str, ...]:
        if sum(path.count("/") for path in texts(key)) > _MOST_FOLDERS:
            raise KraftoolError(f"{file} is damaged: {key} has too many folders")
        for path in texts(key):
            if not path.startswith("/") or path.count("/") > _DEEPEST or "\0" in path:
                raise KraftoolError(f"{file} is damaged: {key} has a path that cannot be one")
        return texts(key)

    one = {key: [node[key]] for key in ("directory", "properties") if node.get(key)}
    node = {**node, "directory": one.get("directory", []), "properties": one.get("properties", [])}
    return NodePlaces(
        directory=next(iter(paths("directory"))),
        properties=next(iter(paths("properties")), ""),
        log_dirs=paths("logDirs"),
        settings=tuple(line.encode("latin-1", "replace") for line in texts("settingLines")),
        folders=paths("otherFolders"),
        pipes=paths("pipes"),
        dangling=paths("dangling"),
        running=paths("running"),
    )


def _objects(value: Any) -> Sequence[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _unpack(file: str, node: BundledNode, directories_of: DirectoriesOf) -> tuple[str, str]:
    """Write the files of a node into a folder that goes when the process ends."""
    import atexit
    import tempfile
    from contextlib import ExitStack

    until_end = ExitStack()
    atexit.register(_close, until_end)
    until_end.enter_context(ending_in_order())
    try:
        folder = tempfile.TemporaryDirectory(prefix="kraftool-", ignore_cleanup_errors=True)
        scratch = os.path.realpath(until_end.enter_context(folder))
        root = os.path.join(scratch, FILES)
        os.mkdir(root)
        show_as(root, f"{file}:{node.name}")
        show_as(scratch, f"{file}:{node.name}")
        with _Zip(file) as bundle:
            bundle.unpack(node, scratch, root)
        path = complete(node.places, root, directories_of)
        until_end.enter_context(locked_as_there(node.places, root))
    except OSError as error:
        raise KraftoolError(
            f"{file} cannot be unpacked: {error.strerror or error}",
            hint="TMPDIR names the folder for temporary files",
        ) from None
    return root, path


def _close(until_end: ExitStack) -> None:
    """Remove what was unpacked, also if Ctrl-C comes at the end."""
    while True:
        try:
            until_end.close()
        except KeyboardInterrupt:
            continue
        return


class _Zip:
    """The ZIP file. Whatever is wrong with it is a KraftoolError that names it."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._zip: ZipFile | None = None

    def __enter__(self) -> _Zip:
        import zipfile

        try:
            self._zip = zipfile.ZipFile(self._file)
        except (OSError, zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
            raise self._damaged(error) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._zip is not None:
            self._zip.close()

    def manifest(self) -> dict[str, Any]:
        import orjson

        for info in self._infos():
            if info.filename == MANIFEST and info.file_size <= _MOST_MANIFEST:
                try:
                    document = orjson.loads(b"".join(self._chunks(info)))
                except orjson.JSONDecodeError as error:
                    raise self._damaged(error) from None
                if isinstance(document, dict) and document.get("kind") == KIND:
                    if document.get("formatVersion") != FORMAT_VERSION:
                        raise KraftoolError(
                            f"{self._file} was written by another version of kraftool",
                            hint=f"read it with kraftool {document.get('kraftoolVersion')}",
                        )
                    return document
        raise KraftoolError(
            f"{self._file} is no bundle of kraftool: it has no {MANIFEST}",
            hint="unpack it, and name a data directory",
        )

    def unpack(self, node: BundledNode, scratch: str, root: str) -> None:
        """Write the files of a node below `root`, and its collect file beside that."""
        import shutil

        name = node.name
        wanted = [info for info in self._infos() if info.filename.startswith(f"{name}/")]
        needed, free = sum(info.file_size for info in wanted), shutil.disk_usage(scratch).free
        if needed > free:
            raise KraftoolError(
                f"{self._file} has {needed} bytes of {name}; {free} bytes are free",
                hint="TMPDIR names the folder for temporary files",
            )
        for info in wanted:
            within = info.filename.removeprefix(f"{name}/")
            if within == COLLECT:
                self._write(info, os.path.join(scratch, COLLECT))
            elif within.startswith(f"{FILES}/") and not info.is_dir():
                if within.count("/") > _DEEPEST or "\0" in within:
                    raise self._damaged(within[:200])
                target = copy_below(root, within.removeprefix(FILES))
                self._write(info, target)
                modified = node.modified_ms.get(info.filename, -1)
                if 0 <= modified < 1 << 43:
                    os.utime(target, ns=(modified * 10**6, modified * 10**6))

    def _write(self, info: ZipInfo, target: str) -> None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            with open(target, "xb") as out:
                for chunk in self._chunks(info):
                    out.write(chunk)
        except (FileExistsError, NotADirectoryError):
            raise self._damaged(f"{info.filename} is in it twice") from None

    def _infos(self) -> list[ZipInfo]:
        assert self._zip is not None, "it was entered"
        return self._zip.infolist()

    def _chunks(self, info: ZipInfo) -> Iterable[bytes]:
        import zipfile
        import zlib

        assert self._zip is not None, "it was entered"
        try:
            with self._zip.open(info) as member:
                while chunk := member.read(_CHUNK):
                    yield chunk
        except (
            zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError,
            ValueError,
        ) as why:  # fmt: skip
            raise self._damaged(why) from None

    def _damaged(self, why: object) -> KraftoolError:
        return KraftoolError(f"{self._file} is damaged: {why}", hint="copy it again")
