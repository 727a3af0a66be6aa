"""Relations of which some columns are known: the others are one column that stands for any number of them.

That column has a name of its own kind. What the known columns are called, and of which types they are, remains true
whatever the others are; where they stand does not, behind the first column that stands for others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.errors import UnknownFieldError
from substrait_dsl.fluent.expr import DynExpr
from substrait_dsl.fluent.relation import Relation
from substrait_dsl.mypy_plugin import placeholders
from substrait_dsl.mypy_plugin.annotations import UNKNOWN
from substrait_dsl.mypy_plugin.budget import UnknownValueError
from substrait_dsl.mypy_plugin.placeholders import NAMELESS

OTHERS = NAMELESS * 2
"""How the name of a column begins that stands for any number of columns."""

SOME = f"{OTHERS}-"
"""The same, of a column that stands for some of the columns that its relation has beside it, and no others."""

_NUMBERS = itertools.count()


class OpenStruct(NamedStruct):
    """The columns of an open relation.

    Args:
        fields: the known columns, and those that stand for others.
        possible: the names of known columns that may be missing.
    """

    __slots__ = ("_first", "possible")

    def __init__(self, fields: tuple[Field, ...], possible: Iterable[str] = ()) -> None:
        super().__init__(fields)
        object.__setattr__(self, "possible", frozenset(possible))
        first = next((number for number, field in enumerate(fields) if stands_for_others(field.name)), len(fields))
        object.__setattr__(self, "_first", first)

    possible: frozenset[str]
    _first: int

    def position(self, column: str | int) -> int:
        """Return the position of a column. Those behind the first one that stands for others are not known."""
        if isinstance(column, int) and not isinstance(column, bool) and not 0 <= column < self._first:
            raise UnknownValueError
        return super().position(column)


def stands_for_others(name: str) -> bool:
    """Whether a column stands for any number of columns."""
    return OTHERS in name


def is_open(struct: NamedStruct) -> bool:
    """Whether some columns of a relation are not known."""
    return any(map(stands_for_others, struct.names))


def make_others(mark: str = OTHERS) -> Field:
    """Return a column that stands for others, unlike all columns before."""
    return Field(f"{mark}{next(_NUMBERS)}", UNKNOWN)


def make_other_columns() -> DynExpr:
    """Return what stands for arguments that are columns, and that are not known."""
    others = make_others()
    return placeholders.make_expression(others.type, others.name)


def make_open_relation(fields: Iterable[Field], possible: Iterable[str] = ()) -> Relation[Any]:
    """Return a relation of which the known columns, and those that stand for others, are these."""
    return placeholders.make_relation(OpenStruct(tuple(fields), possible))


def forget_plan(relation: Relation[Any], possible: Iterable[str] = ()) -> Relation[Any]:
    """Return a relation of the same columns, of which the positions are unknown that others may change."""
    struct = relation._rel.schema
    if not is_open(struct):
        return relation
    return make_open_relation(struct.fields, set(possible) & set(struct.names))


def take_some(relation: Relation[Any]) -> Relation[Any]:
    """Return a relation of some columns of another one, of which it is not known which they are."""
    fields = relation._rel.schema.fields
    known = [field for field in fields if not stands_for_others(field.name)]
    is_closed = all(field.name.startswith(SOME) for field in fields if field not in known)
    return make_open_relation([make_others(SOME if is_closed else OTHERS), *known], [field.name for field in known])


def choose_some(result: Relation[Any], receiver: Relation[Any]) -> Relation[Any]:
    """Return the result of a choice of columns, of which others stand for some of the receiver's, by their names."""
    others, *possible = take_some(receiver)._rel.schema.fields
    chosen = [others if stands_for_others(field.name) else field for field in result._rel.schema]
    possible = [field for field in possible if field.name not in result._rel.schema.names]
    once = [field for number, field in enumerate(chosen) if field is not others or others not in chosen[:number]]
    return make_open_relation([*once, *possible], [field.name for field in possible])


