"""How a function becomes Spark SQL text: templates, and how a call fills one.

A `Template` is one line of a table. In its text

- ``{0}``, ``{1}``, ... are the value arguments in order, enum arguments not counted;
- ``{args:, }`` is all of them, joined by what stands after the colon;
- ``{nulls}`` is whether any of them is NULL;
- ``{T}`` is the Spark type of the result, ``{t0}`` that of the first value argument, ...;
- ``{w0}``, ... is an integer argument in a type wide enough for any exact result, and ``{MIN}``, ``{MAX}``, ``{SPAN}``
  are the smallest value, the largest value and the number of values of the result's integer type, in that wide type;
- ``[overflow]`` is what the option of that name makes of it, ``[#0]`` what the first enum argument does. Such text may
  hold placeholders of every kind again.

A text stands for a whole operand: where it is an operator, it has its own parentheses.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.types import INTEGER_RANGES
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.catalog.everyday import URN as EVERYDAY_URN
from substrait_dsl.catalog.everyday import everyday_catalog
from substrait_dsl.catalog.function_requirements import known_overload
from substrait_dsl.catalog.implementations import bindable
from substrait_dsl.catalog.records import Argument, ValueArgument
from substrait_dsl.errors import UnsupportedError, quote
from substrait_dsl.spark.expressions.bound_functions import bound_call
from substrait_dsl.spark.expressions.casts import fitting
from substrait_dsl.spark.expressions.named_values import name_placeholders
from substrait_dsl.spark.expressions.time_zones import require_zone
from substrait_dsl.spark.expressions.types import UNSIGNED, spark_sql_type
from substrait_dsl.spark.session.engines import ENGINE, FunctionKind, current_engine

Call = ex.ScalarFunction | ex.AggregateFunction | ex.WindowCall


Writer = Callable[[Call, Sequence[str], Mapping[str, str]], str]
"""Writes a call from the texts of its value arguments and of its options, where placeholders do not suffice."""


@attrs.frozen
class Template:
    """A function that Spark runs exactly, as SQL text."""

    text: str | Writer
    options: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)
    """For each option, the supported values and their text; the first value is the default."""
    enums: tuple[Mapping[str, str], ...] = ()
    """For each enum argument, the supported values and their text."""
    empty: str | None = None
    """The text for a call without arguments."""
    literal_arguments: tuple[int, ...] = ()
    """The positions of value arguments that must be literals."""
    requires_comparable: bool = False
    """Whether the arguments are compared, which Spark cannot do with maps."""
    zone: int | None = None
    """The value argument that is a time zone."""
    may_lengthen: bool | None = None
    """Whether the result may be longer than a ``varchar`` or a ``fixedchar`` that the function declares.

    Then it is checked. A function that declares such a type says one or the other, an engine's own row of it need not.
    """
    is_refusal: bool = False
    """Whether `text` refuses each call by name, whatever its options and words are."""


Table = Mapping[str, Template]
"""The functions of one extension, by compound name (``add:i64_i64``), by name and the family of the first argument
(``add:int``, ``add:fp``, ``avg:fine``, ``avg:finest``, else its short name), or by name."""

_FAMILIES = {"i8": "int", "i16": "int", "i32": "int", "i64": "int", "fp32": "fp", "fp64": "fp"}

FINE, FINEST = 6, 19
"""From six fractional digits on Spark divides a long decimal by a count to the same scale; up to 19 it rounds the
quotient once: it has 38 digits, and a count has 19."""


def lower(call: Call, texts: Sequence[str], tables: Mapping[str, Table], extra: Mapping[str, str] | None = None) -> str:
    """Write the call of a function.

    Args:
        call: the call.
        texts: the SQL text of its value arguments, in order.
        tables: the functions of each extension, by what follows `STANDARD` in its URN, or by all of it.
        extra: further placeholders of the templates.

    Raises:
        UnsupportedError: the function, one of its options or an argument cannot be run exactly.
    """
    require_signature(call)
    if isinstance(call, ex.ScalarFunction) and (bound := bound_call(call, texts)) is not None:
        return bound
    found = _find(call, tables)
    _check_arguments(found, call)
    if found.zone is not None and found.zone < len(texts):
        values = [argument for argument in call.arguments if isinstance(argument, ex.Expression)]
        texts = [*texts]
        texts[found.zone] = require_zone(values[found.zone], texts[found.zone])
    text = found.text if call.arguments or found.empty is None else found.empty
    choices = {} if found.is_refusal else _choices(found, call)
    if isinstance(text, str):
        sql = _fill(_chosen(text, choices, call), call, texts, extra or {})
    else:
        sql = text(call, texts, choices)
    if found.zone is not None and found.zone < len(texts):
        sql = current_engine().guard_zone_rules(call, texts, found.zone, sql)
    if isinstance(call.output_type, t.VarChar | t.FixedChar) and _may_lengthen(call, tables):
        return fitting(sql, call.output_type)  # spec decision 39: the declared type stands, what does not fit fails
    return sql


def require_signature(call: Call) -> None:
    """Refuse a call of a function that its extension does not have, or not with such arguments.

    An imported plan may hold one. A template would drop the arguments that it has no placeholder for.
    """
    function = call.function
    if not _may_be_called(function, tuple(map(_kind_of, call.arguments))):
        signature = ", ".join(map(str, _value_types(call)))
        raise UnsupportedError(
            f"{ENGINE} cannot run {function.key} with ({signature}): {function.urn} has no such function"
        )


Kind = Literal["constant", "value", "word", "type"]


def _kind_of(argument: ex.Argument) -> Kind:
    """Tell what an argument of a call is."""
    match argument:
        case ex.Literal():
            return "constant"
        case ex.EnumArgument():
            return "word"
        case ex.TypeArgument():
            return "type"
        case _:
            return "value"


@functools.lru_cache(maxsize=4096)
def _may_be_called(function: ex.FunctionId, kinds: tuple[Kind, ...]) -> bool:
    """Whether a function takes such arguments; always true for a function of somebody else's extension."""
    catalog = everyday_catalog() if function.urn == EVERYDAY_URN else standard_catalog()
    if function.urn not in catalog.extensions:
        return True
    overload = known_overload(catalog, function)
    if overload is None or not overload.takes_count(len(kinds)):
        return False
    if function.urn != EVERYDAY_URN:
        return True
    declared = (overload.argument_at(position) for position in range(len(kinds)))
    return all(_fits(kind, argument) for kind, argument in zip(kinds, declared, strict=True))


