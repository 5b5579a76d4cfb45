"""Directories that real Kafka left, copied to be damaged; plans for them, carried out on them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import scan
from kraftool.image.state_hash import state_hash
from kraftool.repair import collect_file
from kraftool.repair.collect_file import Collected
from kraftool.repair.narration import is_well
from kraftool.repair.plan import Edit, Fingerprint, HostPlan, Method, Plan
from kraftool.repair.plan_yaml import plan_from_yaml, plan_to_yaml
from kraftool.repair.planner import plan_for, read_quorum
from kraftool.repair.request import PlanRequest, with_settings
from kraftool.repair.state_records import snapshot_of
from kraftool.repair.survey import Survey
from kraftool.repair.surveyed_quorum import SurveyedQuorum, surveyed_quorum
from kraftool.repair.surveying import read_directories
from kraftool.reports.state.load import load_state
from kraftool.storage.source import BytesSource
from tests.support.places import FIXTURES, PARTITION, fixture_name
from tests.support.proof import DIRECTORIES, saw

NOW = 1_800_000_000_000
EQUAL = "kafka-4.3.0/upgrade"
"""Voters 1, 2, 3 and broker 11, all at offset 160 of epoch 6."""
APART = "kafka-4.3.0/dynamic-quorum"
"""Voters 2, 3, 4; 3 and 4 and broker 11 are at offset 224 of epoch 3; 1 is no voter any more."""


def survey_path(path: str, *, now_ms: int) -> tuple[Survey, ...]:
    """A survey of each data directory that a PATH has."""
    return tuple(one.survey for one in read_directories(path, now_ms=now_ms))


def surveyed(quorum: Quorum) -> SurveyedQuorum:
    """The quorum as a plan is made of it, without a wish of the operator's."""
    paths = [str(quorum[directory]) for directory in quorum.directories]
    request = PlanRequest(surveys=(), now_ms=NOW)
    return surveyed_quorum(read_quorum(paths, now_ms=NOW).asked(request))


class Quorum:
    """Copies of a fixture's nodes, by node id."""

    def __init__(self, root: Path, fixture: str, nodes: Sequence[int]) -> None:
        self.directories: dict[int, Path] = {}
        for node in nodes:
            partitions = (FIXTURES / fixture / f"node-{node}").glob(f"data*/{PARTITION}")
            source = min(partitions).parent
            target = root / f"node-{node}"
            shutil.copytree(source, target)
            saw(DIRECTORIES, fixture_name(source))
            self.directories[node] = target

    def __getitem__(self, node_id: int) -> Path:
        return self.directories[node_id]

    def partition(self, node_id: int) -> Path:
        return self.directories[node_id] / PARTITION

    def segment(self, node_id: int) -> Path:
        """The only one, or the last."""
        return sorted(self.partition(node_id).glob("*.log"))[-1]

    def snapshots(self, node_id: int) -> list[Path]:
        """Without the 0-0 one."""
        paths = sorted(self.partition(node_id).glob("*.checkpoint"))
        return [path for path in paths if not path.name.startswith("0" * 20)]

    def survey(self, node_id: int) -> Survey:
        (survey,) = survey_path(str(self.directories[node_id]), now_ms=NOW)
        return survey

    def collected(self, node_id: int) -> bytes:
        """The collect file of a node."""
        read = read_directories(str(self.directories[node_id]), now_ms=NOW)
        return collect_file.encode(Collected.of(read))

    def plan(
        self,
        *settings: str,
        nodes: Sequence[int] | None = None,
        accept: Sequence[str] = (),
        is_collected: bool = False,
    ) -> Plan:
        """The plan for these nodes, by default all; what is planned is what the file says.

        From collect files it has no bytes of the logs.
        """
        paths = [str(self.directories[node]) for node in nodes or self.directories]
        request = PlanRequest(surveys=(), now_ms=NOW, accepted=frozenset(accept))
        request = with_settings(request, settings)
        read = read_quorum(paths, now_ms=NOW, at=request.rollback)
        restored = read.restored
        if is_collected:
            restored = {name: one for name, one in restored.items() if not one.lenders}
        plan = plan_for(replace(request, surveys=read.surveys, restored=restored))
        assert plan_from_yaml(plan_to_yaml(plan)) == plan
        return plan

    def carry_out(self, plan: Plan) -> None:
        """What the edits make of the directories, as the plan says it, host by host."""
        roots = {
            host.name: str(self.directories.get(host.identity.node_id or 0, host.path))
            for host in plan.hosts
        }
        made: dict[str, bytes | None] = {}
        for host in plan.hosts:
            made |= _made(plan, host, roots)
        for path, content in made.items():
            if os.path.exists(path):
                os.unlink(path)
            if content is not None:
                Path(path).write_bytes(content)


