"""Engines as the probes run them: each takes a plan as it is written, or lowered, and gives its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import attrs
import pyarrow as pa

from substrait_dsl.algebra.node import Node
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.algebra.relations import NamedTable, Read, VirtualTable
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.arrow.schemas import to_arrow
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.proto.plan import encode_plan, to_bytes
from tests.engines.processes import Engine, Refused
from tests.engines.runners import Rows, run_on_datafusion

T = TypeVar("T")

Run = Callable[[AlgebraPlan], Rows]
"""Runs a plan, and raises what the engine raises, or `Crashed` if that ends its process."""


Lower = Callable[[AlgebraPlan], AlgebraPlan]
"""What is done to a plan before it is sent."""


def as_written(plan: AlgebraPlan) -> AlgebraPlan:
    """The plan itself."""
    return plan


def datafusion(lower: Lower = as_written) -> Run:
    """The installed DataFusion."""
    from datafusion import SessionContext

    context = SessionContext()
    return lambda plan: run_on_datafusion(context, to_bytes(encode_plan(lower(plan))))


def acero(engine: Engine, lower: Lower = as_written) -> Run:
    """The installed pyarrow's engine, in a process: it reads no rows in a plan, and the legacy encoding alone."""

    def run(plan: AlgebraPlan) -> Rows:
        tables: dict[str, pa.Table] = {}
        named = _or_refused(lambda: with_named_tables(plan, tables))  # Arrow has not all types
        ready = lower(named)
        data = _or_refused(lambda: to_bytes(encode_plan(ready, encoding="legacy")))  # which has not all forms
        engine.given.clear()
        engine.add_tables(tables)
        table = engine.run(data)
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    return run


def _or_refused(make: Callable[[], T]) -> T:
    """What is made; that it cannot be made is no error of the library's, but the engine's refusal."""
    try:
        return make()
    except UnsupportedError as error:
        raise Refused(str(error)) from error


def with_named_tables(plan: AlgebraPlan, tables: dict[str, pa.Table]) -> AlgebraPlan:
    """A plan that reads named tables, which are added to `tables`, where it had rows in itself."""

    def change(node: Node) -> Node:
        if not isinstance(node, Read) or not isinstance(node.definition, VirtualTable):
            return node
        name = f"rows{len(tables)}"
        tables[name] = table_of_rows(node.base_schema, node.definition)
        return attrs.evolve(node, definition=NamedTable((name,)))

    return plan.rebuilt(change)


def table_of_rows(schema: NamedStruct, rows: VirtualTable) -> pa.Table:
    """The rows of a plan, each of literals, as a table of Arrow.

    Raises `UnsupportedError` for types that Arrow has not, or whose values are others there.
    """
    made = to_arrow(schema)
    values = [[getattr(field, "value", None) for field in record.fields] for record in rows.rows]
    try:
        arrays = [pa.array([row[at] for row in values], field.type) for at, field in enumerate(made)]
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise UnsupportedError(f"the rows make no table: {error}") from error
    return pa.table(arrays, schema=made) if len(made) else pa.table({"rows": pa.nulls(len(values))}).select([])
