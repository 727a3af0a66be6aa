"""Hints for the arguments of a call that no overload takes."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.number_types import MAX_DIGITS, common_number
from substrait_dsl.algebra.types import (
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    List,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    UserDefined,
    VarChar,
)
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import (
    LiteralError,
)
from substrait_dsl.fluent.guidance import IN_LIST
from substrait_dsl.hints import phrase

_COMPARISONS = ("equal", "not_equal", "lt", "lte", "gt", "gte", "between")
_ARITHMETIC = ("add", "subtract", "multiply", "divide", "modulus")
OPERATORS = frozenset((*_ARITHMETIC, *_COMPARISONS, "coalesce", "nullif", "least", "greatest"))
"""Functions whose operands are of one kind, so that a value that does not fit the other operand is the mistake."""
_JOINED = "functions.concat(a, b) joins texts"
_MOMENTS = (PrecisionTimestamp, PrecisionTimestampTZ)
_TEXTS = (String, VarChar)


class Operands:
    """The arguments of a call that no overload takes: expressions, and values of Python's."""

    def __init__(self, name: str, parts: Sequence[Any]) -> None:
        self.name, self.parts = name, parts
        self.typed = [part for part in parts if isinstance(part, ex.Expression)]
        self.plain = [part for part in parts if not isinstance(part, ex.Expression)]

    def have(self, *types: type[Type]) -> bool:
        """Return whether one of the expressions is of one of these types."""
        return any(isinstance(part.type, types) for part in self.typed)

    def is_a(self, position: int, *types: type[Type]) -> bool:
        """Return whether an argument is an expression of one of these types."""
        part = self.parts[position]
        return isinstance(part, ex.Expression) and isinstance(part.type, types)

    def are_texts(self) -> bool:
        """Return whether all arguments are texts, the first one an expression."""
        return isinstance(self.parts[0], ex.Expression) and all(
            isinstance(part, str) or self.is_a(position, *_TEXTS) for position, part in enumerate(self.parts)
        )

    def words(self) -> list[str]:
        """Return the texts that may be the name of a column."""
        return [part for part in self.plain if isinstance(part, str) and part.isidentifier()]


def _explain_time_difference(operands: Operands) -> str:
    zone = ', "UTC"' if operands.have(PrecisionTimestampTZ) else ""
    seconds = f'extract("UNIX_TIME", x{zone}): {phrase("in_seconds")}'
    days = '; substrait_dsl.everyday.date_diff("DAY", start, end) counts days' * operands.is_a(0, Date)
    return f"the specification has no difference of two points in time; write {seconds}{days}"


def _explain_extreme_text(operands: Operands) -> str:
    key = "desc(x)" if operands.name == "max" else 'asc(x, nulls="last")'
    group = f"row_number().over(partition_by=..., order_by={key}) {phrase('kept_first')}"
    own = f"substrait_dsl.everyday.{operands.name}(x) compares texts by code points"
    return f"the specification has none of texts; {own}; top_n(1, {key}) gives the row; for each group, {group}"


def _explain_column_name(operands: Operands) -> str:
    words = operands.words()  # the function's own words, such as "YEAR", are in capitals and come first
    column = next((word for word in words if not word.isupper()), words[-1])
    return f"a column is col({column!r}), or the row's in a lambda"


class _Mistake:
    """A common mistake in calls of some functions, or of any, and what to write instead."""

    __slots__ = ("advice", "applies", "functions")

    def __init__(
        self,
        functions: str,
        applies: Callable[[Operands], bool],
        advice: str | Callable[[Operands], str | None],
    ) -> None:
        self.functions, self.applies, self.advice = functions.split(), applies, advice

    def is_in(self, operands: Operands) -> bool:
        """Return whether a call makes it."""
        return (not self.functions or operands.name in self.functions) and self.applies(operands)


