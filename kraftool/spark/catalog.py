"""Tables of Spark's catalog: `CREATE TABLE … USING kraft`.

Owns the way of a table's options to its reader. Spark hands them on when a table is created, and
none when it is read, so that they travel in the metadata of the table's first column, which its
catalog keeps. What may hold credentials is refused there.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from pyspark.sql.types import StructField, StructType

from kraftool.arrow.settings import is_of_table, table_options
from kraftool.decoders.errors import KraftoolError
from kraftool.storage.remote import shown_url

_KEY = "kraftool.options"


def with_options(schema: StructType, options: Mapping[str, str]) -> StructType:
    """The schema that a catalog keeps for a table; another one stays as it is."""
    if not is_of_table(options):
        return schema
    own = table_options(options)
    if "storageoptions" in own or any(shown_url(text) != text for text in own.values()):
        raise KraftoolError(
            "a table cannot keep credentials: whoever reads the catalog would see them",
            hint="use CREATE TEMPORARY VIEW, or let the environment of the workers have them",
        )
    first, *others = schema.fields
    metadata = {**first.metadata, _KEY: orjson.dumps(own).decode()}
    return StructType([StructField(first.name, first.dataType, metadata=metadata), *others])


def options_of(options: Mapping[str, str], schema: StructType | None) -> dict[str, str]:
    """The options of a read: those of the table where Spark hands on a table's schema alone."""
    given = table_options(options) if is_of_table(options) else dict(options)
    kept = next((field.metadata[_KEY] for field in schema or () if _KEY in field.metadata), None)
    if kept is not None and not any(name.lower() in ("path", "paths") for name in given):
        return {**orjson.loads(kept), **given}
    return given
