"""Building expressions by name, and computing them on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    EnumArgument,
    Expression,
    FieldReference,
    FunctionId,
    FunctionOption,
    ScalarFunction,
)
from substrait_dsl.algebra.expressions.literals import literal
from substrait_dsl.catalog import EnumValue, Typed, standard_catalog
from substrait_dsl.spark.expressions.sql_text import AnySubquery, Scope, literal_to_sql, to_sql
from substrait_dsl.spark.expressions.types import type_to_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


N64 = t.I64(nullable=True)
"""A type that tests of three-valued logic use."""


def call(name: str, *arguments: Expression | str, stem: str = "", **options: str) -> ScalarFunction:
    """A call of a scalar function; a string is an enum argument, a keyword an option."""
    function, parts, output = resolved("scalar", name, arguments, stem)
    return ScalarFunction(function, parts, output, tuple(FunctionOption(key, (word,)) for key, word in options.items()))


def aggregate(name: str, *arguments: Expression | str, stem: str = "", **fields: Any) -> AggregateFunction:
    function, parts, output = resolved("aggregate", name, arguments, stem)
    return AggregateFunction(function, parts, output, **fields)


def resolved(kind: Any, name: str, arguments: Sequence[Expression | str], stem: str) -> tuple[FunctionId, Any, t.Type]:
    given = [EnumValue(each) if isinstance(each, str) else Typed(each.type) for each in arguments]
    urn = f"extension:io.substrait:functions_{stem}" if stem else None
    found = standard_catalog().resolve(kind, name, given, urn=urn)
    parts = tuple(EnumArgument(each) if isinstance(each, str) else each for each in arguments)
    return FunctionId(found.overload.urn, found.overload.key), parts, found.output_type


def column(position: int, type_: t.Type) -> FieldReference:
    return FieldReference(position, type_)


def scope(*names: str) -> Scope:
    def no_subquery(subquery: AnySubquery, inner: Scope) -> str:
        raise AssertionError("there is no subquery here")

    return Scope(names, {}, no_subquery)


NOTHING = scope()


def rows_of(spark: SparkSession, kinds: Sequence[t.Type], rows: Sequence[Sequence[Any]]) -> DataFrame:
    """A table with the columns c0, c1, ... of the types."""
    lines = [
        f"({', '.join(literal_to_sql(literal(value, type_)) for type_, value in zip(kinds, row, strict=True))})"
        for row in rows
    ]
    return spark.sql(f"SELECT * FROM VALUES {', '.join(lines)} AS t({', '.join(f'c{i}' for i in range(len(kinds)))})")


def computed(frame: DataFrame, *expressions: Expression) -> list[tuple[Any, ...]]:
    """What expressions over the columns of a table give; their Spark types must be the derived ones."""
    result = frame.selectExpr(*(to_sql(expression, scope(*frame.columns)) for expression in expressions))
    for field, expression in zip(result.schema, expressions, strict=True):
        assert field.dataType.simpleString() == type_to_spark(expression.type).simpleString()
    return [tuple(row) for row in result.collect()]


def value_of(spark: SparkSession, expression: Expression) -> Any:
    return computed(spark.range(1), expression)[0][0]
