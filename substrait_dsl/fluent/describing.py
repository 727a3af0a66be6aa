"""Statistics of columns, a row for each column: an aggregate of all of them, of which an expand makes the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from substrait_dsl import everyday, functions
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import InvalidArgumentError, SchemaError, quote
from substrait_dsl.fluent.calls import MeasureBase
from substrait_dsl.fluent.column_arguments import is_list
from substrait_dsl.fluent.expand import Switching
from substrait_dsl.fluent.expr import DynExpr, ExprBase
from substrait_dsl.fluent.leaf_expressions import col, lit, null

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

_NUMBERS = (*t.INTEGER_TYPES, t.FP32, t.FP64, t.Decimal)
_TEXTS = (t.String, t.VarChar, t.FixedChar)
_ORDERED = (*_NUMBERS, t.Date, t.PrecisionTimestamp)
"""The types of which there are approximate percentiles; of others with a smallest value there is only that."""

_TYPES: Mapping[str, t.Type] = {
    "approx_distinct": t.I64(nullable=True),
    "mean": t.FP64(nullable=True),
    "std_dev": t.FP64(nullable=True),
}
"""The types of statistics that not every column has; those that are not here are values of the column, as texts."""


def percentile_names(shares: Sequence[object]) -> dict[str, float]:
    """Return the shares by the names of their columns: 0.25 is p25, 0.999 is p99.9."""
    if not is_list(shares):
        raise InvalidArgumentError(
            "percentiles is a list of numbers from 0 to 1", got=shares, hint="[0.5] is the median"
        )
    names: dict[str, float] = {}
    for share in shares:
        if not isinstance(share, int | float) or isinstance(share, bool) or not 0 <= share <= 1:
            raise InvalidArgumentError("percentiles are numbers from 0 to 1", got=share, hint="0.5 is the median")
        name = f"p{round(share * 100, 10):.12g}"
        if name in names:
            raise SchemaError(f"two columns would be called {quote([name])}", names=[name])
        names[name] = share
    return names


def describe_columns(relation: Relation[Any], positions: Sequence[int], shares: Mapping[str, float]) -> Relation[Any]:
    """Return a row of statistics for each of these columns; see `Relation.describe`."""
    if not positions:
        raise SchemaError("there is no column to describe")
    fields = [relation._rel.schema.fields[position] for position in positions]
    measures = [_measures(col(at), field.type, shares) for at, field in zip(positions, fields, strict=True)]
    folds: dict[str, Any] = {"rows": functions.count()}
    for at, of_column in enumerate(measures):
        folds |= {f"{name}_{at}": measure for name, measure in of_column.items()}
    folded = relation.aggregate(**folds)
    statistics = ("approx_distinct", "mean", "std_dev", "min", *shares, "max")
    rows: dict[str, Any] = {
        "column": Switching(tuple(lit(field.name) for field in fields)),
        "type": Switching(tuple(lit(str(field.type)) for field in fields)),
        "count": Switching(tuple(col(f"count_{at}") for at in range(len(fields)))),
        "nulls": Switching(tuple(col("rows") - col(f"count_{at}") for at in range(len(fields)))),
    }
    results: dict[str, Any] = {}
    for name in statistics:
        switching = _switching_fields(name, [field.type for field in fields], measures)
        rows |= switching
        results[name] = _first(name, list(switching))
    copies = folded.expand(**rows, index="position").sort("position")
    return copies.select("column", "type", "count", "nulls", **results)


def _switching_fields(
    name: str, types: Sequence[t.Type], measures: Sequence[Mapping[str, MeasureBase]]
) -> dict[str, Switching]:
    """Return the fields of the expand that have a statistic, by name: one, and one for each type of floats.

    The text of a float is a long expression on some engines. So it is made where the column is chosen already, once.
    """
    columns = {at: type_.as_nullable() for at, type_ in enumerate(types) if name in measures[at]}
    floats = {at: type_ for at, type_ in columns.items() if name not in _TYPES and isinstance(type_, t.FP32 | t.FP64)}
    found = {
        f"{name}_{type_}": Switching(
            tuple(col(f"{name}_{at}") if floats.get(at) == type_ else null(type_) for at in range(len(types)))
        )
        for type_ in dict.fromkeys(floats.values())
    }
    if len(floats) == len(columns) > 0:
        return found
    others = ({} if at in floats else of_column for at, of_column in enumerate(measures))
    return found | {name: Switching(tuple(_statistic(name, at, each) for at, each in enumerate(others)))}


def _first(name: str, fields: Sequence[str]) -> ExprBase:
    """Return the value of the only field of a statistic that has one."""
    type_ = _TYPES.get(name, t.String(nullable=True))
    texts = [col(field) if field == name else col(field).cast(type_) for field in fields]
    return texts[0] if len(texts) == 1 else functions.coalesce(*texts)


def _statistic(name: str, at: int, measures: Mapping[str, MeasureBase]) -> ExprBase:
    """Return a statistic of a column, NULL if it has none."""
    type_ = _TYPES.get(name, t.String(nullable=True))
    if name not in measures:
        return null(type_)
    found = col(f"{name}_{at}")
    return found if isinstance(type_, t.FP64) else found.cast(type_)


def _measures(column: DynExpr, type_: t.Type, shares: Mapping[str, float]) -> dict[str, MeasureBase]:
    """Return the aggregate functions that say something of a column of this type, by the names of statistics."""
    measures: dict[str, MeasureBase] = {"count": functions.count(column)}
    if isinstance(type_, (*_TEXTS, t.Boolean, *_ORDERED, t.PrecisionTimestampTZ)):
        value = column.cast(t.String(nullable=type_.nullable)) if isinstance(type_, (*_TEXTS, t.Boolean)) else column
        smallest, largest = everyday.min(value), everyday.max(value)
        measures |= {"approx_distinct": functions.approx_count_distinct(column), "min": smallest, "max": largest}
    if isinstance(type_, (*_NUMBERS, t.Boolean)):
        number = column.cast(t.FP64(nullable=type_.nullable))
        measures["mean"] = functions.avg(number)
        if not isinstance(type_, t.Boolean):
            measures["std_dev"] = functions.std_dev("SAMPLE", number)
    if isinstance(type_, _ORDERED):
        measures |= {name: everyday.approx_percentile(column, share) for name, share in shares.items()}
    return measures
