"""The directories that are asked about, and the questions: every command that reads them.

Subjects are fixtures, damaged fixtures, the incidents of tests/repair, and fleets of
tools/fleet.py. What is made is made once, so that both revisions read the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from answers.answering import AUDIT

ROOT = Path(__file__).resolve().parents[2]
PARTITION = "__cluster_metadata-0"
_OF_ANY = (
    ("dump",),
    ("doctor",),
    ("doctor", "-v"),
    ("verify-log",),
    ("verify-snapshot",),
    ("diff-voters",),
    ("features",),
    ("timeline",),
    ("simulate-election", "--seed", "1"),
    ("recover", "plan"),
)
"""Commands that take any number of directories."""
_OF_ONE = (("dump-log",), ("state",))
_EXPLAINED_BYTES = 4096
"""A larger file is explained in too many lines to be worth it."""


@dataclass(frozen=True, slots=True)
class Question:
    """A command line, and the folder in which it is asked."""

    subject: str
    folder: Path
    words: tuple[str, ...]

    @property
    def command(self) -> str:
        """Its name, as the report groups by it."""
        first, *others = self.words
        return f"{first} {others[0]}" if first == "recover" else first


@dataclass(frozen=True, slots=True)
class Subject:
    """Some directories that are asked about together."""

    name: str
    folder: Path
    paths: tuple[str, ...]
    """Below the folder."""

    def questions(self) -> Iterator[Question]:
        """Yield every question about them, as JSON and as text."""
        for command in _OF_ANY:
            yield from self._both(*command, *self.paths)
        if len(self.paths) == 1:
            for command in _OF_ONE:
                yield from self._both(*command, *self.paths)
            for file in self._small_files():
                yield from self._both("explain", file)
        if len(self.paths) > 1:
            yield from self._both("diff-state", *self.paths[:2])
        yield Question(self.name, self.folder, (AUDIT, *self.paths))

    def _both(self, *words: str) -> Iterator[Question]:
        yield Question(self.name, self.folder, words)
        if "-v" not in words:
            yield Question(self.name, self.folder, (*words, "-o", "json"))

    def _small_files(self) -> Iterator[str]:
        """Yield one small file of each kind, which its ending tells."""
        seen = set()
        for path in sorted((self.folder / self.paths[0]).rglob("*")):
            kind = path.suffix or path.name
            if kind in seen or not path.is_file() or path.stat().st_size > _EXPLAINED_BYTES:
                continue
            seen.add(kind)
            yield str(path.relative_to(self.folder))


def subjects(scratch: Path, *, seed: int, incidents: int, clusters: int) -> Iterator[Subject]:
    """Yield every subject; what is made lies in the scratch folder."""
    yield from _fixtures()
    yield from _incidents(scratch / "incidents", seed, incidents)
    yield from _fleet(scratch / "fleet", seed, clusters)


def _fixtures() -> Iterator[Subject]:
    fixtures = ROOT / "fixtures"
    groups: dict[Path, list[str]] = {}
    for partition in sorted(fixtures.rglob(PARTITION)):
        directory = partition.parent
        name = _below(directory, fixtures)
        yield Subject(name, fixtures, (name,))
        groups.setdefault(directory.parent.parent, []).append(name)
    for folder, directories in groups.items():
        if folder != fixtures / "damaged" and len(directories) > 1:
            yield Subject(_below(folder, fixtures), fixtures, tuple(directories))
    for case in sorted((fixtures / "damaged").iterdir()):
        yield Subject(_below(case, fixtures), fixtures, (_below(case, fixtures),))


def _incidents(root: Path, seed: int, count: int) -> Iterator[Subject]:
    from tests.repair.incidents import Incident, NoIncident

    number = seed * 100_000
    for _ in range(count):
        number += 1
        folder = root / str(number)
        folder.mkdir(parents=True)
        try:
            made = Incident.made(number, folder, is_wide=True)
        except NoIncident:
            continue
        paths = tuple(_below(path, folder) for _, path in sorted(made.paths.items()))
        if paths:
            yield Subject(f"incident {number}", folder, paths)


def _fleet(out: Path, seed: int, clusters: int) -> Iterator[Subject]:
    if not clusters:
        return
    from fleets.build import KINDS, FleetPlan, build

    out.mkdir(parents=True)
    plan = FleetPlan(
        clusters=clusters, nodes=3, seed=seed, huge=0, faults=clusters // 2, kinds=tuple(KINDS)
    )
    build(out, plan, lambda _: None)
    for cluster in sorted(path for path in out.iterdir() if path.is_dir()):
        nodes = sorted(path for path in cluster.iterdir() if path.is_dir())
        yield Subject(f"fleet {cluster.name}", out, _all_below(nodes, out))


def _all_below(paths: Sequence[Path], folder: Path) -> tuple[str, ...]:
    return tuple(_below(path, folder) for path in paths)


def _below(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder))
