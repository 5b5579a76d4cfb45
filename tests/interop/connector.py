"""Spark's connector for Kafka: its jars, brought by Maven as Kafka's own are.

Owns which versions fit. The connector should be of PySpark's version; where Maven does not have
that one yet, the newest that is known to work with it is taken. Its dependencies are named here one
by one, since Spark's poms name repositories that may not be reachable.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

from tests.interop import kafka


class Versions(NamedTuple):
    connector: str
    token_provider: str
    clients: str = "3.9.1"
    pool: str = "2.12.1"


OLDER = Versions("4.2.0", "4.0.0")


def jars(spark: str) -> list[Path]:
    """The jars for a version of PySpark, to be given to Spark as `spark.jars`."""
    folder = kafka.cache() / f"spark-connector-{spark}"
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        problem = _bring(folder, Versions(spark, spark)) and _bring(folder, OLDER)
        if problem:
            raise kafka.KafkaFailed(f"Maven could not bring Spark's connector:\n{problem}")
        (folder / "complete").touch()
    return sorted((folder / "libs").glob("*.jar"))


def _bring(folder: Path, versions: Versions) -> str:
    """What Maven said when it failed; empty when the jars are there."""
    wanted = (
        ("org.apache.spark", "spark-sql-kafka-0-10_2.13", versions.connector),
        ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", versions.token_provider),
        ("org.apache.kafka", "kafka-clients", versions.clients),
        ("org.apache.commons", "commons-pool2", versions.pool),
    )
    alone = (
        "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
        "</exclusions>"
    )
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version>{alone}</dependency>\n"
        for group, artifact, version in wanted
    )
    (folder / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>peer</groupId>"
        "<artifactId>connector</artifactId><version>1</version>"
        f"<dependencies>\n{dependencies}</dependencies></project>\n"
    )
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
    command = ["mvn", "-q", "-B", "-Dstyle.color=never", plugin, "-DoutputDirectory=libs"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return f"{done.stdout}{done.stderr}" if done.returncode else ""
