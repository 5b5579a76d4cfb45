"""The work of the Spark whose loaded classes are kept: what tests do, once, with little data.

spark-submit class_archive_job.py FOLDER
"""

import sys
from pathlib import Path

from kraftool.spark.engine import session
from kraftool.spark.frames import create_view, read
from kraftool.spark.tables.run import TablesRequest, write_tables

DATA = str(Path(__file__).resolve().parents[2] / "fixtures/kafka-4.3.0/static-single")


def main() -> None:
    folder = Path(sys.argv[1])
    write_tables(
        TablesRequest(roots=(DATA,), out=str(folder / "tables")), lambda: session("local[2]")
    )
    with session("local[2]") as spark:
        create_view(spark, "topics", DATA, "TopicRecord")
        spark.sql("SELECT name, count(*) FROM topics GROUP BY name ORDER BY name").collect()
        rows = read(spark, DATA)
        rows.write.parquet(str(folder / "parquet"))
        (
            spark.readStream.format("kraft")
            .option("stateLocation", str(folder / "state"))
            .load(DATA)
            .writeStream.format("parquet")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(folder / "stream"))
            .awaitTermination()
        )


if __name__ == "__main__":
    main()
