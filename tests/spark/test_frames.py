"""The typed helpers of Spark: what is wrong is said before Spark, with the choices."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark")

from kraftool.decoders.errors import KraftoolError
from kraftool.spark import jvm
from kraftool.spark.errors import UnusableError
from kraftool.spark.failures import explain
from kraftool.spark.frames import read
from tests.support.places import FIXTURES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_wrong_option_names_the_choices_without_a_sentence_of_sparks(
    spark: "SparkSession",
) -> None:
    with pytest.raises(KraftoolError) as caught:
        read(spark, FIXTURES, kind="recrod")
    assert caught.value.message == "kind 'recrod' is not a kind of kraft"
    assert caught.value.hint == "use record, problem, change"
    with pytest.raises(KraftoolError) as caught:
        read(spark, FIXTURES, "partition")
    assert "partitions" in caught.value.hint
    with pytest.raises(KraftoolError) as caught:
        read(spark, FIXTURES, "partitions", columns=["leader_id"])
    assert "leader" in caught.value.hint


def test_a_setting_that_spark_refuses_is_wrong_usage() -> None:
    from pyspark.errors import IllegalArgumentException

    for text in (
        "spark.sql.shuffle.partitions should be int, but was x",
        "[INVALID_CONF_VALUE.TIME_ZONE] The value 'Mars' in the config is invalid.",
    ):
        error = explain(IllegalArgumentException(text))
        assert isinstance(error, UnusableError)
        assert "Spark refuses a setting: " in error.message


def test_settings_with_which_spark_does_not_start_are_wrong_usage(
    tmp_path: Path,
) -> None:
    settings = {"spark.executor.cores": "two"}
    with (
        pytest.raises(UnusableError, match="Spark did not start") as caught,
        jvm.running(tmp_path, settings, tmp_path / "log", os.pathsep.join(sys.path)),
    ):
        pass
    assert "check the settings spark.executor.cores" in caught.value.hint
