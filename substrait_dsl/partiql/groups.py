"""Lowering of `group_by`: an aggregate over columns for the keys and for what is aggregated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from substrait_dsl import functions
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import FieldReference
from substrait_dsl.algebra.node import Rel
from substrait_dsl.errors import FunctionNotFoundError, UnsupportedError
from substrait_dsl.fluent.base import made
from substrait_dsl.partiql.bindings import AggregateFunction
from substrait_dsl.partiql.calls import INTEGERS, cast
from substrait_dsl.partiql.terms import Column, Term


def aggregated(rel: Rel, keys: Sequence[FieldReference], measures: Sequence[Any]) -> tuple[Rel, list[Term]]:
    """The aggregate, and what its columns are: keys, then measures. A missing key counts as null.

    Raises `UnsupportedError` for an aggregate that no function of Substrait computes for columns of the type.
    """
    try:
        folded = made(rel).aggregate(
            *(key.position for key in keys), **{f"measure{number}": measure for number, measure in enumerate(measures)}
        )
    except FunctionNotFoundError as error:
        raise UnsupportedError(f"a group by is not lowered to Substrait: {error.message}") from error
    columns = (FieldReference(position, field.type) for position, field in enumerate(folded._rel.schema))
    return folded._rel, [Column(column) for column in columns]


def prepared(function: AggregateFunction, column: Column) -> Column:
    """What an aggregate is computed of. Raises `UnsupportedError` where engines compute other digits."""
    kind = column.type
    if function == "avg" and not isinstance(kind, t.FP64 | t.FP32):
        raise UnsupportedError(f"the average of {kind} is not lowered to Substrait: engines round differently")
    is_summed = function in ("sum", "avg")
    if is_summed and isinstance(kind, INTEGERS):
        return Column(cast(column.expression, t.I64()), column.absent)
    if is_summed and isinstance(kind, t.FP32):
        return Column(cast(column.expression, t.FP64()), column.absent)
    return column


def measure(function: AggregateFunction, column: FieldReference) -> Any:
    """The aggregate of a column, for the aggregate's lambda."""
    return lambda row: getattr(functions, function)(row[column.position])
