"""Tables of Spark's catalog: `CREATE TABLE … USING kraft`.

Owns the way of a table's options to its reader. Spark hands them on when a table is created, but
not when it is read. So they travel in the metadata of the table's first column, which the catalog
keeps. It refuses options that may have credentials.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from pyspark.sql.types import StructField, StructType

from kraftool.arrow.fleet import split_paths
from kraftool.arrow.settings import is_of_table, table_options
from kraftool.decoders.errors import KraftoolError
from kraftool.storage.remote import shown_url

_KEY = "kraftool.options"


def with_options(schema: StructType, options: Mapping[str, str]) -> StructType:
    """The schema that a catalog keeps for a table. A schema of anything else is not changed."""
    if not is_of_table(options):
        return schema
    own = table_options(options)
    # Any option may name a URL, and some have a JSON list of them.
    named = [path for text in own.values() for path in split_paths(text)]
    if "storageoptions" in own or any(shown_url(path) != path for path in named):
        raise KraftoolError(
            "a table cannot keep credentials: every reader of the catalog would see them",
            hint="use CREATE TEMPORARY VIEW, or put them into the environment of the workers",
        )
    first, *others = schema.fields
    metadata = {**first.metadata, _KEY: orjson.dumps(own).decode()}
    return StructType([StructField(first.name, first.dataType, metadata=metadata), *others])


def options_of(options: Mapping[str, str], schema: StructType | None) -> dict[str, str]:
    """The options of a read: the table's own if Spark hands on only the schema of a table."""
    given = table_options(options) if is_of_table(options) else dict(options)
    kept = next((field.metadata[_KEY] for field in schema or () if _KEY in field.metadata), None)
    if kept is not None and not any(name.lower() in ("path", "paths") for name in given):
        return {**orjson.loads(kept), **given}
    return given
