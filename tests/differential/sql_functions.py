"""The functions of the specification in DuckDB's words.

Written for the tests alone, so that no mistake of the library's own lowering to Spark is made again here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from math import inf, isnan
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from tests.differential.tables import FIELDS, duckdb_type


def literal(value: Any, type_: t.Type) -> str:
    """A constant."""
    match value:
        case ex.YearMonths(years, months):
            return f"INTERVAL {12 * years + months} MONTH"
        case ex.DaySeconds(days, seconds, 0):
            return f"INTERVAL {days * 86400 + seconds} SECOND"
    name = duckdb_type(type_)
    match value:
        case None:
            return f"CAST(NULL AS {name})"
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            text = "nan" if isnan(value) else "inf" if value == inf else "-inf" if value == -inf else repr(value)
            return f"CAST('{text}' AS {name})"
        case int() if isinstance(type_, t.PrecisionTimestamp):
            return f"make_timestamp({value})"
        case int() | Decimal():
            return f"CAST({value} AS {name})"
        case []:
            return f"CAST([] AS {name})"
        case tuple():
            return struct(literal(field.value, field.type) for field in value)
        case str():
            escaped = value.replace("'", "''")
            return f"'{escaped}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case _:
            raise NotImplementedError(repr(value))


def struct(fields: Iterable[str]) -> str:
    """A struct of these fields."""
    return f"struct_pack({', '.join(map(' := '.join, zip(FIELDS, fields, strict=True)))})"


_WHOLE = (*t.INTEGER_RANGES,)


def cast(text: str, source: t.Type, target: t.Type, word: str) -> str:
    """A cast. Where the specification leaves a conversion to engines, it is Spark's, as docs/spark/types.md says."""
    name = duckdb_type(target)
    if type(target) in _WHOLE:
        if isinstance(source, t.FP32 | t.FP64 | t.Decimal):
            return f"{word}(trunc({text}) AS {name})"  # DuckDB rounds
        if isinstance(source, t.String):  # DuckDB takes 1e3 and 1.6, and no blanks but spaces
            return f"CASE WHEN regexp_full_match(trim({text}), '[+-]?[0-9]+') THEN {word}(trim({text}) AS {name}) END"
    if isinstance(target, t.Boolean) and type(source) in _WHOLE:
        return f"({text} <> 0)"
    if isinstance(target, t.PrecisionTimestamp | t.Date):
        return f"CAST({text} AS {name})"
    return f"{word}({text} AS {name})"


# --- functions

Writer = Callable[[ex.ScalarFunction, Sequence[str]], str]


def _limits(call: ex.ScalarFunction) -> tuple[int, int]:
    return t.INTEGER_RANGES[type(call.output_type)]


def _option(call: ex.ScalarFunction, name: str, default: str) -> str:
    found = [option.preferences[0] for option in call.options if option.name == name]
    return found[0] if found else default


def _arithmetic(template: str) -> Writer:
    """An operation on numbers: integers in a type that no result overflows, then as the option says."""

    def written(call: ex.ScalarFunction, texts: Sequence[str]) -> str:
        name = duckdb_type(call.output_type)
        if isinstance(call.output_type, t.Decimal):  # DuckDB's product of two of DECIMAL(18) or less has no more digits
            texts = [f"CAST({text} AS DECIMAL(19,2))" for text in texts]
        if type(call.output_type) not in _WHOLE:
            return f"CAST({template.format(*texts)} AS {name})"
        exact = template.format(*(f"CAST({text} AS HUGEINT)" for text in texts))
        low, high = _limits(call)
        match _option(call, "overflow", "ERROR"):
            case "SATURATE":
                exact = f"CASE WHEN {exact} < {low} THEN {low} WHEN {exact} > {high} THEN {high} ELSE {exact} END"
            case "SILENT":
                span = high - low + 1
                exact = f"(({exact} - ({low})) % {span} + {span}) % {span} + ({low})"
        return f"CAST({exact} AS {name})"

    return written


def _modulus(call: ex.ScalarFunction, texts: Sequence[str]) -> str:
    x, y = (f"CAST({text} AS HUGEINT)" for text in texts)
    exact = f"({x} % {y})" if _option(call, "division_type", "TRUNCATE") == "TRUNCATE" else f"(({x} % {y}) + {y}) % {y}"
    return f"CAST({exact} AS {duckdb_type(call.output_type)})"


def _extract(call: ex.ScalarFunction, texts: Sequence[str]) -> str:
    first = call.arguments[0]
    assert isinstance(first, ex.EnumArgument)
    return f"CAST(extract({first.value.replace('DAY_OF_YEAR', 'DOY')} FROM {texts[0]}) AS BIGINT)"


def _unless_null(name: str) -> Writer:
    """DuckDB's function leaves NULLs out; the specification's is NULL then."""

    def written(call: ex.ScalarFunction, texts: Sequence[str]) -> str:
        nulls = " OR ".join(f"{text} IS NULL" for text in texts)
        return f"CASE WHEN {nulls} THEN NULL ELSE {name}({', '.join(texts)}) END"

    return written


def _typed(template: str) -> Writer:
    return lambda call, texts: f"CAST({template.format(*texts)} AS {duckdb_type(call.output_type)})"


def _plain(template: str) -> Writer:
    return lambda call, texts: template.format(*texts, all=", ".join(texts))


def _between(call: ex.ScalarFunction, texts: Sequence[str]) -> str:
    x, low, high = texts
    # a nullable result is NULL for any NULL: MIRROR
    return f"CASE WHEN {x} IS NULL OR {low} IS NULL OR {high} IS NULL THEN NULL ELSE {x} >= {low} AND {x} <= {high} END"


