"""Frames of other libraries as rows in the plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.fluent.declared_properties import Distributed, Ordering
from substrait_dsl.fluent.read_options import read
from substrait_dsl.fluent.schema_forms import ArrowStream
from substrait_dsl.fluent.schemas import DynRow, as_struct
from substrait_dsl.hints import phrase

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

MAX_ROWS = 10_000
"""How many rows `from_arrow` puts into a plan, unless it is told otherwise."""


def from_arrow(
    frame: ArrowStream,
    *,
    most_rows: int = MAX_ROWS,
    ordering: Ordering = (),
    distribution: Distributed | None = None,
    properties: Mapping[str, str] | None = None,
) -> Relation[DynRow]:
    """Write the rows of a small frame into the plan.

    Args:
        frame: a table, a record batch or a reader of pyarrow, a DataFrame of pandas or Polars, a relation of DuckDB or
            DataFusion, or whatever has ``__arrow_c_stream__``. Of pandas, NaN is NULL and the index is no column.
        most_rows: the most rows that it may have: each of them is in each copy of the plan.
        ordering: as for `read_named`.
        distribution: as for `read_named`.
        properties: as for `read_named`.

    Output: the columns of the frame, nullable where its fields are; those of pandas and Polars always are. Raises
    `InvalidArgumentError` for what makes no table or has too many rows, `UnsupportedError` for a type without a
    counterpart. Specification: ``ReadRel.VirtualTable``.

    Example:
        >>> import pyarrow
        >>> print(sd.from_arrow(pyarrow.table({"key": [1, 2]})))
        read values (1), (2) -> key: i64?
    """
    from substrait_dsl.arrow.literals_from_arrow import literal_columns
    from substrait_dsl.arrow.tables import table_of

    with error_context(verb="from_arrow"):
        if type(most_rows) is not int or most_rows < 0:
            raise InvalidArgumentError("the most rows are a number of 0 or more", got=most_rows)
        if not hasattr(frame, "__arrow_c_stream__") or isinstance(frame, type):
            raise InvalidArgumentError(
                "expected a table or a reader of pyarrow, a DataFrame of pandas or Polars, or another object with "
                "__arrow_c_stream__",
                got=frame,
                hint=_hint(frame),
            )
        table = table_of(frame, "the frame")
        struct = as_struct(table.schema)
        if table.num_rows > most_rows:
            raise InvalidArgumentError(
                f"the frame has {table.num_rows} rows, of which a plan would hold a copy; the most is {most_rows}",
                hint='read_named("name", frame), and collect(tables={"name": frame}); or most_rows=... for more',
            )
        columns = literal_columns(table, struct)
        records = tuple(rl.Record(row) for row in zip(*columns, strict=True))
        return read(struct, rl.VirtualTable(records), None, None, None, ordering, distribution, properties)


def _hint(value: Any) -> str | None:
    """Return the hint for a value that is nearly a frame with rows."""
    if isinstance(value, str | os.PathLike):
        return "read_files(path, schema_of(path)) reads a file"
    if isinstance(value, list | tuple | dict):
        return "read_virtual(rows, schema) takes rows of Python"
    if hasattr(value, "createOrReplaceTempView"):
        return f"write {phrase('view_of_a_frame')}"
    return "frame.collect() makes a DataFrame of a LazyFrame" if hasattr(value, "collect_schema") else None
