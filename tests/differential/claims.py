"""What `Relation.properties` claims, held against the rows of a DataFrame and the partitions that they lie in."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.properties import SINGLETON, FieldPath, OrderKey, SortDirection
from substrait_dsl.spark.relations.subqueries import is_subquery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    import substrait_dsl as sd


def canonical(value: Any) -> Any:
    """A value that equals all that are the same: both zeros are, and all NaNs. To Python NaN differs from itself."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple(map(canonical, value.values()))
    return tuple(map(canonical, value)) if isinstance(value, list | tuple) else value


Partitions = list[list[tuple[Any, ...]]]


def partitions_of(frame: DataFrame) -> Partitions:
    """The rows of a DataFrame by partition, in the order that they come in."""
    from pyspark.sql import functions

    named = frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))
    rows = named.select(functions.spark_partition_id(), "*").collect()
    return [[tuple(map(canonical, row[1:])) for row in part] for _, part in groupby(rows, key=lambda row: row[0])]


def broken_claim(relation: sd.Relation[Any], session: SparkSession) -> str | None:
    """Which claim of a relation its rows on Spark do not keep; None if they keep all. Raises what Spark raises."""
    found = partitions_of(relation.execute(session))
    return broken_order(relation, found) or broken_distribution(relation, found)


def broken_order(relation: sd.Relation[Any], found: Partitions) -> str | None:
    """In which partition, or where between two of them, rows are not in the order that is claimed."""
    keys = relation.properties.ordering
    parts = {f"partition {number}": part for number, part in enumerate(found)}
    if is_one_order(relation._rel):
        parts["all rows"] = [row for part in found for row in part]
    for what, rows in parts.items():
        if not is_ordered(rows, keys):
            return f"{what} should be ordered by {keys}: {rows}"
    return None


def is_one_order(rel: Rel) -> bool:
    """Whether an order is that of all rows, as they come: without an exchange in the relation, it is no partition's."""
    return not any(isinstance(node, rl.Exchange) for node in walk(rel, into_relations=True))


def is_ordered(rows: Sequence[tuple[Any, ...]], keys: Sequence[OrderKey]) -> bool:
    """Whether rows are ordered by keys, each one within rows that agree on those before."""
    if not keys:
        return True
    key, *others = keys
    assert isinstance(key.direction, str), "Spark sorts by no function"
    runs = [(value, list(run)) for value, run in groupby(rows, key=lambda row: value_at(row, key.field))]
    values = [value for value, _ in runs]
    return are_in_direction(values, key.direction) and all(is_ordered(run, others) for _, run in runs)


def are_in_direction(values: Sequence[Any], direction: SortDirection) -> bool:
    """Whether different values come in a direction."""
    if direction == "clustered":
        return len({comparable(value) for value in values}) == len(values)
    nulls = [number for number, value in enumerate(values) if value is None]
    first_or_last = [0] if direction.endswith("nulls_first") else [len(values) - 1]
    known = [comparable(value) for value in values if value is not None]
    if direction.startswith("desc"):
        known.reverse()
    return nulls in ([], first_or_last) and all(one < other for one, other in pairwise(known))


def comparable(value: Any) -> Any:
    """A value as Spark orders it: NaN last, texts by their bytes, structs by their fields, with NULL first."""
    if isinstance(value, tuple):
        return tuple((part is not None, None if part is None else comparable(part)) for part in value)
    if value == "NaN" or isinstance(value, float):
        return (value == "NaN", 0.0 if value == "NaN" else value)
    return value.encode() if isinstance(value, str) else value


def value_at(row: tuple[Any, ...], path: FieldPath) -> Any:
    """The value of a field, NULL inside a struct that is NULL."""
    value: Any = row
    for position in path:
        value = None if value is None else value[position]
    return value


ROW_BY_ROW = (rl.Filter, rl.Project, rl.Emit, rl.Expand, rl.Unnest)
"""What may stand above an exchange whose partitions are those of the DataFrame: it makes its rows of each row."""


def is_promised(rel: Rel) -> bool:
    """Whether the distribution is one that the DataFrame has, by what docs/spark/relations.md says."""
    while isinstance(rel, ROW_BY_ROW):
        if any(is_subquery(node) for node in walk(rel, into_relations=False)):
            return False
        rel = rel.input
    return isinstance(rel, rl.Exchange)


def broken_distribution(relation: sd.Relation[Any], found: Partitions) -> str | None:
    """What lies in several partitions, though the distribution is promised to keep it in one."""
    distribution = relation.properties.distribution
    if distribution is None or not is_promised(relation._rel):
        return None
    group: Callable[[tuple[Any, ...]], Hashable] = (
        (lambda row: ())
        if distribution == SINGLETON
        else (lambda row: tuple(value_at(row, path) for path in sorted(distribution.fields)))
    )
    places: dict[Hashable, set[int]] = {}
    for number, rows in enumerate(found):
        for row in rows:
            places.setdefault(group(row), set()).add(number)
    several = [key for key, numbers in places.items() if len(numbers) > 1]
    return f"{several[:5]} lie in several partitions, {distribution} is claimed: {found}" if several else None