def _fits(kind: Kind, declared: Argument) -> bool:
    """Whether an argument is what a function of the library declares: a word, or a value, which may be constant."""
    if not isinstance(declared, ValueArgument):
        return kind == "word"
    return kind == "constant" or (kind == "value" and not declared.constant)


def _function_kind(call: Call) -> FunctionKind:
    match call:
        case ex.ScalarFunction():
            return "scalar"
        case ex.AggregateFunction():
            return "aggregate"
        case ex.WindowCall():
            return "frame"


def _rows(call: Call, tables: Mapping[str, Table]) -> Iterator[Template]:
    """Yield the templates for a call, the most specific one first, and the engine's own before Spark's."""
    function = call.function
    table = tables.get(function.extension, {})
    own = current_engine().functions(function.extension, _function_kind(call))
    types = _value_types(call)
    family = _family(types[0]) if types else ""
    for key in (function.key, f"{function.name}:{family}", function.name):
        yield from (known[key] for known in (own, table) if key in known)


def _may_lengthen(call: Call, tables: Mapping[str, Table]) -> bool:
    """Whether the result of a call may be longer than its type says."""
    return any(row.may_lengthen for row in _rows(call, tables))


def _find(call: Call, tables: Mapping[str, Table]) -> Template:
    for row in _rows(call, tables):
        return row
    function = call.function
    types = _value_types(call)
    signature = ", ".join(map(str, types))
    if not function.urn and not _is_named(function.name):
        raise UnsupportedError(
            f"{ENGINE} cannot run the function {function.name}({signature}): no extension of the specification has one "
            "of that name, so nothing says what it means",
            hint="write what is meant with functions that the specification has",
        )
    origin = f" of {function.urn}" if function.urn else ""  # of what a foreign plan calls, that may not be known
    message = f"{ENGINE} cannot run the function {function.name}({signature}){origin} exactly"
    is_bindable = not isinstance(call, ex.WindowCall)  # which may be one of a window function
    if is_bindable and (details := bindable(function, "spark")) is not None:
        raise UnsupportedError(message, remedy="unbound-function", details=details)
    raise UnsupportedError(message, hint=REASONS.get(function.name))


