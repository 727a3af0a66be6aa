"""Hints for what people write by habit: other libraries' names, Python's own operators, literals of another type."""

from __future__ import annotations

import datetime as dt
import keyword
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.type_syntax import PARAMETER_NAMES
from substrait_dsl.algebra.type_text import parse_type
from substrait_dsl.algebra.types import (
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    List,
    Map,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    UserDefined,
    VarChar,
)
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import (
    InvalidArgumentError,
    LiteralError,
    PlanFormatError,
    TypeMismatchError,
    UnknownAttributeError,
    close_matches,
    nearest,
    quoted,
    shortened,
    suggestion,
)
from substrait_dsl.fluent.function_habits import FIRST_OF_GROUP, FUNCTIONS, METHODS, difference
from substrait_dsl.fluent.habits import NAMES, PYTHON_TYPES, TYPE_HABITS, VIEW_OF_A_FRAME

_COMPARISONS = ("equal", "not_equal", "lt", "lte", "gt", "gte", "between")
_ARITHMETIC = ("add", "subtract", "multiply", "divide", "modulus")

OPERATORS = frozenset((*_ARITHMETIC, *_COMPARISONS, "coalesce", "nullif", "least", "greatest"))
"""Functions whose operands are of one kind, so that a value that does not fit the other operand is the mistake."""


def no_attribute(what: str, name: str, habits: Mapping[str, str], known: Iterable[str]) -> UnknownAttributeError:
    """The error for a method that does not exist, with what it is called here."""
    names = {each: each for each in (*known, *habits) if not each.startswith("_")}
    near = close_matches(name, names, 0.8)
    habit = habits.get(name) or (habits.get(near[0]) if near else None)
    hint = f"write {habit}" if habit else suggestion(name, [each for each in names if each not in habits])
    return UnknownAttributeError(f'{what} has no "{name}"', names=[name], hint=hint)


def no_method(name: str, known: Collection[str], kind: Type | None) -> UnknownAttributeError:
    """The error for a method that expressions do not have; many are functions, or fields of a struct."""
    if isinstance(kind, Struct) and name in kind.field_names:
        return UnknownAttributeError(
            f'an expression has no "{name}"', names=[name], hint=f'the field of the struct is x["{name}"]'
        )
    functions = {**{each: each for each in _functions()}, **FUNCTIONS}
    habits = {
        each: _called(write, "x, ...") for each, write in functions.items() if each not in known and write not in known
    }
    error = no_attribute("an expression", name, {**habits, **METHODS}, known)
    if isinstance(kind, Struct) and (near := nearest(name, kind.field_names)):
        error.hint = f'did you mean the field x["{near}"]?'
    elif isinstance(kind, Struct) and error.hint is None:
        error.hint = f'fields of the struct are x["name"]: {quoted(kind.field_names)}'
    elif isinstance(kind, List) and isinstance(kind.element, Struct) and name in kind.element.field_names:
        error.hint = f'each of the list has the field: x[0]["{name}"] is that of the first'
    elif isinstance(kind, Map) and error.hint is None:
        error.hint = f'the value of a key of the map is x["{name}"]'
    return error


def no_name(name: str, known: Collection[str]) -> UnknownAttributeError:
    """The error for a name that the package does not have; many are functions, or types by another name."""
    functions = {**{each: each for each in _functions()}, **FUNCTIONS}
    habits = {**{each: _called(write, "...") for each, write in functions.items()}, **NAMES}
    if name not in habits and (kind := _type_meant(name)):
        habits[name] = f'"{kind}", or the class of that type'
    return no_attribute(
        "substrait_dsl", name, {each: advice for each, advice in habits.items() if each not in known}, known
    )


def _functions() -> set[str]:
    """The names of the specification's functions; the others are words of Python's."""
    names = {function for each in standard_catalog().extensions.values() for function in each.functions}
    return {name for name in names if not keyword.iskeyword(name)}


def _called(write: str, arguments: str) -> str:
    """What to write for a function, where the functions have no place of their own: ``functions.f(x, ...)``."""
    if write.startswith("substrait_dsl."):
        return write
    return f"functions.{write}({arguments})" if write.isidentifier() else f"functions.{write}"


