"""Lowering to Substrait: a bindings expression becomes a relation, and its variables values in the rows.

The attributes of a variable over a table stay the relation's own columns, so that the plan is simple, and other engines
can run it. A list has columns for its order; it is sorted at the output, for no engine promises the order of rows
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, assert_never, cast

import attrs

from substrait_dsl import functions
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, NestedStruct, SortKey, literal
from substrait_dsl.algebra.relations import Cross, Fetch, Filter, Sort
from substrait_dsl.errors import EvaluationError, UnknownFieldError, UnsupportedError, quote, suggestion
from substrait_dsl.fluent.base import RelationBase, wrap_relation
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.expr import bound_expr
from substrait_dsl.fluent.scope import NO_ROW
from substrait_dsl.partiql import bindings as b
from substrait_dsl.partiql import expressions as e
from substrait_dsl.partiql.access import step_into, struct_of
from substrait_dsl.partiql.calls import call
from substrait_dsl.partiql.calls import cast as to_type
from substrait_dsl.partiql.collected_lists import collect_list_of, materialize_element
from substrait_dsl.partiql.conditions import DIRECTIONS, not_a_boolean, row_number
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.dynamic_constants import as_dynamic, dynamic_constants
from substrait_dsl.partiql.expressions import Id, MapValues, Pivot
from substrait_dsl.partiql.groups import lower_group_by
from substrait_dsl.partiql.interpreter import Mode, evaluate_value
from substrait_dsl.partiql.iteration import attributes, elements
from substrait_dsl.partiql.lateral import as_outer_reference, join_rows, new_anchor, shift_beside
from substrait_dsl.partiql.lowered import LoweredBindings, LoweredCollection, StoredTable, Tables, constants
from substrait_dsl.partiql.lowered_values import (
    NOTHING,
    Attributes,
    CollectedList,
    Column,
    Constant,
    ElementList,
    LoweredValue,
)
from substrait_dsl.partiql.node import BindingsExpr, Form, Node, ValueExpr, fields_of, form_of, walk
from substrait_dsl.partiql.operators import lower_operator
from substrait_dsl.partiql.padding import outer_join
from substrait_dsl.partiql.printing import data_text
from substrait_dsl.partiql.untyped import as_type, is_dynamic, require_typed, table_column
from substrait_dsl.partiql.values import MISSING

Scope = Mapping[str, LoweredValue]


def lower_bindings(expression: BindingsExpr, tables: Tables, mode: Mode) -> LoweredBindings:
    """Lower a bindings expression to a relation.

    Args:
        expression: the expression.
        tables: what the names that no scan binds stand for.
        mode: see `evaluate_value`.

    Raises:
        UnknownFieldError: a name that nothing binds.
        EvaluationError: in strict mode, what is known to have no value before any row is.
        UnsupportedError: what typed columns cannot hold, or is not lowered yet.
    """
    return _lowering(expression, tables, mode).lower_bindings(expression)


def lower_values(expression: ValueExpr, tables: Tables, mode: Mode) -> LoweredCollection:
    """Lower a value expression that is a collection; see `lower_bindings`."""
    return _lowering(expression, tables, mode).lower_collection(expression)


def _lowering(expression: Node, tables: Tables, mode: Mode) -> _Lowering:
    for name in sorted(expression.free - tables.keys()):
        raise UnknownFieldError(
            f'there is no variable or table "{name}"; there are {quote(tables)}', hint=suggestion(name, tables)
        )
    return _Lowering(tables, mode)


_MAX_ROWS = 2**63 - 1
"""The maximal number of rows of an engine: a larger limit or offset is the same."""


@attrs.frozen
class _Lowering:
    tables: Tables
    mode: Mode
    outer: Scope = attrs.field(factory=dict)
    """The variables of enclosing binding tuples."""

    # --- bindings

    def lower_bindings(self, expression: BindingsExpr) -> LoweredBindings:
        match cast(b.AnyBindingsExpr, expression):
            case b.Scan() as scan:
                return self.lower_scan(scan)
            case b.CrossJoin(left=left, right=right):
                return self.lower_cross(left, right)
            case b.Filter(condition=condition, source=source):
                return self.lower_filter(self.lower_bindings(source), condition)
            case b.Join(how="inner", left=left, right=right, condition=condition):
                pairs = self.lower_cross(left, right)
                return pairs if condition is None else self.lower_filter(pairs, condition)
            case b.Limit(count=count, source=source):
                return self.lower_fetch(source, self.evaluate_number(count, "limit"), None)
            case b.Offset(count=count, source=source):
                return self.lower_fetch(source, None, self.evaluate_number(count, "offset"))
            case b.OrderBy(keys=keys, source=source):
                return self.lower_order(keys, self.lower_bindings(source))
            case b.MapLet(named=named, source=source):
                rows, values = self.lower_each([one.value for one in named], self.lower_bindings(source))
                variables = {one.name: lowered for one, lowered in zip(named, values, strict=True)}
                for name, lowered in variables.items():
                    rows, variables[name] = rows.with_computed_columns(lowered, name)
                return attrs.evolve(rows, variables={**rows.variables, **variables})
            case b.GroupBy() as group_by:
                rows = self.lower_bindings(group_by.source)
                return lower_group_by(group_by, rows, lambda value: self.lower_value_over(value, rows))
            case b.Unpivot() as unpivot:
                return self.lower_unpivot(unpivot)
            case b.Join(how=how, left=left, right=right, condition=condition):
                true = literal(True, t.Boolean())
                return outer_join(
                    how,
                    *self.lower_sides(left, right),
                    lambda pairs: (
                        true
                        if condition is None
                        else self.lower_condition(self.lower_value_over(condition, pairs), pairs)
                    ),
                )
            case never:
                assert_never(never)

    def lower_scan(self, scan: b.Scan) -> LoweredBindings:
        """Return the elements of a collection, one for each row, with their index and their record id."""
        values = self.lower_collection(scan.value)
        rows, element = values.source.with_computed_columns(values.element, scan.as_)
        variables: dict[str, LoweredValue] = {scan.as_: element}
        if scan.at is not None:
            rows, variables[scan.at] = (rows, _place(values.index)) if values.index else self.add_index(rows)
        if scan.by is not None:
            variables[scan.by] = self.lower_record_id(scan.value)
        return attrs.evolve(rows, variables=variables)

    def lower_unpivot(self, unpivot: b.Unpivot) -> LoweredBindings:
        """Return the attributes of a struct, one for each row, with their names."""
        rows, value, name = attributes(self.lower_value(unpivot.value, self.outer), self.mode)
        named = ((unpivot.as_, value), (unpivot.at, name), (unpivot.by, NOTHING))
        return attrs.evolve(rows, variables={each: lowered for each, lowered in named if each is not None})

    def add_index(self, rows: LoweredBindings) -> tuple[LoweredBindings, LoweredValue]:
        """Return the index of each element of a list, counted in its order."""
        if rows.collection_type == "bag":
            return rows, NOTHING
        if rows.collection_type is None:
            raise UnsupportedError(
                "the index in a list that may be null or missing, once it is filtered or made anew, is not lowered"
            )
        rows, (number,) = rows.with_columns(("at", row_number(rows.order)))
        return rows, Column(call("subtract", number, literal(1, t.I64())))

    def lower_record_id(self, expression: ValueExpr) -> LoweredValue:
        name = expression.name if isinstance(expression, e.Id) else None
        table = self.tables.get(name) if name is not None and name not in self.outer else None
        if not isinstance(table, StoredTable):
            return NOTHING
        schema = table.relation._rel.schema
        position = schema.position(table.record_id)
        return Column(to_type(FieldReference(position, schema.fields[position].type), t.String()), "missing")

    def lower_cross(self, left: BindingsExpr, right: BindingsExpr) -> LoweredBindings:
        one, other, anchor = self.lower_sides(left, right)
        found = shift_beside(other.variables, len(one.rel.schema), anchor)
        rel = Cross(one.rel, other.rel) if anchor is None else join_rows(one.rel, other.rel, anchor)
        return LoweredBindings(rel, "bag", {**one.variables, **found})

    def lower_sides(
        self, left: BindingsExpr, right: BindingsExpr
    ) -> tuple[LoweredBindings, LoweredBindings, int | None]:
        """Return both sides of a join, and the anchor of the left row, if the right side refers to it."""
        one = self.lower_bindings(left)
        if not right.free & one.variables.keys():
            return one, self.lower_bindings(right), None
        anchor = new_anchor(one.rel)
        seen = {name: as_outer_reference(value, anchor) for name, value in one.variables.items()}
        return one, attrs.evolve(self, outer={**self.outer, **seen}).lower_bindings(right), anchor

    def lower_filter(self, rows: LoweredBindings, condition: ValueExpr) -> LoweredBindings:
        rows, (value,) = self.lower_each([condition], rows)
        return attrs.evolve(rows, rel=Filter(rows.rel, self.lower_condition(value, rows)))

    def lower_condition(self, lowered: LoweredValue, rows: LoweredBindings) -> Expression:
        """Lower a condition; a value that is no boolean is false, in strict mode an error unless it is null."""
        if isinstance(lowered, Column) and is_dynamic(lowered):
            lowered = as_type("as_boolean", lowered, self.mode)
        match lowered:
            case Column() if isinstance(lowered.type, t.Boolean):
                return lowered.expression
            case Constant(value=None | bool() as known):
                return literal(known, t.Boolean(nullable=True))
            case Constant(value=value) if value is MISSING:
                return to_literal(None)
        if self.mode == "permissive":
            return to_literal(None)
        return not_a_boolean(lowered, rows.rel.schema)

    def lower_fetch(self, source: BindingsExpr, count: int | None, offset: int | None) -> LoweredBindings:
        rows = self.lower_bindings(source)
        rel = Sort(rows.rel, rows.order) if rows.order else rows.rel
        count_literal, offset_literal = (
            None if n is None else literal(min(n, _MAX_ROWS), t.I64()) for n in (count, offset)
        )
        return attrs.evolve(rows, rel=Fetch(rel, count_literal, offset_literal))

    def evaluate_number(self, expression: ValueExpr, what: str) -> int:
        if not _is_closed(expression):
            raise UnsupportedError(f"a {what} that is computed from tables is not lowered to Substrait")
        value = evaluate_value(expression, {}, self.mode)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise EvaluationError(f"{what} is a number of tuples, 0 or more, not {data_text(value)}")
        return value

    def lower_order(self, keys: tuple[b.SortKey, ...], rows: LoweredBindings) -> LoweredBindings:
        """Return a list of the tuples: the keys become columns; equal tuples stay in their order."""
        order: list[SortKey] = []
        for key in keys:
            value = self.lower_value_over(key.key, rows)
            if isinstance(value, Constant):
                continue
            require_typed(value, "a key of an order by")
            if not isinstance(value, Column):
                raise UnsupportedError("an order by a struct or a collection is not lowered to Substrait")
            rows, (column,) = rows.with_columns(("key", value.expression))
            order.append(SortKey(column, DIRECTIONS[key.direction, key.nulls]))
        return attrs.evolve(rows, collection_type="list", order=(*order, *rows.order))

    # --- values

    def lower_collection(self, expression: ValueExpr) -> LoweredCollection:
        """Return a value as a collection; another value is a bag of itself."""
        match expression:
            case e.MapValues(value=value, source=source):
                rows, (element,) = self.lower_each([value], self.lower_bindings(source))
                return LoweredCollection(rows, element)
            case e.Id(name=name) if name in self.tables and name not in self.outer:
                table = self.tables[name]
                return self.lower_table(table) if isinstance(table, RelationBase | StoredTable) else constants(table)
            case e.Call(function="dynamic", arguments=(argument,)):
                lowered = self.lower_value(argument, self.outer)
                return (
                    dynamic_constants(lowered.value) if isinstance(lowered, Constant) else elements(as_dynamic(lowered))
                )
        return elements(self.lower_value(expression, self.outer))

    def lower_table(self, table: RelationBase | StoredTable) -> LoweredCollection:
        """Return the rows of a table, a bag of structs."""
        relation, record_id = (table.relation, table.record_id) if isinstance(table, StoredTable) else (table, None)
        rel = relation._rel
        fields = tuple(
            (field.name, table_column(FieldReference(position, field.type)))
            for position, field in enumerate(rel.schema)
            if field.name != record_id
        )
        return LoweredCollection(LoweredBindings(rel, "bag", {}), Attributes(fields))

    def lower_each(
        self, expressions: Sequence[ValueExpr], rows: LoweredBindings
    ) -> tuple[LoweredBindings, list[LoweredValue]]:
        """Lower value expressions over binding tuples; each query in them becomes a column first."""
        named, queries = extract_queries(expressions)
        scope = {**self.outer, **rows.variables}
        for name, query in queries.items():
            anchor = new_anchor(rows.rel)
            seen = {each: as_outer_reference(value, anchor) for each, value in rows.variables.items()}
            fold = collect_query(attrs.evolve(self, outer={**self.outer, **seen}).lower_collection(query))
            scope[name] = shift_beside(fold.variables, len(rows.rel.schema), anchor)[""]
            rows = attrs.evolve(rows, rel=join_rows(rows.rel, fold.rel, anchor))
        return rows, [self.lower_value(expression, scope) for expression in named]

    def lower_value_over(self, expression: ValueExpr, rows: LoweredBindings) -> LoweredValue:
        """Lower a value expression over binding tuples and the enclosing ones."""
        return self.lower_value(expression, {**self.outer, **rows.variables})

    def lower_value(self, expression: ValueExpr, scope: Scope) -> LoweredValue:
        """Lower a value expression in a scope."""
        if isinstance(expression, e.Call) and expression.function == "dynamic":
            return as_dynamic(self.lower_value(expression.arguments[0], scope))
        if _is_closed(expression):
            return Constant(evaluate_value(expression, {}, self.mode))
        match cast(e.AnyValueExpr, expression):
            case e.Id(name=name):
                if name in scope:
                    return scope[name]
                if not isinstance(source := self.tables[name], RelationBase | StoredTable):
                    return Constant(source)
                raise UnsupportedError(f'the table "{name}" as a value in a row is not lowered to Substrait')
            case e.Path(root=root, steps=steps):
                value = self.lower_value(root, scope)
                for step in steps:
                    value = step_into(value, self.lower_value(step, scope), self.mode)
                return value
            case e.StructExpr(pairs=pairs):
                values = [(self.lower_value(pair.name, scope), self.lower_value(pair.value, scope)) for pair in pairs]
                return struct_of(values, self.mode)
            case e.ListExpr(items=items):
                return ElementList("list", tuple(self.lower_value(item, scope) for item in items))
            case e.BagExpr(items=items):
                return ElementList("bag", tuple(self.lower_value(item, scope) for item in items))
            case e.Operator(op=op, operands=operands):
                return lower_operator(op, [self.lower_value(operand, scope) for operand in operands], self.mode)
            case e.Call(function=function, arguments=arguments):
                return lower_operator(
                    function, [self.lower_value(argument, scope) for argument in arguments], self.mode
                )
            case e.MapValues():
                raise UnsupportedError(
                    "map_values in the condition of an outer join, a key or an aggregate is not lowered to Substrait"
                )
            case e.Pivot():
                raise UnsupportedError("pivot as a value in a row is not lowered to Substrait")
            case e.Lit():
                raise AssertionError("a literal is closed")
            case never:
                assert_never(never)


def _place(index: FieldReference) -> Column:
    """Return the index of an element; it is missing outside of lists."""
    return Column(index, "missing" if index.type.nullable else "null")


def _is_closed(expression: ValueExpr) -> bool:
    """Whether an expression has no free variables and contains no query."""
    return not expression.free and not any(isinstance(node, BindingsExpr) for node in walk(expression))


# --- queries as values in a row: a column that collects the rows of the query


def extract_queries(expressions: Sequence[ValueExpr]) -> tuple[list[ValueExpr], dict[str, MapValues]]:
    """Replace each query that is not inside another one by a name; also return the queries by name."""
    queries: dict[str, MapValues] = {}

    def name_query(query: MapValues) -> Id:
        name = f"\0{len(queries)}"  # a name that no expression has
        queries[name] = query
        return Id(name)

    found = [_replace(expression, name_query) for expression in expressions]
    return found, queries


def _replace(node: Any, named: Callable[[MapValues], Id]) -> Any:
    if isinstance(node, MapValues):
        return named(node)
    if isinstance(node, Pivot):
        return node
    changed: dict[str, Any] = {}
    for field in fields_of(type(node)):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            changed[field.name] = _replace(value, named)
        elif isinstance(value, tuple) and form_of(field) is not Form.DATA:
            changed[field.name] = tuple(_replace(child, named) for child in value)
    return attrs.evolve(node, **changed) if changed else node


def collect_query(values: LoweredCollection) -> LoweredBindings:
    """Return the values of a query as one row, whose variable ``""`` is the collection of them.

    Raises `UnsupportedError` if it depends on the row around whether they are a bag or a list.
    """
    collection_type = values.source.collection_type
    if collection_type is None:
        raise UnsupportedError("a query in a row over a list that may be null or missing is not lowered to Substrait")
    element = materialize_element(values.element, "the value of a query")
    is_nullable = element.type.nullable
    # The fold leaves out what is NULL.
    item = NestedStruct((element,), names=("value",)) if is_nullable else element
    rows, (column,) = values.source.with_columns(("value", item))
    rel = wrap_relation(rows.rel).aggregate(values=collect_list_of(column, values.source.order))._rel
    collected: Expression = FieldReference(0, rel.schema.types[0])
    if is_nullable:
        collected = bind(functions.transform(bound_expr(collected, None), lambda each: each["value"]), NO_ROW)
    return LoweredBindings(rel, "bag", {"": CollectedList(Column(collected), values.element, collection_type)})
