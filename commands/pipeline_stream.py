"""`kraftool pipeline stream`: records, problems, changes and findings of a live fleet."""

from __future__ import annotations

from kraftool.commands.pipeline_stream_options import PipelineStreamOptions


def stream(options: PipelineStreamOptions) -> None:
    """Follow the logs of a fleet as they grow.

    Example: kraftool pipeline stream /var/lib/kafka/data --once

    Writes records, damage, truncations and findings as they appear. To Parquet each row is written
    exactly once, however often you stop and restart the run. To Kafka each row is written at least
    once, with directory, epoch and offset as the key. Ctrl-C stops the run at once; SIGTERM stops
    it after the current write. kraftool reports a log that is truncated, cleaned, removed or new.

    Nothing is written to the directories, and nothing is locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.pipeline_stream_run import StreamRun

    StreamRun(options).run()
