"""Expressions as Spark SQL text, with explicit types everywhere.

Specification: https://substrait.io/expressions/field_references/ and the pages beside it. The Spark type of a text is
exactly `spark_sql_type` of the expression's type; three-valued logic is the specification's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import assert_never

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.expressions import as_union
from substrait_dsl.algebra.function_ids import STANDARD
from substrait_dsl.algebra.node import Node, walk
from substrait_dsl.algebra.types import Boolean, Struct
from substrait_dsl.catalog.implementations import refusal_of_repetition
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.aggregates import aggregate_function_to_sql, values_of
from substrait_dsl.spark.expressions.bound_functions import is_nondeterministic
from substrait_dsl.spark.expressions.casts import cast_to_sql
from substrait_dsl.spark.expressions.functions import function_to_sql
from substrait_dsl.spark.expressions.literals import UNKNOWN, literal_to_sql, struct_to_sql
from substrait_dsl.spark.expressions.masks import masked_row, masked_value
from substrait_dsl.spark.expressions.named_values import with_name
from substrait_dsl.spark.expressions.null_checks import assert_not_null
from substrait_dsl.spark.expressions.phases import Average, express_in_one_phase
from substrait_dsl.spark.expressions.pushdown import hide_from_readers
from substrait_dsl.spark.expressions.signed_zeros import sort_key
from substrait_dsl.spark.expressions.sorting import direction_of
from substrait_dsl.spark.expressions.templates import require_comparable
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.expressions.windows import window_to_sql
from substrait_dsl.spark.session.engines import ENGINE, current_engine
from substrait_dsl.spark.session.source_map import note_refused, note_text

__all__ = ["AnySubquery", "Scope", "aggregate_to_sql", "direction_of", "literal_to_sql", "to_sql"]

AnySubquery = ex.ScalarSubquery | ex.InPredicate | ex.SetPredicate | ex.SetComparison

MAX_LENGTH = 1_000_000
"""The most characters of an expression's SQL text: parts that are used twice at every level grow exponentially."""

MAX_DEPTH = 200
"""The most nested parentheses of an expression's SQL text; Spark's parser is recursive."""


@attrs.frozen
class Scope:
    """The SQL text of the names in an expression."""

    columns: tuple[str, ...]
    """The columns of the current row, by position."""
    outer: Mapping[int, tuple[str, ...]]
    """The columns of outer rows, by the anchor of the outer references."""
    subquery: Callable[[AnySubquery, Scope], str]
    """Gives the SQL text of a subquery used as a value."""
    computed: Mapping[int, str] = attrs.field(factory=dict)
    """The columns of expressions that were computed below, by the ids of these."""
    parameters: tuple[tuple[str, ...], ...] = ()
    """The SQL text of the parameters of the lambdas around the expression, the innermost first."""
    subquery_columns: tuple[str, ...] | None = None
    """The columns as subqueries see them, with distinct zeros; None: as they are."""

    @property
    def for_operands(self) -> Scope:
        """The scope of the left operands of IN and of set comparisons."""
        return self if self.subquery_columns is None else attrs.evolve(self, columns=self.subquery_columns)

    def enter_lambda(self, parameters: tuple[str, ...]) -> Scope:
        """Return the scope of the body of a lambda."""
        return attrs.evolve(self, parameters=(parameters, *self.parameters))


