"""Structs, lists and maps built from values, and their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.types import FixedChar, List, Map, String, Struct, Type, VarChar
from substrait_dsl.errors import (
    InvalidArgumentError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
    error_context,
)
from substrait_dsl.fluent.arguments import NoValue
from substrait_dsl.fluent.column_arguments import Role, as_expression, is_list
from substrait_dsl.fluent.conditionals import alike
from substrait_dsl.fluent.expr import DynExpr, ExprBase, combine, combine_in_scope
from substrait_dsl.fluent.lambdas import is_function
from substrait_dsl.fluent.parts import Elements
from substrait_dsl.fluent.scope import Scope


def struct_of(**fields: object) -> DynExpr:
    """Make a struct of these fields: ``struct_of(city=r.city, zip=r.zip)``.

    Args:
        fields: expressions, or Python values of their natural types.

    Returns:
        The struct, which is required; its fields are nullable as their values are.

    Specification: ``Expression.Nested``.

    Example:
        >>> print(orders.select(key=lambda o: sd.struct_of(id=o.id, customer=o.customer)).schema)
        0  key         struct<i64, i64>
             id        i64
             customer  i64
    """
    used = [value for value in fields.values() if isinstance(value, ExprBase)]
    return combine_in_scope("struct_of", partial(_struct, fields), used)


def _struct(fields: Mapping[str, object], scope: Scope) -> ex.Expression:
    with error_context(verb="struct_of"):
        values = tuple(_field(name, value, scope) for name, value in fields.items())
        return ex.NestedStruct(values, names=tuple(fields))


def _field(name: str, value: object, scope: Scope) -> ex.Expression:
    with error_context(place="field", name=name):
        return as_expression(value, scope, Role.FIELD)


def list_of(*values: object) -> DynExpr:
    """Make a list of these values, at least one: ``list_of(r.a, r.b, 0)``.

    Args:
        values: expressions, or Python values, which take the type of the expressions; None for NULL.

    Returns:
        The list, which is required. All elements have one type, nullable if any of them is. Raises
        `InvalidArgumentError` for no values (an empty list is a literal), `TypeMismatchError` for different types.

    Specification: ``Expression.Nested``.

    Example:
        >>> print(orders.select(both=lambda o: sd.list_of(o.id, o.customer, None)).schema)
        0  both  list<i64?>
    """
    with error_context(verb="list_of"):
        if not values:
            raise InvalidArgumentError("a list of no values has no type", hint="write lit([], List(I64()))")
        if len(values) == 1 and isinstance(values[0], list | tuple):
            raise InvalidArgumentError(
                "the values are given one by one", got=values[0], hint="write list_of(*values), or lit(values)"
            )
        _require_values(values)
    return combine("list_of", _list, values)


def _list(parts: Sequence[Any]) -> ex.Expression:
    with error_context(verb="list_of"):
        return ex.NestedList(tuple(alike(parts, "the elements of a list")))


def map_of(entries: Mapping[Any, object] | Sequence[tuple[object, object]]) -> DynExpr:
    """Make a map of these entries: ``map_of({"min": r.low, "max": r.high})``, ``map_of([(r.key, r.value)])``.

    Args:
        entries: keys and values, at least one pair: expressions, or Python values, which take the type of the
            expressions.

    Returns:
        The map, which is required. Keys have one type and are never NULL; values have one type, nullable if any of them
        is. Raises `InvalidArgumentError` for no entries (an empty map is a literal), `TypeMismatchError` for different
        types or for keys that may be NULL.

    Specification: ``Expression.Nested``.

    Example:
        >>> print(orders.select(of=lambda o: sd.map_of({"id": o.id, "customer": o.customer})).schema)
        0  of  map<string, i64>
    """
    with error_context(verb="map_of"):
        pairs = list(entries.items()) if isinstance(entries, Mapping) else entries
        if not is_list(pairs) or not all(is_list(pair) and len(pair) == 2 for pair in pairs):
            raise InvalidArgumentError("expected a dict or a list of pairs (key, value)", got=entries)
        if not pairs:
            raise InvalidArgumentError("a map of no entries has no type", hint="write lit({}, Map(String(), I64()))")
        keys, values = [key for key, _ in pairs], [value for _, value in pairs]
        if any(key is None for key in keys):
            raise TypeMismatchError("the keys of a map are never NULL, one is None")
        _require_values([*keys, *values])
    return combine("map_of", _map, [*keys, *values])


def _map(parts: Sequence[Any]) -> ex.Expression:
    """Return the map of as many keys as values, the keys first."""
    count = len(parts) // 2
    with error_context(verb="map_of"):
        keys, values = alike(parts[:count], "the keys of a map"), alike(parts[count:], "the values of a map")
        return ex.NestedMap(tuple(ex.MapEntry(key, value) for key, value in zip(keys, values, strict=True)))


def _require_values(values: Sequence[object]) -> None:
    """Raise `TypeMismatchError` for what is neither an expression nor a Python value."""
    for value in values:
        if isinstance(value, NoValue):
            raise TypeMismatchError(f"{value._lacks}, not a value", hint=value._advice)
        if is_function(value):
            raise TypeMismatchError(f"expected a value, got the function {value!r}", names=[value])


def access_part(key: object, parts: Sequence[ex.Expression]) -> ex.FieldAccess:
    """Return the part of the one value among `parts`; see `access`."""
    return access(parts[0], key)


def mask_value(fields: Sequence[Any], parts: Sequence[ex.Expression]) -> ex.MaskedReference:
    """Return the one value among `parts` with only the fields that are kept; see `mask`."""
    return ex.MaskedReference(parts[0], mask(parts[0].type, fields))


def access(value: ex.Expression, key: object) -> ex.FieldAccess:
    """Return the part of a struct, list or map value that ``value[key]`` means."""
    match value.type:
        case Struct() as struct:
            names = struct.field_names
            if isinstance(key, str):
                if names.count(key) != 1:
                    raise UnknownFieldError.of_name(key, names, "field", f" in {struct}")
                return ex.FieldAccess(value, ex.StructField(names.index(key)))
            if type(key) is int:
                return ex.FieldAccess(value, ex.StructField(key))
            raise InvalidArgumentError("a struct's field is named or numbered", got=key)
        case List():
            if type(key) is not int:
                raise InvalidArgumentError("a list's element is given by its offset, an int", got=key)
            return ex.FieldAccess(value, ex.ListElement(key))
        case Map(key=key_type):
            return ex.FieldAccess(value, ex.MapKey(ex.literal(key, key_type.as_required())))
        case other:
            is_text = isinstance(other, FixedChar | String | VarChar)
            raise TypeMismatchError(
                f"only structs, lists and maps have parts, this is {other}",
                hint="functions.substring(x, start, length) is a part of a text, from 1 on" if is_text else None,
            )


def mask(type_: Type, parts: Sequence[Any]) -> ex.StructMask:
    """Return the mask that keeps parts of a struct; see `Expr.keep`."""
    if not isinstance(type_, Struct):
        hint = 'a struct around it has a mask: struct_of(xs=x).keep({"xs": elements(first=5)})["xs"]'
        raise TypeMismatchError(
            f"keep takes parts of a struct, this is {type_}", hint=hint if isinstance(type_, List) else None
        )
    if not parts:
        raise InvalidArgumentError("keep needs at least one field")
    items: list[ex.MaskItem] = []
    for part in parts:
        if isinstance(part, Mapping):
            for field, inner in part.items():
                position = _position(type_, field)
                with error_context(names=(field,)):
                    items.append(ex.MaskItem(position, _inner_mask(type_.types[position], inner, repr(field))))
        else:
            items.append(ex.MaskItem(_position(type_, part)))
    positions = [item.position for item in items]
    twice = next((position for position in positions if positions.count(position) > 1), None)
    if twice is not None:
        raise SchemaError(f'keep names the field "{type_.field_names[twice]}" twice', names=[type_.field_names[twice]])
    return ex.StructMask(tuple(items))


def _inner_mask(type_: Type, parts: Any, what: str) -> ex.Mask:
    """Return the mask that keeps parts of what is inside; `what` is what messages call it."""
    if isinstance(parts, Elements):
        if not isinstance(type_, List):
            raise TypeMismatchError(f"only a list has elements to keep, {what} is {type_}")
        child = None if parts.keep is None else _inner_mask(type_.element, parts.keep, f"an element of {what}")
        return attrs.evolve(parts.mask, child=child)
    if not is_list(parts):
        raise InvalidArgumentError(f"expected a list of the parts of {what}", got=parts)
    if isinstance(type_, List):
        raise TypeMismatchError(
            f"{what} is {type_}, which has elements",
            hint="say which: sd.elements(0, 2), sd.elements(first=5, keep=[...])",
        )
    return mask(type_, parts)


def _position(type_: Struct, field: object) -> int:
    names = type_.field_names
    if isinstance(field, bool) or not isinstance(field, str | int):
        raise InvalidArgumentError(
            "a field is kept by its name or position", got=field, hint='parts of a field: {"field": ["part"]}'
        )
    if isinstance(field, str) and names.count(field) == 1:
        return names.index(field)
    if isinstance(field, int) and 0 <= field < len(names):
        return field
    raise UnknownFieldError.of_name(field, names, "field", f" in {type_}")
