"""The formats of expressions: words, and places for the operands.

Each place has the binding that an expression needs to stand there without parentheses. Nothing here knows the row that
an expression sees: what needs it is in `expressions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import assert_never

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.node import Expression
from substrait_dsl.algebra.properties import SortDirection
from substrait_dsl.algebra.types import List, Map, PrecisionTimestampTZ, Struct, Type, UserDefined
from substrait_dsl.render.literals import constant_text, name_text, type_text, word_text
from substrait_dsl.render.scopes import field_label

DIRECTIONS: dict[SortDirection, str] = {
    "asc_nulls_first": "asc nulls first",
    "asc_nulls_last": "asc nulls last",
    "desc_nulls_first": "desc nulls first",
    "desc_nulls_last": "desc nulls last",
    "clustered": "clustered",
}


def direction_text(direction: SortDirection | ex.FunctionId) -> str:
    """Return how a sort key orders: ``asc nulls last``, or ``using`` a function of two values."""
    return f"using {name_text(direction.name)}" if isinstance(direction, ex.FunctionId) else DIRECTIONS[direction]


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
    """The text of an expression, and how tightly it binds."""

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

COMPARISON_SIGNS: dict[str, str] = {"eq": "=", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}
"""The signs of comparisons with a subquery."""


def atom(*pieces: Piece) -> Form:
    """Something that never needs parentheses."""
    return Form(Binding.ATOM, pieces)


def comparison_form(*pieces: Piece) -> Form:
    """Something that binds as a comparison does."""
    return Form(Binding.COMPARISON, pieces)


def separate_pieces(parts: Iterable[Sequence[Piece]]) -> list[Piece]:
    """Parts with commas between them."""
    pieces: list[Piece] = []
    for part in parts:
        if pieces:
            pieces.append(", ")
        pieces.extend(part)
    return pieces


def tuple_pieces(expressions: Sequence[Expression]) -> list[Piece]:
    """``(a, b)``."""
    return ["(", *separate_pieces([[Place(expression)] for expression in expressions]), ")"]


def literal_form(literal: ex.Literal) -> Form:
    """Return a constant: ``100.00``, ``null:i64``, ``[1, 2]``."""
    if literal.value is None:
        return atom(f"null:{type_text(literal.type.as_required())}")
    match literal.type:
        case Struct():
            return atom(*tuple_pieces(literal.value))
        case List():
            return atom(*list_pieces(literal.value))
        case Map():
            return atom(*map_pieces(literal.value))
        case UserDefined() if isinstance(literal.value, AnyMessage):
            owner, size = name_text(literal.value.type_url), len(literal.value.value)
            return atom(f"{type_text(literal.type.as_required())}({owner}, {size} bytes)")
        case UserDefined():
            return atom(type_text(literal.type.as_required()), *tuple_pieces(literal.value))
        case _:
            text = constant_text(literal.value, literal.type)
            return Form(Binding.SIGN if text.startswith("-") else Binding.ATOM, (text,))


def segment_pieces(access: ex.FieldAccess) -> list[Piece]:
    """Return the text after a value that selects a part of it: ``.city``, ``[0]``."""
    match access.segment:
        case ex.StructField(position):
            return [f".{field_label(access.input.type, position)}"]
        case ex.ListElement(offset):
            return [f"[{offset}]"]
        case ex.MapKey(key):
            return ["[", Place(key), "]"]
        case _:
            assert_never(access.segment)


def nested_struct_pieces(struct: ex.NestedStruct) -> list[Piece]:
    """``struct(city: a, zip: b)``: not ``(a)``, which is `a` in parentheses."""
    words = [""] * len(struct.fields) if struct.names is None else [f"{name_text(name)}: " for name in struct.names]
    return ["struct(", *separate_pieces([[word, Place(f)] for word, f in zip(words, struct.fields, strict=True)]), ")"]


def list_pieces(values: Sequence[Expression]) -> list[Piece]:
    """``[a, b]``."""
    return ["[", *separate_pieces([[Place(value)] for value in values]), "]"]


def map_pieces(entries: Sequence[tuple[Expression, Expression]]) -> list[Piece]:
    """``{a: b, c: d}``."""
    return ["{", *separate_pieces([[Place(key), ": ", Place(value)] for key, value in entries]), "}"]


def lambda_form(function: ex.Lambda) -> Form:
    """``(@0: i64) -> @0 + 1``: parameters are called by their positions."""
    parameters = ", ".join(f"@{position}: {type_text(type_)}" for position, type_ in enumerate(function.parameters))
    return Form(Binding.OR, (f"({parameters}) -> ", Place(function.body)))


def context_variable_text(variable: ex.ExecutionContextVariable) -> str:
    """``current_date``; the time with its precision, ``current_timestamp(6)``."""
    type_ = variable.variable_type
    return f"{variable.variable}({type_.precision})" if isinstance(type_, PrecisionTimestampTZ) else variable.variable


def mask_text(mask: ex.Mask, type_: Type | None, label: Callable[[int], str] | None = None) -> str:
    """Return the text of a mask: ``(city, tags[..5, 7].(name))``; `label` names the fields at the top."""
    if isinstance(mask, ex.ListMask):
        selection = ", ".join([f"..{mask.first}"] * bool(mask.first) + [str(position) for position in mask.positions])
        element = type_.element if isinstance(type_, List) else None
        return f"[{selection}]{'' if mask.child is None else _inner_mask_text(mask.child, element)}"
    parts = []
    for item in mask.items:
        inner = type_.types[item.position] if isinstance(type_, Struct) else None
        name = field_label(type_, item.position) if label is None else label(item.position)
        parts.append(name if item.child is None else f"{name}{_inner_mask_text(item.child, inner)}")
    return f"({', '.join(parts)})"


def _inner_mask_text(mask: ex.Mask, type_: Type | None) -> str:
    return f"{'.' if isinstance(mask, ex.StructMask) else ''}{mask_text(mask, type_)}"


def function_form(call: ex.ScalarFunction) -> Form:
    """Return a call: as an operator, where the function is one."""
    name, arguments = call.function.name, call.arguments
    values = [argument for argument in arguments if isinstance(argument, Expression)]
    if not call.function.standard_name or call.options or len(values) != len(arguments):
        return atom(*_call_pieces(call))
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
    return atom(*_call_pieces(call))


def _call_pieces(
    call: ex.ScalarFunction | ex.AggregateFunction | ex.WindowCall, before: str = "", *after: Piece
) -> list[Piece]:
    """``name(argument, ...; option: VALUE)``, with words before and after the arguments."""
    arguments = separate_pieces([[_argument_piece(argument)] for argument in call.arguments])
    options = [f"{word_text(each.name)}: {' or '.join(map(word_text, each.preferences))}" for each in call.options]
    inside = f"; {', '.join(options)}" if options else ""
    gap = " " if before and arguments else ""
    return [f"{name_text(call.function.name)}({before}{gap}", *arguments, *after, f"{inside})"]


def _argument_piece(argument: ex.Argument) -> Piece:
    match argument:
        case Expression():
            return Place(argument)
        case ex.EnumArgument(value):
            return word_text(value)
        case ex.TypeArgument(type_):
            return type_text(type_)
        case _:
            assert_never(argument)


def measure_pieces(measure: ex.Measure) -> list[Piece]:
    """``sum(distinct x order by y asc nulls last) filter (where z > 0)``."""
    call = measure.function
    order = [" ", *_keys("order by", call.sorts)] if call.sorts else []
    pieces = _aggregating_pieces(call, *order)
    if measure.filter is not None:
        pieces += [" filter (where ", Place(measure.filter), ")"]
    return pieces


def window_pieces(
    call: ex.WindowCall, partitions: Sequence[Expression] = (), sorts: Sequence[ex.SortKey] = ()
) -> list[Piece]:
    """``sum(x) over (partition by y order by z asc nulls last rows between 1 preceding and current row)``.

    A relation that says for all its functions how rows are partitioned and ordered leaves that out here.
    """
    parts: list[Piece] = []
    if partitions:
        parts += ["partition by ", *separate_pieces([[Place(partition)] for partition in partitions]), " "]
    if sorts:
        parts += [*_keys("order by", sorts), " "]
    lower, upper = _bound_pieces(call.lower, "preceding"), _bound_pieces(call.upper, "following")
    frame = [f"{call.bounds_type} between ", *lower, " and ", *upper]
    return [*_aggregating_pieces(call), " over (", *parts, *frame, ")"]


def _bound_pieces(bound: ex.Bound, unbounded: str) -> list[Piece]:
    match bound.kind:
        case "unbounded":
            return [f"unbounded {unbounded}"]
        case "current_row":
            return ["current row"]
        case "preceding" | "following":
            return [*([] if bound.offset is None else [Place(bound.offset, Binding.ATOM)]), f" {bound.kind}"]
        case _:
            assert_never(bound.kind)


def _aggregating_pieces(call: ex.AggregateFunction | ex.WindowCall, *after: Piece) -> list[Piece]:
    """Return a call with what a scalar function does not have: ``sum(distinct x) [initial_to_intermediate]``."""
    pieces = _call_pieces(call, "distinct" if call.invocation == "distinct" else "", *after)
    return pieces if call.phase == "initial_to_result" else [*pieces, f" [{call.phase}]"]


def _keys(words: str, sorts: Sequence[ex.SortKey]) -> list[Piece]:
    return [f"{words} ", *separate_pieces([sort_pieces(key) for key in sorts])]


def sort_pieces(key: ex.SortKey) -> list[Piece]:
    """``o_orderdate desc nulls last``."""
    return [Place(key.expression), f" {direction_text(key.direction)}"]


def branch_pieces(branches: Sequence[tuple[Expression, Expression]], otherwise: Expression) -> list[Piece]:
    """``when a then b else c end``."""
    pieces: list[Piece] = []
    for condition, then in branches:
        pieces += [" when ", Place(condition), " then ", Place(then)]
    return [*pieces, " else ", Place(otherwise), " end"]
