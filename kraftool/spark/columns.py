"""The columns of the sources in Spark's types, and payloads in Spark's form of VARIANT.

Owns the way from Arrow's types to Spark's. Which columns there are is decided in
`kraftool/arrow/columns.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from kraftool.arrow.columns import COMMENT, arrow_schema
from kraftool.arrow.rows import Maker
from kraftool.arrow.untyped import Array, ArrowType, pa


def spark_schema(source: str, wanted: Iterable[str] = (), *, variant: bool = False) -> StructType:
    """The schema of a source, or of those of its columns that are wanted, in that order."""
    arrow = arrow_schema(source, wanted, variant=variant)
    return StructType([_field(field) for field in arrow])


def _field(field: Any) -> StructField:
    comment = (field.metadata or {}).get(COMMENT.encode(), b"").decode()
    metadata = {COMMENT: comment} if comment else None
    return StructField(field.name, from_arrow_type(field.type), metadata=metadata)


def _variants(values: list[bytes | None], kind: ArrowType) -> Array:
    """JSON as Spark's VARIANT, which in Arrow is a struct of two binaries."""
    from pyspark.sql.variant_utils import VariantUtils

    pairs = [
        VariantUtils.parse_json(value.decode()) if value is not None else (b"", b"")
        for value in values
    ]
    return pa.StructArray.from_arrays(
        [pa.array([pair[number] for pair in pairs], pa.binary()) for number in range(2)],
        fields=list(kind),
        mask=pa.array([value is None for value in values]),
    )


MAKERS: Mapping[str, Maker] = {"data": _variants}
"""The columns whose arrays only Spark knows how to make."""
