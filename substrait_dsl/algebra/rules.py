"""How types follow from types: the tables and rules of the specification, as pure functions.

Relations and expressions call these when they are built; so does code that reasons about a pipeline without building
it. Nothing here knows a relation or an expression.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import and_
from typing import Literal, get_args

import attrs

from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.number_types import common_number
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import I32, Boolean, List, Map, Struct, Type, nullable_as_either
from substrait_dsl.errors import (
    InvalidArgumentError,
    InvalidChoiceError,
    SchemaError,
    TypeMismatchError,
    UnknownFieldError,
)

JoinType = Literal[
    "inner",
    "outer",
    "left",
    "right",
    "left_semi",
    "right_semi",
    "left_anti",
    "right_anti",
    "left_single",
    "right_single",
    "left_mark",
    "right_mark",
]
SetOp = Literal[
    "minus_primary",
    "minus_primary_all",
    "minus_multiset",
    "intersection_primary",
    "intersection_multiset",
    "intersection_multiset_all",
    "union_distinct",
    "union_all",
]
LateralJoinType = Literal["inner", "left", "left_semi", "left_anti", "left_single", "left_mark"]
JOIN_TYPES: tuple[JoinType, ...] = get_args(JoinType)
LATERAL_JOIN_TYPES: tuple[LateralJoinType, ...] = get_args(LateralJoinType)
SET_OPS: tuple[SetOp, ...] = get_args(SetOp)

Side = Literal["preserved", "null_extended", "dropped"]
"""The columns of one input in a join's output: as they are, nullable (NULL where no row matches), or left out."""


@attrs.frozen(eq=False, repr=False)
class JoinRule(FrozenValue):
    """The output of a join type."""

    left: Side
    right: Side
    mark: bool = False

    @property
    def inner(self) -> bool:
        """Whether every output row has a row of either input in it."""
        return self.left == self.right == "preserved"


JOIN_RULES: dict[JoinType, JoinRule] = {
    "inner": JoinRule("preserved", "preserved"),
    "outer": JoinRule("null_extended", "null_extended"),
    "left": JoinRule("preserved", "null_extended"),
    "right": JoinRule("null_extended", "preserved"),
    # spec decision 3: semi and anti joins put out the side they are named after
    "left_semi": JoinRule("preserved", "dropped"),
    "right_semi": JoinRule("dropped", "preserved"),
    "left_anti": JoinRule("preserved", "dropped"),
    "right_anti": JoinRule("dropped", "preserved"),
    "left_single": JoinRule("preserved", "null_extended"),
    "right_single": JoinRule("null_extended", "preserved"),
    # spec decision 4: the mark column stands after the preserved side
    "left_mark": JoinRule("preserved", "dropped", mark=True),
    "right_mark": JoinRule("dropped", "preserved", mark=True),
}
"""The join table (spec decision 6: nullability never depends on the condition)."""


def join_schema(how: JoinType, left: NamedStruct, right: NamedStruct, mark: str = "mark") -> NamedStruct:
    """Return the direct output of a join.

    Left fields, right fields, mark column, as far as the join type keeps them.
    """
    rule = JOIN_RULES.get(how)
    if rule is None:
        raise InvalidChoiceError.of_word("join type", how, JOIN_TYPES)
    marks = (NamedStruct((Field(mark, Boolean(nullable=True)),)),) if rule.mark else ()
    return NamedStruct.concatenate(*_side(rule.left, left), *_side(rule.right, right), *marks)


def join_key_types(left: Type, right: Type, comparison: str) -> None:
    """Raise `TypeMismatchError` unless the two sides of a join key can be compared: they have one type."""
    if not left.matches(right):
        raise TypeMismatchError(
            f"the two sides of a join key must have one type to be compared ({comparison}): {left} and {right}",
            hint="cast one of them in a project below the join",
        )


def _side(side: Side, schema: NamedStruct) -> tuple[NamedStruct, ...]:
    match side:
        case "preserved":
            return (schema,)
        case "null_extended":
            return (schema.as_nullable(),)
        case "dropped":
            return ()


SetNullability = Literal["primary", "primary_and_secondary", "all", "any"]
"""Which inputs must be nullable for a column of the output to be."""

SET_RULES: dict[SetOp, SetNullability] = {
    "minus_primary": "primary",
    "minus_primary_all": "primary",
    "minus_multiset": "primary",
    "intersection_primary": "primary_and_secondary",
    "intersection_multiset": "all",
    "intersection_multiset_all": "all",
    "union_distinct": "any",
    "union_all": "any",
}
"""The set operation table: https://substrait.io/relations/logical_relations/#set-operation-types."""


