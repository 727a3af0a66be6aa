"""Copies of rows: the fields of an expand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.algebra.rules import common_type
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import InvalidArgumentError, LiteralError, TypeMismatchError, error_context, require
from substrait_dsl.fluent.column_arguments import (
    Role,
    as_expression,
    call_function,
    evaluate,
    is_plain,
    require_distinct,
    require_name,
    rows,
)
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.scope import Scope


class Switching(Picklable):
    """A value for each copy of a row, for `Relation.expand`; made by `switching`.

    Specification: ``ExpandRel.SwitchingField``.

    Example:
        >>> sd.switching(sd.col("customer"), None)
        Switching(Expr(customer), None)
    """

    __slots__ = ("values",)

    def __init__(self, values: tuple[object, ...]) -> None:
        require(values, tuple, "the values of a column in the copies of a row are a tuple", "write switching(...)")
        self.values = values

    def __repr__(self) -> str:
        return f"Switching{self.values!r}"


def switching(*values: object) -> Switching:
    """Give a column of `Relation.expand` a value for each copy of a row: the first in copy 0, and so on.

    Args:
        values: expressions, lambdas of the row, Python values, None for NULL; all of one type. Python values take the
            type of the others.

    Specification: ``ExpandRel.SwitchingField``.

    Example:
        >>> print(orders.expand(customer=lambda o: sd.switching(o.customer, None), id=lambda o: o.id))
        expand
            | -> customer: i64? = switching (customer, null:i64), id: i64,
            |   index: i32 = index of the duplicate
          read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="switching"):
        if not values:
            raise InvalidArgumentError("expected at least one value")
        return Switching(values)


def expand(rel: rl.Rel, fields: Mapping[str, Any], index: str) -> rl.Expand:
    """Return the expand of the algebra; see `Relation.expand`."""
    if not fields:
        raise InvalidArgumentError("expected at least one column, as name=switching(...) or name=expression")
    require_name(index)
    names = (*fields, index)
    require_distinct(names)
    scope = Scope("expand", (rel,))
    duplicates = tuple(_field(name, value, scope) for name, value in fields.items())
    return rl.Expand(rel, duplicates, names, anchor=scope.anchor)


def _field(name: str, value: Any, scope: Scope) -> rl.ExpandField:
    with error_context(place="column", name=name):
        result = (
            call_function(value, scope, rows(scope)) if callable(value) and not isinstance(value, ExprBase) else value
        )
        if isinstance(result, Switching):
            return rl.SwitchingField(_duplicates(result.values, scope))
        column = evaluate(value, scope, Role.COLUMN) if result is value else as_expression(result, scope, Role.COLUMN)
        return rl.ConsistentField(column)


def _duplicates(values: tuple[Any, ...], scope: Scope) -> tuple[ex.Expression, ...]:
    """Return the values of a switching field, those of Python as literals of the type that the others have."""
    parts = [_value(value, scope) for value in values]
    types = [part.type for part in parts if isinstance(part, ex.Expression)]
    types = types or [ex.natural_type(part) for part in parts if part is not None]
    if not types:
        raise LiteralError("every value is None", hint="give one of them a type: null(type)")
    type_ = common_type(types, "the values of a switching field")
    return tuple(part if isinstance(part, ex.Expression) else _literal(part, type_) for part in parts)


def _value(value: Any, scope: Scope) -> Any:
    """Return an expression of the algebra, or a value that waits for its type."""
    if isinstance(value, str) and value in scope.schema.names:
        raise InvalidArgumentError(
            f"{value!r} may be a text or a column",
            names=[value],
            hint=f"write col({value!r}) for the column, lit({value!r}) for the text",
        )
    return value if is_plain(value) and not callable(value) else evaluate(value, scope, Role.VALUE)


def _literal(value: object, type_: Type) -> ex.Literal:
    try:
        return ex.literal(value, type_.as_nullable() if value is None else type_.as_required())
    except LiteralError as error:
        raise TypeMismatchError("the values of a switching field must have one type", reason=error) from None
