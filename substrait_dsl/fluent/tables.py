"""Changes of tables and views without the rows of a relation: updates and data definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.schema import Field, NamedStruct
from substrait_dsl.algebra.types import Boolean
from substrait_dsl.errors import InvalidArgumentError, error_context
from substrait_dsl.fluent.base import S2, Condition, RelationBase, rel_of, table_name, wrap_relation
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.column_arguments import (
    Role,
    as_expression,
    call_function,
    evaluate_on_row,
    is_plain,
    require_condition,
    rows,
)
from substrait_dsl.fluent.expr import ExprBase, unwrap_constants
from substrait_dsl.fluent.schema_forms import Declared
from substrait_dsl.fluent.schemas import DynRow, SchemaLike, as_struct
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.fluent.writes import ObjectName, object_named

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation


@overload
def update(
    table: str | Sequence[str],
    schema: type[S2],
    changes: Mapping[str, object] | Callable[[S2], Mapping[str, object]],
    where: Condition | Callable[[S2], Condition] | Literal[True],
) -> Relation[DynRow]: ...
@overload
def update(
    table: str | Sequence[str],
    schema: Declared,
    changes: Mapping[str, object] | Callable[[DynRow], Mapping[str, object]],
    where: Condition | Callable[[DynRow], Condition] | Literal[True],
) -> Relation[DynRow]: ...
def update(table: str | Sequence[str], schema: SchemaLike, changes: Any, where: Any) -> Relation[DynRow]:
    """Give columns of a table other values, in the rows for which a condition is true.

    ``update("orders", Orders, {"price": lambda o: o.price * 2, "status": "dear"}, where=lambda o: o.price > 100)``

    Args:
        table: the table's name, several parts as a tuple.
        schema: its columns.
        changes: for each column to change its new value: an expression, a lambda that gets the row, or a Python value,
            which takes the type of the column, None for NULL; or a lambda that gets the row and returns all that.
        where: which rows: a condition, or True for all of them.

    Output: one column ``modified_records: i64``, how many rows were changed. Raises `UnknownFieldError`,
    `TypeMismatchError` for a value of another type than its column. Specification: ``UpdateRel``.

    Example:
        >>> dear = sd.update("orders", orders.schema, {"price": lambda o: o.price * 2.0}, where=lambda o: o.id > 9)
        >>> print(dear.schema)
        0  modified_records  i64
    """
    with error_context(verb="update"):
        struct = as_struct(schema)
        scope = Scope("update", (), struct)
        if callable(changes):
            changes = call_function(changes, scope, rows(scope))
        if not isinstance(changes, Mapping):
            raise InvalidArgumentError("changes is a dict of new values by column", got=changes)
        transformations = tuple(_transformation(column, value, scope) for column, value in changes.items())
        condition: ex.Expression = (
            ex.Literal(True, Boolean()) if where is True else evaluate_on_row(where, scope, Role.CONDITION)
        )
        require_condition(condition)
        names = rl.NamedTable(table_name(table))
        return wrap_relation(rl.Update(names, struct, condition, transformations, anchor=scope.anchor))


def _transformation(column: str | int, value: Any, scope: Scope) -> rl.Transformation:
    position = scope.schema.position(column)
    field = scope.schema.fields[position]
    with error_context(place="column", name=field.name):
        if callable(value) and not isinstance(value, ExprBase):
            value = call_function(value, scope, rows(scope))
        return rl.Transformation(position, _new_value(value, field, scope))


def _new_value(value: Any, field: Field, scope: Scope) -> ex.Expression:
    """Return an expression, or a Python value as a literal of the column's type."""
    return (
        ex.literal(unwrap_constants(value), field.type) if is_plain(value) else as_expression(value, scope, Role.VALUE)
    )


def create_table(
    name: ObjectName,
    schema: SchemaLike,
    defaults: Mapping[str, object] | None = None,
    *,
    or_replace: bool = False,
) -> Relation[DynRow]:
    """Create an empty table.

    Args:
        name: the table's name, several parts as a tuple; or an ``extension_object``.
        schema: its columns.
        defaults: default values by column, as Python values; a column that is not named defaults to NULL.
        or_replace: whether a table that is there already is replaced; else that is an error.

    Output: nothing. Raises `LiteralError` for a default that does not fit, `UnknownFieldError`. To make a table of rows
    write ``rel.write(name, "ctas")``. Specification: ``DdlRel``.

    Example:
        >>> print(sd.create_table("orders", {"id": "i64", "price": "fp64?"}, defaults={"id": 0, "price": 0.0}))
        ddl create table orders columns id: i64 default 0, price: fp64? default 0.0 -> no columns
    """
    with error_context(verb="create_table"):
        require_flag("or_replace", or_replace)
        return _table(name, schema, defaults, "create_or_replace" if or_replace else "create")


