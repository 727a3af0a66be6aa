"""Expressions as text: ``o_totalprice > 100000.00 and not (o_comment is null)``.

Each kind of expression has a form: words, and places for the expressions inside it, each with how tightly that must
bind to stand there without parentheses. One loop writes forms out, from left to right and without recursion, and stops
at `MAX_TEXT` characters: an expression with shared subtrees may be exponentially long as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import cached_property
from typing import assert_never

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.node import Expression, Rel
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import List, Map, Struct, UserDefined
from substrait_dsl.render.literals import constant_text, name_text

MAX_TEXT = 1500
"""An expression is cut after so many characters."""

CUT = f" ... (cut after {MAX_TEXT} characters)"

DIRECTIONS: dict[SortDirection, str] = {
    "asc_nulls_first": "asc nulls first",
    "asc_nulls_last": "asc nulls last",
    "desc_nulls_first": "desc nulls first",
    "desc_nulls_last": "desc nulls last",
    "clustered": "clustered",
}


class Binding(IntEnum):
    """How tightly the parts of an expression hold together, loosest first."""

    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    SIGN = 7
    ATOM = 8


@attrs.frozen
class Place:
    """Where an expression stands inside another: in parentheses if it binds less tightly than the place asks."""

    expression: Expression
    binding: Binding = Binding.OR


Piece = str | Place


@attrs.frozen
class Form:
    """What an expression is written as, and how tightly that binds."""

    binding: Binding
    pieces: tuple[Piece, ...]


def _comparison(sign: str) -> tuple[Binding, tuple[str | Binding, ...]]:
    return Binding.COMPARISON, (Binding.SUM, f" {sign} ", Binding.SUM)


_OPERATORS: dict[str, tuple[Binding, tuple[str | Binding, ...]]] = {
    "add": (Binding.SUM, (Binding.SUM, " + ", Binding.PRODUCT)),
    "subtract": (Binding.SUM, (Binding.SUM, " - ", Binding.PRODUCT)),
    "multiply": (Binding.PRODUCT, (Binding.PRODUCT, " * ", Binding.SIGN)),
    "divide": (Binding.PRODUCT, (Binding.PRODUCT, " / ", Binding.SIGN)),
    "modulus": (Binding.PRODUCT, (Binding.PRODUCT, " % ", Binding.SIGN)),
    "negate": (Binding.SIGN, ("-", Binding.ATOM)),
    "equal": _comparison("="),
    "not_equal": _comparison("!="),
    "lt": _comparison("<"),
    "gt": _comparison(">"),
    "lte": _comparison("<="),
    "gte": _comparison(">="),
    "like": _comparison("like"),
    "is_distinct_from": _comparison("is distinct from"),
    "is_not_distinct_from": _comparison("is not distinct from"),
    "is_null": (Binding.COMPARISON, (Binding.SUM, " is null")),
    "is_not_null": (Binding.COMPARISON, (Binding.SUM, " is not null")),
    "between": (Binding.COMPARISON, (Binding.SUM, " between ", Binding.SUM, " and ", Binding.SUM)),
    "not": (Binding.NOT, ("not ", Binding.ATOM)),
}
"""Functions written as operators: a `Binding` is the place of the next argument."""

_CONNECTIVES = {"and": Binding.AND, "or": Binding.OR}
"""Functions of any number of arguments written between them."""

_STANDARD = "extension:io.substrait:"
"""Only functions of the standard extensions are operators: somebody else's ``add`` may do anything."""

_COMPARISON_SIGNS: dict[str, str] = {"eq": "=", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}


@attrs.frozen
class Row:
    """The row that an expression sees: the columns of one relation, or of the two sides of a join."""

    sides: tuple[NamedStruct, ...]

    @cached_property
    def _carriers(self) -> tuple[Counter[str], ...]:
        return tuple(Counter(side.names) for side in self.sides)

    def locate(self, position: int) -> tuple[int, int] | None:
        """The side that a column belongs to, and its position there; None if there is no such column."""
        for number, side in enumerate(self.sides):
            if position < len(side):
                return number, position
            position -= len(side)
        return None

    def label(self, position: int) -> str:
        """What a column is called: its name; if others carry it too, ``left.id`` or ``right.id``, else ``id#3``."""
        place = self.locate(position)
        if place is None:
            return f"${position}"
        number, inside = place
        name = self.sides[number].fields[inside].name
        if sum(carriers[name] for carriers in self._carriers) == 1:
            return name_text(name)
        if len(self.sides) == 2 and self._carriers[number][name] == 1:
            return f"{('left', 'right')[number]}.{name_text(name)}"
        return f"{name_text(name)}#{position}"


NO_ROW = Row(())


