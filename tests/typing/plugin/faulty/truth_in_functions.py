"""Truth values that functions, methods and nested functions ask expressions for, and relations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import substrait_dsl as sd
from tests.typing.plugin.tables import Orders, orders

N = TypeVar("N", bound=sd.Null)
E = TypeVar("E", bound=sd.Expr[Any, Any])


def both(o: Orders) -> sd.Expr[sd.Boolean]:
    return o.open and o.id > 1
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def within(o: Orders) -> sd.Expr[sd.Boolean]:
    return 1 < o.id < 5
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def names_only(one: sd.Expr[sd.Boolean], other: sd.Expr[sd.Boolean]) -> sd.Expr[sd.Boolean]:
    return one or other
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def chosen(o: Orders) -> sd.Expr[sd.FP64]:
    return o.weight if o.open else o.weight * 2.0
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def priced(o: Orders) -> sd.Expr[sd.FP64]:
    if o.open:
        # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
        #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
        #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
        return o.weight
    elif o.id > 1 and not o.open:
        # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
        #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
        #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
        return o.weight * 2.0
    return o.weight * 3.0


def is_one_of(o: Orders, ids: list[int]) -> bool:
    return o.id in ids
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def defaulted(given: sd.Expr[sd.FP64] | None) -> sd.Expr[sd.FP64]:
    return given or sd.lit(0.0)
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def largest(columns: Iterable[sd.Expr[sd.I64]]) -> sd.Expr[sd.I64]:
    return max(columns)
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def everything(conditions: list[sd.Expr[sd.Boolean, sd.Null]]) -> bool:
    return all(conditions)
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def of_any_nullability(value: sd.Expr[sd.Boolean, N]) -> sd.Expr[sd.Boolean, N]:
    return value or ~value
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def of_any_type(value: E) -> E | None:
    return value if value else None
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def of_a_row(o: sd.DynRow) -> sd.DynExpr:
    return o.weight or o.id
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
    #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...])
    #    instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


def unknown(rows: sd.Relation[Any] | None) -> sd.Relation[Any]:
    return rows or orders
    # E: a relation has no truth value; exists(relation) tests for rows  [substrait-type-mismatch]


def counted(rows: sd.Relation[Orders]) -> int:
    count = 0
    for _row in rows:
        # E: a relation is no sequence of rows; collect() gives the rows, collect(spark) those on
        #    Spark  [substrait-type-mismatch]
        count += 1
    return count


def outer(o: Orders) -> Callable[[], bool]:
    def inner() -> bool:
        while o.open:
            # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
            #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if,
            #    x.is_in([...]) instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
            return True
        return False

    return inner


@dataclass
class Report:
    only: sd.Expr[sd.Boolean] | None = None

    def rows(self) -> sd.Relation[Orders]:
        if self.only:
            # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
            #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if,
            #    x.is_in([...]) instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]
            return orders.filter(self.only)
        return orders

    @property
    def is_limited(self) -> bool:
        return bool(self.only)
        # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
        #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if,
        #    x.is_in([...]) instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]

    @staticmethod
    def either(one: sd.Expr[sd.Boolean]) -> sd.Expr[sd.Boolean]:
        return one or sd.lit(True)
        # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in
        #    parentheses), compare twice instead of a < b < c, and use when(...).then(...) instead of if,
        #    x.is_in([...]) instead of in, functions.greatest(x, y) instead of max  [substrait-type-mismatch]


orders.select(x=lambda o: o.comment or "none")
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
orders.select(x=lambda o: o.weight if o.open else 0.0)
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
