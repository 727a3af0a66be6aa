"""What a value is, while an expression is lowered: a column, attributes that are columns, or a constant.

A struct whose attributes are known stays in parts. So ``(path (id f) (lit FooId))`` is a column of the relation, as
anyone who writes Substrait would have it, and no engine has to build structs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import attrs

from substrait_dsl.algebra.expressions import Expression, FieldAccess, FieldReference
from substrait_dsl.algebra.expressions.references import StructField
from substrait_dsl.algebra.node import Node, rebuild
from substrait_dsl.algebra.types import Struct as StructType
from substrait_dsl.algebra.types import Type
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.partiql.values import MISSING, Bag, Kind, Struct, Value

Absent = Literal["null", "missing", "either"]
"""What a NULL in a column stands for; if for either, nothing may ask which."""


@attrs.frozen
class Column:
    """An expression over the row of a relation."""

    expression: Expression
    absent: Absent = "null"

    @property
    def type(self) -> Type:
        """Its Substrait type."""
        return self.expression.type


@attrs.frozen
class Attributes:
    """A struct in parts. It is never null itself; an attribute that may be missing is not there where it is."""

    fields: tuple[tuple[str, Term], ...]


@attrs.frozen
class Elements:
    """A list, or a bag, of so many elements for each row."""

    kind: Kind
    items: tuple[Term, ...]


@attrs.frozen
class Constant:
    """A value that is the same for all rows; `MISSING`, too."""

    value: Value


Term: TypeAlias = Column | Attributes | Elements | Constant

NOTHING = Constant(MISSING)


def opened(term: Term) -> Term:
    """A constant struct or collection in parts, one level; any other term as it is."""
    match term:
        case Constant(value=Struct(fields=fields)):
            return Attributes(tuple((name, Constant(value)) for name, value in fields))
        case Constant(value=Bag(items=items)):
            return Elements("bag", tuple(map(Constant, items)))
        case Constant(value=tuple() as items):
            return Elements("list", tuple(map(Constant, items)))
        case _:
            return term


def taken_apart(term: Term) -> Term:
    """A struct in parts, also one that is a column; any other term as it is, or a collection in parts.

    Raises `UnsupportedError` for a column of structs that may be null.
    """
    if not (isinstance(term, Column) and isinstance(term.type, StructType)):
        return opened(term)
    if term.type.nullable:
        raise UnsupportedError(f"a struct that may be null is not taken apart: {term.expression}")
    return Attributes(tuple((name, attribute(term, number)) for number, name in enumerate(term.type.field_names)))


def attribute(struct: Column, number: int) -> Column:
    """A field of a struct that is a column."""
    return attrs.evolve(struct, expression=FieldAccess(struct.expression, StructField(number)))


def leaves(term: Term, name: str = "") -> Iterator[tuple[str, Column | Constant]]:
    """The columns and constants that a term consists of, with a name for each: ``f.FooId``, ``pair[0]``."""
    match opened(term):
        case Attributes(fields=fields):
            for inside, field in fields:
                yield from leaves(field, f"{name}.{inside}" if name else inside)
        case Elements(items=items):
            for number, item in enumerate(items):
                yield from leaves(item, f"{name}[{number}]")
        case leaf:
            assert isinstance(leaf, Column | Constant)
            yield name or "value", leaf


def with_columns(term: Term, change: Callable[[Column], Column]) -> Term:
    """The term with other columns."""
    match term:
        case Column():
            return change(term)
        case Constant():
            return term
        case Attributes(fields=fields):
            return Attributes(tuple((name, with_columns(field, change)) for name, field in fields))
        case Elements(items=items):
            return attrs.evolve(term, items=tuple(with_columns(item, change) for item in items))


def shifted(term: Term, by: int) -> Term:
    """The term over a row that has so many columns more in front."""

    def moved(column: Column) -> Column:
        return attrs.evolve(column, expression=rebuild(column.expression, reference, into_relations=False))

    def reference(node: Node) -> Node:
        return attrs.evolve(node, position=node.position + by) if isinstance(node, FieldReference) else node

    return with_columns(term, moved)


def absent_of(columns: list[Column]) -> Absent:
    """What a NULL stands for in what is computed of columns."""
    kinds = {column.absent for column in columns if column.type.nullable}
    return kinds.pop() if len(kinds) == 1 else "either" if kinds else "null"


def require_known(column: Column, what: str) -> None:
    """Raise `UnsupportedError` if a NULL in a column may stand for null or missing, and that matters."""
    if column.absent == "either" and column.type.nullable:
        raise UnsupportedError(
            f"{what} may be null and may be missing, which a typed column cannot tell apart: {column.expression}"
        )
