"""Makes fixtures/built/aborted-transaction: a real log with an aborted transaction appended.

    python tests/interop/build_aborted.py

Owns which files it has and its SOURCE; the batches come from transactions.py. `test_aborted.py`
lets real Kafka load it, and compares the folder with what this would write. Kafka's own aborted
transaction is the scenario of the same name, in scenarios.py.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.interop.transactions import directory_id, with_aborted_transaction
from tests.support.places import ROOT

BASE = ROOT / "fixtures" / "kafka-4.3.0" / "static-single" / "node-1"
BUILT = ROOT / "fixtures" / "built" / "aborted-transaction"
PARTITION = Path("data") / "__cluster_metadata-0"
LOG = PARTITION / f"{0:020}.log"


def files() -> dict[str, bytes]:
    """What the fixture consists of: the metadata of `BASE`, its log longer by our batches."""
    own = [BASE / "server.properties", BASE / "data" / "meta.properties"]
    own += [path for path in sorted((BASE / PARTITION).iterdir()) if path.suffix != ".index"]
    own += [BASE / PARTITION / f"{0:020}.index", BASE / "data" / "bootstrap.checkpoint"]
    made = {path.relative_to(BASE).as_posix(): path.read_bytes() for path in own}
    appended = with_aborted_transaction(
        made[LOG.as_posix()], directory_id(BASE / "data" / "meta.properties")
    )
    made[LOG.as_posix()] = appended.data
    source = [
        "Built, not written by Kafka: the metadata of fixtures/kafka-4.3.0/static-single, to whose",
        "log these batches were appended with our encoder. The folders of topics are left out.",
        "Command: python tests/interop/build_aborted.py",
        "That Kafka 4.3.0 loads it is what tests/interop/test_aborted.py shows.",
        "",
        "Appended, a line a batch:",
        *(f"  {line}" for line in appended.told),
        "",
        "sha256 of the files:",
        *(f"  {hashlib.sha256(made[name]).hexdigest()}  node-1/{name}" for name in sorted(made)),
    ]
    built = {f"node-1/{name}": content for name, content in made.items()}
    return built | {"SOURCE": ("\n".join(source) + "\n").encode()}


def write(folder: Path) -> None:
    for name, content in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    write(BUILT)
