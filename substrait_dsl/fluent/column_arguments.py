"""Column arguments of the verbs, resolved to expressions of the algebra over a relation's row."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from typing_extensions import TypeVar

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.rules import require_boolean
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import I64, Boolean
from substrait_dsl.errors import (
    Difference,
    InvalidArgumentError,
    SchemaError,
    SubstraitDslError,
    TypeMismatchError,
    UnknownFieldError,
    quote,
)
from substrait_dsl.fluent.arguments import NoValue
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.calls import scalar_call
from substrait_dsl.fluent.expr import DynExpr, ExprBase, SortKey, bound_expr
from substrait_dsl.fluent.guidance import bool_hint, no_column, require_no_shown
from substrait_dsl.fluent.namespace import CatalogFunction
from substrait_dsl.fluent.operators import PythonValue
from substrait_dsl.fluent.schemas import DynRow, Schema
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.texts import constant

R = TypeVar("R")
PACKAGE = "substrait_dsl"
"""Where the functions that people import say that they are from."""
ColumnLike = ExprBase | PythonValue | Callable[[R], ExprBase | PythonValue]


class Role:
    """The role of an expression in a verb.

    Args:
        noun: what messages call it.
        is_condition: whether it decides which rows there are, so that no value of Python's can stand for it.
    """

    __slots__ = ("is_condition", "noun")
    CONDITION: ClassVar[Role]
    CONDITION_OF_JOIN: ClassVar[Role]
    COLUMN: ClassVar[Role]
    KEY: ClassVar[Role]
    VALUE: ClassVar[Role]
    LIST: ClassVar[Role]
    FIELD: ClassVar[Role]
    ROW: ClassVar[Role]
    RESULT_OF_LAMBDA: ClassVar[Role]

    def __init__(self, noun: str, is_condition: bool = False) -> None:
        self.noun, self.is_condition = noun, is_condition


Role.CONDITION = Role("a condition", is_condition=True)
Role.CONDITION_OF_JOIN = Role("the condition", is_condition=True)
Role.COLUMN = Role("a column")
Role.KEY = Role("a key")
Role.VALUE = Role("a value")
Role.LIST = Role("a list")
Role.FIELD = Role("a field")
Role.ROW = Role("the row")
Role.RESULT_OF_LAMBDA = Role("what a lambda returns")


def is_list(value: object) -> bool:
    """Return whether a caller gave a list or tuple where one belongs, and no text."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def is_plain(value: object) -> bool:
    """Return whether a value is one of Python's own: no expression, and nothing that is taken for one."""
    return not isinstance(value, ExprBase | NoValue)


def rows(scope: Scope) -> list[DynRow]:
    """Return the rows that a lambda gets: one for each input of the scope, or that of a table."""
    if not scope.inputs:
        return [_row(scope, scope.schema, 0)]
    found: list[DynRow] = []
    offset = 0
    for rel in scope.inputs:
        found.append(_row(scope, rel.schema, offset))
        offset += len(rel.schema)
    return found


def _row(scope: Scope, schema: NamedStruct, offset: int) -> DynRow:
    return DynRow(schema, partial(_column_of_row, scope, schema, offset))


def _column_of_row(scope: Scope, schema: NamedStruct, offset: int, position: int) -> DynExpr:
    field = schema.fields[position]
    return bound_expr(ex.FieldReference(offset + position, field.type), scope, field.name)


def call_function(function: Callable[..., Any], scope: Scope, arguments: Sequence[DynRow]) -> Any:
    """Call a lambda with these rows; while it runs, the scope is open to correlated subqueries."""
    if isinstance(function, CatalogFunction) or getattr(function, "__module__", None) == PACKAGE:
        window = ".over(...)" if getattr(function, "kind", None) == "window" else ""
        raise InvalidArgumentError(
            f"{function.__name__} is a function of the library, not called",
            hint=f"call it: {function.__name__}(...){window}",
        )
    scope.open = True
    try:
        return call_with_rows(function, arguments)
    finally:
        scope.open = False