FUNCTIONS: dict[str, Writer] = {
    "equal": _plain("({} = {})"),
    "not_equal": _plain("({} <> {})"),
    "lt": _plain("({} < {})"),
    "lte": _plain("({} <= {})"),
    "gt": _plain("({} > {})"),
    "gte": _plain("({} >= {})"),
    "is_null": _plain("({} IS NULL)"),
    "is_not_null": _plain("({} IS NOT NULL)"),
    "is_distinct_from": _plain("({} IS DISTINCT FROM {})"),
    "is_not_distinct_from": _plain("({} IS NOT DISTINCT FROM {})"),
    "between": _between,
    "is_true": _plain("({} IS NOT DISTINCT FROM TRUE)"),
    "is_not_true": _plain("({} IS DISTINCT FROM TRUE)"),
    "is_false": _plain("({} IS NOT DISTINCT FROM FALSE)"),
    "is_not_false": _plain("({} IS DISTINCT FROM FALSE)"),
    "is_nan": _plain("isnan({})"),
    "is_finite": _plain("isfinite({})"),
    "is_infinite": _plain("isinf({})"),
    "and": lambda call, texts: f"({' AND '.join(texts)})",
    "or": lambda call, texts: f"({' OR '.join(texts)})",
    "not": _plain("(NOT {})"),
    "xor": _plain("({} <> {})"),
    "and_not": _plain("({} AND NOT {})"),
    "coalesce": _plain("coalesce({all})"),
    "nullif": _plain("CASE WHEN {0} = {1} THEN NULL ELSE {0} END"),
    "least": _unless_null("least"),
    "greatest": _unless_null("greatest"),
    "least_skip_null": _plain("least({all})"),
    "greatest_skip_null": _plain("greatest({all})"),
    "add": _arithmetic("({} + {})"),
    "subtract": _arithmetic("({} - {})"),
    "multiply": _arithmetic("({} * {})"),
    "negate": _arithmetic("(- {})"),
    "abs": _arithmetic("abs({})"),
    "divide": lambda call, texts: _arithmetic("({} // {})" if type(call.output_type) in _WHOLE else "({} / {})")(
        call, texts
    ),
    "modulus": _modulus,
    "sign": _typed("sign({})"),
    "floor": _typed("floor({})"),
    "ceil": _typed("ceil({})"),
    "bitwise_and": _typed("({} & {})"),
    "bitwise_or": _typed("({} | {})"),
    "bitwise_xor": _typed("xor({}, {})"),
    "extract": _extract,
    "char_length": _typed("length({})"),
    "strpos": _typed("strpos({}, {})"),
    "like": _plain("({} LIKE {})"),
    "starts_with": _plain("starts_with({}, {})"),
    "ends_with": _plain("ends_with({}, {})"),
    "contains": _plain("contains({}, {})"),
    "concat": lambda call, texts: f"({' || '.join(texts)})",  # DuckDB's concat leaves NULLs out
    "upper": _plain("upper({})"),
    "lower": _plain("lower({})"),
    "substring": _plain("substring({all})"),
    "trim": _plain("trim({all})"),
    "ltrim": _plain("ltrim({all})"),
    "rtrim": _plain("rtrim({all})"),
    "replace": _plain("replace({all})"),
    "lpad": _plain("lpad({all})"),
    "rpad": _plain("rpad({all})"),
    "left": _plain("left({all})"),
    "right": _plain("right({all})"),
    "repeat": _plain("repeat({all})"),
    "reverse": _plain("reverse({all})"),
}


# --- aggregate and window functions


def measure(call: ex.AggregateFunction | ex.WindowCall, texts: Sequence[str], order: str, behind: str) -> str:
    """The call of an aggregate function.

    Args:
        call: the call.
        texts: its arguments.
        order: an ORDER BY that belongs inside the parentheses, or nothing.
        behind: what stands behind them: a filter, or a window.
    """
    name = duckdb_type(call.output_type)
    distinct = "DISTINCT " if call.invocation == "distinct" else ""

    def made(function: str, *arguments: str) -> str:
        return f"{function}({distinct}{', '.join(arguments)}{order}){behind}"

    match call.function.name:
        case "count":
            return f"CAST({made('count', *texts) if texts else f'count(*){behind}'} AS {name})"
        case "sum0":
            return f"CAST(coalesce({made('sum', *texts)}, 0) AS {name})"
        case "avg" if isinstance(call.output_type, t.Decimal):
            # The nearest with as many digits, halves away from zero; DuckDB's is a double.
            scale = 10 ** int(call.output_type.scale)
            total, many = made("sum", f"CAST({texts[0]} * {scale} AS HUGEINT)"), made("count", *texts)
            nearest = f"sign({total}) * ((2 * abs({total}) + {many}) // (2 * {many}))"
            return f"CAST(CAST({nearest} AS DECIMAL(38,0)) / {scale} AS {name})"
        case "avg":
            return f"CAST(CAST({made('sum', *texts)} AS HUGEINT) // {made('count', *texts)} AS {name})"
        case "string_agg":
            return f"coalesce({made('string_agg', *texts)}, '')"
        case "sum" | "min" | "max" | "bool_and" | "bool_or" as function:
            return f"CAST({made(function, *texts)} AS {name})"
        case "row_number" | "rank" | "dense_rank" | "percent_rank" | "cume_dist" | "ntile" as function:
            return f"CAST({function}({', '.join(texts)}){behind} AS {name})"
        case "lag" | "lead" | "nth_value" | "first_value" as function:
            return f"{function}({', '.join(texts)}){behind}"
        case other:
            raise NotImplementedError(other)
