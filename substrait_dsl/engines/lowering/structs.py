"""Structs on an engine that makes them, and accesses their fields, by functions of its own with field names.

Inside a lowered plan all structs have the same field names, by position. Those of tables are renamed above the read,
and those of a root have the names of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FunctionId, Literal, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.engines.lowering.context import Lowering
from substrait_dsl.engines.lowering.terms import as_type, call, case_when, columns, is_null, project_only

MAKE_STRUCT = "named_struct:any"
FIELD = "get_field:any_str"
"""The functions of an engine that make a struct of names and values, and access the field of a name."""
RANDOM = "random:"
"""A function of an engine whose values are not known before: an optimizer barrier.

Engines push field accesses down to other relations, and confuse their fields, or fail, where these have the same names.
"""

Names = Callable[[int], str]


def name_by_position(position: int) -> str:
    """Return the name of a field inside a lowered plan; also of literals and NULLs."""
    return f"c{position}"


def has_structs(lowering: Lowering) -> bool:
    """Whether the engine makes structs."""
    return MAKE_STRUCT in lowering.profile.function_keys


def make_struct(
    fields: Sequence[Expression], type_: t.Struct[Any], lowering: Lowering, name: Names = name_by_position
) -> Expression:
    """Return a struct of values."""
    if not fields:
        raise lowering.refusal("a struct without fields")
    arguments: list[Expression] = []
    for position, field in enumerate(fields):
        arguments += [Literal(name(position), t.String()), field]
    return ScalarFunction(
        FunctionId(lowering.profile.urn_of(MAKE_STRUCT), MAKE_STRUCT), tuple(arguments), type_.as_required()
    )


def field_of(value: Expression, position: int, lowering: Lowering, name: Names = name_by_position) -> Expression:
    """Return the field of a struct; NULL where the struct is, in place of the field's own value."""
    type_ = value.type
    assert isinstance(type_, t.Struct)
    part = type_.types[position]
    source = _with_barrier(value, lowering) if name is name_by_position else value
    arguments = (source, Literal(name(position), t.String()))
    found = ScalarFunction(FunctionId(lowering.profile.urn_of(FIELD), FIELD), arguments, part)
    return case_when([(is_null(value), Literal(None, part.as_nullable()))], found) if type_.nullable else found


def _with_barrier(value: Expression, lowering: Lowering) -> Expression:
    """Wrap a value in a conditional that is never met, so that its fields are computed in place."""
    return case_when([(opaque_false(lowering), Literal(None, value.type.as_nullable()))], value)


def has_random(lowering: Lowering) -> bool:
    """Whether the engine has the optimizer barrier."""
    return RANDOM in lowering.profile.function_keys


def opaque_false(lowering: Lowering) -> Expression:
    """Return a condition that is false, which the engine does not know."""
    drawn = ScalarFunction(FunctionId(lowering.profile.urn_of(RANDOM), RANDOM), (), t.FP64())
    return call("comparison", "lt", drawn, Literal(0.0, t.FP64()))


def accesses_field(value: Expression) -> bool:
    """Whether a lowered expression accesses a field of a struct."""
    nodes = walk(value, into_relations=False)
    return any(isinstance(node, ScalarFunction) and node.function.key == FIELD for node in nodes)


def literal_struct(node: Literal, lowering: Lowering, lower: Callable[[Literal], Expression]) -> Expression:
    """Return a literal struct as a struct of literals."""
    type_ = node.literal_type
    assert isinstance(type_, t.Struct)
    if node.value is None:
        return node
    fields = [as_type(lower(value), part) for value, part in zip(node.value, type_.types, strict=True)]
    return as_type(make_struct(fields, type_, lowering), node.type)


def require_flat(type_: t.Struct[Any], lowering: Lowering) -> None:
    """Raise for a struct column of a table, or of a root, with nested fields."""
    if any(isinstance(part, t.Struct | t.List | t.Map) for part in type_.types):
        raise lowering.refusal(f"a column of {type_}, a struct of other nested values")


def rename_fields(value: Expression, old: Names, new: Names, lowering: Lowering) -> Expression:
    """Return a struct with other field names."""
    type_ = value.type
    assert isinstance(type_, t.Struct)
    fields = [as_type(field_of(value, position, lowering, old), part) for position, part in enumerate(type_.types)]
    struct = make_struct(fields, type_, lowering, new)
    # The NULL must have the new names, too.
    return (
        case_when([(is_null(value), call("comparison", "nullif", struct, struct))], struct)
        if type_.nullable
        else struct
    )


def with_positions(rel: Rel, lowering: Lowering) -> Rel:
    """Rename the struct fields of a read to the names inside a lowered plan."""
    return _with_names(rel, rel.schema.types, lowering, lambda type_: (type_.field_names.__getitem__, name_by_position))


def with_names(rel: Rel, types: Sequence[t.Type], lowering: Lowering) -> Rel:
    """Rename the struct fields of an output to the names of the plan."""
    return _with_names(rel, types, lowering, lambda type_: (name_by_position, type_.field_names.__getitem__))


def _with_names(
    rel: Rel, types: Sequence[t.Type], lowering: Lowering, names: Callable[[t.Struct[Any]], tuple[Names, Names]]
) -> Rel:
    if not any(isinstance(type_, t.Struct) for type_ in types):
        return rel
    values: list[Expression] = list(columns(rel))
    for position, type_ in enumerate(types):
        if isinstance(type_, t.Struct):
            require_flat(type_, lowering)
            values[position] = rename_fields(values[position], *names(type_), lowering)
    return project_only(rel, values, rel.schema.names)