def no_text(shown: str) -> TypeMismatchError:
    """The error for an expression in a text of Python's, which would be a constant: the same for all rows."""
    return TypeMismatchError(
        f"{shown} has no text before the query runs",
        hint="functions.concat(x, y) joins texts, x.cast(String) makes one; print(x) and {x!r} show the expression",
    )


def require_no_shown(value: object) -> None:
    """Raise `TypeMismatchError` for a text with an expression in it as `str` shows it, which people take for a cast."""
    if isinstance(value, str) and "Expr(" in value:
        raise no_text(f"an expression, shown in {shortened(repr(value), 80)},")


def no_column(what: str, text: str) -> InvalidArgumentError:
    """The error for a text that was meant to be a column's name where it is only a text."""
    hint = f"write col({text!r}) for a column, lit({text!r}) for text"
    return InvalidArgumentError(
        f"{what}, got the text {text!r}", names=[text], hint="functions.count() counts rows" if text == "*" else hint
    )


def relation_hint(given: object) -> str | None:
    """What to write for a table of another library, or the name of one, where a relation belongs."""
    if isinstance(given, str):
        return f'write read_named("{given}", schema) for a table of that name'
    if hasattr(given, "createOrReplaceTempView"):  # of pyspark, which need not be there
        return f"write {VIEW_OF_A_FRAME}"
    if type(given).__module__.partition(".")[0] == "pandas":
        return f"make a DataFrame of Spark of it; of that, {VIEW_OF_A_FRAME}"
    if isinstance(given, os.PathLike):
        return 'read_files(path, schema) reads files, write(files_target(path, "parquet")) writes them'
    if hasattr(given, "to_pylist") and hasattr(given, "schema"):
        return "write read_virtual(table.to_pylist(), table.schema), which puts the rows into the plan"
    return None


def no_operation(name: str, advice: str) -> TypeMismatchError:
    """The error for an operation of Python's that an expression has not."""
    return TypeMismatchError(f"an expression has no {name} before the query runs", hint=f"write {advice}")


IN_LIST = "functions.any_match(xs, lambda x: x == y) looks for a value in a list"
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
        """Whether one of the expressions is of one of these types."""
        return any(isinstance(part.type, types) for part in self.typed)

    def is_a(self, position: int, *types: type[Type]) -> bool:
        """Whether an argument is an expression of one of these types."""
        part = self.parts[position]
        return isinstance(part, ex.Expression) and isinstance(part.type, types)

    def are_texts(self) -> bool:
        """Whether all arguments are texts, the first one an expression."""
        return isinstance(self.parts[0], ex.Expression) and all(
            isinstance(part, str) or self.is_a(position, *_TEXTS) for position, part in enumerate(self.parts)
        )

    def words(self) -> list[str]:
        """The texts that may be the name of a column."""
        return [part for part in self.plain if isinstance(part, str) and part.isidentifier()]


def _of_time_difference(operands: Operands) -> str:
    zone = ', "UTC"' if operands.have(PrecisionTimestampTZ) else ""
    return f"the specification has no difference of two points in time; write {difference(zone)}"


def _of_extreme_text(operands: Operands) -> str:
    key = "desc(x)" if operands.name == "max" else 'asc(x, nulls="last")'
    group = FIRST_OF_GROUP.format(key)
    return f"there is none of texts; top_n(1, {key}) gives the row that has it; for each group, {group}"


def _of_column_name(operands: Operands) -> str:
    words = operands.words()  # the function's own words, such as "YEAR", are in capitals and come first
    column = next((word for word in words if not word.isupper()), words[-1])
    return f"a column is col({column!r}), or the row's in a lambda"


class _Mistake(NamedTuple):
    """What people take for something else in calls of some functions, or of any, and what to write."""

    functions: frozenset[str]
    is_made: Callable[[Operands], bool]
    advice: str | Callable[[Operands], str | None]

    def is_in(self, operands: Operands) -> bool:
        """Whether a call makes it."""
        return (not self.functions or operands.name in self.functions) and self.is_made(operands)


def _mistake(functions: str, is_made: Callable[[Operands], bool], advice: Any) -> _Mistake:
    return _Mistake(frozenset(functions.split()), is_made, advice)