@functools.lru_cache(maxsize=4096)
def _is_named(name: str) -> bool:
    """Whether an extension of the specification has a function of a name."""
    return any(name in extension.functions for extension in standard_catalog().extensions.values())


def _family(type_: t.Type) -> str:
    match type_:
        case t.Decimal(scale=scale) if scale >= FINE:
            return "fine" if scale <= FINEST else "finest"
        case _:
            return _FAMILIES.get(type_.short_name, type_.short_name)


_ISO = "a text as of ISO 8601, such as 2024-05-01, is cast: x.cast({})"
_BUCKETS = (
    'x.cast(Date) is the day; for 15 minutes s - functions.modulus(s, 900, division_type="FLOOR"), s being '
    'functions.extract("UNIX_TIME", x), and lit(datetime.datetime(1970, 1, 1)) + s * datetime.timedelta(seconds=1)'
)

REASONS: Mapping[str, str] = {
    "median": "cast it to fp64, which holds all integers up to 2^53",
    "quantile": "substrait_dsl.everyday.percentile(x, 0.9) is exact",
    "round_calendar": _BUCKETS,
    "round_temporal": _BUCKETS,
    "strptime_date": _ISO.format("Date") + '; substrait_dsl.everyday.to_date(x, "%d/%m/%Y") reads others',
    "strptime_timestamp": _ISO.format("PrecisionTimestamp(6)") + "; substring and concat put others in that form",
    "title": "the specification does not say where a word begins",
    "initcap": "the specification does not say where a word begins",
}
"""Why some functions are missing from the tables, where it is not simply that Spark lacks them."""


def _value_types(call: Call) -> list[t.Type]:
    return [argument.type for argument in call.arguments if isinstance(argument, ex.Expression)]


def _check_arguments(template: Template, call: Call) -> None:
    values = [argument for argument in call.arguments if isinstance(argument, ex.Expression)]
    for position in template.literal_arguments:
        if position < len(values) and not isinstance(values[position], ex.Literal):
            raise UnsupportedError(f"{ENGINE} takes argument {position} of {call.function.name} only as a literal")
    if template.requires_comparable:
        for value in values:
            require_comparable(value.type, call.function.name)


def require_comparable(type_: t.Type, what: str) -> None:
    """Raise `UnsupportedError` for a type whose values Spark cannot compare: maps, variants, and what holds one."""
    match type_:
        case t.Map() | t.UserDefined() if type_.as_required() not in UNSIGNED:
            raise UnsupportedError(f"{ENGINE} cannot compare values of {type_}, as {what} does")
        case t.List():
            require_comparable(type_.element, what)
        case t.Struct():
            for inner in type_.types:
                require_comparable(inner, what)
        case _:
            pass


_HOLE = re.compile(r"\[(#\d|[a-z_]+)\]")


