"""`kraftool pipeline stream`: records, problems, changes and findings of a live fleet."""

from __future__ import annotations

from kraftool.commands.options import takes
from kraftool.commands.pipeline_stream_options import PipelineStreamOptions


@takes(PipelineStreamOptions)
def stream(options: PipelineStreamOptions) -> None:
    """Follow the logs of a fleet: records, damage, truncations and findings as they appear.

    Example: kraftool pipeline stream /var/lib/kafka/data --once

    To Parquet each row is written exactly once, however often the run is killed and begun again; to
    Kafka at least once, with the directory, epoch and offset for a key. Ctrl-C ends it at once,
    SIGTERM after what is being written. A log that is truncated, cleaned, gone or new is told.

    Nothing is written to the directories, and nothing is locked; a running Kafka is not disturbed.
    """
    from kraftool.commands.pipeline_stream_run import StreamRun

    StreamRun(options).run()