def set_schema(op: SetOp, inputs: Sequence[NamedStruct]) -> NamedStruct:
    """Return the output of a set operation: the primary input's fields, nullable by the operation's rule.

    Raises `SchemaError` for fewer than two inputs or inputs of different widths, and `TypeMismatchError` for types
    that differ in more than their outermost nullability (spec decision 18).
    """
    if op not in SET_RULES:
        raise InvalidChoiceError.of_word("set operation", op, SET_OPS)
    if len(inputs) < 2:
        raise SchemaError(f"a set operation needs at least two inputs, got {len(inputs)}")
    primary = inputs[0]
    others: dict[int, tuple[int, NamedStruct]] = {}  # each once: a relation may be used a thousand times
    for number, other in enumerate(inputs[1:], start=2):
        others.setdefault(id(other), (number, other))
    different = [(number, other) for number, other in others.values() if other.types != primary.types]
    if not different:
        return primary  # every rule keeps a nullability that all have
    for number, other in different:
        _require_same_types(op, primary, other, number)
    primary_nullable = [type_.nullable for type_ in primary.types]
    others_nullable = [[type_.nullable for type_ in other.types] for _, other in others.values()]
    nullable = _set_nullable(op, primary_nullable, others_nullable)
    if nullable == primary_nullable:
        return primary
    return NamedStruct(tuple(map(Field.with_nullability, primary.fields, nullable)))


def _require_same_types(op: SetOp, primary: NamedStruct, other: NamedStruct, number: int) -> None:
    """Raise unless an input of a set operation, given with its number, has columns like those of the first."""
    if len(other) != len(primary):
        raise SchemaError(
            f"the inputs of {op} must have the same number of columns: "
            f"input 1 has {len(primary)} ({primary}), input {number} has {len(other)} ({other})"
        )
    for position, (field, other_field) in enumerate(zip(primary, other, strict=True)):
        if not field.type.matches(other_field.type):
            raise TypeMismatchError(
                f"the inputs of {op} must have the same types: column {position} is {field} in input 1 "
                f"but {other_field} in input {number}",
                hint=_set_hint(field.type, other_field.type, number),
            )


def _set_hint(first: Type, other: Type, number: int) -> str:
    """Return the hint to cast a column whose types differ in two inputs of a set operation."""
    both = nullable_as_either(first, other) or common_number([first, other])
    if both is None:
        return f"cast one of them, for example to {first}"
    if both.matches(other):  # the other way round a NULL inside would have no place
        return f"cast the column of input 1 to {both.with_nullability(first.nullable)}"
    if both.matches(first):
        return f"cast the column of input {number} to {both.with_nullability(other.nullable)}"
    return f"cast both to {both}"


def _set_nullable(op: SetOp, primary: list[bool], others: Sequence[Sequence[bool]]) -> list[bool]:
    """Return which columns of the output are nullable, given which ones of the first input and of the others are."""
    match SET_RULES[op]:
        case "primary":
            return primary
        case "primary_and_secondary":
            return list(map(and_, primary, map(any, zip(*others, strict=True))))
        case "all":
            return list(map(all, zip(primary, *others, strict=True)))
        case "any":
            return list(map(any, zip(primary, *others, strict=True)))


def aggregate_schema(
    keys: Sequence[Field], grouping_sets: Sequence[Sequence[int]], measures: Sequence[Field], index: str
) -> NamedStruct:
    """Return the output of an aggregate: keys, measures, and the grouping set index if there are several sets.

    A key that is missing from any set is nullable; the index is required (spec decisions 12 and 13). Raises
    `SchemaError` for a key in no set, a set that names no key, and an aggregate of no columns (spec decision 11).
    """
    used: set[int] = set()
    for number, grouping_set in enumerate(grouping_sets):
        for position in grouping_set:
            if not 0 <= position < len(keys):
                raise SchemaError(f"grouping set {number} names key {position}, but there are {len(keys)} keys")
        used.update(grouping_set)
    unused = [key.name for position, key in enumerate(keys) if position not in used]
    if unused:
        raise SchemaError(f"every key must stand in a grouping set; {', '.join(unused)} stands in none")
    many = len(grouping_sets) > 1
    if not keys and not measures and not many:
        raise SchemaError("an aggregate needs a key or a measure: this one would have no columns")
    everywhere = set.intersection(*map(set, grouping_sets)) if grouping_sets else set()
    fields = [
        key if position in everywhere else Field(key.name, key.type.as_nullable()) for position, key in enumerate(keys)
    ]
    fields += measures
    if many:
        fields.append(Field(index, I32()))
    return NamedStruct(tuple(fields))


def common_type(types: Sequence[Type], what: str) -> Type:
    """Return the one type of several values, nullable if any of them is.

    Raises `TypeMismatchError` if they differ in more than their outermost nullability.
    """
    first = types[0]
    for other in types:
        if not first.matches(other):
            raise TypeMismatchError(
                f"{what} must have one type: there is {first} and {other}", hint="cast them to one type"
            )
    return first.with_nullability(any(type_.nullable for type_ in types))


