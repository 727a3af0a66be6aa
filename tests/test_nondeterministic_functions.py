"""Functions of a user's own extension with other values each time: they are computed once for each row."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import substrait_dsl as sd
from substrait_dsl.catalog.implementations import is_stable_on
from substrait_dsl.errors import UnsupportedError
from tests.support import f, refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

my = sd.Functions(
    sd.standard_catalog().with_extension("""
urn: extension:com.acme:chance
scalar_functions:
  - name: draw
    impls: [{args: [{name: x, value: i64}], deterministic: false, return: i64}]
aggregate_functions:
  - name: total
    impls: [{args: [{name: x, value: i64}], nullability: DECLARED_OUTPUT, return: i64?}]
  - name: first_one
    impls: [{args: [{name: x, value: i64}], ordered: true, nullability: DECLARED_OUTPUT, return: i64?}]
""")
)
NUMBERS = sd.read_virtual([(number,) for number in range(200)], {"n": "i64"})
DRAWN = NUMBERS.select("n", d=lambda r: my.draw(r.n))
SHARED = sd.shared(DRAWN)
TWICE = SHARED.union_all(SHARED).group_by("n", "d").agg(many=f.count())


def test_a_function_with_other_values_each_time_is_called_once_for_each_row(datafusion: None) -> None:
    from datafusion import SessionContext

    context = SessionContext()
    calls = count()
    with sd.implement(my.draw, "datafusion", lambda x: next(calls), takes="values"):
        found = DRAWN.select(a="d", b="d", c=lambda r: f.least(r.d, 1000)).filter(lambda r: r.a >= 0).collect(context)
        assert sorted(found) == [(number, number, number) for number in range(200)]
        for again in (NUMBERS.select(d=lambda r: f.least(my.draw(r.n), 1)), NUMBERS.filter(lambda r: my.draw(r.n) > 1)):
            with refused(UnsupportedError, "draw several times", "deterministic: false", "select it as a column"):
                again.collect(context)
        with refused(UnsupportedError, "computes a shared relation once for each use"):
            TWICE.collect(context)


def test_an_input_that_is_computed_several_times_is_refused(datafusion: None) -> None:
    """DataFusion unpivots by a union, and has sets of groups as a union of aggregates: of other rows each."""
    from datafusion import SessionContext

    pair = DRAWN.select("n", "d", e=lambda r: r.d)
    first = sd.read_virtual([(1, 2), (3, 4)], {"d": "i64", "e": "i64"}).limit(1)
    with sd.implement(my.draw, "datafusion", lambda x: x, takes="values"):
        for relation in (
            pair.unpivot("d", "e"),
            pair.group_by("n").rollup(s=lambda r: f.sum(r.d)),
            first.unpivot("d", "e"),
        ):
            assert not relation.check("datafusion")
            with refused(UnsupportedError, "computes an input of this step several times", "deterministic: false"):
                relation.collect(SessionContext())
        once = sd.from_arrow(pair.to_arrow(SessionContext()))  # as the hint says
        assert len(once.unpivot("d", "e").collect(SessionContext())) == 400


def test_whether_what_is_bound_has_the_same_value_each_time() -> None:
    first = NUMBERS.aggregate(x=lambda r: my.first_one(r.n))
    in_order = NUMBERS.aggregate(x=lambda r: my.first_one(r.n).order_by("n"))
    plain = NUMBERS.aggregate(x=lambda r: my.total(r.n))
    assert is_stable_on("spark", first._rel)  # nothing is bound: it is refused
    with sd.implement(my.first_one, "spark", "first({x}){filter}"), sd.implement(my.total, "spark", "sum({x}){filter}"):
        stable = [is_stable_on("spark", relation._rel) for relation in (first, in_order, plain, DRAWN)]
        assert stable == [False, True, True, True]
    with sd.implement(my.draw, "spark", "{x}"):
        assert not is_stable_on("spark", DRAWN._rel)
        assert is_stable_on("datafusion", DRAWN._rel)


DRAW = "CAST(floor(rand() * 10 - 5) AS BIGINT) + 0 * {x}"
"""An integer from -5 to 4."""


def require_one_draw_for_each_row(spark: SparkSession) -> None:
    """Compute functions whose text repeats an argument: of two draws for one row, one would often be out of range."""
    in_range = NUMBERS.select(z=lambda r: f.greatest(my.draw(r.n), 0)).collect(spark)
    assert {z for (z,) in in_range} == {0, 1, 2, 3, 4}
    near = NUMBERS.filter(lambda r: f.between(my.draw(r.n), 0, 4)).collect(spark)
    assert 50 < len(near) < 150
    sums = NUMBERS.group_by(k=lambda r: f.abs(my.draw(r.n))).agg(s=lambda r: f.max(f.greatest(my.draw(r.n), 0)))
    assert {k for k, _ in sums.collect(spark)} == set(range(6))
    assert all(0 <= s <= 4 for _, s in sums.collect(spark))
    nested = NUMBERS.select(z=lambda r: f.least(my.draw(f.greatest(my.draw(r.n), 0)), my.draw(r.n)))
    assert {z for (z,) in nested.collect(spark)} <= set(range(-5, 5))
    same = DRAWN.select("d", e=lambda r: f.greatest(r.d, r.d)).collect(spark)
    assert all(d == e for d, e in same)
    listed = NUMBERS.limit(3).select(
        z=lambda r: f.transform(sd.list_of(r.n, r.n, r.n), lambda x: f.greatest(my.draw(x), 0))
    )
    with refused(UnsupportedError, "draw several times", "deterministic: false"):
        listed.collect(spark)
    joined = NUMBERS.join(NUMBERS.rename(n="m"), on=lambda a, b: (a.n == b.m) & (my.draw(a.n) > 0))
    with refused(UnsupportedError, "deterministic: false in the condition of a join", "of one side it is a column"):
        joined.collect(spark)


def test_values_that_differ_each_time_are_drawn_once_on_the_embedded_engine(sail: SparkSession) -> None:
    with sd.implement(my.draw, "spark", DRAW):
        require_one_draw_for_each_row(sail)