def alter_table(name: ObjectName, schema: SchemaLike, defaults: Mapping[str, object] | None = None) -> Relation[DynRow]:
    """Give a table other columns: those that it has afterwards.

    Args:
        name: the table's name, several parts as a tuple; or an ``extension_object``.
        schema: its columns.
        defaults: default values by column, as Python values; a column that is not named defaults to NULL.

    Output: nothing. Raises `LiteralError` for a default that does not fit, `UnknownFieldError`.
    Specification: ``DdlRel``.

    Example:
        >>> print(sd.alter_table("orders", {"id": "i64", "price": "decimal<15,2>?"}))
        ddl alter table orders columns id: i64, price: decimal<15,2>? -> no columns
    """
    with error_context(verb="alter_table"):
        return _table(name, schema, defaults, "alter")


def drop_table(name: ObjectName, *, if_exists: bool = False) -> Relation[DynRow]:
    """Remove a table.

    Args:
        name: the table's name, several parts as a tuple; or an ``extension_object``.
        if_exists: whether a table that is not there is no error.

    Output: nothing. Specification: ``DdlRel``.

    Example:
        >>> print(sd.drop_table("orders", if_exists=True))
        ddl drop_if_exist table orders -> no columns
    """
    with error_context(verb="drop_table"):
        require_flag("if_exists", if_exists)
        return wrap_relation(rl.Ddl(object_named(name), "table", "drop_if_exist" if if_exists else "drop"))


def create_view(name: ObjectName, relation: RelationBase, *, or_replace: bool = False) -> Relation[DynRow]:
    """Create a view.

    Args:
        name: the view's name, several parts as a tuple; or an ``extension_object``.
        relation: what the view stands for; its columns are the view's.
        or_replace: whether a view that is there already is replaced; else that is an error.

    Output: nothing. Raises `SchemaError` for a relation with two columns of one name. Specification: ``DdlRel``.

    Example:
        >>> print(sd.create_view("large", orders.filter(lambda o: o.price > 5.0)))
        ddl create view large columns id: i64, customer: i64, price: fp64? -> no columns
          filter price > 5.0
            read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="create_view"):
        require_flag("or_replace", or_replace)
        return _view(name, relation, "create_or_replace" if or_replace else "create")


def alter_view(name: ObjectName, relation: RelationBase) -> Relation[DynRow]:
    """Let a view stand for another relation.

    Args:
        name: the view's name, several parts as a tuple; or an ``extension_object``.
        relation: what the view stands for; its columns are the view's.

    Output: nothing. Raises `SchemaError` for a relation with two columns of one name. Specification: ``DdlRel``.

    Example:
        >>> print(sd.alter_view("large", orders.limit(10)))
        ddl alter view large columns id: i64, customer: i64, price: fp64? -> no columns
          fetch 10
            read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="alter_view"):
        return _view(name, relation, "alter")


def drop_view(name: ObjectName, *, if_exists: bool = False) -> Relation[DynRow]:
    """Remove a view.

    Args:
        name: the view's name, several parts as a tuple; or an ``extension_object``.
        if_exists: whether a view that is not there is no error.

    Output: nothing. Specification: ``DdlRel``.

    Example:
        >>> print(sd.drop_view("large"))
        ddl drop view large -> no columns
    """
    with error_context(verb="drop_view"):
        require_flag("if_exists", if_exists)
        return wrap_relation(rl.Ddl(object_named(name), "view", "drop_if_exist" if if_exists else "drop"))


def _table(name: ObjectName, schema: Any, defaults: Any, op: rl.DdlOp) -> Relation[DynRow]:
    if isinstance(schema, RelationBase):
        raise InvalidArgumentError(
            "expected a schema, got a relation",
            hint='rel.write(name, "ctas") makes a table of its rows; rel.schema is its schema, for an empty one',
        )
    struct = as_struct(schema)
    return wrap_relation(rl.Ddl(object_named(name), "table", op, struct, _defaults(defaults, struct)))


def _defaults(defaults: Any, struct: NamedStruct) -> tuple[ex.Literal, ...]:
    """Return a literal for each column.

    A message has one for each or none: so no default is a NULL, also where that fails.
    """
    if defaults is None:
        return ()
    if not isinstance(defaults, Mapping):
        raise InvalidArgumentError("defaults is a dict of values by column", got=defaults)
    values = {struct.position(column): value for column, value in defaults.items()}
    return tuple(_default(field, values.get(position)) for position, field in enumerate(struct))


def _default(field: Field, value: object) -> ex.Literal:
    with error_context(place="the default of", name=field.name):
        if isinstance(value, ExprBase):
            raise InvalidArgumentError("a default is a Python value, not an expression")
        return ex.literal(unwrap_constants(value), field.type.as_nullable() if value is None else field.type)


def _view(name: ObjectName, relation: RelationBase, op: rl.DdlOp) -> Relation[DynRow]:
    rel = rel_of(relation)
    return wrap_relation(rl.Ddl(object_named(name), "view", op, as_struct(rel.schema), view_definition=rel))