def to_sql(expression: ex.Expression, scope: Scope) -> str:
    """Write an expression as one operand of Spark SQL.

    Args:
        expression: any expression; shared parts are written once, and depth costs no recursion.
        scope: what the references in it stand for.

    Returns:
        SQL text whose Spark type is exactly the expression's.

    Raises:
        UnsupportedError: Spark cannot compute a part of it exactly, or the text would be too long or too deep.
    """
    _require_values(None, [expression])
    done: dict[int, str] = {}
    stack = [expression]
    while stack:
        current = stack[-1]
        if id(current) in scope.computed:
            done[id(current)] = scope.computed[id(current)]
            stack.pop()
            continue
        operands = list(_operands(current))
        _require_values(current, operands)
        _require_used_once(operands, scope)
        waiting = [operand for operand in operands if id(operand) not in done]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if id(current) not in done:
            try:
                done[id(current)] = text = _write(current, done, scope)
            except UnsupportedError as error:
                note_refused(error, current)
                raise
            if len(text) > MAX_LENGTH:
                raise UnsupportedError(
                    f"an expression would be more than {MAX_LENGTH} characters of Spark SQL",
                    hint="compute the parts that it uses several times in a project of their own",
                )
    note_text(expression, done)
    text = done[id(expression)]
    if len(text) > MAX_DEPTH and _depth(text) > MAX_DEPTH:
        raise UnsupportedError(
            f"an expression nests {_depth(text)} levels deep, and the parser of {ENGINE} takes {MAX_DEPTH}",
            hint="compute parts of it in a project of their own",
        )
    return text


def _require_values(caller: ex.Expression | None, operands: Sequence[ex.Expression]) -> None:
    """Raise `UnsupportedError` for a lambda that is an operand of anything but a function of lists."""
    takes_functions = isinstance(caller, ex.ScalarFunction) and caller.function.urn == f"{STANDARD}functions_list"
    for operand in operands:
        if isinstance(operand, ex.Lambda) and not takes_functions:
            spark_sql_type(operand.type)  # which says that Spark has no such type


def _require_used_once(operands: Sequence[ex.Expression], scope: Scope) -> None:
    """Raise `UnsupportedError` for an operand with other values each time: a text may repeat it."""
    for operand in operands:
        if is_nondeterministic(operand) and id(operand) not in scope.computed:
            raise refusal_of_repetition(ENGINE, operand)


def aggregate_to_sql(measure: ex.Measure, scope: Scope, *, beside_distinct: bool = False) -> str:
    """Write a measure as Spark SQL: ``sum(x) FILTER (WHERE p)``, of the type that the function declares.

    `beside_distinct` says whether another measure of the same aggregate is of distinct values.

    Raises:
        UnsupportedError: Spark cannot compute it, or an expression in it, exactly.
    """
    condition = current_engine().operand(to_sql(measure.filter, scope)) if measure.filter else None

    def write_operand(value: ex.Expression) -> str:
        # Spark computes a value that is used twice, or compared, for filtered records, too, where it may fail.
        text = to_sql(value, scope)
        is_computed = not isinstance(value, ex.FieldReference) and any(
            isinstance(node, ex.FieldReference | ex.OuterReference) for node in walk(value, into_relations=False)
        )
        return current_engine().operand(f"if({condition}, {text}, NULL)" if condition and is_computed else text)

    def write_call(call: ex.AggregateFunction) -> str:
        return aggregate_function_to_sql(
            call,
            [write_operand(value) for value in values_of(call)],
            [(sort_key(write_operand(key.expression), key.expression.type), direction_of(key)) for key in call.sorts],
            condition,
            beside_distinct,
        )

    try:
        call = express_in_one_phase(measure.function)
        text = (
            call.to_sql(write_call(call.total), write_call(call.many))
            if isinstance(call, Average)
            else write_call(call)
        )
    except UnsupportedError as error:
        note_refused(error, measure.function)
        raise
    # The filter is another expression: an error in it is not one of the function.
    own = text.replace(f"(WHERE {condition})", "()").replace(f"if({condition}, ", "if(true, ")
    note_text(measure.function, {id(measure.function): own})
    return text


def _operands(expression: ex.Expression) -> Iterator[ex.Expression]:
    """Yield the direct operands of an expression that have the same scope.

    The operands of a subquery are written with the subquery; the body of a lambda has its parameters in scope, too.
    """
    if isinstance(expression, AnySubquery | ex.Lambda):
        return
    nodes: list[Node] = list(expression.children())
    if isinstance(expression, ex.LambdaInvocation):
        nodes = list(expression.arguments)
    for node in nodes:
        if isinstance(node, ex.Expression):
            yield node
        else:  # a clause, a case or a record holds expressions but is none
            nodes.extend(node.children())


