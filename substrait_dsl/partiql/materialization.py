"""Structs and collections as one column, made of their parts."""

from __future__ import annotations

from collections.abc import Sequence

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql import lowered_values as lv
from substrait_dsl.partiql.calls import cast
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.functions import common_type


def materialize(lowered: lv.LoweredValue, name: str) -> ex.Expression:
    """Return a value as one expression; missing parts are NULL.

    Raises `UnsupportedError` for a collection of values that no typed list can hold, calling the value by a name.
    """
    match lv.expand_constant(lowered):
        case lv.Column() as column:
            return column.expression
        case lv.Constant(value=value):
            return to_literal(value)
        case lv.Attributes(fields=fields):
            inside = tuple(materialize(field, f"{name}.{attribute}") for attribute, field in fields)
            return ex.NestedStruct(inside, names=tuple(attribute for attribute, _ in fields))
        case lv.ElementList(items=items):
            return _make_list([materialize(item, f"{name}[{number}]") for number, item in enumerate(items)], name)
        case lv.CollectedList(column=column):
            return column.expression
        case lv.NullableComposite(parts=parts, is_present=is_present):
            value_or_null = materialize(parts, name)
            return ex.IfThen(
                (ex.IfClause(is_present.expression, value_or_null),), ex.literal(None, value_or_null.type.as_nullable())
            )


def _make_list(items: Sequence[ex.Expression], name: str) -> ex.Expression:
    present = [item for item in items if not (isinstance(item, ex.Literal) and item.value is None)]
    if not present:  # of any type
        return ex.literal((None,) * len(items), t.List(t.Boolean(nullable=True)))
    type_: t.Type | None = present[0].type
    for item in present[1:]:
        type_ = None if type_ is None else common_type(type_, item.type)
    if type_ is None:
        type_names = ", ".join(dict.fromkeys(str(item.type) for item in present))
        raise UnsupportedError(
            f'"{name}" is a collection of values of several types, {type_names}, which no column can hold',
            hint="collect reads them, each from a column of its own",
        )
    wanted = type_.with_nullability(any(item.type.nullable for item in items))
    return ex.NestedList(tuple(cast(item, wanted) if item in present else ex.literal(None, wanted) for item in items))
