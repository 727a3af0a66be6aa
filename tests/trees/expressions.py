"""Random expressions of a wanted type over a row."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.fluent.calls import scalar_call
from tests.trees.values import KINDS, SIMPLE, kinds, literals

Draw = Callable[[Any], Any]

FOREIGN = "extension:test:foreign"
"""An extension that nobody knows: its functions keep the type that the plan declares."""


@attrs.frozen
class Row:
    """What an expression can refer to."""

    types: tuple[t.Type, ...]
    outer: tuple[tuple[int, tuple[t.Type, ...]], ...] = ()
    """The anchors and the types of enclosing rows, the outermost first."""
    parameters: tuple[tuple[t.Type, ...], ...] = ()
    """The parameter types of the lambdas around, the innermost first."""
    relations: Any = None
    """A strategy for relations, given the enclosing rows; None: no subqueries here."""
    anchor: int | None = None
    """What subqueries call this row."""
    constant: bool = False
    """Whether no column may be referred to."""


def call(name: str, *arguments: Any) -> ex.ScalarFunction:
    """A call of a function of the specification."""
    return scalar_call(name, {}, None, None, arguments)


def references(type_: t.Type, row: Row) -> list[ex.Expression]:
    """All references to columns of a type, nullable or not."""
    found = [] if row.constant else _of_row(type_, row.types, ex.ROOT)
    for anchor, types in row.outer:
        found += _of_row(type_, types, ex.OuterReference(anchor))
    for steps, types in enumerate(row.parameters):
        found += _of_row(type_, types, ex.LambdaParameter(steps))
    return found


def _of_row(type_: t.Type, types: Sequence[t.Type], root: ex.Root) -> list[ex.Expression]:
    return [ex.FieldReference(number, each, root) for number, each in enumerate(types) if each.matches(type_)]


@st.composite
def expressions(draw: Draw, type_: t.Type, row: Row, depth: int = 2) -> ex.Expression:
    """An expression of this type, nullable or not."""
    known = references(type_, row)
    leaves: list[Any] = [literals(type_), *([st.sampled_from(known)] if known else [])]
    number = zlib.crc32(repr(type_.as_required()).encode())  # one number has one type
    leaves.append(st.just(ex.DynamicParameter(type_, number)))
    leaves += [st.just(variable) for variable in _variables(type_)]
    if depth == 0:
        leaf: ex.Expression = draw(st.one_of(leaves))
        return leaf
    made = [*leaves, *(make(type_, row, depth - 1) for make in _ANY)]
    made += [make(row, depth - 1) for make in _BY_KIND.get(type(type_), ())]
    made += [make(type_, row, depth - 1) for make in _NESTED.get(type(type_), ())]
    if row.relations is not None:
        made.append(scalar_subqueries(type_, row))
        made += [make(row, depth - 1) for make in _SUBQUERIES.get(type(type_), ())]
    one: ex.Expression = draw(st.one_of(made))
    return one


def _variables(type_: t.Type) -> list[ex.Expression]:
    return [
        ex.ExecutionContextVariable(variable, type_)
        for variable, of in ex.CONTEXT_VARIABLES.items()
        if type(type_) is of and not type_.nullable
    ]


# --- of any type


@st.composite
def casts(draw: Draw, type_: t.Type, row: Row, depth: int) -> ex.Expression:
    source = draw(expressions(draw(st.sampled_from(SIMPLE)), row, depth))
    return ex.Cast(source, type_, draw(st.sampled_from(ex.FAILURE_BEHAVIORS)))


@st.composite
def ifs(draw: Draw, type_: t.Type, row: Row, depth: int) -> ex.Expression:
    clauses = [
        ex.IfClause(draw(expressions(t.Boolean(nullable=True), row, depth)), draw(expressions(type_, row, depth)))
        for _ in range(draw(st.integers(1, 2)))
    ]
    return ex.IfThen(tuple(clauses), draw(expressions(type_, row, depth)))


@st.composite
def switches(draw: Draw, type_: t.Type, row: Row, depth: int) -> ex.Expression:
    match = draw(expressions(t.I64(), row, depth))
    cases = [
        ex.SwitchCase(draw(literals(match.type.as_required())), draw(expressions(type_, row, depth))) for _ in range(2)
    ]
    return ex.Switch(match, tuple(cases), draw(expressions(type_, row, depth)))


@st.composite
def foreign_calls(draw: Draw, type_: t.Type, row: Row, depth: int) -> ex.Expression:
    arguments: list[ex.Argument] = [draw(expressions(draw(kinds), row, depth)) for _ in range(draw(st.integers(0, 2)))]
    arguments += draw(st.sampled_from([[], [ex.EnumArgument("FAST")], [ex.TypeArgument(t.I64())]]))
    options = draw(st.sampled_from([(), (ex.FunctionOption("mode", ("A", "B")),)]))
    return ex.ScalarFunction(ex.FunctionId(FOREIGN, "anything:any"), tuple(arguments), type_, options)


@st.composite
def field_accesses(draw: Draw, type_: t.Type, row: Row, depth: int) -> ex.Expression:
    inner = draw(expressions(type_, row, depth))
    match draw(st.sampled_from(["struct", "list", "map"])):
        case "struct":
            return ex.FieldAccess(ex.NestedStruct((inner,), draw(st.booleans())), ex.StructField(0))
        case "list":
            return ex.FieldAccess(ex.NestedList((inner, inner)), ex.ListElement(draw(st.integers(-2, 2))))
        case _:
            key = draw(literals(t.String()))
            return ex.FieldAccess(ex.NestedMap((ex.MapEntry(key, inner),)), ex.MapKey(key))


@st.composite
def invocations(draw: Draw, type_: t.Type, row: Row, depth: int) -> ex.Expression:
    arguments = tuple(draw(expressions(draw(kinds), row, depth)) for _ in range(draw(st.integers(0, 2))))
    parameters = tuple(argument.type for argument in arguments)
    inside = Row((), (), (parameters, *row.parameters), None, None, constant=True)
    return ex.LambdaInvocation(ex.Lambda(parameters, draw(expressions(type_, inside, depth))), arguments)


@st.composite
def scalar_subqueries(draw: Draw, type_: t.Type, row: Row) -> ex.Expression:
    return ex.ScalarSubquery(draw(_one_column(type_, row)))


@st.composite
def _one_column(draw: Draw, type_: t.Type, row: Row) -> rl.Rel:
    """A relation of one column of this type, in a subquery over the row."""
    rel = draw(row.relations(_around(row)))
    inside = attrs.evolve(row, types=rel.schema.types, outer=_around(row), relations=None, anchor=None, parameters=())
    value = draw(expressions(type_, inside, 1))
    return rl.Emit(rl.Project(rel, (value,), ("value",)), (len(rel.schema),))


def _around(row: Row) -> tuple[tuple[int, tuple[t.Type, ...]], ...]:
    return row.outer if row.anchor is None else (*row.outer, (row.anchor, row.types))


_ANY = (casts, ifs, switches, foreign_calls, field_accesses, invocations)


# --- of one type


@st.composite
def comparisons(draw: Draw, row: Row, depth: int) -> ex.Expression:
    kind = draw(st.sampled_from(SIMPLE))
    name = draw(st.sampled_from(["equal", "not_equal", "is_distinct_from"]))
    return call(name, draw(expressions(kind, row, depth)), draw(expressions(kind, row, depth)))


@st.composite
def connectives(draw: Draw, row: Row, depth: int) -> ex.Expression:
    some = [draw(expressions(t.Boolean(nullable=True), row, depth)) for _ in range(draw(st.integers(1, 3)))]
    return call("not", some[0]) if len(some) == 1 else call(draw(st.sampled_from(["and", "or"])), *some)


@st.composite
def null_tests(draw: Draw, row: Row, depth: int) -> ex.Expression:
    return call("is_null", draw(expressions(draw(kinds), row, depth)))


@st.composite
def singular_or_lists(draw: Draw, row: Row, depth: int) -> ex.Expression:
    kind = draw(st.sampled_from(SIMPLE))
    options = tuple(draw(expressions(kind, row, depth)) for _ in range(draw(st.integers(1, 3))))
    return ex.SingularOrList(draw(expressions(kind, row, depth)), options)


@st.composite
def multi_or_lists(draw: Draw, row: Row, depth: int) -> ex.Expression:
    of = draw(st.lists(st.sampled_from(SIMPLE), min_size=1, max_size=2))
    records = [ex.OrListRecord(tuple(draw(expressions(kind, row, depth)) for kind in of)) for _ in range(2)]
    return ex.MultiOrList(tuple(draw(expressions(kind, row, depth)) for kind in of), tuple(records))


@st.composite
def list_tests(draw: Draw, row: Row, depth: int) -> ex.Expression:
    values = draw(expressions(t.List(t.I64(nullable=True)), row, depth))
    inside = Row((), (), ((t.I64(nullable=True),),), None, None, constant=True)
    test = ex.Lambda(
        (t.I64(nullable=True),), ex.Cast(draw(expressions(t.Boolean(), inside, 1)), t.Boolean(nullable=True))
    )
    return call(draw(st.sampled_from(["any_match", "all_match"])), values, test)


@st.composite
def sums(draw: Draw, row: Row, depth: int) -> ex.Expression:
    name = draw(st.sampled_from(["add", "subtract", "multiply"]))
    return call(name, draw(expressions(t.I64(), row, depth)), draw(expressions(t.I64(), row, depth)))


@st.composite
def in_predicates(draw: Draw, row: Row, depth: int) -> ex.Expression:
    kind = draw(st.sampled_from(SIMPLE))
    return ex.InPredicate((draw(expressions(kind, row, depth)),), draw(_one_column(kind, row)))


@st.composite
def set_predicates(draw: Draw, row: Row, depth: int) -> ex.Expression:
    return ex.SetPredicate(draw(st.sampled_from(["exists", "unique"])), draw(row.relations(_around(row))))


@st.composite
def set_comparisons(draw: Draw, row: Row, depth: int) -> ex.Expression:
    kind = draw(st.sampled_from(SIMPLE))
    reduction = draw(st.sampled_from(["any", "all"]))
    comparison = draw(st.sampled_from(["eq", "ne", "lt", "gt", "le", "ge"]))
    return ex.SetComparison(reduction, comparison, draw(expressions(kind, row, depth)), draw(_one_column(kind, row)))


_BY_KIND: dict[type[t.Type], tuple[Any, ...]] = {
    t.Boolean: (comparisons, connectives, null_tests, singular_or_lists, multi_or_lists, list_tests),
    t.I64: (sums,),
}
_SUBQUERIES: dict[type[t.Type], tuple[Any, ...]] = {t.Boolean: (in_predicates, set_predicates, set_comparisons)}


# --- nested


def _exact(expression: ex.Expression, type_: t.Type) -> ex.Expression:
    """The expression with exactly this type, where a nullable one may not stand in for a required one."""
    if expression.type == type_:
        return expression
    if type_.nullable:
        return ex.Cast(expression, type_)
    return ex.ScalarFunction(ex.FunctionId(FOREIGN, "required:any"), (expression,), type_)


@st.composite
def structs(draw: Draw, type_: t.Struct[Any], row: Row, depth: int) -> ex.Expression:
    fields = tuple(_exact(draw(expressions(inner, row, depth)), inner) for inner in type_.types)
    return ex.NestedStruct(fields, draw(st.booleans()))


@st.composite
def masks(draw: Draw, type_: t.Struct[Any], row: Row, depth: int) -> ex.Expression:
    whole = t.Struct(type_.types)
    value = _exact(draw(expressions(whole, row, 0)), whole)
    source = ex.NestedStruct((value, *(draw(literals(inner)) for inner in type_.types)))
    width = len(type_.types)
    if draw(st.booleans()):
        return ex.MaskedReference(source, ex.StructMask(tuple(ex.MaskItem(1 + n) for n in range(width))))
    part = ex.MaskItem(0, ex.StructMask(tuple(ex.MaskItem(n) for n in range(width))))
    return ex.FieldAccess(ex.MaskedReference(source, ex.StructMask((part,))), ex.StructField(0))


@st.composite
def lists(draw: Draw, type_: t.List[Any], row: Row, depth: int) -> ex.Expression:
    some = [_exact(draw(expressions(type_.element, row, depth)), type_.element) for _ in range(draw(st.integers(1, 2)))]
    return ex.NestedList(tuple(some), draw(st.booleans()))


@st.composite
def maps(draw: Draw, type_: t.Map[Any, Any], row: Row, depth: int) -> ex.Expression:
    key = _exact(draw(expressions(type_.key, row, depth)), type_.key)
    value = _exact(draw(expressions(type_.value, row, depth)), type_.value)
    return ex.NestedMap((ex.MapEntry(key, value),), draw(st.booleans()))


_NESTED: dict[type[t.Type], tuple[Any, ...]] = {t.Struct: (structs, masks), t.List: (lists,), t.Map: (maps,)}

assert {type(type_) for type_ in KINDS} >= _NESTED.keys()
