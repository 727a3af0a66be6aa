"""Where Python asks for the truth of an expression, a measure or a relation, outside of the lambdas of verbs."""

# ruff: noqa: B015, B018, C416  # the expressions are there for a type checker to read

from __future__ import annotations

import substrait_dsl as sd
from substrait_dsl import functions as f
from tests.typing.plugin.tables import orders

price, key, is_open = sd.col("weight"), sd.col("id"), orders.c.open

is_open and key > 1
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
price or 0.0
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
not is_open
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
1 < orders.c.id < 5
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
key if is_open else price
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
key in [1, 2]
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
3 in (key, price)
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
"x" in sd.col("comment")
# E: an expression is not a container; write x.is_in([...]), or functions.contains(x, y) of texts,
#    functions.any_match(xs, lambda x: x == y) of a list  [substrait-type-mismatch]
bool(is_open)
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
max(orders.c.id, key)
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
sorted([orders.c.id, orders["customer"]])
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
any([is_open, key > 1])
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
all(each > 1 for each in (key, price))
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
[each for each in (1, 2) if key > each]
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
if is_open and (key > 1 or not is_open):
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
    #    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
    #    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
    pass
while key > 1:
    # E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
    #    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
    #    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
    pass
assert is_open
# E: an expression has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses),
#    compare twice instead of a < b < c, and use when(...).then(...) instead of if, x.is_in([...]) instead of in,
#    functions.greatest(x, y) instead of max  [substrait-type-mismatch]
for _ in key:
    # E: an expression is not a sequence; use expression[0] for an element of a list, functions.sum(x) and the like for
    #    all values of a column  [substrait-type-mismatch]
    pass
[_ for _ in orders.c.comment]
# E: an expression is not a sequence; use expression[0] for an element of a list, functions.sum(x) and the like for
#    all values of a column  [substrait-type-mismatch]
for _ in orders:
    # E: a relation is no sequence of rows; collect() gives the rows, collect(spark) those on
    #    Spark  [substrait-type-mismatch]
    pass
if orders:
    # E: a relation has no truth value; exists(relation) tests for rows  [substrait-type-mismatch]
    pass
orders or None
# E: a relation has no truth value; exists(relation) tests for rows  [substrait-type-mismatch]
[orders, orders][not orders]
# E: a relation has no truth value; exists(relation) tests for rows  [substrait-type-mismatch]
f.count() > 1 and f.count() < 5
# E: a measure has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses);
#    agg(...).filter(...) keeps groups  [substrait-type-mismatch]
1 < f.sum(price) < 5
# E: a measure has no truth value before the query runs; combine conditions with & and | and ~ (in parentheses);
#    agg(...).filter(...) keeps groups  [substrait-type-mismatch]
orders.aggregate(n=lambda o: f.sum(o.id) if f.count() > 1 else f.count())
# E: aggregate, measure "n": a measure has no truth value before the query runs; combine conditions with & and | and ~
#    (in parentheses); agg(...).filter(...) keeps groups  [substrait-type-mismatch]