def _write(expression: ex.Expression, done: Mapping[int, str], scope: Scope) -> str:  # noqa: C901  # a closed union
    """The text of an expression, given the texts of its operands by their ids."""

    def text(operand: ex.Expression) -> str:
        return done[id(operand)]

    match as_union(expression):
        case ex.Literal() as literal:
            return UNKNOWN if _is_null(literal) and isinstance(literal.type, Boolean) else literal_to_sql(literal)
        case ex.FieldReference(position=position, root=root):
            return _row(root, scope)[position]
        case ex.FieldAccess() as access:
            return _part(access, text(access.input))
        case ex.ScalarFunction() as call:
            return function_to_sql(call, [text(value) for value in call.arguments if isinstance(value, ex.Expression)])
        case ex.Cast(input=value, target=target, on_failure=on_failure):
            converted = cast_to_sql(text(value), value.type, target, on_failure)
            is_asserted = value.type.nullable and not expression.type.nullable
            return assert_not_null(converted, f"a cast to {target}", target) if is_asserted else converted
        case ex.IfThen(clauses=clauses, otherwise=otherwise):
            whens = " ".join(f"WHEN {text(clause.condition)} THEN {text(clause.then)}" for clause in clauses)
            return f"(CASE {whens} ELSE {text(otherwise)} END)"
        case ex.Switch(match=value, cases=cases, otherwise=otherwise):
            require_comparable(value.type, "a switch")
            whens = " ".join(f"WHEN {text(case.value)} THEN {text(case.then)}" for case in cases)
            tested = hide_from_readers(text(value), value, [case.value for case in cases])
            return f"(CASE {tested} {whens} ELSE {text(otherwise)} END)"
        case ex.SingularOrList(value=value, options=options):
            require_comparable(value.type, "an IN list")
            there = [hide_from_readers(text(option), option, [value]) for option in options if not _is_null(option)]
            tested = hide_from_readers(text(value), value, options, listed=True)
            if not current_engine().has_lists_of_columns and not all(isinstance(each, ex.Literal) for each in options):
                equal = [f"{tested} = {each}" for each in there]
                return f"({' OR '.join(equal + [UNKNOWN] * (len(there) < len(options)))})"
            return _write_in_list(tested, there, len(options))
        case ex.MultiOrList(values=values, records=records):
            for value in values:
                require_comparable(value.type, "an IN list")
            tests = (
                " AND ".join(
                    f"{hide_from_readers(text(x), x, [y])} = {hide_from_readers(text(y), y, [x])}"
                    for x, y in zip(values, record.fields, strict=True)
                )
                for record in records
            )
            return f"({' OR '.join(f'({test})' for test in tests)})"
        case ex.WindowFunction(call=call_, partitions=partitions, sorts=sorts):
            return window_to_sql(call_, partitions, sorts, text)
        case ex.ScalarSubquery() | ex.InPredicate() | ex.SetPredicate() | ex.SetComparison() as subquery:
            return scope.subquery(subquery, scope)
        case ex.NestedStruct(fields=fields):
            spark_sql_type(expression.type)  # which refuses what Spark has no type for
            return struct_to_sql(map(text, fields))
        case ex.NestedList(values=values):
            spark_sql_type(expression.type)
            return f"array({', '.join(map(text, values))})"
        case ex.NestedMap(entries=entries):
            spark_sql_type(expression.type)
            return f"map({', '.join(f'{text(entry.key)}, {text(entry.value)}' for entry in entries)})"
        case ex.MaskedReference(input=ex.Row(types=Struct() as row, root=root), mask=mask):
            return masked_row(_row(root, scope), mask, row)
        case ex.MaskedReference(input=ex.Expression() as value, mask=mask):
            return masked_value(text(value), mask, value.type)
        case ex.MaskedReference():
            raise UnsupportedError("a mask keeps parts of a struct")
        case ex.Lambda() as function:
            return _lambda(function, scope)
        case ex.LambdaInvocation(function=function, arguments=arguments):
            return _invocation(function, [text(argument) for argument in arguments], scope)
        case ex.ExecutionContextVariable(variable=variable):
            raise UnsupportedError(f"{variable} has a value only where a plan is executed")
        case ex.DynamicParameter(reference=reference):
            raise UnsupportedError(
                f"parameter {reference} has no value",
                remedy="parameter-without-value",
                details={"reference": reference},
            )
        case unknown:
            assert_never(unknown)