def combine_with_others(relation: Relation[Any], verb: str) -> Relation[Any]:
    """Return the result of a set verb with relations that are not known, on which it depends what may be NULL."""
    fields = relation._rel.schema.fields
    if verb in ("union", "union_all"):
        fields = tuple(field if field.type.nullable else Field(field.name, UNKNOWN) for field in fields)
    elif verb != "subtract":
        fields = tuple(Field(field.name, UNKNOWN) for field in fields)
    return make_open_relation([*fields, make_others(SOME)])


def with_other_types(relation: Relation[Any]) -> Relation[Any]:
    """Return a relation of the same names, of which all types are unknown: others may stand in their places."""
    struct = relation._rel.schema
    return make_open_relation([Field(name, UNKNOWN) for name in struct.names])


def has_unknown_types(relation: Relation[Any]) -> bool:
    """Whether the type of a column is not known."""
    return any(UNKNOWN.name in str(type_) for type_ in relation._rel.schema.types)


def with_unknown_required(relation: Relation[Any]) -> Relation[Any]:
    """Return a relation of the same columns, of which those of unknown types are never NULL."""
    struct = relation._rel.schema
    fields = [Field(field.name, UNKNOWN.as_required()) if field.type == UNKNOWN else field for field in struct]
    return make_open_relation(fields, struct.possible if isinstance(struct, OpenStruct) else ())


def forget_types(one: Relation[Any], other: Relation[Any] | None) -> Relation[Any]:
    """Return a relation with the types that two results of a call have in common: the others depend on unknown ones."""
    if other is None or len(one._rel.schema) != len(other._rel.schema):
        return with_other_types(one)
    pairs = list(zip(one._rel.schema, other._rel.schema, strict=True))
    if all(field.type == other_field.type for field, other_field in pairs):
        return one
    struct = one._rel.schema
    fields = [field if field.type == other_field.type else Field(field.name, UNKNOWN) for field, other_field in pairs]
    return make_open_relation(fields, struct.possible if isinstance(struct, OpenStruct) else ())


def add_columns(relation: Relation[Any], names: Iterable[str]) -> Relation[Any]:
    """Return a relation with more of its columns, if it has them: of these only the names are known."""
    struct = relation._rel.schema
    added = [Field(name, UNKNOWN) for name in names if name not in struct.names]
    possible = struct.possible if isinstance(struct, OpenStruct) else frozenset()
    return make_open_relation([*struct.fields, *added], possible | set(names)) if added else relation


def without_columns(relation: Relation[Any], names: Iterable[str]) -> Relation[Any]:
    """Return an open relation without columns of some names that were added because they were used: they are others."""
    struct, dropped = relation._rel.schema, set(names)
    if not dropped or not is_open(struct):
        return relation
    fields = [field for field in struct if field.name not in dropped or UNKNOWN.name not in str(field.type)]
    return make_open_relation(fields, struct.possible if isinstance(struct, OpenStruct) else ())


def find_others(error: UnknownFieldError) -> bool:
    """Whether a column that is not there may be one of others. If it is not, the error names the known ones only."""
    others = [name for name in error.candidates if stands_for_others(name)]
    if any(not name.startswith(SOME) for name in others):
        return True
    error.candidates = tuple(name for name in error.candidates if name not in others)
    return False


def describe(struct: NamedStruct) -> str:
    """Return the known columns as text, with dots where others are, and for those that may be missing."""
    possible = struct.possible if isinstance(struct, OpenStruct) else ()
    shown: list[str] = []
    for field in struct:
        is_missing = field.name in possible
        if stands_for_others(field.name) or (is_missing and _DOTS not in shown):
            shown.append(_DOTS)
        elif not is_missing:
            name = "unknown name" if NAMELESS in field.name else field.name
            shown.append(f"{name}: {'unknown' if UNKNOWN.name in str(field.type) else field.type}")
    return ", ".join(shown)


_DOTS = "..."
"""What is shown of columns that are not known."""
