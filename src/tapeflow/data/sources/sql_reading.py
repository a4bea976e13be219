"""`SqlDataset`: the rows that a query of an SQLite database gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError, UnknownError
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.building import build
from tapeflow.data.iteration.passes import Counted
from tapeflow.data.sources.records import _FileDataset, text_of
from tapeflow.data.transform.record import ELEMENTS, record


class SqlDataset(_FileDataset):
    """The rows that a query finds in a database, tuples of scalars.

    Args:
      driver_name: "sqlite".
      data_source_name: the file of the database.
      query: the query, in SQL.
      output_types: the dtypes of the columns, a tuple.
    """

    _shown_as = "SqlDatasetV2"

    def __init__(self, driver_name: str, data_source_name: str, query: str, output_types: Sequence[DType]):
        super().__init__(sql_rows(driver_name, data_source_name, query, output_types))


@record("sql_rows")
def sql_rows(driver_name: str, data_source_name: str, query: str, output_types: Sequence[DType]):
    """The rows of a query as a dataset."""
    driver, source, text = text_of(driver_name), text_of(data_source_name), text_of(query)
    if driver != "sqlite":
        raise InvalidArgumentError(
            None, None, f"The database type, {driver}, is not supported by SqlDataset. The set of supported "
            "databases is: {'sqlite'}.",
        )  # fmt: skip
    types = tuple(dtypes.as_dtype(t) for t in output_types)

    def rows():
        import sqlite3  # only programs that query databases pay for it

        try:
            connection = sqlite3.connect(source, check_same_thread=False)
        except sqlite3.Error as error:
            raise InvalidArgumentError(None, None, f"Sqlite::Open {source} failed: {error}") from None
        try:
            connection.text_factory = bytes
            try:
                cursor = connection.execute(text)
                if len(cursor.description or ()) != len(types):
                    raise InvalidArgumentError(
                        None, None, f"The number of columns in query ({len(cursor.description or ())}) must match "
                        f"the number of elements in output_types ({len(types)}).",
                    )  # fmt: skip
                for row in cursor:
                    yield tuple([_value(x, t) for x, t in zip(row, types)])
            except sqlite3.Error as error:
                raise UnknownError(None, None, f"{error}: {text}") from None
        finally:
            connection.close()

    return build(("Sql", lambda: Counted(rows), tuple(TensorSpec([], t) for t in types)))


sql_rows.node(
    "SqlDataset", "driver_name: string, data_source_name: string, query: string -> handle: variant", ELEMENTS,
    stateful=True, touches="files", reads=lambda attrs, given: {**given, "output_types": attrs["output_types"]},
    written=False,
).also("ExperimentalSqlDataset")  # fmt: skip


def _value(found: bytes | float | None, dtype: DType):
    """A column's value as SQLite converts it to the type that is asked for."""
    if dtype == dtypes.string:
        text = b"" if found is None else found if isinstance(found, bytes) else str(found).encode()
        return convert_to_tensor(text, dtype)
    if isinstance(found, bytes):
        try:
            found = float(found)
        except ValueError:
            found = 0
    found = 0 if found is None else found
    if dtype == dtypes.bool:
        return convert_to_tensor(bool(found))
    if dtype.is_integer:
        # Larger numbers wrap, as they do in the database's own conversions.
        return convert_to_tensor(np.array(int(found)).astype(dtype.as_numpy_dtype), dtype)
    return convert_to_tensor(dtype.as_numpy_dtype(found), dtype)


boundaries(globals())