_MISTAKES: tuple[_Mistake, ...] = (
    _mistake("or", lambda call: call.are_texts(), _JOINED),  # not r.a == "x" | r.b
    _mistake("contains", lambda call: bool(call.typed) and isinstance(call.typed[0].type, List), IN_LIST),
    _mistake(
        "add subtract",
        lambda call: call.is_a(0, Date, *_MOMENTS) and call.is_a(-1, I8, I16, I32, I64),
        "a number of days is n * lit(timedelta(days=1)), of datetime's",
    ),
    _mistake(
        "and or xor",
        lambda call: any(not isinstance(part.type, Boolean) for part in call.typed),
        "put each comparison in parentheses: (a > 1) & (b < 2)",
    ),
    _mistake(
        "not",
        lambda call: any(not isinstance(part.type, Boolean) for part in call.typed),
        "put a comparison in parentheses: ~(a == 1)",
    ),
    _mistake("add", lambda call: call.have(*_TEXTS), _JOINED),
    _mistake(
        "subtract",
        lambda call: len(call.typed) == 2 and all(isinstance(part.type, (Date, *_MOMENTS)) for part in call.typed),
        _of_time_difference,
    ),
    _mistake("negate", lambda call: call.have(*_TEXTS), "to sort by it, the largest first, write desc(x)"),
    _mistake("min max", lambda call: call.have(*_TEXTS), _of_extreme_text),
    _mistake(
        "min max",
        lambda call: call.have(Boolean),
        lambda call: f"of truth values it is {'bool_and' if call.name == 'min' else 'bool_or'}(x)",
    ),
    _mistake(
        "sum",
        lambda call: call.have(Boolean),
        "functions.count().filter(condition) counts the rows for which it is true",
    ),
    _mistake("sum avg min max", lambda call: call.have(List), 'the elements of a list are rows after unnest("xs")'),
    _mistake("", lambda call: not call.typed and bool(call.words()), _of_column_name),
    _mistake(
        "",
        lambda call: any(type(part) is dt.date for part in call.plain) and call.have(*_MOMENTS),
        "of a moment the other side is one, too: datetime.datetime(2024, 5, 1) is the beginning of a day",
    ),
    _mistake(
        "",
        lambda call: any(isinstance(part, dt.datetime) for part in call.plain) and call.have(Date),
        "the day of a datetime is its .date(); x.cast(PrecisionTimestamp(6)) is the beginning of a day",
    ),
    _mistake(
        "",
        lambda call: any(isinstance(part, ex.DaySeconds | ex.Compound) for part in call.plain),
        "give the span a type: lit(value, IntervalDay(6))",
    ),
    _mistake(
        "",
        lambda call: len(call.typed) == 2 and not call.plain and call.name not in ("add", "subtract"),
        lambda call: _common_type(call.typed[0].type, call.typed[1].type),
    ),
)
"""Mistakes in calls that no overload takes; the first that a call makes is the one that it is told of."""


def argument_hint(name: str, parts: Sequence[Any]) -> str | None:
    """What is probably wrong with the arguments of a call that no overload takes."""
    operands = Operands(name, parts)
    made = next((mistake for mistake in _MISTAKES if mistake.is_in(operands)), None)
    if made is None:
        return None
    return made.advice if isinstance(made.advice, str) else made.advice(operands)


def is_mistake(name: str, refused: LiteralError, parts: Sequence[Any]) -> bool:
    """Whether a value that does not fit the expression beside it is what is wrong with a call."""
    if refused.hint is not None:
        return True
    typed = next(part for part in parts if isinstance(part, ex.Expression))
    return name == "coalesce" and isinstance(typed.type, _TEXTS)  # what stands in for a text is one


def comparison_hint(name: str, parts: Sequence[Any]) -> str | None:
    """What a comparison of two types lacks, where no cast of one of them is known to help."""
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    return "values that are compared have one type" if name in _COMPARISONS and len(typed) == len(parts) else None


def catalog_hint(name: str, parts: Sequence[Any]) -> str | None:
    """Where to look for a function of a type that only an extension of a user's own declares."""
    urns = standard_catalog().urns
    kinds = (part.type for part in parts if isinstance(part, ex.Expression))
    if not any(isinstance(kind, UserDefined) and kind.urn not in urns for kind in kinds):
        return None
    return (
        "operators and substrait_dsl.functions are the specification's functions: "
        f"Functions(catalog).{name}(...) is that of a catalogue with an extension of your own"
    )


