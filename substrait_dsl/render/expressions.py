"""Expressions as text: ``o_totalprice > 100000.00 and not (o_comment is null)``.

Each class of expressions has a form (see `expression_format`): words, and places for the operands. One loop writes
the forms from left to right, without recursion, and stops at `MAX_TEXT` characters: an expression with shared subtrees
may be exponentially long as text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.render.expression_format import (
    COMPARISON_SIGNS,
    Binding,
    Form,
    Piece,
    Place,
    atom,
    branch_pieces,
    comparison_form,
    context_variable_text,
    function_form,
    lambda_form,
    list_pieces,
    literal_form,
    map_pieces,
    mask_text,
    measure_pieces,
    nested_struct_pieces,
    segment_pieces,
    separate_pieces,
    sort_pieces,
    tuple_pieces,
    window_pieces,
)
from substrait_dsl.render.literals import type_text
from substrait_dsl.render.scopes import NO_ROW, Labels, Row, Scope, Subquery

MAX_TEXT = 1500
"""An expression is cut after so many characters."""

CUT = f" ... (cut after {MAX_TEXT} characters)"


@attrs.frozen
class ExpressionWriter:
    """Writes the expressions of one relation, and notes the subqueries they mention.

    `anchor` is the relation's own, `outer` the scope it stands in if it is part of a subquery.
    """

    labels: Labels = attrs.field(factory=Labels)
    outer: Scope | None = None
    anchor: int | None = None
    subqueries: list[Subquery] = attrs.field(factory=list)

    def text(self, expression: Expression, row: Row, binding: Binding = Binding.OR) -> str:
        """Return an expression; in parentheses, if it binds less tightly than asked."""
        return self.write_pieces((Place(expression, binding),), row)

    def measure(self, measure: ex.Measure, row: Row) -> str:
        """Return a measure: ``sum(distinct x) filter (where y > 0)``."""
        return self.write_pieces(measure_pieces(measure), row)

    def window(self, call: ex.WindowCall, row: Row) -> str:
        """Return a window function of a relation that says the rest: ``sum(x) over (rows between ...)``."""
        return self.write_pieces(window_pieces(call), row)

    def sort_key(self, key: ex.SortKey, row: Row) -> str:
        """Return a sort key: ``o_orderdate desc nulls last``."""
        return self.write_pieces(sort_pieces(key), row)

    def write_pieces(self, pieces: Sequence[Piece], row: Row) -> str:
        """Pieces written out, cut where they get too long."""
        pending: list[Piece] = list(reversed(pieces))
        text: list[str] = []
        length = 0
        while pending:
            piece = pending.pop()
            if isinstance(piece, Place):
                form = self._form(piece.expression, row)
                bare = form.binding >= piece.binding
                pending.extend(reversed(form.pieces if bare else ("(", *form.pieces, ")")))
                continue
            text.append(piece)
            length += len(piece)
            if length > MAX_TEXT and pending:
                text.append(CUT)
                break
        return "".join(text)

    def _form(self, expression: Expression, row: Row) -> Form:  # noqa: C901  # a closed union
        """Return the form of an expression: one case per kind."""
        node = ex.as_union(expression)
        match node:
            case ex.Literal():
                return literal_form(node)
            case ex.FieldReference():
                return atom(self._reference(node, row))
            case ex.FieldAccess():
                return atom(Place(node.input, Binding.ATOM), *segment_pieces(node))
            case ex.ScalarFunction():
                return function_form(node)
            case ex.Cast(input=inner, target=target, on_failure=on_failure):
                word = {"throw": "cast", "return_null": "try_cast"}[on_failure]
                return atom(f"{word}(", Place(inner), f" as {type_text(target)})")
            case ex.IfThen(clauses=clauses, otherwise=otherwise):
                branches = [(clause.condition, clause.then) for clause in clauses]
                return atom("case", *branch_pieces(branches, otherwise))
            case ex.Switch(match=value, cases=cases, otherwise=otherwise):
                branches = [(case.value, case.then) for case in cases]
                return atom("case ", Place(value), *branch_pieces(branches, otherwise))
            case ex.SingularOrList(value=value, options=options):
                return comparison_form(Place(value, Binding.SUM), " in ", *tuple_pieces(options))
            case ex.MultiOrList(values=values, records=records):
                rows = separate_pieces([tuple_pieces(record.fields) for record in records])
                return comparison_form(*tuple_pieces(values), " in (", *rows, ")")
            case ex.ScalarSubquery(input=rel):
                return atom(self._subquery(rel, row))
            case ex.InPredicate(needles=needles, haystack=rel):
                needle = [Place(needles[0], Binding.SUM)] if len(needles) == 1 else tuple_pieces(needles)
                return comparison_form(*needle, " in ", self._subquery(rel, row))
            case ex.SetPredicate(op=op, tuples=rel):
                return atom(f"{op} ", self._subquery(rel, row))
            case ex.SetComparison(reduction=reduction, comparison=comparison, left=left, right=rel):
                sign = f" {COMPARISON_SIGNS[comparison]} {reduction} "
                return comparison_form(Place(left, Binding.SUM), sign, self._subquery(rel, row))
            case ex.MaskedReference():
                return self._format_mask(node, row)
            case ex.WindowFunction(call=call, partitions=partitions, sorts=sorts):
                return atom(*window_pieces(call, partitions, sorts))
            case ex.NestedStruct():
                return atom(*nested_struct_pieces(node))
            case ex.NestedList(values=values):
                return atom(*list_pieces(values))
            case ex.NestedMap(entries=entries):
                return atom(*map_pieces([(entry.key, entry.value) for entry in entries]))
            case ex.Lambda():
                return lambda_form(node)
            case ex.LambdaInvocation(function=function, arguments=arguments):
                return atom(Place(function, Binding.ATOM), *tuple_pieces(arguments))
            case ex.DynamicParameter(parameter_type=type_, reference=number):
                return atom(f"parameter({number}):{type_text(type_)}")
            case ex.ExecutionContextVariable():
                return atom(context_variable_text(node))
            case _:
                assert_never(node)

    def _reference(self, reference: ex.FieldReference, row: Row) -> str:
        prefix, label = self._root(reference.root, row)
        return prefix + label(reference.position)

    def _root(self, root: ex.Root, row: Row) -> tuple[str, Callable[[int], str]]:
        """Return how to name the columns of a row that an expression refers to: a prefix, then a label for each."""
        match root:
            case ex.RootReference():
                return "", row.label
            case ex.OuterReference(anchor):
                scope, prefix = self.outer, "outer."
                while scope is not None and scope.anchor != anchor:
                    scope, prefix = scope.outer, prefix + "outer."
                if scope is None:  # a part of a plan, looked at by itself
                    return f"outer({anchor}).", NO_ROW.label
                return prefix, scope.row.label
            case ex.LambdaParameter(steps_out):
                return "outer." * steps_out, "@{}".format
            case _:
                assert_never(root)

    def _format_mask(self, reference: ex.MaskedReference, row: Row) -> Form:
        """``address.(city, zip)``, or of a whole row ``row.(id, address.(city))``."""
        match reference.input:
            case ex.Row(types, root):
                prefix, label = self._root(root, row)
                return atom(f"{prefix}row.{mask_text(reference.mask, types, label)}")
            case Expression() as inner:
                return atom(Place(inner, Binding.ATOM), f".{mask_text(reference.mask, inner.type)}")
            case _:
                assert_never(reference.input)

    def _subquery(self, rel: Rel, row: Row) -> str:
        self.subqueries.append(Subquery(rel, Scope(row, self.anchor, self.outer)))
        return f"(subquery {self.labels.of(rel)})"


def expression_text(expression: Expression, schema: NamedStruct | None = None) -> str:
    """Return an expression as people write it: ``o_totalprice > 100000.00``.

    Args:
        expression: any expression.
        schema: the schema of the row it sees, for the names of columns; without it they are ``$0``, ``$1``.

    A name that several columns carry is followed by the position (``id#3``). A text longer than `MAX_TEXT` is cut, and
    says so; a subquery is only mentioned (``subquery #1``).
    """
    return ExpressionWriter().text(expression, NO_ROW if schema is None else Row((schema,)))