@attrs.frozen
class Scope:
    """The row that the expressions of a relation see, as a subquery in them sees it from inside."""

    row: Row
    anchor: int | None
    outer: Scope | None


@attrs.frozen
class Subquery:
    """A relation that an expression mentions, and the scope it stands in."""

    rel: Rel
    scope: Scope


@attrs.frozen
class Labels:
    """The numbers by which relations are called where they are not printed: ``#1``, ``#2``, in reading order."""

    _numbers: dict[int, int] = attrs.field(factory=dict)

    def of(self, rel: Rel) -> str:
        """The label of a relation; a new one if it has none yet."""
        return f"#{self._numbers.setdefault(id(rel), len(self._numbers) + 1)}"

    def __contains__(self, rel: Rel) -> bool:
        return id(rel) in self._numbers


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
        """An expression; in parentheses, if it binds less tightly than asked."""
        return self.written((Place(expression, binding),), row)

    def measure(self, measure: ex.Measure, row: Row) -> str:
        """A measure: ``sum(distinct x) filter (where y > 0)``."""
        return self.written(_measure_pieces(measure), row)

    def sort_key(self, key: ex.SortKey, row: Row) -> str:
        """A sort key: ``o_orderdate desc nulls last``."""
        return self.written(_sort_pieces(key), row)

    def written(self, pieces: Sequence[Piece], row: Row) -> str:
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

    def _form(self, expression: Expression, row: Row) -> Form:
        """The form of an expression: one case per kind."""
        closed = ex.closed(expression)
        match closed:
            case ex.Literal():
                return _literal_form(closed)
            case ex.FieldReference():
                return _atom(self._reference(closed, row))
            case ex.FieldAccess():
                return _atom(Place(closed.input, Binding.ATOM), *_segment_pieces(closed))
            case ex.ScalarFunction():
                return _function_form(closed)
            case ex.Cast(input=inner, target=target, on_failure=on_failure):
                word = {"throw": "cast", "return_null": "try_cast"}[on_failure]
                return _atom(f"{word}(", Place(inner), f" as {target})")
            case ex.IfThen(clauses=clauses, otherwise=otherwise):
                branches = [(clause.condition, clause.then) for clause in clauses]
                return _atom("case", *_branch_pieces(branches, otherwise))
            case ex.Switch(match=value, cases=cases, otherwise=otherwise):
                branches = [(case.value, case.then) for case in cases]
                return _atom("case ", Place(value), *_branch_pieces(branches, otherwise))
            case ex.SingularOrList(value=value, options=options):
                return _comparison_form(Place(value, Binding.SUM), " in ", *_tuple_pieces(options))
            case ex.MultiOrList(values=values, records=records):
                rows = _separated([_tuple_pieces(record.fields) for record in records])
                return _comparison_form(*_tuple_pieces(values), " in (", *rows, ")")
            case ex.ScalarSubquery(input=rel):
                return _atom(self._subquery(rel, row))
            case ex.InPredicate(needles=needles, haystack=rel):
                needle = [Place(needles[0], Binding.SUM)] if len(needles) == 1 else _tuple_pieces(needles)
                return _comparison_form(*needle, " in ", self._subquery(rel, row))
            case ex.SetPredicate(op=op, tuples=rel):
                return _atom(f"{op} ", self._subquery(rel, row))
            case ex.SetComparison(reduction=reduction, comparison=comparison, left=left, right=rel):
                sign = f" {_COMPARISON_SIGNS[comparison]} {reduction} "
                return _comparison_form(Place(left, Binding.SUM), sign, self._subquery(rel, row))
            case _:
                assert_never(closed)

    def _reference(self, reference: ex.FieldReference, row: Row) -> str:
        match reference.root:
            case ex.RootReference():
                return row.label(reference.position)
            case ex.OuterReference(anchor):
                scope, prefix = self.outer, "outer."
                while scope is not None and scope.anchor != anchor:
                    scope, prefix = scope.outer, prefix + "outer."
                if scope is None:  # a part of a plan, looked at by itself
                    return f"outer({anchor}).${reference.position}"
                return prefix + scope.row.label(reference.position)
            case _:
                assert_never(reference.root)

    def _subquery(self, rel: Rel, row: Row) -> str:
        self.subqueries.append(Subquery(rel, Scope(row, self.anchor, self.outer)))
        return f"(subquery {self.labels.of(rel)})"


def expression_text(expression: Expression, schema: NamedStruct | None = None) -> str:
    """An expression as people write it: ``o_totalprice > 100000.00``.

    Args:
        expression: any expression.
        schema: the schema of the row it sees, for the names of columns; without it they are ``$0``, ``$1``.

    A name that several columns carry is followed by the position (``id#3``). A text longer than `MAX_TEXT` is cut, and
    says so; a subquery is only mentioned (``subquery #1``).
    """
    return ExpressionWriter().text(expression, NO_ROW if schema is None else Row((schema,)))


