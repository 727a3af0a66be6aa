"""Sessions of DataFusion."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from datafusion import Expr, SessionContext, col, functions, literal, udf
from datafusion.substrait import Consumer as PlanConsumer
from datafusion.substrait import Serde

from substrait_dsl.consumers.columns import actual_name
from substrait_dsl.consumers.consumer import Consumer, Encoded, Names, Result
from substrait_dsl.errors import UnsupportedError, quote

if TYPE_CHECKING:
    from datafusion import DataFrame
    from datafusion.catalog import Schema


def new_session() -> SessionContext:
    """Return a session without tables."""
    return SessionContext()


class DataFusionSession(Consumer):
    """A ``datafusion.SessionContext``."""

    engine = "datafusion"
    title = "DataFusion"

    def __init__(self, context: SessionContext) -> None:
        self._context = context

    @classmethod
    def of(cls, session: object) -> DataFusionSession | None:
        """Return the consumer of a session; None for another object of the package."""
        return cls(session) if isinstance(session, SessionContext) else None

    def columns(self, names: Names) -> pa.Schema | None:
        name = _quote_name(names)
        try:
            return self._context.table(name).schema() if self._context.table_exist(name) else None
        except Exception:  # of no class of its own
            if names[:-1] and self._schema(names[:-1]) is None:
                return None
            raise

    def tables(self, namespace: Names) -> list[str]:
        schema = self._schema(namespace)
        return [] if schema is None else sorted(schema.names())

    def _schema(self, namespace: Names) -> Schema | None:
        """Return what DataFusion calls a schema, which has the tables of a namespace; None: there is none."""
        *rest, database = namespace or ("public",)
        try:
            return (self._context.catalog(*rest) if rest else self._context.catalog()).schema(database)
        except Exception:  # of no class of its own
            return None

    def with_types(self, names: Names, schema: pa.Schema) -> DataFrame:
        frame = self._context.table(_quote_name(names))
        found = frame.schema().names
        columns = []
        for field in schema:
            name = actual_name(field.name, found) or field.name
            value = col(_quote_name((name,))).cast(field.type)
            if not field.nullable and frame.schema().field(name).nullable:
                value = _require_value(value, field)
            columns.append(value.alias(field.name))
        return frame.select(*columns)

    def consume(self, plan: Encoded) -> Result:
        return Result(self._frame(plan))

    def _frame(self, plan: Encoded) -> DataFrame:
        context = self._context
        _require_names(plan.schema)
        try:
            for name, source in plan.sources.items():
                if hasattr(source, "to_batches"):
                    batches = source.to_batches() or [pa.RecordBatch.from_pylist([], source.schema)]
                    context.register_record_batches(name, [batches])
                else:
                    context.register_table(name, source.into_view())
            for each in plan.functions:
                volatility = "immutable" if each.is_deterministic else "volatile"
                function = udf(each.body, list(each.arguments), each.result, volatility, each.name)
                context.register_udf(function)
            logical = PlanConsumer.from_substrait_plan(context, Serde.deserialize_bytes(plan.data))
            frame = context.create_dataframe_from_logical_plan(logical)
        finally:
            for name in plan.sources:
                if context.table_exist(name):
                    context.deregister_table(name)
            for each in plan.functions:
                context.deregister_udf(each.name)
        return _with_types(frame, plan.schema)

    def collect(self, frame: DataFrame, limit: int | None = None) -> tuple[list[pa.ChunkedArray], int]:
        batches = (frame if limit is None else frame.limit(limit)).collect()
        count = sum(batch.num_rows for batch in batches)
        schema = frame.schema()
        return [
            pa.chunked_array([batch.column(position) for batch in batches], field.type)
            for position, field in enumerate(schema)
        ], count

    def explain(self, plan: Encoded) -> str:
        return str(self._frame(plan).execution_plan().display_indent())

    def words_of(self, error: BaseException) -> str | None:
        words = str(error)
        is_own = words.startswith(_OWN) or type(error).__name__ == "PanicException"
        if not is_own:
            return None
        of_python = _OF_PYTHON.search(words)
        if of_python and of_python["class"] == KeyboardInterrupt.__name__:
            raise KeyboardInterrupt from error
        return of_python["value"] if of_python else words.removeprefix(_OWN)


_OWN = "DataFusion error: "
"""How errors of DataFusion begin, which have no class of their own."""

_OF_PYTHON = re.compile(r"PyErr \{ type: <class '(?P<class>[^']*)'>, value: (?P<value>.*?), traceback: ", re.DOTALL)
"""How DataFusion writes an error of a Python function that it calls."""


def _require_names(fields: Iterable[pa.Field]) -> None:
    """Raise `UnsupportedError` for a name with a NUL character, which Arrow's interface does not have."""
    for field in fields:
        if "\0" in field.name:
            raise UnsupportedError(
                f"no column with a NUL character in its name comes out of DataFusion: {quote([field.name])}",
                hint="rename it",
            )
        if pa.types.is_nested(field.type):
            _require_names(field.type.field(position) for position in range(field.type.num_fields))


def _require_value(value: Expr, field: pa.Field) -> Expr:
    """Return a value that must not be NULL: where it is, a cast fails, which says so."""
    known = literal(pa.scalar(_some(field.type), field.type))
    none = literal(None).cast(field.type)
    message = literal(f'column "{field.name}" is required, but it is NULL')
    # Nothing for what is neither true nor false, so that it is not known that the cast gives a value.
    words = functions.case(value.is_null()).when(literal(True), message).when(literal(False), literal("0")).end()
    failing = functions.case(words.cast(pa.int64()).is_null()).when(literal(False), known).otherwise(none)
    # The last argument is never reached: the whole is not nullable because of it.
    return functions.coalesce(value, failing, known)


def _some(arrow_type: pa.DataType) -> Any:
    """Some value of a type."""
    if isinstance(arrow_type, pa.StructType):
        return {field.name: _some(field.type) for field in arrow_type}
    if pa.types.is_nested(arrow_type):
        return []
    if pa.types.is_fixed_size_binary(arrow_type):
        return bytes(arrow_type.byte_width)
    if pa.types.is_string(arrow_type) or pa.types.is_binary(arrow_type):
        return "" if pa.types.is_string(arrow_type) else b""
    if pa.types.is_decimal(arrow_type):
        return Decimal(0)
    return False if pa.types.is_boolean(arrow_type) else 0


def _with_types(frame: DataFrame, schema: pa.Schema) -> DataFrame:
    """Return a frame with the columns of a schema, whose values it holds already."""
    found = frame.schema()
    if [field.type for field in found] == [field.type for field in schema] and found.names == schema.names:
        return frame
    columns = []
    for found_field, field in zip(found, schema, strict=True):
        column = col(_quote_name((found_field.name,)))
        # It knows of no field of what it computes that it is never NULL, and casts nothing to that.
        is_same = _without_nullability(found_field.type) == _without_nullability(field.type)
        columns.append((column if is_same else column.cast(field.type)).alias(field.name))
    return frame.select(*columns)


def _without_nullability(arrow_type: pa.DataType) -> pa.DataType:
    """Return a type whose parts may all be NULL."""
    if not isinstance(arrow_type, pa.StructType):
        return arrow_type
    return pa.struct([pa.field(part.name, _without_nullability(part.type)) for part in arrow_type])


def _quote_name(names: Names) -> str:
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)
