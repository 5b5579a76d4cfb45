"""Asks a release of Kafka again for everything that is recorded of it: `make record KAFKA=4.3.0`.

Shows what Kafka says otherwise than before, keeps it, and exits 1 if there is such a difference.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.interop import (
    kafka,
    test_aborted,
    test_authorizer,
    test_doctor,
    test_dump_log,
    test_features,
    test_image,
    test_node_config,
    test_parity,
    test_scram_loss,
    test_shell,
    test_snapshot_writer,
    test_start_claims,
    test_storage_format,
)
from tests.interop.recorded import Recording

RECORDINGS: tuple[Recording, ...] = (
    test_aborted.RECORDING,
    *test_authorizer.RECORDINGS,
    test_doctor.RECORDING,
    *test_dump_log.RECORDINGS,
    *test_features.RECORDINGS,
    test_image.RECORDING,
    *test_node_config.RECORDINGS,
    *test_parity.RECORDINGS,
    test_scram_loss.RECORDING,
    *test_shell.RECORDINGS,
    test_snapshot_writer.RECORDING,
    test_start_claims.RECORDING,
    *test_storage_format.RECORDINGS,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kafka", required=True, choices=kafka.SOAKED)
    parser.add_argument("--only", help="the name of one recording")
    given = parser.parse_args()
    if problem := kafka.available(given.kafka):
        print(problem, file=sys.stderr)
        return 2
    code = 0
    for recording in RECORDINGS:
        if recording.release != given.kafka or given.only not in (None, recording.name):
            continue
        answers = recording.ask_again()
        differences = list(recording.differences(answers))
        if differences or not recording.is_current():
            recording.keep(answers)
        print(f"{recording}: {len(answers)} answers, {len(differences)} differ", flush=True)
        print(*differences, sep="\n", end="\n" if differences else "")
        code = max(code, bool(differences))
    return code


if __name__ == "__main__":
    sys.exit(main())
