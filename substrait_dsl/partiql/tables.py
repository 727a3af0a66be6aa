"""The leaves of expressions: tables and constants, and structs, lists and calls of values."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, overload

from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.errors import InvalidArgumentError, SchemaError, error_context, require
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.partiql import expressions as e
from substrait_dsl.partiql.builder import Bindings
from substrait_dsl.partiql.lowered import StoredTable
from substrait_dsl.partiql.node import BindingsExpr, ValueExpr
from substrait_dsl.partiql.value_builder import ValueLike, Values, derive_value, value
from substrait_dsl.partiql.values import to_value

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation


def table(name: str, relation: Relation[Any], *, record_id: str | None = None) -> Values:
    """Return a table: a bag of structs, one for each row of a relation.

    Args:
        name: what expressions call it, ``(id Foo)``.
        relation: the rows; any relation, not only a read.
        record_id: the column that tells rows apart, which `by` of a scan gives, as a text; it is no attribute.

    Raises `UnknownFieldError` if there is no such column.
    """
    with error_context(verb="table"):
        require(name, str, "the name of a table is a str")
        require(relation, RelationBase, "the rows of a table are a relation")
        if record_id is None:
            return Values(e.Id(name), {name: relation})
        relation._rel.schema.position(record_id)
        return Values(e.Id(name), {name: StoredTable(relation, record_id)})


def as_value(relation: RelationBase, name: str | None = None) -> Values:
    """Return a relation as a value, under a name; by default that of the table that it reads.

    Raises `InvalidArgumentError` without a name for a relation that is no read of a named table.
    """
    with error_context(verb="as_value"):
        require(relation, RelationBase, "a value is made of a relation")
        if name is not None:
            require(name, str, "the name of a table is a str")
            return Values(e.Id(name), {name: relation})
        rel = relation._rel
        if not (isinstance(rel, Read) and isinstance(rel.definition, NamedTable)):
            raise InvalidArgumentError(
                "the relation is no read of a named table", hint='give it a name: relation.as_value("t")'
            )
        name = ".".join(rel.definition.names)
        return Values(e.Id(name), {name: relation})


@overload
def bind(expression: ValueExpr, tables: Mapping[str, object]) -> Values: ...
@overload
def bind(expression: BindingsExpr, tables: Mapping[str, object]) -> Bindings: ...
def bind(expression: ValueExpr | BindingsExpr, tables: Mapping[str, object]) -> Values | Bindings:
    """Bind an expression that was parsed or rewritten to tables: ``bind(parse(text), {"Foo": foo})``.

    Args:
        expression: of `parse`, `transform` or the classes of nodes.
        tables: what the names stand for that no scan binds: relations, tables (`table`, `StoredTable`), or plain
            values.
    """
    with error_context(verb="bind"):
        hint = "parse(text) reads one" if isinstance(expression, str) else None
        require(expression, (ValueExpr, BindingsExpr), "expected an expression of the algebra", hint)
        return Bindings(expression, tables) if isinstance(expression, BindingsExpr) else Values(expression, tables)


def lit(constant: object) -> Values:
    """Return a constant of plain Python objects: ``lit([{"x": 1}, {"x": 2}])`` is a list of structs."""
    with error_context(verb="lit"):
        return Values(e.Lit(to_value(constant)))


def struct(attributes: Mapping[str, ValueLike] | None = None, /, **named: ValueLike) -> Values:
    """Return a struct of these attributes, without missing ones: ``struct(fid=t.f.FooId)``.

    Raises `SchemaError` for a name that is given twice, `InvalidArgumentError` for one that is no text.
    """
    with error_context(verb="struct"):
        require(attributes, (Mapping, NoneType), "attributes are a dict of values by their names")
        for name in attributes or {}:
            require(name, str, "the name of an attribute is a str")
            if name in named:
                raise SchemaError(f'the attribute "{name}" is given twice', hint="struct_concat keeps both")
        combined = {**(attributes or {}), **named}
        values = {name: value(each) for name, each in combined.items()}
        pairs = tuple(e.ExprPair(e.Lit(name), each.expression) for name, each in values.items())
        return derive_value(e.StructExpr(pairs), *values.values())


def list_of(*items: ValueLike) -> Values:
    """Return a list of these values."""
    with error_context(verb="list_of"):
        values = [value(item) for item in items]
        return derive_value(e.ListExpr(tuple(each.expression for each in values)), *values)


def bag_of(*items: ValueLike) -> Values:
    """Return a bag of these values."""
    with error_context(verb="bag_of"):
        values = [value(item) for item in items]
        return derive_value(e.BagExpr(tuple(each.expression for each in values)), *values)


def call(function: str, *arguments: ValueLike) -> Values:
    """Call a function by its name: ``call("upper", t.f.FooName)``. Raises `InvalidChoiceError` for an unknown one."""
    with error_context(verb="call"):
        return _call(function, *arguments)


def _call(function: str, *arguments: ValueLike) -> Values:
    values = [value(argument) for argument in arguments]
    return derive_value(e.Call(function, tuple(each.expression for each in values)), *values)


def _own_call(function: str, operand: ValueLike) -> Values:
    """Call a function that is also a Python function of this module."""
    with error_context(verb=function):
        return _call(function, operand)


def struct_concat(*structs: ValueLike) -> Values:
    """Concatenate the attributes of several structs, repeated names included."""
    with error_context(verb="struct_concat"):
        if not structs:
            raise InvalidArgumentError("expected at least one struct")
        return _call("struct_concat", *structs)


def as_boolean(operand: ValueLike) -> Values:
    """Require a value to be a boolean; one of another type has no value. See `as_integer`."""
    return _own_call("as_boolean", operand)


def as_integer(operand: ValueLike) -> Values:
    """Require a value to be an integer of 64 bits: ``as_integer(t.doc.size) > 3``.

    It gives a dynamic value (`DYNAMIC`) a type, so that engines can compute with it. Null and missing stay; one of
    another type is missing in permissive mode, and an error in strict mode.
    """
    return _own_call("as_integer", operand)


def as_float(operand: ValueLike) -> Values:
    """Require a value to be a number, as a float. See `as_integer`."""
    return _own_call("as_float", operand)


def as_text(operand: ValueLike) -> Values:
    """Require a value to be a string. See `as_integer`."""
    return _own_call("as_text", operand)


def dynamic(constant: ValueLike) -> Values:
    """Return a constant whose values are of any types: ``scan(dynamic([1, "two", {"x": None}]), as_="v")``.

    In a plan they are `DYNAMIC`, where those of other constants have one type. Raises as `lit` does.
    """
    return _own_call("dynamic", constant)
