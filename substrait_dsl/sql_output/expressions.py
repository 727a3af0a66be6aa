"""Expressions as trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Literal

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Expression, Node, Rel
from substrait_dsl.algebra.null_filters import is_never_null
from substrait_dsl.errors import UnsupportedError, class_words
from substrait_dsl.sql_output.datetimes import interval_of, write_shift
from substrait_dsl.sql_output.dialects import Dialect, require_same_fields, simple_names
from substrait_dsl.sql_output.functions import operands, write_function
from substrait_dsl.sql_output.literals import write_cast, write_literal, write_struct
from substrait_dsl.sql_output.names import distinct_names, identifier
from substrait_dsl.sql_output.window_functions import write_window
from substrait_dsl.sql_output.written import Written, connect, fill

if TYPE_CHECKING:
    from sqlglot import exp

Columns = Sequence[Written]
Outer = Mapping[int, Columns]

Place = Literal["filter", "condition", "value"]
"""Where an expression stands: what rows are filtered by, or a part of it that AND connects; what OR connects there, so
that it is the same whether it is NULL or false; anywhere else."""

COMPARISONS = {"eq": "=", "ne": "<>", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}


MAX_PARTS = 50_000
"""Of so many nodes an expression may be, of which those that are shared count each time."""


@attrs.frozen
class Scope:
    """What expressions see."""

    columns: Columns
    """Those of their own row."""
    outer: Outer
    """Those of enclosing rows, by anchor."""
    dialect: Dialect
    subquery: Callable[[Rel, Outer], exp.Query]
    """Writes the relation of a subquery, inside of enclosing rows."""
    place: Place = "value"
    checks: Mapping[int, Node] = attrs.field(factory=dict)
    """Casts to a required type that meet no NULL, by their ids."""

    def with_place(self, place: Place) -> Scope:
        """Return the scope of a part of an expression."""
        return self if self.place == place else attrs.evolve(self, place=place)

    def as_value(self) -> Scope:
        """Return the scope of a part whose value matters."""
        return self.with_place("value")


def write(expression: Expression, scope: Scope) -> Written:  # a closed union
    """Write an expression. Raises `UnsupportedError` for one that is not written."""
    dialect = scope.dialect
    if expression.size > MAX_PARTS:
        raise UnsupportedError(
            f"an expression of {expression.size} parts is not written as SQL",
            hint="make parts of it that are used several times columns first, by with_columns(...)",
        )
    match ex.as_union(expression):
        case ex.Literal() as literal:
            return write_literal(literal, dialect)
        case ex.FieldReference(position=position, root=ex.RootReference()):
            return _as_nullable(scope.columns[position], expression.type)
        case ex.FieldReference(position=position, root=ex.OuterReference(anchor)):
            return _as_nullable(scope.outer[anchor][position], expression.type)
        case ex.ScalarFunction() as call:
            return _write_call(call, scope)
        case ex.Cast() as cast:
            value = write(cast.input, scope.as_value())
            if id(cast) not in scope.checks and not is_never_null(cast.input):
                return write_cast(cast, value, dialect)
            written = write_cast(attrs.evolve(cast, target=cast.target.as_nullable()), value, dialect)
            return attrs.evolve(written, type=cast.target)
        case ex.IfThen() as choice:
            return _write_if(choice, scope)
        case ex.Switch() as switch:
            return _write_switch(switch, scope.as_value())
        case ex.SingularOrList(value=value, options=options):
            trees = operands([write(each, scope.as_value()) for each in (value, *options)], dialect, needs_types=False)
            places = ", ".join(f"{{{number}}}" for number in range(1, len(trees)))
            return Written(fill(f"{{0}} IN ({places})", trees, {}, dialect), expression.type)
        case ex.ScalarSubquery(input=rel):
            return Written(_bracketed(scope.subquery(rel, scope.outer)), expression.type)
        case ex.SetPredicate(op="exists", tuples=rel):
            _require_place(scope, "an EXISTS")
            return Written(exists(scope.subquery(rel, scope.outer)), expression.type)
        case ex.InPredicate(needles=needles, haystack=rel):
            return _write_in(needles, rel, expression.type, scope)
        case ex.SetComparison() as comparison:
            return _write_comparison(comparison, scope)
        case ex.WindowFunction(call=call, partitions=partitions, sorts=sorts):
            inside = scope.as_value()
            return write_window(call, partitions, sorts, lambda part: write(part, inside), dialect)
        case ex.NestedList(values=elements):
            trees = [write(each, scope.as_value()).cast(dialect) for each in elements]
            return Written(_list(trees, dialect), expression.type)
        case ex.NestedStruct(fields=fields):
            return write_struct([write(each, scope.as_value()) for each in fields], expression.type, dialect)
        case ex.FieldAccess(input=value, segment=ex.StructField(position)):
            return _write_field(write(value, scope.as_value()), position, expression.type, dialect)
        case ex.SetPredicate(tuples=rel):
            return _write_unique(rel, scope)
        case other:
            raise _refusal(class_words(other), dialect)


def _list(elements: Sequence[exp.Expr], dialect: Dialect) -> exp.Expr:
    places = ", ".join(f"{{{number}}}" for number in range(len(elements)))
    return fill(f"[{places}]" if dialect.name == "duckdb" else f"ARRAY({places})", elements, {}, dialect)


def _as_nullable(column: Written, type_: t.Type) -> Written:
    """Return a column that is nullable where the step below made it so: an outer join, another set of keys."""
    if column.type.nullable or not type_.nullable:
        return column
    return attrs.evolve(column, type=column.type.as_nullable())


def _write_field(struct: Written, position: int, type_: t.Type, dialect: Dialect) -> Written:
    from sqlglot import exp

    dialect.type_text(struct.type, is_ordered=False)
    name = simple_names(struct.type)[position]
    if dialect.name == "duckdb":
        parts = [struct.cast(dialect), exp.Literal.string(name)]
        return Written(fill("STRUCT_EXTRACT({0}, {1})", parts, {}, dialect), type_)
    field = exp.Dot(this=exp.Paren(this=struct.cast(dialect).copy()), expression=exp.to_identifier(name, quoted=True))
    return Written(field, type_)


def _refusal(what: str, dialect: Dialect) -> UnsupportedError:
    return UnsupportedError(
        f"{what} is not written as SQL of {dialect.title}", hint="execute(session) runs the plan that has it"
    )


def _write_call(call: ex.ScalarFunction, scope: Scope) -> Written:
    """Write a call."""
    inside = scope.as_value()
    interval = interval_of(call)
    if interval is not None:
        shifted = next(each for each in call.arguments if isinstance(each, Expression))
        return write_shift(call, interval, write(shifted, inside), scope.dialect)
    match call.function.standard_name, call.arguments[:1]:
        case "and", _:
            inside = scope
        case "or", _ if scope.place == "filter":
            inside = scope.with_place("condition")
        case "not", (ex.SetPredicate(),):
            inside = scope
        case "not", (ex.InPredicate(),) if scope.place == "filter":
            inside = scope
    values = [write(each, inside) for each in call.arguments if isinstance(each, Expression)]
    return write_function(call, values, scope.dialect)


def _write_if(choice: ex.IfThen, scope: Scope) -> Written:
    inside = scope.as_value()
    trees = _results([*(clause.then for clause in choice.clauses), choice.otherwise], inside)
    conditions = [write(clause.condition, inside).tree for clause in choice.clauses]
    return _case(None, conditions, trees, choice.type, scope.dialect)


def _write_switch(switch: ex.Switch, scope: Scope) -> Written:
    trees = _results([*(case.then for case in switch.cases), switch.otherwise], scope)
    values = [write(case.value, scope).tree for case in switch.cases]
    return _case(write(switch.match, scope).tree, values, trees, switch.type, scope.dialect)


def _results(results: Sequence[Expression], scope: Scope) -> list[exp.Expr]:
    """Return what a CASE may give; in it small integers would be of the type of a constant beside them."""
    require_same_fields([each.type for each in results])
    written = [write(each, scope) for each in results]
    if isinstance(results[0].type, t.I8 | t.I16):
        return [each.cast(scope.dialect) for each in written]
    return operands(written, scope.dialect, needs_types=True)


def _case(
    value: exp.Expr | None,
    conditions: Sequence[exp.Expr],
    results: Sequence[exp.Expr],
    type_: t.Type,
    dialect: Dialect,
) -> Written:
    from sqlglot import exp

    ifs = [exp.If(this=test.copy(), true=then.copy()) for test, then in zip(conditions, results, strict=False)]
    last = results[-1]
    is_null = isinstance(last, exp.Null)
    tree = exp.Case(this=value and value.copy(), ifs=ifs, default=None if is_null else last.copy())
    return Written(tree, type_)


# --- subqueries


def _bracketed(query: exp.Query) -> exp.Subquery:
    from sqlglot import exp

    return exp.Subquery(this=query)


def exists(query: exp.Query) -> exp.Expr:
    """Return whether a query has a row; what its columns are does not matter, nor does an order."""
    from sqlglot import exp

    if isinstance(query, exp.Select) and not query.args.get("group") and not query.find(exp.AggFunc, exp.Distinct):
        query.set("expressions", [exp.Literal.number(1)])
        query.set("order", None)
    return exp.Exists(this=query)


def _require_place(scope: Scope, what: str) -> None:
    """Raise `UnsupportedError` where Spark takes no such subquery, or takes NULL for false."""
    if scope.dialect.name == "spark" and scope.place == "value":
        raise UnsupportedError(
            f"{what} subquery whose value is put out or computed with is not written as SQL of Spark",
            hint="filter by it, or join with how='left' and test a column of the other relation",
        )


def _write_in(needles: Sequence[Expression], rel: Rel, type_: t.Type, scope: Scope) -> Written:
    from sqlglot import exp

    _require_place(scope, "an IN")
    for needle in needles:
        scope.dialect.type_text(needle.type)
    inside = scope.as_value()
    values = [write(each, inside).cast(scope.dialect) for each in needles]
    if len(values) > 1:
        columns = rel.schema.types
        has_null = any(each.type.nullable for each in needles) or any(column.nullable for column in columns)
        if scope.dialect.name == "duckdb" and (has_null or rel.free_anchors):
            return _write_in_of_several(needles, values, rel, type_, scope)
        if has_null:
            raise _refusal("an IN subquery of several columns of which one may be NULL", scope.dialect)
    left = values[0].copy() if len(values) == 1 else exp.Tuple(expressions=[each.copy() for each in values])
    if isinstance(left, exp.Binary):
        left = exp.Paren(this=left)
    return Written(exp.In(this=left, query=_bracketed(scope.subquery(rel, scope.outer))), type_)


def _write_in_of_several(
    needles: Sequence[Expression], values: Sequence[exp.Expr], rel: Rel, type_: t.Type, scope: Scope
) -> Written:
    """Write whether a row is in others as whether there is an equal one, or else one that may be equal."""
    from sqlglot import exp

    if any(needle.flags.has_window_functions or needle.flags.has_subqueries for needle in needles):
        raise _refusal(
            "an IN subquery of several columns of which one is computed by a window or a subquery", scope.dialect
        )
    tables = {column.table for value in values for column in value.find_all(exp.Column)}
    alias = next(name for name in (f"r{number}" for number in count()) if name not in tables)
    columns = [exp.Column(this=identifier(name), table=identifier(alias)) for name in distinct_names(rel.schema.names)]
    tests = [
        fill("{0} = {1}", [value, column], {}, scope.dialect) for value, column in zip(values, columns, strict=True)
    ]
    equal = tests[0]
    for test in tests[1:]:
        equal = connect(exp.And, equal, test)

    def there(condition: exp.Expr) -> exp.Exists:
        rows = exp.Subquery(this=scope.subquery(rel, scope.outer), alias=exp.TableAlias(this=identifier(alias)))
        return exp.Exists(this=exp.select(exp.Literal.number(1)).from_(rows).where(condition))

    if not type_.nullable:
        return Written(there(equal), type_)
    ifs = [
        exp.If(this=there(equal), true=exp.Boolean(this=True)),
        exp.If(
            this=exp.Not(this=there(fill("({0}) IS NULL", [equal], {}, scope.dialect))), true=exp.Boolean(this=False)
        ),
    ]
    return Written(exp.Case(ifs=ifs), type_)


def _write_unique(rel: Rel, scope: Scope) -> Written:
    """Write whether no two rows are equal; a row with a NULL in it equals none."""
    from sqlglot import exp

    _require_place(scope, "a UNIQUE")
    if scope.dialect.name == "spark" and rel.free_anchors:
        raise _refusal("a test whether rows are unique that refers to rows around it", scope.dialect)
    for type_ in rel.schema.types:
        scope.dialect.type_text(type_, is_ordered=False)
    rows = scope.subquery(rel, scope.outer)
    columns = [exp.Column(this=identifier(name)) for name in distinct_names(rel.schema.names)]
    tree = exp.select(exp.Literal.number(1)).from_(exp.Subquery(this=rows, alias=exp.TableAlias(this=identifier("r"))))
    for column, type_ in zip(columns, rel.schema.types, strict=True):
        if type_.nullable:
            tree = tree.where(fill("NOT {0} IS NULL", [column], {}, scope.dialect), copy=False)
    tree = tree.group_by(*columns, copy=False).having("COUNT(*) > 1", copy=False)
    return Written(exp.Not(this=exp.Exists(this=tree)), t.Boolean())


def _write_comparison(node: ex.SetComparison, scope: Scope) -> Written:
    from sqlglot import exp

    if scope.dialect.name == "spark":
        raise _refusal(f"a comparison with {node.reduction} row of a subquery", scope.dialect)
    left = write(node.left, scope.as_value()).cast(scope.dialect)
    reduction = exp.Any if node.reduction == "any" else exp.All
    tree = fill(f"{{0}} {COMPARISONS[node.comparison]} {{1}}", [left, exp.Null()], {}, scope.dialect)
    tree.set("expression", reduction(this=_bracketed(scope.subquery(node.right, scope.outer))))
    return Written(tree, node.type)