_MISTAKES: tuple[_Mistake, ...] = (
    _Mistake("or", lambda call: call.are_texts(), _JOINED),  # not r.a == "x" | r.b
    _Mistake("contains", lambda call: bool(call.typed) and isinstance(call.typed[0].type, List), IN_LIST),
    _Mistake(
        "add subtract",
        lambda call: call.is_a(0, Date, *_MOMENTS) and call.is_a(-1, I8, I16, I32, I64),
        "a number of days is n * lit(timedelta(days=1)), of datetime's",
    ),
    _Mistake(
        "and or xor",
        lambda call: any(not isinstance(part.type, Boolean) for part in call.typed),
        "put each comparison in parentheses: (a > 1) & (b < 2)",
    ),
    _Mistake(
        "not",
        lambda call: any(not isinstance(part.type, Boolean) for part in call.typed),
        "put a comparison in parentheses: ~(a == 1)",
    ),
    _Mistake("add", lambda call: call.have(*_TEXTS), _JOINED),
    _Mistake(
        "subtract",
        lambda call: len(call.typed) == 2 and all(isinstance(part.type, (Date, *_MOMENTS)) for part in call.typed),
        _explain_time_difference,
    ),
    _Mistake("negate", lambda call: call.have(*_TEXTS), "to sort by it, the largest first, write desc(x)"),
    _Mistake("min max", lambda call: call.have(*_TEXTS), _explain_extreme_text),
    _Mistake(
        "min max",
        lambda call: call.have(Boolean),
        lambda call: f"of truth values it is {'bool_and' if call.name == 'min' else 'bool_or'}(x)",
    ),
    _Mistake(
        "sum",
        lambda call: call.have(Boolean),
        "functions.count().filter(condition) counts the rows for which it is true",
    ),
    _Mistake("sum avg min max", lambda call: call.have(List), 'the elements of a list are rows after unnest("xs")'),
    _Mistake("", lambda call: not call.typed and bool(call.words()), _explain_column_name),
    _Mistake(
        "",
        lambda call: any(type(part) is dt.date for part in call.plain) and call.have(*_MOMENTS),
        "of a moment the other side is one, too: datetime.datetime(2024, 5, 1) is the beginning of a day",
    ),
    _Mistake(
        "",
        lambda call: any(isinstance(part, dt.datetime) for part in call.plain) and call.have(Date),
        "the day of a datetime is its .date(); x.cast(PrecisionTimestamp(6)) is the beginning of a day",
    ),
    _Mistake(
        "",
        lambda call: any(isinstance(part, ex.DaySeconds | ex.Compound) for part in call.plain),
        "give the span a type: lit(value, IntervalDay(6))",
    ),
    _Mistake(
        "",
        lambda call: len(call.typed) == 2 and not call.plain and call.name in _COMPARISONS,
        lambda call: _common_type(call.typed[0].type, call.typed[1].type),
    ),
)
"""Mistakes in calls that no overload takes; the first that a call makes is the one that it is told of."""


def argument_hint(name: str, parts: Sequence[Any]) -> str | None:
    """Hints for the arguments of a call that no overload takes."""
    operands = Operands(name, parts)
    mistake = next((mistake for mistake in _MISTAKES if mistake.is_in(operands)), None)
    if mistake is None:
        return None
    return mistake.advice if isinstance(mistake.advice, str) else mistake.advice(operands)


def is_mistake(name: str, refused: LiteralError, parts: Sequence[Any]) -> bool:
    """Return whether a value that does not fit the expression beside it is what is wrong with a call."""
    if refused.hint is not None:
        return True
    typed = next(part for part in parts if isinstance(part, ex.Expression))
    return name == "coalesce" and isinstance(typed.type, _TEXTS)  # what stands in for a text is one


def comparison_hint(name: str, parts: Sequence[Any]) -> str | None:
    """Return the hint for a comparison of two types, where no cast of one of them is known to help."""
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    return "values that are compared have one type" if name in _COMPARISONS and len(typed) == len(parts) else None


def catalog_hint(name: str, parts: Sequence[Any]) -> str | None:
    """Return where to look for a function of a type that only an extension of a user's own declares."""
    urns = standard_catalog().urns
    types = (part.type for part in parts if isinstance(part, ex.Expression))
    if not any(isinstance(type_, UserDefined) and type_.urn not in urns for type_ in types):
        return None
    return (
        "operators and substrait_dsl.functions are the specification's functions: "
        f"Functions(catalog).{name}(...) is that of a catalogue with an extension of your own"
    )


def _common_type(left: Type, right: Type) -> str | None:
    """Return how two operands come to one type."""
    match left, right:
        case Decimal(), Decimal():
            scale = max(left.scale, right.scale)
            position, wide = max((1, left), (2, right), key=lambda each: each[1].precision - each[1].scale)
            narrower = f"decimal<{MAX_DIGITS - scale + wide.scale},{wide.scale}>"
            return f"no decimal has the digits of both: cast argument {position} from {wide} to {narrower}"
        case (Date(), PrecisionTimestamp() as other) | (PrecisionTimestamp() as other, Date()):
            return f"cast the date to {other.as_required()}"
        case _:
            return None


def key_hint(names: tuple[str, str], types: tuple[Type, Type]) -> str:
    """Return the hint for the keys of a join of two types: which side is cast, so that no value changes."""
    left, right = (type_.as_required() for type_ in types)
    common = common_number((left, right))
    if isinstance(left, PrecisionTimestamp) and isinstance(right, Date):
        common = left
    if common is not None and not common.matches(left) and not common.matches(right):
        one, other = (f'{name}=col("{name}").cast("{common}")' for name in names)
        return f"cast both before: with_columns({one}) of the left side, with_columns({other}) of the right"
    is_left_wider = common is not None and common.matches(left)
    name, type_, side = (names[1], left, "right") if is_left_wider else (names[0], right, "left")
    return f'cast the one of the {side} side before: with_columns({name}=col("{name}").cast("{type_}"))'


def refused_value(name: str, parts: Sequence[Any]) -> LiteralError | None:
    """Return the error for the first of some Python values that has not the type of the one expression beside them."""
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    if len(typed) != 1 or name not in OPERATORS:
        return None
    type_ = typed[0].type.as_required()
    for value in (part for part in parts if not isinstance(part, ex.Expression)):
        try:
            ex.literal(value, type_)
        except LiteralError as error:
            if isinstance(type_, Date | PrecisionTimestamp | PrecisionTimestampTZ) and type(value) is int:
                error.hint = "a span of time is a datetime.timedelta: timedelta(days=30)"
            return error
    return None
