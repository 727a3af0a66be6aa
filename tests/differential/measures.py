"""Random measures and window functions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import count
from random import Random
from typing import Any

import substrait_dsl as sd
from substrait_dsl.algebra import types as t
from tests.differential.expressions import FLOATS, INTEGERS, Column, Expressions, columns_of, f, telling_apart
from tests.differential.tables import DECIMAL, MOMENT

Rel = sd.Relation[Any]


SUMMED = (*INTEGERS[:3], DECIMAL)
"""What is added up: sums of i64 overflow, those of floating point depend on the order."""
ORDERED_BY_VALUE = (*INTEGERS, DECIMAL, t.Date(), MOMENT)
"""Types with ``min`` and ``max`` whose equal values are the same."""


class Measures:
    """Builds what aggregates and windows compute."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.numbers = count()
        self.sizes: dict[int, int] = {}
        self.kept: list[Rel] = []
        """All relations, so that no two have one id."""

    def name(self) -> str:
        """A name that no column has."""
        return f"n{next(self.numbers)}"

    def chance(self, probability: float) -> bool:
        """Whether something with this probability happens."""
        return self.random.random() < probability

    def inner(self, depth: int) -> Callable[[Sequence[Column]], Rel] | None:
        """Builds the relations in subqueries; None where they would be too deep."""
        return None

    def expressions(self, row: Any, relation: Rel, outer: Sequence[Column], depth: int) -> Expressions:
        """Builds expressions over the row of a lambda."""
        return Expressions(self.random, columns_of(row, relation), outer, self.inner(depth))

    def key(self, column: Any) -> Any:
        """A sort key."""
        return self.random.choice((sd.asc, sd.desc))(column, nulls=self.random.choice(("first", "last")))

    def keys(self, relation: Rel, number: int) -> list[Any]:
        """Sort keys that tell the different values of a column apart."""
        return [self.key(made(number)) for made in telling_apart(relation.schema[number])]

    def measure(self, relation: Rel, outer: Sequence[Column], depth: int) -> Callable[[Any], Any]:
        def made(r: Any) -> Any:
            expressions = self.expressions(r, relation, outer, depth if self.chance(0.3) else 0)
            measure = self.bare_measure(expressions)
            return measure.filter(expressions.boolean(1)) if self.chance(0.25) else measure

        return made

    def bare_measure(self, expressions: Expressions, window: bool = False) -> Any:
        of = expressions.of
        distinct = self.chance(0.2)
        match self.random.randrange(9 if window else 11):
            case 0:
                return f.count()
            case 1 | 2:
                made = f.count(of(expressions.some_kind(), 1))
            case 3 | 4:
                type_ = self.random.choice(SUMMED)
                distinct = distinct and not (window and type_ == DECIMAL)
                made = f.sum(of(type_, 1))
            case 5:
                type_ = self.random.choice(INTEGERS[:3])
                distinct = distinct and not window
                made = self.random.choice((f.avg,) if window else (f.avg, f.sum0))(of(type_, 1))
            case 6:
                return self.random.choice((f.bool_and, f.bool_or))(of(t.Boolean(), 1))
            case 9:
                text = of(t.String(), 1)
                return f.string_agg(text, ",").order_by(self.key(text))
            case 10 if not window:
                made = f.avg(of(DECIMAL, 1))
            case _:
                type_ = self.random.choice((*ORDERED_BY_VALUE, *FLOATS))
                return self.random.choice((f.min, f.max))(of(type_, 1))
        return made.distinct() if distinct else made

    def window_function(
        self, relation: Rel, outer: Sequence[Column], total: bool, order: list[Any]
    ) -> Callable[[Any], Any]:
        def made(r: Any) -> Any:
            expressions = self.expressions(r, relation, outer, 0)
            choose = self.random.randrange(10)
            if choose < 3 and total:
                any_kind = expressions.some_kind()
                value = expressions.of(any_kind, 1)
                return self.random.choice(
                    (
                        lambda: f.row_number(),
                        lambda: f.ntile(self.random.choice((1, 2, 3, 100))),
                        lambda: f.lag(value, self.random.choice((1, 2))),
                        lambda: f.lead(value, self.random.choice((1, 2)), expressions.literal(any_kind)),
                        lambda: f.nth_value(value, 2).frame(rows=self.random.choice(((-1, 1), (None, 0), (0, None)))),
                        lambda: f.first_value(expressions.literal(any_kind)).frame(rows=(-2, 0)),
                    )
                )()
            if choose < 5 and order:
                return self.random.choice((f.rank, f.dense_rank, f.percent_rank, f.cume_dist))()
            measure = self.bare_measure(expressions, window=True)
            if total and self.chance(0.6):
                rows = self.random.choice(((-1, 1), (None, 0), (-3, -1), (1, None), (0, 2), (2, 3), (-1, None)))
                return measure.frame(rows=rows)
            frames: tuple[tuple[Any, Any], ...] = ((None, 0), (0, None), (None, None), (0, 0))
            if len(order) == 1 and isinstance(order[0].expression, int):
                distance = self.distance(relation.schema[order[0].expression])
                if distance is not None and self.chance(0.7):
                    frames = ((-distance, distance), (-distance, 0), (distance, None), (None, -distance))
            return measure.frame(range=self.random.choice(frames))

        return made

    def distance(self, type_: t.Type) -> Any:
        """How far a frame may reach over a sort key of a type."""
        match type_.as_required():
            case t.I8() | t.I16() | t.I32() | t.I64():
                return self.random.choice((1, 2, 100))
            case t.Decimal(precision=10):
                return Decimal(self.random.choice(("0.01", "2.50")))
            case t.Date():
                return sd.YearMonths(self.random.choice((1, 30)), 0)
            case t.PrecisionTimestamp():
                return dt.timedelta(days=self.random.choice((1, 400)))
            case _:
                return None