def _atom(*pieces: Piece) -> Form:
    return Form(Binding.ATOM, pieces)


def _comparison_form(*pieces: Piece) -> Form:
    return Form(Binding.COMPARISON, pieces)


def _separated(parts: Iterable[Sequence[Piece]]) -> list[Piece]:
    pieces: list[Piece] = []
    for part in parts:
        if pieces:
            pieces.append(", ")
        pieces.extend(part)
    return pieces


def _tuple_pieces(expressions: Sequence[Expression]) -> list[Piece]:
    return ["(", *_separated([[Place(expression)] for expression in expressions]), ")"]


def _literal_form(literal: ex.Literal) -> Form:
    if literal.value is None:
        return _atom(f"null:{literal.type.as_required()}")
    match literal.type:
        case Struct():
            return _atom(*_tuple_pieces(literal.value))
        case List():
            return _atom("[", *_separated([[Place(item)] for item in literal.value]), "]")
        case Map():
            pairs: list[list[Piece]] = [[Place(key), ": ", Place(value)] for key, value in literal.value]
            return _atom("{", *_separated(pairs), "}")
        case UserDefined():
            return _atom(str(literal.type.as_required()), *_tuple_pieces(literal.value))
        case _:
            text = constant_text(literal.value, literal.type)
            return Form(Binding.SIGN if text.startswith("-") else Binding.ATOM, (text,))


def _segment_pieces(access: ex.FieldAccess) -> list[Piece]:
    match access.segment:
        case ex.StructField(position):
            struct = access.input.type
            named = isinstance(struct, Struct) and struct.names
            return [f".{name_text(named[position])}" if named else f".${position}"]
        case ex.ListElement(offset):
            return [f"[{offset}]"]
        case ex.MapKey(key):
            return ["[", Place(key), "]"]
        case _:
            assert_never(access.segment)


def _function_form(call: ex.ScalarFunction) -> Form:
    name, arguments = call.function.name, call.arguments
    values = [argument for argument in arguments if isinstance(argument, Expression)]
    if not call.function.urn.startswith(_STANDARD) or call.options or len(values) != len(arguments):
        return _atom(*_call_pieces(call))
    if name in _CONNECTIVES and len(values) > 1:
        binding = _CONNECTIVES[name]
        pieces: list[Piece] = [Place(values[0], binding)]
        for value in values[1:]:
            pieces += [f" {name} ", Place(value, binding)]
        return Form(binding, tuple(pieces))
    if name in _OPERATORS:
        binding, pattern = _OPERATORS[name]
        if sum(isinstance(part, Binding) for part in pattern) == len(values):
            operands = iter(values)
            return Form(
                binding, tuple(Place(next(operands), part) if isinstance(part, Binding) else part for part in pattern)
            )
    return _atom(*_call_pieces(call))


def _call_pieces(call: ex.ScalarFunction | ex.AggregateFunction, before: str = "", *after: Piece) -> list[Piece]:
    """``name(argument, ...; option: VALUE)``, with words before and after the arguments."""
    arguments = _separated([[_argument_piece(argument)] for argument in call.arguments])
    options = [f"{option.name}: {' or '.join(option.preferences)}" for option in call.options]
    inside = f"; {', '.join(options)}" if options else ""
    return [f"{name_text(call.function.name)}({before}", *arguments, *after, f"{inside})"]


def _argument_piece(argument: ex.Argument) -> Piece:
    match argument:
        case Expression():
            return Place(argument)
        case ex.EnumArgument(value):
            return value
        case ex.TypeArgument(kind):
            return str(kind)
        case _:
            assert_never(argument)


def _measure_pieces(measure: ex.Measure) -> list[Piece]:
    call = measure.function
    sorts = _separated([_sort_pieces(key) for key in call.sorts])
    order: list[Piece] = [" order by ", *sorts] if sorts else []
    pieces = _call_pieces(call, "distinct " if call.invocation == "distinct" else "", *order)
    if call.phase != "initial_to_result":
        pieces.append(f" [{call.phase}]")
    if measure.filter is not None:
        pieces += [" filter (where ", Place(measure.filter), ")"]
    return pieces


def _sort_pieces(key: ex.SortKey) -> list[Piece]:
    return [Place(key.expression), f" {DIRECTIONS[key.direction]}"]


def _branch_pieces(branches: Sequence[tuple[Expression, Expression]], otherwise: Expression) -> list[Piece]:
    pieces: list[Piece] = []
    for condition, then in branches:
        pieces += [" when ", Place(condition), " then ", Place(then)]
    return [*pieces, " else ", Place(otherwise), " end"]
