"""Nodes of the algebra, built directly: for what has no verb, and for what a verb would not let through."""

from __future__ import annotations

from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import literal
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.properties import Distribution, FieldPath, OrderKey, Properties
from substrait_dsl.algebra.schema import NamedStruct
from tests.support import table

ARITHMETIC = "extension:io.substrait:functions_arithmetic"
BOOLEAN = "extension:io.substrait:functions_boolean"
COMPARISON = "extension:io.substrait:functions_comparison"

TRUE = literal(True, t.Boolean())
COMPARE = ex.FunctionId("extension:acme:order", "compare:any_any")
"""A function of two values that some extension has."""
DETAIL = AnyMessage("type.googleapis.com/acme.Thing", b"\x08\x01")
"""A message that only some engine knows."""


def schema(columns: str) -> NamedStruct:
    """A schema in the notation of `table`."""
    made: NamedStruct = table(columns)._rel.schema if columns else NamedStruct(())
    return made


def leaf(columns: str, *order: OrderKey, distribution: Distribution | None = None, name: str = "t") -> r.Read:
    """A read of a named table that is declared to be ordered and distributed so."""
    return r.Read(schema(columns), r.NamedTable((name,)), declared=Properties(order, distribution))


def col(rel: r.Rel, name: str | int, offset: int = 0) -> ex.FieldReference:
    """A column of a relation; of the right side of a join, whose row begins with `offset` other columns."""
    position = rel.schema.position(name)
    return ex.FieldReference(position + offset, rel.schema.types[position])


def part(rel: r.Rel, *path: int) -> ex.Expression:
    """A field of a struct in a column."""
    found: ex.Expression = col(rel, path[0])
    for position in path[1:]:
        found = ex.FieldAccess(found, ex.StructField(position))
    return found


def i64(value: int | None) -> ex.Literal:
    return literal(value, t.I64(nullable=value is None))


def i32(value: int) -> ex.Literal:
    return literal(value, t.I32())


def call(name: str, *arguments: ex.Argument, type_: t.Type | None = None, urn: str = COMPARISON) -> ex.ScalarFunction:
    return ex.ScalarFunction(ex.FunctionId(urn, f"{name}:any"), arguments, type_ or t.Boolean())


def equal(left: ex.Expression, right: ex.Expression) -> ex.ScalarFunction:
    return call("equal", left, right)


def gt(left: ex.Expression, right: ex.Expression) -> ex.ScalarFunction:
    return call("gt", left, right)


def plus(left: ex.Expression, right: ex.Expression) -> ex.ScalarFunction:
    return call("add", left, right, type_=left.type, urn=ARITHMETIC)


def both(*conditions: ex.Expression) -> ex.ScalarFunction:
    return call("and", *conditions, urn=BOOLEAN)


def asc(expression: ex.Expression) -> ex.SortKey:
    """The key of a plain ``sort``: smallest first, NULLs before."""
    return ex.SortKey(expression, "asc_nulls_first")


def measure(argument: ex.Expression) -> ex.Measure:
    """The sum of a column."""
    function = ex.FunctionId(ARITHMETIC, "sum:i64")
    return ex.Measure(ex.AggregateFunction(function, (argument,), t.I64(nullable=True)))


def window_sum(argument: ex.Expression, **window: Any) -> ex.WindowCall:
    """The sum of a column over a frame."""
    return ex.WindowCall(ex.FunctionId(ARITHMETIC, "sum:i64"), (argument,), t.I64(nullable=True), **window)


def text(rel: r.Rel) -> str:
    """The schema of a relation in the notation of `table`."""
    return ", ".join(f"{field.name}: {field.type}" for field in rel.schema)


def order(rel: r.Rel) -> list[FieldPath]:
    """The fields that a relation is known to be ordered by."""
    return [key.field for key in rel.properties.ordering]
