"""Lowering to Substrait: a bindings expression becomes a relation, and what its variables are in the row of it.

The attributes of a variable over a table stay the relation's own columns, so the plan is the one that a user of
Substrait would write, and other engines can run it. A list carries what its order is by as columns; it is sorted where
it is output, for no engine promises the order of rows otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, assert_never, cast

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference, SortKey, literal
from substrait_dsl.algebra.relations import Cross, Fetch, Filter, Sort
from substrait_dsl.errors import EvaluationError, UnknownFieldError, UnsupportedError, kind_words, quoted, suggestion
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.partiql import bindings as b
from substrait_dsl.partiql import expressions as e
from substrait_dsl.partiql.calls import call
from substrait_dsl.partiql.calls import cast as to_type
from substrait_dsl.partiql.conditions import DIRECTIONS, not_a_boolean, row_number
from substrait_dsl.partiql.constants import to_literal
from substrait_dsl.partiql.groups import aggregated, measure, prepared
from substrait_dsl.partiql.interpreter import Mode, evaluate_value
from substrait_dsl.partiql.lowered import LoweredBindings, LoweredValues, StoredTable, Tables, constants
from substrait_dsl.partiql.node import BindingsExpr, Node, ValueExpr, walk
from substrait_dsl.partiql.operators import lowered
from substrait_dsl.partiql.printing import data_text
from substrait_dsl.partiql.terms import (
    NOTHING,
    Attributes,
    Column,
    Constant,
    Elements,
    Term,
    attribute,
    opened,
    require_known,
    shifted,
)
from substrait_dsl.partiql.values import MISSING

if TYPE_CHECKING:
    pass

Scope = Mapping[str, Term]


def lower_bindings(expression: BindingsExpr, tables: Tables, mode: Mode) -> LoweredBindings:
    """The relation of a bindings expression.

    Args:
        expression: the expression.
        tables: what the names that no scan binds stand for.
        mode: see `evaluate_value`.

    Raises:
        UnknownFieldError: a name that nothing binds.
        EvaluationError: in strict mode, what is known to have no value before any row is.
        UnsupportedError: what typed columns cannot hold, or is not lowered yet.
    """
    return _lowering(expression, tables, mode).bindings(expression)


def lower_values(expression: ValueExpr, tables: Tables, mode: Mode) -> LoweredValues:
    """The relation of a value expression that is a collection; see `lower_bindings`."""
    return _lowering(expression, tables, mode).collection(expression)


def _lowering(expression: Node, tables: Tables, mode: Mode) -> _Lowering:
    for name in sorted(expression.free - tables.keys()):
        raise UnknownFieldError(
            f'there is no variable or table "{name}"; there are {quoted(tables)}', hint=suggestion(name, tables)
        )
    return _Lowering(tables, mode)


@attrs.frozen
class _Lowering:
    tables: Tables
    mode: Mode

    # --- bindings

    def bindings(self, expression: BindingsExpr) -> LoweredBindings:
        match cast(b.AnyBindingsExpr, expression):
            case b.Scan() as scan:
                return self.scan(scan)
            case b.CrossJoin(left=left, right=right):
                return self.crossed(left, right)
            case b.Filter(condition=condition, source=source):
                return self.filtered(self.bindings(source), condition)
            case b.Join(how="inner", left=left, right=right, condition=condition):
                pairs = self.crossed(left, right)
                return pairs if condition is None else self.filtered(pairs, condition)
            case b.Limit(count=count, source=source):
                return self.fetched(source, self.number(count, "limit"), None)
            case b.Offset(count=count, source=source):
                return self.fetched(source, None, self.number(count, "offset"))
            case b.OrderBy(keys=keys, source=source):
                return self.ordered(keys, self.bindings(source))
            case b.MapLet(named=named, source=source):
                rows = self.bindings(source)
                made = {one.name: self.value(one.value, rows.variables) for one in named}
                for name, term in made.items():
                    rows, made[name] = rows.holding(term, name)
                return attrs.evolve(rows, variables={**rows.variables, **made})
            case b.GroupBy(group_as=None) as group_by:
                return self.grouped(group_by, self.bindings(group_by.source))
            case b.Join() | b.GroupBy() | b.Unpivot() as other:
                how = f"a {other.how} join" if isinstance(other, b.Join) else kind_words(other)
                raise UnsupportedError(f"{how} is not lowered to Substrait yet: evaluate_bindings interprets it")
            case never:
                assert_never(never)

    def scan(self, scan: b.Scan) -> LoweredBindings:
        """The elements of a collection, one for each row, with their index and their record id."""
        values = self.collection(scan.value)
        rows, element = values.source.holding(values.element, scan.as_)
        variables: dict[str, Term] = {scan.as_: element}
        if scan.at is not None:
            rows, variables[scan.at] = (rows, Column(values.index)) if values.index else self.indexed(rows)
        if scan.by is not None:
            variables[scan.by] = self.record_id(scan.value)
        return attrs.evolve(rows, variables=variables)

    def indexed(self, rows: LoweredBindings) -> tuple[LoweredBindings, Term]:
        """The index of each element of a list, counted anew in its order."""
        if rows.kind == "bag":
            return rows, NOTHING
        rows, (number,) = rows.with_columns(("at", row_number(rows.order)))
        return rows, Column(call("subtract", number, literal(1, t.I64())))

    def record_id(self, expression: ValueExpr) -> Term:
        table = self.tables.get(expression.name) if isinstance(expression, e.Id) else None
        if not isinstance(table, StoredTable):
            return NOTHING
        schema = table.relation._rel.schema
        position = schema.position(table.record_id)
        return Column(to_type(FieldReference(position, schema.fields[position].type), t.String()), "missing")

    def crossed(self, left: BindingsExpr, right: BindingsExpr) -> LoweredBindings:
        used = right.free & set(left.variables)
        if used:
            raise UnsupportedError(
                f"the right side of a join refers to the left side's {quoted(sorted(used))}: "
                "that is not lowered to Substrait, which has no relation for the elements of a column"
            )
        one, other = self.bindings(left), self.bindings(right)
        width = len(one.rel.schema)
        moved = {name: shifted(term, width) for name, term in other.variables.items()}
        return LoweredBindings(Cross(one.rel, other.rel), "bag", {**one.variables, **moved})

    def filtered(self, rows: LoweredBindings, condition: ValueExpr) -> LoweredBindings:
        return attrs.evolve(rows, rel=Filter(rows.rel, self.condition(condition, rows)))

    def condition(self, expression: ValueExpr, rows: LoweredBindings) -> Expression:
        """A condition; what is no boolean is false, in strict mode an error for each row where it is not null."""
        term = self.value(expression, rows.variables)
        match term:
            case Column() if isinstance(term.type, t.Boolean):
                return term.expression
            case Constant(value=None | bool() as known):
                return literal(known, t.Boolean(nullable=True))
            case Constant(value=value) if value is MISSING:
                return to_literal(None)
        if self.mode == "permissive":
            return to_literal(None)
        return not_a_boolean(term, rows.rel.schema)

    def fetched(self, source: BindingsExpr, count: int | None, offset: int | None) -> LoweredBindings:
        rows = self.bindings(source)
        rel = Sort(rows.rel, rows.order) if rows.order else rows.rel
        kept, skipped = (None if n is None else literal(n, t.I64()) for n in (count, offset))
        return attrs.evolve(rows, rel=Fetch(rel, kept, skipped))

    def number(self, expression: ValueExpr, what: str) -> int:
        if not _is_closed(expression):
            raise UnsupportedError(f"a {what} that is computed from tables is not lowered to Substrait")
        value = evaluate_value(expression, {}, self.mode)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise EvaluationError(f"{what} is a number of tuples, 0 or more, not {data_text(value)}")
        return value

    def ordered(self, keys: tuple[b.SortKey, ...], rows: LoweredBindings) -> LoweredBindings:
        """A list of the tuples: the keys become columns, and tuples that are equal in them stay in their order."""
        order: list[SortKey] = []
        for key in keys:
            term = self.value(key.key, rows.variables)
            if isinstance(term, Constant):
                continue
            if not isinstance(term, Column):
                raise UnsupportedError("an order by a struct or a collection is not lowered to Substrait")
            rows, (column,) = rows.with_columns(("key", term.expression))
            order.append(SortKey(column, DIRECTIONS[key.direction, key.nulls]))
        return attrs.evolve(rows, kind="list", order=(*order, *rows.order))

    def grouped(self, group_by: b.GroupBy, rows: LoweredBindings) -> LoweredBindings:
        """A row for each combination of keys: these, and what is aggregated, become columns before."""

        def column(value: ValueExpr, what: str) -> Column:
            term = self.value(value, rows.variables)
            if not isinstance(term, Column):
                raise UnsupportedError(f"{what} that is no column is not lowered to Substrait")
            return term

        keys = [column(key.value, "a key of a group by").expression for key in group_by.keys]
        measured = [
            prepared(one.function, column(one.value, f"the {one.function} of what")).expression
            for one in group_by.measures
        ]
        rows, made = rows.with_columns(*(("grouped", one) for one in (*keys, *measured)))
        functions = (one.function for one in group_by.measures)
        measures = [measure(function, one) for function, one in zip(functions, made[len(keys) :], strict=True)]
        rel, terms = aggregated(rows.rel, made[: len(keys)], measures)
        return LoweredBindings(rel, "bag", dict(zip(group_by.variables, terms, strict=True)))

    # --- values

    def collection(self, expression: ValueExpr) -> LoweredValues:
        """A value as a collection; what is none as a bag of it."""
        match expression:
            case e.MapValues(value=value, source=source):
                rows = self.bindings(source)
                return LoweredValues(rows, self.value(value, rows.variables))
            case e.Id(name=name) if name in self.tables:
                given = self.tables[name]
                return self.table(given) if isinstance(given, RelationBase | StoredTable) else constants(given)
            case _ if not _is_closed(expression):
                raise UnsupportedError(f"a scan of {expression} is not lowered to Substrait")
        return constants(evaluate_value(expression, {}, self.mode))

    def table(self, table: RelationBase | StoredTable) -> LoweredValues:
        """The rows of a table, a bag of structs."""
        relation, record_id = (table.relation, table.record_id) if isinstance(table, StoredTable) else (table, None)
        rel = relation._rel
        fields = tuple(
            (field.name, Column(FieldReference(position, field.type)))
            for position, field in enumerate(rel.schema)
            if field.name != record_id
        )
        return LoweredValues(LoweredBindings(rel, "bag", {}), Attributes(fields))

    def value(self, expression: ValueExpr, scope: Scope) -> Term:
        """What a value expression is in the row that a scope describes."""
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
                term = self.value(root, scope)
                for step in steps:
                    term = self.step(term, self.value(step, scope))
                return term
            case e.StructExpr(pairs=pairs):
                return self.struct([(self.value(pair.name, scope), self.value(pair.value, scope)) for pair in pairs])
            case e.ListExpr(items=items):
                return Elements("list", tuple(self.value(item, scope) for item in items))
            case e.BagExpr(items=items):
                return Elements("bag", tuple(self.value(item, scope) for item in items))
            case e.Operator(op=op, operands=operands):
                return lowered(op, [self.value(operand, scope) for operand in operands], self.mode)
            case e.Call(function=function, arguments=arguments):
                return lowered(function, [self.value(argument, scope) for argument in arguments], self.mode)
            case e.MapValues() | e.Pivot() as other:
                raise UnsupportedError(f"{other.head} as a value in a row is not lowered to Substrait")
            case e.Lit():
                raise AssertionError("a literal is closed")
            case never:
                assert_never(never)

    def step(self, term: Term, step: Term) -> Term:
        """An attribute of a struct, or an element of a collection, by a constant."""
        if not isinstance(step, Constant):
            raise UnsupportedError("a path by a name or index that is computed from a row is not lowered to Substrait")
        name = step.value
        match opened(term):
            case Constant(value=None):
                return Constant(None)
            case Constant(value=value) if value is MISSING:
                return NOTHING
            case Attributes(fields=fields) if isinstance(name, str):
                found = [field for inside, field in fields if inside == name]
                if len(found) == 1 or (found and self.mode == "permissive"):
                    return self.always_there(found[0], name)
                known = [inside for inside, _ in fields]
                return self.absent(
                    f'several attributes are called "{name}"'
                    if found
                    else f'there is no attribute "{name}" among {quoted(known)}'
                )
            case Column(expression=struct) as column if isinstance(struct.type, t.Struct) and isinstance(name, str):
                names = struct.type.field_names
                if name in names:
                    return attribute(column, names.index(name))
                return self.absent(f'there is no attribute "{name}" among {quoted(names)}')
            case Elements(kind="list", items=items) if isinstance(name, int) and not isinstance(name, bool):
                if 0 <= name < len(items):
                    return items[name]
                return self.absent(f"a list of {len(items)} has no element {name}")
            case Column(expression=inside) if isinstance(inside.type, t.List | t.Map):
                raise UnsupportedError(f"a path into a column of {inside.type} is not lowered to Substrait")
            case _:
                return self.absent(f"the step {data_text(name)} leads nowhere")

    def always_there(self, attribute: Term, name: str) -> Term:
        """An attribute. One that some structs lack is an error for these in strict mode, which is not lowered."""
        if self.mode == "strict" and isinstance(attribute, Column) and attribute.absent != "null":
            raise UnsupportedError(f'in strict mode, the attribute "{name}", which some structs lack, is not lowered')
        return attribute

    def struct(self, pairs: list[tuple[Term, Term]]) -> Term:
        """A struct of the attributes that have a name and a value."""
        fields: list[tuple[str, Term]] = []
        for name, value in pairs:
            if not isinstance(name, Constant):
                raise UnsupportedError(
                    "the name of an attribute that is computed from a row is not lowered to Substrait"
                )
            if not isinstance(name.value, str):
                self.absent(f"the name of an attribute is a text, not {data_text(name.value)}")
            elif value != NOTHING:
                if isinstance(value, Column):
                    require_known(value, f'the attribute "{name.value}"')
                fields.append((name.value, value))
        return Attributes(tuple(fields))

    def absent(self, why: str) -> Term:
        """What stands for a value that there is not."""
        if self.mode == "strict":
            raise EvaluationError(why)
        return NOTHING


def _is_closed(expression: ValueExpr) -> bool:
    """Whether an expression means the same everywhere, and is no query."""
    return not expression.free and not any(isinstance(node, BindingsExpr) for node in walk(expression))
