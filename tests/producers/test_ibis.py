"""Expressions of ibis as ibis-substrait compiles them: run on Spark, their plans give the rows of ibis on DuckDB.

Of the expressions of everyday it compiles what is here; it has no compiler for ``//``, ``round(x)``, ``ceil``, dates
with intervals, ``rank``, ``lag``, ``distinct`` and ``median``, and its joins are those of a specification of 2023.
It loses the arguments of ``coalesce``, and compares integers with floats, both of which are refused by name.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import substrait_dsl as sd
from tests.producers.environment import compiled_by_ibis
from tests.producers.values import VALUES, are_equal, in_order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXPRESSIONS = (
    "t.filter(t.k > 1).select('k', 's')",
    "t.select(t.k, r=t.i / 2)",
    "t.select(t.k, r=t.j / t.k.nullif(0))",
    "t.select(t.k, a=t.j + t.k, b=t.j * 2, c=t.x - 1.5, d=-t.x)",
    "t.select(t.k, r=t.j % 3)",
    "t.group_by('b').aggregate(n=t.count(), s=t.j.sum(), m=t.x.max(), a=t.x.mean())",
    "t.aggregate(a=t.i.mean())",
    "t.group_by('b').aggregate(a=t.j.mean(), c=t.i.count())",
    "t.aggregate(n=t.s.count(), d=t.s.nunique())",
    "t.order_by(ibis.desc('k')).limit(3).select('k', 'i')",
    "t.select(t.k, r=ibis.case().when(t.k > 2, 'big').else_('small').end())",
    "t.select(t.k, r=(t.k > 2).ifelse(1, 0))",
    "t.select(t.k, r=t.s.upper(), q=t.s.lower())",
    "t.select(t.k, r=t.s.substr(0, 2))",
    "t.select(t.k, r=t.s.left(2))",
    "t.select(t.k, r=t.s.right(2))",
    "t.filter(t.s.like('ab%')).select('k')",
    "t.select(t.k, r=t.s.replace('b', 'zz'))",
    "t.select(t.k, r=t.s.contains('b'))",
    "t.select(t.k, r=t.s.startswith('ab'))",
    "t.select(t.k, r=t.day.month(), d=t.day.day())",
    "t.filter(t.i.isin([1, 3])).select('k')",
    "t.filter(t.x.between(0, 2)).select('k')",
    "t.filter(t.s.isnull()).select('k')",
    "t.select(t.k, r=t.i.nullif(3))",
    "t.select(t.k, r=t.i.cast('int64'), x=t.j.cast('float64'), s=t.i.cast('string'))",
    "t.select(t.k, r=t.y.exp())",
    "t.filter(t.y > 0).select(t.k, r=t.y.ln(), s=t.y.log2(), u=t.y.log10())",
    "ibis.union(t.select('k'), t.select('k'), distinct=False)",
    "t.select(t.k, r=t.j.sum().over(order_by=t.k, group_by=t.b))",
    "t.aggregate(a=t.x.std(how='sample'), v=t.x.var(how='pop'))",
    "t.filter(t.k.isin(t.view().filter(lambda u: u.x > 0).k)).select('k')",
    "t.filter(~t.b).select('k')",
    "t.select(t.k, r=t.x**2)",
)


@pytest.fixture(scope="module")
def compiled(ibis_cache: Path, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Any:
    """For each expression its plan, and its rows."""
    folder = tmp_path_factory.mktemp("ibis")
    values = folder / "values.parquet"
    pq.write_table(VALUES, values)
    spark.read.parquet(str(values)).createOrReplaceTempView("ibis_values")
    return dict(zip(EXPRESSIONS, compiled_by_ibis(ibis_cache, folder, values, EXPRESSIONS), strict=True))


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_gives_the_rows_of_ibis(compiled: Any, spark: SparkSession, expression: str) -> None:
    data, expected = compiled[expression]
    (root,) = sd.Plan.from_bytes(data).roots
    got = [tuple(row) for row in root.collect(spark)]
    pairs = zip(in_order(expected), in_order(got), strict=True)
    assert [(a, b) for a, b in pairs if not are_equal(a, b, relative=1e-9)] == []
