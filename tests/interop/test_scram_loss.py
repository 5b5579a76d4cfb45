"""Kafka's ScramDelta loses credentials: seen in fixtures, and here made on purpose.

When the changes of a delta are applied, in the order of a hash map, a removal that leaves a
mechanism without users takes the mechanism out of the new image; users that come after it are put
into a map that nobody sees any more. The order is that of the names' hashes, not that of the log.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from kraftool.image.image import EMPTY
from kraftool.image.loader import ImageLoader
from kraftool.reports.findings.finding import Severity
from kraftool.reports.state.load import load_state
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.paths import open_path
from tests.interop import kafka
from tests.interop.clusters import Cluster
from tests.interop.recorded import Recording, words

SOURCE = Path(__file__).with_name("java") / "ScramLoss.java"
NAMES = ("alice", "bob", "carol", "dave")
BUCKETS = 16


def bucket(name: str) -> int:
    """Where java.util.HashMap of the usual size keeps a name."""
    code = 0
    for character in name:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return (code ^ code >> 16) & (BUCKETS - 1)


def predicted(base: set[str], changes: list[str]) -> set[str]:
    """Who is left, if the error is what it is taken for."""
    last = {change[1:]: change[0] for change in changes}
    users, is_seen = set(base), True
    for name in sorted(last, key=bucket):
        if last[name] == "+":
            users.add(name)
        else:
            users.discard(name)
            is_seen = is_seen and bool(users)
    return users if is_seen else set()


def in_kraftool(base: set[str], changes: list[str]) -> set[str]:
    """Who is left after the records, one after the other."""
    loader = ImageLoader(EMPTY)
    for offset, change in enumerate([*(f"+{name}" for name in sorted(base)), *changes]):
        value = {"name": change[1:], "mechanism": 1}
        if change[0] == "+":
            more = {"salt": b"s", "storedKey": b"k", "serverKey": b"k", "iterations": 4096}
            loader.replay(offset, "UserScramCredentialRecord", value | more)
        else:
            loader.replay(offset, "RemoveUserScramCredentialRecord", value)
    return set(loader.image().scram.mechanisms.get(1, {}))


def _cases() -> list[tuple[set[str], list[str]]]:
    cases: list[tuple[set[str], list[str]]] = []
    for kept, gone in permutations(NAMES, 2):
        # Both made and one removed at once; one there before, and removed as the other is made.
        cases += [
            (set(), [f"+{kept}", f"+{gone}", f"-{gone}"]),
            (set(), [f"+{gone}", f"-{gone}", f"+{kept}"]),
            ({gone}, [f"-{gone}", f"+{kept}"]),
            ({gone}, [f"+{kept}", f"-{gone}"]),
            # With another user there before, the mechanism is never without users.
            ({"zoe"}, [f"+{kept}", f"+{gone}", f"-{gone}"]),
        ]
    return cases


def _question(case: tuple[set[str], list[str]]) -> str:
    base, changes = case
    return f"{','.join(sorted(base))}|{','.join(changes)}"


def _left() -> dict[str, str]:
    questions = list(map(_question, _cases()))
    done = kafka.run_source(kafka.TOOLS_VERSION, SOURCE, "image", *questions, check=True)
    return dict(zip(questions, done.stdout.decode().splitlines(), strict=True))


RECORDING = Recording(
    name="scram-loss",
    release=kafka.TOOLS_VERSION,
    command="java/ScramLoss.java image USERS|CHANGES...",
    sources=(SOURCE,),
    about=lambda: words(list(map(_question, _cases()))),
    ask=_left,
)


def test_a_removal_takes_the_credentials_that_come_after_it_in_the_hash_map() -> None:
    assert len({bucket(name) for name in NAMES}) == len(NAMES), "each has a bucket of its own"
    cases, kept = _cases(), RECORDING.answers()
    left = [set(kept[_question(case)].split(",")) - {""} for case in cases]
    assert left == [predicted(*case) for case in cases]
    wanted = [in_kraftool(*case) for case in cases]
    lost = [
        case
        for case, remaining, right in zip(cases, left, wanted, strict=True)
        if remaining < right
    ]
    # Of two names, the one removal loses the other user, and the other does not.
    assert len(lost) == 4 * len(NAMES) * (len(NAMES) - 1) // 2
    assert not any("zoe" in base for base, _ in lost)
    assert all(remaining <= right for remaining, right in zip(left, wanted, strict=True))


def left_after(cluster: Cluster, server: str, gone: str, kept: str) -> set[str]:
    """Who a broker says there is, after one request that removes a user and adds another."""
    done = kafka.run_source(kafka.TOOLS_VERSION, SOURCE, "swap", server, gone, kept, check=True)
    return set(done.stdout.decode().strip().split(",")) - {""}


@pytest.mark.interop
@pytest.mark.soak
def test_one_request_on_a_live_broker_loses_the_user_that_it_adds(tmp_path: Path) -> None:
    first, second = sorted(("alice", "bob"), key=bucket)
    settings = {
        "metadata.log.max.record.bytes.between.snapshots": "500",
        "metadata.max.idle.interval.ms": "100",
    }
    with Cluster(kafka.TOOLS_VERSION, tmp_path / "nodes", common=settings) as cluster:
        node = cluster.add_node(1, ("broker", "controller"))
        cluster.use_static_voters()
        cluster.format([node])
        cluster.start(node)
        cluster.admin("upsert-scram", user=second, password="CANARY-scram", salt="CANARY-salt")
        server = node.at("BROKER")
        # The other way round all is well: the new user comes first in the hash map.
        assert left_after(cluster, server, second, first) == {first}
        assert left_after(cluster, server, first, second) == set()
        known = set(cluster.snapshots(node))
        kafka.wait_for("the next snapshot", lambda: set(cluster.snapshots(node)) - known)
        cluster.stop(node)
    assert set(load_state(str(log_of(node.metadata_log_dir))).image.scram.mechanisms[1]) == {second}
    report = verify_snapshots([open_path(str(node.metadata_log_dir))])
    findings = [finding for finding in report.all_findings if finding.severity is not Severity.INFO]
    assert {finding.code for finding in findings} == {"KT-SNAP-SCRAM-LOST"}
    assert {finding.expected for finding in findings} == {f"SCRAM-SHA-256 of {second}"}
    assert max(snapshot.offset for snapshot in report.rows) in {
        finding.offset for finding in findings
    }


def log_of(directory: Path) -> Path:
    return directory / "__cluster_metadata-0" / f"{0:020}.log"
