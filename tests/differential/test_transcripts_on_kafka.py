"""The transcripts of the raft core, played on Kafka's own client too: both do the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.differential.kafka_client import KafkaClient, available
from tests.differential.steps import describe
from tests.differential.transcripts import BothNodes, Differs, NotPlayable, Parted
from tests.differential.trial import directory
from tests.raft import transcript
from tests.raft.transcript import Case
from tests.raft.transcript_words import TranscriptError

pytestmark = pytest.mark.interop
TESTDATA = Path(__file__).resolve().parents[1] / "raft" / "testdata"
FEWEST_PLAYED = 0.8
"""Of all cases, at least so many are played to their end or to a tolerated difference."""


def play(client: KafkaClient, case: Case) -> str:
    """Return what came of a case: "same", "tolerated: …" or "not playable: …"."""
    with directory() as path:
        node = BothNodes(client, path)
        try:
            for block in case.blocks:
                if not node.is_over:
                    node.play(block.commands)
        except Parted as error:
            return f"tolerated: {error}"
        except NotPlayable as error:
            return f"not playable: {error}"
        except TranscriptError as error:
            return f"DIFFERS from the transcript in line {block.line}: {error}"
        except Differs as error:
            where = describe(error.step) if error.step is not None else "start"
            return f"DIFFERS in line {block.line}, {where}\n    {error}"
        finally:
            node.stop()
    return "same"


@pytest.mark.parametrize("version", ["4.3.0", pytest.param("4.4.0", marks=pytest.mark.soak)])
def test_the_transcripts_hold_for_kafka_too(version: str, tmp_path: Path) -> None:
    if problem := available(version):
        pytest.skip(problem)
    results: dict[str, str] = {}
    with KafkaClient(version, tmp_path / "driver.log") as client:
        for file in sorted(TESTDATA.glob("[a-l]_*.txt")):
            for case in transcript.parse(file.read_text()):
                results[f"{file.stem}: {case.title}"] = play(client, case)
    counts = Counter(result.partition("\n")[0] for result in results.values())
    print(*counts.most_common(), sep="\n")
    differing = [f"{name}\n    {result}" for name, result in results.items() if "DIFFERS" in result]
    assert not differing, "\n".join(differing)
    played = sum(1 for result in results.values() if not result.startswith("not playable"))
    assert played >= FEWEST_PLAYED * len(results), counts