def _choices(template: Template, call: Call) -> dict[str, str]:
    """Map the holes of a template to their text in a call: options by name, enum arguments by ``#`` and number."""
    name = call.function.name
    chosen = {option: next(iter(texts.values())) for option, texts in template.options.items()}
    for option in call.options:
        chosen[option.name.lower()] = _choose_preference(template, name, option)
    words = [argument.value for argument in call.arguments if isinstance(argument, ex.EnumArgument)]
    for position, word in enumerate(words):
        texts = template.enums[position] if position < len(template.enums) else {}
        if word.upper() not in texts:
            raise UnsupportedError(f"{ENGINE} cannot run {name}({word}) exactly; it can run it with {quote(texts)}")
        chosen[f"#{position}"] = texts[word.upper()]
    return chosen


def _chosen(text: str, choices: Mapping[str, str], call: Call) -> str:
    """The text of a template with its holes filled."""

    def fill(hole: re.Match[str]) -> str:
        if hole[1] not in choices:
            raise UnsupportedError(f"{call.function.key} lacks an enum argument")
        return _HOLE.sub(fill, choices[hole[1]])

    return _HOLE.sub(fill, text)


def _choose_preference(template: Template, name: str, option: ex.FunctionOption) -> str:
    """Return the text of the first preference of an option that is supported."""
    texts = template.options.get(option.name.lower(), {})
    for value in option.preferences:
        if value.upper() in texts:
            return texts[value.upper()]
    wanted = " or ".join(option.preferences)
    known = f"; it can run it with {quote(texts)}" if texts else ""
    raise UnsupportedError(f"{ENGINE} cannot run {name} with the option {option.name} = {wanted} exactly{known}")


_PLACEHOLDER = re.compile(r"\{([A-Za-z]*)(\d*)(?::([^}]*))?\}")


def _fill(template: str, call: Call, texts: Sequence[str], extra: Mapping[str, str]) -> str:
    def text(found: re.Match[str]) -> str:
        word, digits, separator = found.groups()
        if digits and int(digits) >= len(texts):  # of an extension that no catalogue has
            raise UnsupportedError(f"{call.function.key} lacks an argument")
        match word:
            case "":
                return texts[int(digits)]
            case "args":
                return str(separator).join(texts)
            case "nulls":
                return " OR ".join(f"{text} IS NULL" for text in texts)
            case "T":
                return spark_sql_type(call.output_type)
            case "t":
                return spark_sql_type(_value_types(call)[int(digits)])
            case "w":
                return f"CAST({texts[int(digits)]} AS {_wide(call.output_type)})"
            case "MIN" | "MAX" | "SPAN":
                low, high = integer_range(call.output_type)
                limit = {"MIN": low, "MAX": high, "SPAN": high - low + 1}[word]
                return f"{limit}{'L' if _wide(call.output_type) == 'BIGINT' else 'BD'}"
            case "MOST":
                assert isinstance(call.output_type, t.Decimal)
                return largest_decimal(call.output_type)
            case "one" | "end" | "list" | "tail":
                return names[word]
            case _:
                return extra[word]

    names = name_placeholders()
    return _PLACEHOLDER.sub(text, template)


def largest_decimal(type_: t.Decimal) -> str:
    """The largest number of a type of decimals, with all its digits."""
    digits = "9" * type_.precision
    before, after = digits[type_.scale :], digits[: type_.scale]
    return f"{before or '0'}.{after}BD" if after else f"{before}BD"


def _wide(type_: t.Type) -> str:
    """The Spark type that is wide enough for any exact result of an operation on a type of integers, or almost."""
    match type_:
        case t.UserDefined():  # the unsigned: two of 20 digits multiply to 38 of them without a loss
            return "DECIMAL(20,0)"
        case t.I64():
            return "DECIMAL(38,0)"
        case _:
            return "BIGINT"


def integer_range(type_: t.Type) -> tuple[int, int]:
    """The smallest and the largest value of a type of integers."""
    if isinstance(type_, t.UserDefined):
        return 0, UNSIGNED[type_.as_required()].largest
    return INTEGER_RANGES[type(type_)]