def expand_schema(fields: Sequence[tuple[str, Sequence[Type], bool]], index: str) -> NamedStruct:
    """Return the output of an expand: its fields, then the required ``i32`` index of the duplicate (spec decision 1).

    Args:
        fields: for each field the name, the types of its duplicates, and whether it switches between them.
        index: the name of the index column.

    A switching field is nullable if any of its duplicates is, or if it has fewer than another (spec decision 2). Raises
    `TypeMismatchError` for duplicates of different types, `SchemaError` for no field, or one of no duplicates.
    """
    if not fields:
        raise SchemaError("an expand needs at least one field")
    most = max((len(types) for _, types, switching in fields if switching), default=1)
    output = []
    for name, types, switching in fields:
        if not types:
            raise SchemaError(f'the switching field "{name}" has no duplicates', names=[name])
        type_ = common_type(types, f'the duplicates of the switching field "{name}"')
        output.append(Field(name, type_.as_nullable() if switching and len(types) < most else type_))
    return NamedStruct((*output, Field(index, I32())))


def require_assignable(what: str, columns: Sequence[Field], target: Sequence[Field]) -> None:
    """Raise unless values of the given columns can be written to a table.

    Raises `SchemaError` for another number of columns, `TypeMismatchError` for another type, and for a nullable column
    where the table's is required.
    """
    if len(columns) != len(target):
        raise SchemaError(f"{what} has {len(target)} columns, but {len(columns)} are given")
    for column, expected in zip(columns, target, strict=True):
        if not column.type.matches(expected.type):
            raise TypeMismatchError(
                f'column "{expected.name}" of {what} is {expected.type}, but {column} is given',
                names=[expected.name],
                hint=f"cast it to {expected.type}",
            )
        if column.type.nullable and not expected.type.nullable:
            raise TypeMismatchError(
                f'column "{expected.name}" of {what} is required, but {column} may be NULL',
                names=[expected.name],
                remedy="null-in-required",
            )


def branch_type(types: Sequence[Type], what: str) -> Type:
    """Return the type of an expression with alternatives: their one type, nullable if any is (spec decision 21).

    Raises `TypeMismatchError` if they differ in more than their outermost nullability.
    """
    first = types[0]
    for number, other in enumerate(types):
        if not first.matches(other):
            raise TypeMismatchError(
                f"the branches of {what} must have one type: "
                f"the first gives {first}, branch {number + 1} gives {other}",
                hint="cast the branches to one type",
            )
    return first.with_nullability(any(type_.nullable for type_ in types))


def member_type(value: Type, options: Sequence[Type], what: str) -> Type:
    """Return the type of a membership test: a boolean, nullable if any side is (spec decision 20).

    Raises `TypeMismatchError` for an option of another type than the value.
    """
    for option in options:
        if not value.matches(option):
            raise TypeMismatchError(
                f"{what}: the value is {value} but an option is {option}",
                hint="values that are compared have one type: cast one of them, or give a constant its type",
            )
    return Boolean(nullable=value.nullable or any(option.nullable for option in options))


def struct_field_type(base: Type, position: int) -> Type:
    """Return the type of a field inside a struct: nullable if the struct is (spec decision 24)."""
    if not isinstance(base, Struct):
        raise TypeMismatchError(f"only a struct has fields, this is {base}")
    if not 0 <= position < len(base.types):
        raise UnknownFieldError.of_position(position, "field", f" in {base}")
    field = base.types[position]
    return field.as_nullable() if base.nullable else field


def list_element_type(base: Type) -> Type:
    """Return the type of a list's element: nullable, since an offset out of range gives NULL (spec decision 24)."""
    if not isinstance(base, List):
        raise TypeMismatchError(f"only a list has elements, this is {base}")
    return base.element.as_nullable()


def map_value_type(base: Type, key: Type) -> Type:
    """Return the type of a map's value: nullable, since a missing key gives NULL (spec decision 24)."""
    if not isinstance(base, Map):
        raise TypeMismatchError(f"only a map has keys, this is {base}")
    if not base.key.matches(key):
        raise TypeMismatchError(f"the keys of {base} are {base.key}, not {key}")
    return base.value.as_nullable()


def cast_type(target: Type, on_failure: Literal["return_null", "throw"]) -> Type:
    """Return the type of a cast: the target, nullable if a failure gives NULL (spec decision 23).

    A required target says that the input is not NULL, whatever its type says: a NULL fails as a misfit does.
    """
    return target.as_nullable() if on_failure == "return_null" else target


def require_distinct_options(names: Iterable[str], function: str) -> None:
    """Raise `InvalidArgumentError` for an option that a call of a function says twice; case does not count."""
    seen: set[str] = set()
    for name in names:
        if name.lower() in seen:
            raise InvalidArgumentError(f"the option {name} of {function} is given twice")
        seen.add(name.lower())


def require_boolean(type_: Type, what: str) -> None:
    """Raise `TypeMismatchError` unless the type is a boolean, nullable or not."""
    if not isinstance(type_, Boolean):
        raise TypeMismatchError(f"{what} must be a boolean, this is {type_}")
