"""The tuples of a group as one value: a column of lists of structs, and the elements of the lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from substrait_dsl.algebra.expressions import Expression, FieldAccess, FieldReference, SortKey
from substrait_dsl.algebra.expressions.references import StructField
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.fluent.calls import FunctionCall, Measure
from substrait_dsl.partiql import lowered_values as lv
from substrait_dsl.partiql.calls import call
from substrait_dsl.partiql.conditions import fluent_keys
from substrait_dsl.partiql.extension_catalog import URN, own_catalog
from substrait_dsl.partiql.materialization import materialize
from substrait_dsl.partiql.untyped import require_typed


def collect_list_of(column: FieldReference, order: Sequence[SortKey] = ()) -> Any:
    """Return the aggregate that collects a column into a list, for the aggregate's lambda."""

    def measure(row: Any) -> Any:
        call_of = FunctionCall("aggregate", "collect_list", [row[column.position]], {}, URN, own_catalog())
        aggregate: Measure[Any, Any] = Measure(call_of)
        return aggregate.order_by(*fluent_keys(order)) if order else aggregate

    return measure


def materialize_element(element: lv.LoweredValue, name: str) -> Expression:
    """Return an element as one column. Missing parts are NULL; their type tells them from null.

    Raises `UnsupportedError`, with that name, if that takes more than the column itself.
    """
    _require_distinct_absence(element, name)
    return materialize(element, name)


def _require_distinct_absence(value: lv.LoweredValue, name: str) -> None:
    match lv.expand_constant(value):
        case lv.Column(absent=absent):
            require_typed(value, f'"{name}" in a list')
            if isinstance(absent, Expression):
                raise UnsupportedError(f'"{name}" may be null and may be missing, which a list does not distinguish')
        case lv.Attributes(fields=fields) | lv.NullableComposite(parts=lv.Attributes(fields=fields)):
            for inside, field in fields:
                _require_distinct_absence(field, f"{name}.{inside}")
        case lv.CollectedList(column=column) if not column.type.nullable:
            pass
        case lv.ElementList() | lv.NullableComposite() | lv.CollectedList():
            raise UnsupportedError(f'"{name}", a collection inside a list, is not lowered to Substrait')
        case lv.Constant():
            pass


def element_of(lowered: lv.LoweredValue, value: Expression) -> lv.LoweredValue:
    """Return an element of a collected list as a value of the same parts as the collected one."""
    match lv.expand_constant(lowered):
        case lv.Column(absent=absent):
            return lv.Column(value, absent)
        case lv.Attributes(fields=fields):
            return _parts(fields, value)
        case lv.NullableComposite(parts=lv.Attributes(fields=fields)):
            return lv.NullableComposite(_parts(fields, value), lv.Column(call("is_not_null", value)))
        case lv.CollectedList() as collection:
            return attrs.evolve(collection, column=lv.Column(value))
        case lv.Constant() as constant:
            return constant
        case other:
            raise AssertionError(other)


def _parts(fields: tuple[tuple[str, lv.LoweredValue], ...], struct: Expression) -> lv.Attributes:
    return lv.Attributes(
        tuple(
            (name, element_of(field, FieldAccess(struct, StructField(number))))
            for number, (name, field) in enumerate(fields)
        )
    )