def call_with_rows(function: Callable[..., Any], arguments: Sequence[DynRow]) -> Any:
    """Call a lambda with these rows. Raises `InvalidArgumentError` for one that does not take so many."""
    try:
        return function(*arguments)
    except TypeError as error:
        if isinstance(error, SubstraitDslError) or takes(function, len(arguments)):
            raise
        if len(arguments) == 1:
            wanted, hint = "one row", None
        else:
            wanted = f"{len(arguments)} rows, one for each input"
            hint = "write lambda left, right: left.x == right.y" if len(arguments) == 2 else None
        raise InvalidArgumentError(f"{describe_function(function)} does not take {wanted}", hint=hint) from None


def describe_function(function: Callable[..., Any]) -> str:
    """Return a function of Python by its name and parameters."""
    name = getattr(function, "__name__", type(function).__name__).strip("<>")
    try:
        return f"{name}{inspect.signature(function)}"
    except ValueError:
        return name


def takes(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function of Python takes so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


def evaluate_on_row(value: Any, scope: Scope, role: Role, *, raw: bool = False) -> Any:
    """Return a value, or what a lambda returns for the one row that the scope's schema describes, as an expression.

    With `raw`, what the lambda returns is returned as it is.
    """
    if callable(value) and not isinstance(value, ExprBase):
        result = call_function(value, scope, [_row(scope, scope.schema, 0)])
        if raw:
            scope.open = True  # what it returned still refers to the row
        _require_no_bool(result, role, "but the lambda returned")
        return result if raw else as_expression(result, scope, role)
    return as_expression(value, scope, role)


def evaluate(value: Any, scope: Scope, role: Role) -> ex.Expression:
    """Return a value, an expression, or what a lambda returns for the rows of the scope, as an expression."""
    if isinstance(value, str) and role is not Role.CONDITION:
        error = no_column(f"expected {role.noun}", value)
        error.hint = _field_hint(value, scope) or error.hint
        raise error
    if callable(value) and not isinstance(value, ExprBase):
        value = call_function(value, scope, rows(scope))
        _require_no_bool(value, role, "but the lambda returned")
    return as_expression(value, scope, role)


def _require_no_bool(value: object, role: Role, came: str) -> None:
    """Raise `TypeMismatchError` for a condition that Python has made a bool of, as of ``"status" == "open"``."""
    if isinstance(value, bool) and role.is_condition:
        raise TypeMismatchError(
            f"{role.noun} is an expression, {came} {value}, which no row decides", hint=bool_hint(value)
        )


def as_expression(value: Any, scope: Scope, role: Role, what: str | None = None) -> ex.Expression:
    """Return a value, or an expression, as one of the algebra; `what` it is called in errors, if not by its role."""
    what = what or role.noun
    match value:
        case ExprBase():
            return bind(value, scope)
        case NoValue():
            raise TypeMismatchError(f"{what} is an expression, but {value._lacks}", hint=value._advice)
        case None:
            raise InvalidArgumentError(f"{what} is None", hint="null(type) is a NULL; a lambda must return something")
    if is_list(value) and any(isinstance(each, ExprBase) for each in value):
        advice = "write (x == 1) & (y == 2)" if role.is_condition else "list_of(x, y) makes a list of values"
        raise InvalidArgumentError(f"{what} is one expression, got a list of {len(value)}", hint=advice)
    if callable(value) and hasattr(value, "__name__"):
        name = value.__name__
        raise InvalidArgumentError(f"{what} is an expression, got {name}, not called", hint=f"call it: {name}(...)")
    _require_no_bool(value, role, "got")
    if role is Role.CONDITION:
        hint = "write lambda r: r.x > 5, or col('x') > 5" if isinstance(value, str) else None
        if isinstance(value, str) and value in scope.schema.names:
            hint = f"a column is col({constant(value)}), which is a condition if it is boolean"
        raise TypeMismatchError(f"{what} is a boolean expression", got=value, hint=hint)
    require_no_shown(value)
    return ex.literal(value, ex.natural_type(value))


def require_condition(condition: ex.Expression) -> None:
    """Raise `TypeMismatchError` unless the expression is a boolean."""
    require_boolean(condition.type, "the condition")


def all_of(conditions: Sequence[ex.Expression]) -> ex.Expression:
    """Return the conjunction of conditions."""
    return scalar_call("and", {}, None, None, conditions)


def join_condition(on: Any, scope: Scope) -> ex.Expression:
    """Return the condition of a join: an expression, a lambda of two rows, names of common columns, or True."""
    if on is True:
        return ex.Literal(True, Boolean())
    if on is False:
        raise InvalidArgumentError(
            "the condition is an expression, names of columns or True, got False",
            hint="lambda l, r: l.x == r.y compares columns; lit(False) is a condition that no rows meet",
        )
    if isinstance(on, Mapping):
        raise InvalidArgumentError(
            "the condition is an expression, names of columns or True", got=on, hint=NAMES_DIFFER
        )
    names = [on] if isinstance(on, str) else on
    if not isinstance(names, Sequence) or isinstance(on, ExprBase):
        return evaluate(on, scope, Role.CONDITION_OF_JOIN)
    if not names:
        raise InvalidArgumentError("expected at least one column to join on", hint="on=True matches everything")
    left, right = scope.inputs
    pairs: list[tuple[int, int]] = []
    for name in names:
        if not isinstance(name, str):
            hint = NAMES_DIFFER if is_list(name) else None
            raise InvalidArgumentError("expected the name of a column of both sides", got=name, hint=hint)
        one, other = key_position("left", left, name, right), key_position("right", right, name, left)
        pairs.append((one, len(left.schema) + other))
    return equal_columns(pairs, scope)


def equal_columns(pairs: Sequence[tuple[int, int]], scope: Scope) -> ex.Expression:
    """Return that the columns of each pair are equal; they are positions in the row of the scope."""
    equalities: list[ex.Expression] = [
        scalar_call("equal", {}, None, None, [scope.column(one), scope.column(other)]) for one, other in pairs
    ]
    return equalities[0] if len(equalities) == 1 else all_of(equalities)


NAMES_DIFFER = "columns of different names need a lambda: lambda l, r: l.x == r.y"


def key_position(side: str, rel: rl.Rel, name: str, other: rl.Rel | None = None) -> int:
    """Return the position of a column of one side of a join, by name.

    One of the other side has it, too, if that is given.
    """
    try:
        return rel.schema.position(name)
    except UnknownFieldError as error:
        is_other = other is not None and name in other.schema.names
        hint = NAMES_DIFFER if is_other else error.hint or NAMES_DIFFER
        raise UnknownFieldError(f"on the {side} side", reason=error, hint=hint) from None


Picked = tuple[str, int | ex.Expression]
"""A column of a result: its name, and a column of the input by position, or an expression."""


def pick(chosen: Sequence[Any], scope: Scope) -> list[Picked]:
    """Columns given by name, position, expression or lambda, with the names they have."""
    picked: list[Picked] = []
    for each in chosen:
        item = each
        if isinstance(item, str | int) and not isinstance(item, bool):
            position = _position(item, scope)
            picked.append((scope.schema.fields[position].name, position))
            continue
        if callable(item) and not isinstance(item, ExprBase):
            item = call_function(item, scope, rows(scope))  # the item is what the lambda makes of it
        if not isinstance(item, ExprBase):
            if isinstance(item, NoValue):
                as_expression(item, scope, Role.COLUMN)
            hint = unpacking_hint(item)
            if hint is not None and item is not each:
                hint = "a lambda returns one column: write lambda r: r.x, lambda r: r.y"
            raise InvalidArgumentError("expected the name of a column or an expression", got=item, hint=hint)
        expression = bind(item, scope)
        picked.append((_name_of(item, expression, scope), expression))
    return picked


def chosen_column(value: Any, scope: Scope, role: Role) -> ex.Expression:
    """As `evaluate`, but that a text is the name of a column, as it is where columns are chosen without new names."""
    if not isinstance(value, str):
        return evaluate(value, scope, role)
    try:
        return scope.column(_position(value, scope))
    except UnknownFieldError as error:
        error.hint = error.hint or f"lit({value!r}) is a constant text"
        raise


def _position(column: str | int, scope: Scope) -> int:
    try:
        return scope.schema.position(column)
    except UnknownFieldError as error:
        if column == "*":
            error.hint = "with_columns(...) keeps all columns, select(*relation.columns) names them"
        elif isinstance(column, str):
            error.hint = _field_hint(column, scope) or error.hint or _expression_hint(column)
        raise


def _expression_hint(text: str) -> str | None:
    """Return the hint for a text that is an SQL expression."""
    is_computed = re.search(r"\w\s*(?:[-+*/(=<>]|\bas\b)", text, re.IGNORECASE)
    return 'text of SQL is not read: write x=col("y") + 1, or x=lambda r: r.y + 1' if is_computed else None


def _field_hint(text: str, scope: Scope) -> str | None:
    """Return the hint for a text with a point that means the field of a struct: ``"person.name"``."""
    column, *parts = text.split(".")
    if not parts or column not in scope.schema.names:
        return None
    return f'write col("{column}")' + "".join(f'["{part}"]' for part in parts)


def unpacking_hint(value: object) -> str | None:
    """Return the hint for several columns, or relations, in one list."""
    return "give them one by one: *[...]" if is_list(value) else None


def keys_of(chosen: Sequence[Any], scope: Scope) -> list[tuple[str, ex.Expression]]:
    """As `pick`, with an expression for every column."""
    return [(name, scope.column(of) if isinstance(of, int) else of) for name, of in pick(chosen, scope)]


def _name_of(item: ExprBase, expression: ex.Expression, scope: Scope) -> str:
    if item._name is not None:
        return item._name
    if isinstance(expression, ex.FieldReference) and expression.root == ex.ROOT:
        return scope.schema.fields[expression.position].name
    raise SchemaError("the expression has no name", hint='give it one: expression.alias("name"), or name=expression')


def require_name(name: object) -> None:
    """Raise `InvalidArgumentError` for what cannot be the name of a column."""
    if not isinstance(name, str):
        raise InvalidArgumentError("the name of a column is a str", got=name)


def require_distinct(names: Sequence[str]) -> None:
    """Raise `SchemaError` for a name that stands twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SchemaError(f'two columns would be called "{name}"', names=[name], hint="give one of them an alias")
        seen.add(name)


def unused_names(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Return names for columns that people do not see, with numbers where they are taken: ``sum``, ``sum_2``."""
    found: list[str] = []
    for name in names:
        number, candidate = 1, name
        while candidate in taken or candidate in found:
            number += 1
            candidate = f"{name}_{number}"
        found.append(candidate)
    return found


def row_count(name: str, value: object, scope: Scope) -> ex.Expression | None:
    """Return a number of rows: an int, an expression over no row, or None."""
    if value is None:
        return None
    if isinstance(value, ExprBase):
        return bind(value, scope)
    if type(value) is not int:
        raise TypeMismatchError(f"the {name} is a number of rows", got=value)
    return ex.literal(value, I64())


def _sort_column(column: str | int, scope: Scope) -> ex.FieldReference:
    try:
        return scope.column(column)
    except UnknownFieldError as error:
        name, _, order = str(column).removeprefix("-").partition(" ")
        if name in scope.schema.names and (str(column).startswith("-") or order.lower() in ("asc", "desc")):
            error.hint = f"write {'asc' if order.lower() == 'asc' else 'desc'}({constant(name)})"
        elif name.lower() in ("asc", "desc"):
            error.hint = f'the column stands in the key: {name.lower()}("x")'
        raise


def sort_keys(keys: Sequence[Any], scope: Scope) -> tuple[ex.SortKey, ...]:
    """Sort keys given by name, position, expression, `SortKey` or lambda; a bare one is ascending, NULLs first."""
    found: list[ex.SortKey] = []
    for item in keys:
        if callable(item) and not isinstance(item, ExprBase):
            item = call_function(item, scope, rows(scope))  # the item is what the lambda makes of it
        key = item if isinstance(item, SortKey) else SortKey(item, "asc_nulls_first")
        expression = key_expression(key.expression, scope, "sort")
        direction = key.direction if isinstance(key.direction, str) else key.direction(expression.type)
        found.append(ex.SortKey(expression, direction))
    return tuple(found)


def key_expression(of: Any, scope: Scope, verb: str) -> ex.Expression:
    """Return a column to sort or partition by, given by name, position, expression or lambda."""
    if callable(of) and not isinstance(of, ExprBase):
        of = call_function(of, scope, rows(scope))
    if isinstance(of, str | int) and not isinstance(of, bool):
        return _sort_column(of, scope)
    if isinstance(of, ExprBase):
        return bind(of, scope)
    raise InvalidArgumentError(f"expected a column or an expression to {verb} by", got=of, hint=unpacking_hint(of))


def compute(rel: rl.Rel, named: Sequence[Picked], scope: Scope) -> rl.Rel:
    """Return a relation of exactly these columns.

    An emit where they are columns of the input, else a project and an emit.
    """
    width = len(rel.schema)
    mapping: list[int] = []
    computed: list[tuple[str, ex.Expression]] = []
    for name, of in named:
        if isinstance(of, int):
            mapping.append(of)
        elif isinstance(of, ex.FieldReference) and of.root == ex.ROOT:
            mapping.append(of.position)
        else:
            mapping.append(width + len(computed))
            computed.append((name, of))
    if computed:
        names, expressions = zip(*computed, strict=True)
        rel = rl.Project(rel, expressions, names, anchor=scope.anchor)
    after = [name for name, _ in named]
    same = after == [rel.schema.fields[position].name for position in mapping]
    return rl.emit(rel, mapping, None if same else after)


def project_declared_columns(rel: rl.Rel, row: Any, scope: Scope) -> rl.Rel:
    """Return the relation of the columns that an instance of a schema class names."""
    if not isinstance(row, Schema) or isinstance(row, DynRow):
        raise InvalidArgumentError("the lambda returns an instance of a Schema class", got=row)
    struct = row.__struct__
    named = [
        (name, as_expression(row.__columns__[name], scope, Role.COLUMN, f'column "{name}"')) for name in struct.names
    ]
    scope.open = False
    result = compute(rel, named, scope)
    require_declared(result.schema, type(row))
    return result


def _require_schema_class(declaration: object) -> None:
    if not (isinstance(declaration, type) and issubclass(declaration, Schema)):
        raise InvalidArgumentError("expected a Schema class", got=declaration)


def require_declared(schema: NamedStruct, declaration: type[Schema]) -> None:
    """Raise `SchemaError` with every difference between columns and a schema class that should describe them."""
    _require_schema_class(declaration)
    if type(declaration) is not type:  # as that of a class which gets its columns here
        from substrait_dsl.fluent.open_schemas import give_columns

        give_columns(declaration, schema)
    expected = declaration.__struct__
    if sorted(schema.names) == sorted(expected.names) and schema.names != expected.names:
        raise SchemaError(
            f"the columns are in another order: {', '.join(schema.names)} instead of {', '.join(expected.names)}",
            hint=f"select({quote(expected.names)}) first",
        )
    differences = _differences(schema, expected)
    if not differences and len(schema) != len(expected):
        raise SchemaError(f"the columns are not those of {declaration.__name__}: a name stands twice")
    if differences:
        hint = None
        if all(difference.is_of_nullability for difference in differences):
            from substrait_dsl.hints import advice

            hint = f"declare it Nullable[...], or {advice('errors', 'null-in-required')}"
        elif expected.names and set(expected.names) < set(schema.names):
            hint = f"select({quote(expected.names)}) first"
        raise SchemaError.of_columns(declaration.__name__, differences, hint)


def _differences(schema: NamedStruct, declared: NamedStruct) -> list[Difference]:
    """Return how columns differ from declared ones of the same names in the same order, or which names only one has."""
    types, expected = (dict(zip(each.names, map(str, each.types), strict=True)) for each in (schema, declared))
    missing = [Difference(name, type_, None) for name, type_ in expected.items() if name not in types]
    surplus = [Difference(name, None, type_) for name, type_ in types.items() if name not in expected]
    if missing or surplus or len(schema) != len(declared):
        return missing + surplus
    return [
        Difference(field.name, str(wanted.type), str(field.type), field.type.matches(wanted.type))
        for field, wanted in zip(schema, declared, strict=True)
        if not field.type.matches(wanted.type) or (field.type.nullable and not wanted.type.nullable)
    ]