def _made(plan: Plan, host: HostPlan, roots: Mapping[str, str]) -> dict[str, bytes | None]:
    """The new files; each is made of the directories as they are before the plan, once the damaged
    files in them are restored."""
    made: dict[str, bytes | None] = {}
    for edit in host.edits:
        path = os.path.join(roots[host.name], edit.target.path)
        before = Path(path).read_bytes() if os.path.exists(path) else None
        assert edit.before == (None if before is None else Fingerprint.of(before)), path
        if edit.snapshot is not None:
            source = edit.snapshot.source or host.name
            of = plan.host(source)
            openers = {
                one.target.name: _opener(one.target.name, _restored(one, source, roots))
                for one in (of.restored if of is not None else ())
            }
            made[path] = b"".join(snapshot_of(edit.snapshot, roots[source], openers))
        elif edit.after is None:
            made[path] = None
        else:
            data = b"".join(_pieces(plan, edit, host.name, roots))
            assert Fingerprint.of(data) == edit.after, path
            made[path] = data
    return made


def _opener(name: str, data: bytes) -> Callable[[], BytesSource]:
    return lambda: BytesSource(name, data)


def _restored(edit: Edit, name: str, roots: Mapping[str, str]) -> bytes:
    """A file of a host as its restoration leaves it."""
    data = b"".join(
        (Path(roots[piece.source or name]) / piece.file.path).read_bytes()[piece.start : piece.end]
        if piece.file is not None
        else piece.data
        for piece in edit.pieces
    )
    assert edit.after == Fingerprint.of(data)
    return data


def _pieces(plan: Plan, edit: Edit, name: str, roots: Mapping[str, str]) -> Iterator[bytes]:
    for piece in edit.pieces:
        if piece.file is None:
            yield piece.data
            continue
        source = piece.source or name
        of = plan.host(source)
        restored = of.restoration(piece.file) if of is not None else None
        data = (
            _restored(restored, source, roots)
            if restored is not None
            else (Path(roots[source]) / piece.file.path).read_bytes()
        )
        yield data[piece.start : piece.end]


def state_of(directory: Path, at: int | None = None) -> str:
    """The hash of its metadata."""
    return state_hash(load_state(str(directory), at=at).image)


def mended(quorum: Quorum, node_id: int, plan: Plan, *cases: str) -> Survey:
    """Carry out a plan of these cases; the directory as it is then, which is well."""
    assert plan.cases == cases
    quorum.carry_out(plan)
    survey = quorum.survey(node_id)
    assert is_well(survey), survey
    again = quorum.plan()
    assert again.method is Method.NONE, again.summary
    return survey


def batches(path: Path) -> list[RecordBatch]:
    """The batches of a whole segment or checkpoint."""
    data = path.read_bytes()
    read_batches = []
    for batch in scan(lambda position, size: data[position : position + size]):
        assert isinstance(batch, RecordBatch)
        read_batches.append(batch)
    return read_batches


def flip(path: Path, position: int, change: int = 0x41) -> None:
    """Two bits of a file are others: one would be put back."""
    data = bytearray(path.read_bytes())
    data[position] ^= change
    os.chmod(path, 0o644)
    path.write_bytes(bytes(data))


def flip_in_batch(path: Path, number: int) -> RecordBatch:
    """Two bits in the records of a batch; the batch as it was."""
    batch = batches(path)[number]
    flip(path, batch.position + batch.size - 3)
    return batch


def cut_log(quorum: Quorum, node_id: int, last_batches: int) -> None:
    """Make a node one that was left behind: without its last batches, and snapshots of them."""
    path = quorum.segment(node_id)
    first = batches(path)[-last_batches]
    path.write_bytes(path.read_bytes()[: first.position])
    for snapshot in quorum.snapshots(node_id):
        if int(snapshot.name[:20]) > first.base_offset:
            snapshot.unlink()


def poison(offset: int, epoch: int, timestamp: int) -> bytes:
    """Batches with a change of a partition whose topic there is none of, and a NoOp."""
    change = {"partitionId": 0, "topicId": "9PTPM4xATAiPu0uKMvmPmg", "leader": 11}
    records = encode_record("PartitionChangeRecord", 0, change), encode_record("NoOpRecord", 0, {})
    return b"".join(
        encode_batch([(None, record)], base_offset=at, epoch=epoch, timestamp=timestamp)
        for at, record in enumerate(records, offset)
    )


def poisoned(quorum: Quorum, node_id: int) -> int:
    """Append what no controller can apply; its offset."""
    path = quorum.segment(node_id)
    last = batches(path)[-1]
    offset = last.last_offset + 1
    path.write_bytes(path.read_bytes() + poison(offset, last.epoch, NOW))
    return offset