def _is_null(expression: ex.Expression) -> bool:
    return isinstance(expression, ex.Literal) and expression.value is None


def _write_in_list(value: str, there: Sequence[str], options: int) -> str:
    """Write an IN list without its NULL options.

    The unknown that a NULL option makes is added as a disjunct: Spark's ORC reader fails on a NULL among numbers.
    """
    unknown = UNKNOWN if len(there) < options else None
    found = f"{value} IN ({', '.join(there)})" if there else None
    return f"({' OR '.join(filter(None, (found, unknown)))})"


def _row(root: ex.Root, scope: Scope) -> tuple[str, ...]:
    match root:
        case ex.RootReference():
            return scope.columns
        case ex.OuterReference(anchor=anchor):
            if anchor not in scope.outer:
                raise UnsupportedError(
                    f"a subquery refers to a row of an enclosing relation that {ENGINE} cannot reach from it"
                )
            return scope.outer[anchor]
        case ex.LambdaParameter(steps_out=steps_out):
            if steps_out >= len(scope.parameters):
                raise UnsupportedError(
                    f"{ENGINE} cannot use the parameter of a lambda in a subquery or a window inside it"
                )
            return scope.parameters[steps_out]


def _part(access: ex.FieldAccess, text: str) -> str:
    """Write a field, an element or a map entry; a missing one is NULL (spec decision 24)."""
    match access.segment:
        case ex.StructField(position=position):
            if access.input.type.nullable and not current_engine().has_fields_of_null:
                return _field_of_nullable(text, position)
            return f"{text}.f{position}"
        case ex.ListElement(offset=offset) if offset == -(2**31):  # no Spark list is that long, and -offset is no int
            return f"CAST(NULL AS {spark_sql_type(access.type)})"
        case ex.ListElement(offset=offset):
            return f"get({text}, {offset})" if offset >= 0 else f"try_element_at({text}, {offset})"
        case ex.MapKey(key=key):
            return f"try_element_at({text}, {literal_to_sql(key)})"


def _field_of_nullable(text: str, position: int) -> str:
    """Write a field of a struct, NULL if the struct is. A lambda binds a computed struct to a name."""
    if re.fullmatch(r"\w+", text):
        return f"if({text} IS NULL, NULL, {text}.f{position})"
    return with_name(text, "__t", f"if(__t IS NULL, NULL, __t.f{position})")


def _lambda(function: ex.Lambda, scope: Scope) -> str:
    """Write a lambda, whose parameters have names that are unique in the expression."""
    names = tuple(f"__p{len(scope.parameters)}_{position}" for position in range(len(function.parameters)))
    body = to_sql(function.body, scope.enter_lambda(names))
    listed = ", ".join(names)
    return f"{listed if len(names) == 1 else f'({listed})'} -> {body}"


def _invocation(function: ex.Lambda, arguments: Sequence[str], scope: Scope) -> str:
    """Write the application of a lambda; a list of one struct binds the arguments to a name."""
    name = f"__p{len(scope.parameters)}"
    parameters = tuple(f"{name}.f{position}" for position in range(len(arguments)))
    body = to_sql(function.body, scope.enter_lambda(parameters))
    return with_name(struct_to_sql(arguments), name, body)


def _depth(text: str) -> int:
    """Return how deep the parentheses of a text nest; literals hold none."""
    return max(accumulate(1 if bracket == "(" else -1 for bracket in re.findall("[()]", text)), default=0)
