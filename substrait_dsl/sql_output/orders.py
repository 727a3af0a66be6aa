"""Keys of orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.node import Expression
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.dialects import Dialect
from substrait_dsl.sql_output.written import Written

if TYPE_CHECKING:
    from sqlglot import exp

Write = Callable[[Expression], Written]


def order_key(key: ex.SortKey, write: Write, dialect: Dialect) -> exp.Ordered:
    """Return a key of an order. Raises `UnsupportedError` for an order by a function."""
    return ordered(write(key.expression).tree, key, dialect)


def ordered(tree: exp.Expr, key: ex.SortKey, dialect: Dialect) -> exp.Ordered:
    """Return a tree as a key of an order."""
    from sqlglot import exp

    dialect.type_text(key.expression.type)
    direction = key.direction
    if isinstance(direction, FunctionId):
        raise UnsupportedError(f"an order by the function {direction.name} is not written as SQL of {dialect.title}")
    first = None
    if key.expression.type.nullable:
        first = direction.endswith("nulls_first") or direction == "clustered"
    return exp.Ordered(this=tree.copy(), desc=direction.startswith("desc"), nulls_first=first)