def type_hint(given: Any) -> str | None:
    """Which type was probably meant by what is none: by a name of SQL, by a type of Python or of another library."""
    optional = [each for each in get_args(given) if each is not NoneType]
    if len(optional) == 1 and NoneType in get_args(given):  # `int | None`
        return f"did you mean Nullable[{_annotation(optional[0])}]?"
    kind = get_origin(given) or given
    if isinstance(kind, type) and kind in PYTHON_TYPES:
        return f"did you mean {PYTHON_TYPES[kind]}?"
    meant = _type_meant(given if isinstance(given, str) else getattr(given, "__name__", None) or str(given))
    return f'did you mean "{meant}"?' if meant else None


def _annotation(given: Any) -> str:
    """How a type is written in a schema class; a schema class itself is that of a struct."""
    name = str(getattr(given, "__name__", given))
    return PYTHON_TYPES.get(get_origin(given) or given) or (f"Struct[{name}]" if hasattr(given, "__struct__") else name)


def _type_meant(text: str) -> str | None:
    """The type that a text of another language means: ``array<int>``, ``decimal(10,2)``, ``DoubleType()``."""
    given = text.strip().lower()
    for form, mark in _NULLABILITIES:
        if (inner := form.fullmatch(given)) is not None:
            meant = _type_meant(inner[1]) or inner[1]
            return f"{meant.removesuffix('?')}{mark}" if _is_type(meant) else None
    phrase = re.sub(r"^[a-z_ ]+(?!\w)", lambda words: TYPE_HABITS.get(words[0].strip(), words[0]), given)
    whole = re.sub(r"[a-z_]\w*", _own_name, phrase).replace("()", "").translate(str.maketrans("()[]", "<><>"))
    name = whole.partition("<")[0]
    renamed = not given.startswith(name)
    for attempt in (whole, name) if renamed else (whole,):
        # Where another language says nothing of the digits after the second, it has six.
        attempt = re.sub(r"\b(precision_\w+|interval_day)(?![\w<])", r"\1<6>", attempt)
        if _is_type(attempt):
            return attempt
    names = PARAMETER_NAMES.get(name) if renamed else None
    return f"{name}<{','.join(names)}>" if names else None


_NULLABILITIES = (
    (re.compile(r"(.+?)\s+not\s+null"), ""),
    (re.compile(r"(.+?)\s+null"), "?"),
    (re.compile(r"(?:optional|nullable)[\[(<](.+)[\])>]"), "?"),
)
"""How others write that a type is required, or that NULL is one of its values, and the mark of it here."""


def _is_type(text: str) -> bool:
    try:
        parse_type(text)
    except PlanFormatError:
        return False
    return True


def _own_name(word: re.Match[str]) -> str:
    bare = word[0].removesuffix("type")
    return TYPE_HABITS.get(word[0]) or TYPE_HABITS.get(bare) or bare


def _common_type(left: Type, right: Type) -> str | None:
    """How two operands come to one type."""
    match left, right:
        case Decimal(), Decimal():
            scale = max(left.scale, right.scale)
            precision = scale + max(left.precision - left.scale, right.precision - right.scale)
            return f"cast both to decimal<{precision},{scale}>" if precision <= 38 else None
        case (Date(), PrecisionTimestamp() as other) | (PrecisionTimestamp() as other, Date()):
            return f"cast the date to {other.as_required()}"
        case _:
            return None


def refused_value(name: str, parts: Sequence[Any]) -> LiteralError | None:
    """The error for the first of some Python values that has not the type of the one expression beside them."""
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    if len(typed) != 1 or name not in OPERATORS:
        return None
    kind = typed[0].type.as_required()
    for value in (part for part in parts if not isinstance(part, ex.Expression)):
        try:
            ex.literal(value, kind)
        except LiteralError as error:
            if isinstance(kind, Date | PrecisionTimestamp | PrecisionTimestampTZ) and type(value) is int:
                error.hint = "a span of time is a datetime.timedelta: timedelta(days=30)"
            return error
    return None


def bool_hint(value: object) -> str | None:
    """What to write in place of a bool that is given as a condition; None for another value."""
    if not isinstance(value, bool):
        return None
    return (
        f'col("status") == "open" compares a column, x.is_null() asks for NULL; lit({value}) is the same for all rows'
    )
