"""The aggregate functions that Spark runs exactly.

Specification: the files ``functions_*.yaml``. Beside the placeholders of every `Template`, a template here has
``{distinct}``, ``{filter}`` and ``{order}``: what stands inside the parentheses, behind them, and between. A template
without ``{distinct}`` is of a function that repetitions do not change, one without ``{order}`` of a function whose
result does not depend on the order of its input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.expressions import AggregateFunction, Cast, Expression, WindowCall
from substrait_dsl.algebra.function_ids import STANDARD
from substrait_dsl.algebra.types import FP32, FP64, Decimal, List, Map, Struct, Type
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.bound_aggregates import bound_aggregate
from substrait_dsl.spark.expressions.functions_arithmetic import NEAREST
from substrait_dsl.spark.expressions.functions_everyday import (
    EVERYDAY_AGGREGATES,
    EVERYDAY_URN,
    require_share,
)
from substrait_dsl.spark.expressions.grouping_keys import as_key, from_key
from substrait_dsl.spark.expressions.literals import failing, record_to_sql
from substrait_dsl.spark.expressions.named_values import template_with_name
from substrait_dsl.spark.expressions.signed_zeros import one_zero
from substrait_dsl.spark.expressions.sorting import SortKeys, list_in_order, ordering
from substrait_dsl.spark.expressions.templates import (
    FINE,
    FINEST,
    Call,
    Table,
    Template,
    lower,
    require_comparable,
    require_signature,
)
from substrait_dsl.spark.expressions.types import PARTIQL_URN, spark_sql_type
from substrait_dsl.spark.session.engines import ENGINE


def aggregate_function_to_sql(
    call: AggregateFunction,
    texts: Sequence[str],
    sorts: SortKeys,
    condition: str | None,
    beside_distinct: bool = False,
) -> str:
    """Write the call of an aggregate function.

    Args:
        call: the call, of a whole aggregation; its sort keys and its filter are separate arguments.
        texts: the SQL text of its value arguments, in order.
        sorts: the SQL text of its sort keys, with their directions.
        condition: the SQL text of its filter, if there is one.
        beside_distinct: whether another measure of the same aggregate is of distinct values.

    Returns:
        SQL text of the derived Spark type.

    Raises:
        UnsupportedError: Spark cannot run the function, with these options, exactly.
    """
    require_signature(call)
    if (bound := bound_aggregate(call, texts, sorts, condition)) is not None:
        return bound
    is_distinct = call.invocation == "distinct"
    extra = {
        "distinct": "DISTINCT " if is_distinct else "",
        "order": f" WITHIN GROUP (ORDER BY {ordering(sorts)})" if sorts else "",
        "filter": f" FILTER (WHERE {condition})" if condition else "",
    }
    if is_distinct:
        _require_distinct_values(call, texts, sorts)
    for key in call.sorts:
        require_comparable(key.expression.type, f"an order of {call.function.name}")
    functions = OF_DISTINCT_VALUES if is_distinct else AGGREGATE_FUNCTIONS
    texts = grouping_keys(call, texts)
    match call.function.name:
        case "collect_list":
            values = list_in_order(texts[0], sorts, extra) if sorts else lower(call, texts, functions, extra)
            return from_key(values, List(values_of(call)[0].type)) if is_distinct else values
        case "percentile" | "approx_percentile" if call.function.urn == EVERYDAY_URN:
            require_share(call)
            return lower(call, texts, functions, extra)
        case "any_value" if sorts:
            return _first(lower(call, texts, _RECORDS), sorts, extra["filter"])
        case "string_agg" if sorts and (beside_distinct or all(extra.values())):
            return _join_in_order(call, texts, sorts, extra)
        case _:
            return lower(call, texts, functions, extra)


def _require_distinct_values(call: AggregateFunction, texts: Sequence[str], sorts: SortKeys) -> None:
    """Raise `UnsupportedError` for a function that Spark does not compute over distinct values."""
    if call.function.name == "mode":
        raise UnsupportedError(f"{ENGINE} cannot run mode over distinct values, each of which is there once")
    if call.function.name == "string_agg" and any(key != texts[0] for key, _ in sorts):
        raise UnsupportedError(
            f"{ENGINE} cannot run string_agg of distinct texts that are ordered by something else than themselves"
        )


def grouping_keys(call: AggregateFunction | WindowCall, texts: Sequence[str]) -> list[str]:
    """Return the keys by which a function compares its values for equality, as SQL text."""
    pairs = list(zip(texts, [value.type for value in values_of(call)], strict=True))
    if call.function.name == "approx_count_distinct":
        return [_cast_for_hash(as_key(text, type_), type_) for text, type_ in pairs]
    if call.invocation == "distinct" and call.function.name in _OF_ANYTHING:
        return [as_key(text, type_) for text, type_ in pairs]
    if call.function.name in ("mode", "collect_set"):
        return [one_zero(text, type_) for text, type_ in pairs]
    return list(texts)


def _cast_for_hash(value: str, type_: Type) -> str:
    """Cast a nested value to text before it is hashed: Spark's hash skips NULLs inside of a value."""
    return f"CAST({value} AS STRING)" if isinstance(type_, List | Struct | Map) else value


def values_of(call: AggregateFunction | WindowCall) -> list[Expression]:
    """The value arguments of an aggregate function, as they are to be written.

    What a function adds up it adds up before it is cast to a decimal of more digits, and casts the sum: the result is
    the same, and Spark is several times as fast with numbers that fit 64 bits.
    """
    values = [argument for argument in call.arguments if isinstance(argument, Expression)]
    if call.function.name in _ADDING and call.function.urn.startswith(STANDARD):
        values = [_without_widening(value) for value in values]
    return values


_OF_ANYTHING = ("count", "collect_list")
"""The functions of distinct values that may be maps."""

_ADDING = ("sum", "sum0", "avg")


def _without_widening(value: Expression) -> Expression:
    """Strip casts from a decimal to one that holds all its digits."""
    match value:
        case Cast(
            input=Expression(type=Decimal(precision=digits, scale=scale)) as narrow,
            target=Decimal(precision=more, scale=wide),
        ) if wide >= scale and more - wide >= digits - scale and narrow.type.nullable == value.type.nullable:
            return _without_widening(narrow)
        case _:
            return value


def _join_in_order(call: AggregateFunction, texts: Sequence[str], sorts: SortKeys, extra: Mapping[str, str]) -> str:
    """Join texts in an order, by way of a list.

    Spark's own ORDER BY inside of the function fails with an internal error when DISTINCT makes Spark expand the rows.
    """
    lower(call, texts, AGGREGATE_FUNCTIONS, extra)  # which refuses options and arguments
    value, separator = texts
    return f"array_join({list_in_order(value, sorts, extra)}, {separator})"


def _first(record: str, sorts: SortKeys, condition: str) -> str:
    """The first value in an order, among the rows that pass the filter.

    The specification allows any value; a call with sort keys asks for this one. If all keys have the same direction,
    min_by or max_by finds it without a list.
    """
    if len({way.startswith("desc") for _, way in sorts}) > 1:
        return f"get({list_in_order(record, sorts, {'distinct': '', 'filter': condition})}, 0).v"
    descends = sorts[0][1].startswith("desc")
    keys = []
    for key, way in sorts:
        is_null = "IS NULL" if descends != way.endswith("nulls_last") else "IS NOT NULL"
        keys += [f"{key} {is_null}", key]
    function = "max_by" if descends else "min_by"
    return f"({function}({record}, if({record} IS NULL, NULL, struct({', '.join(keys)}))){condition}).v"


_RAISES = {"overflow": {"ERROR": ""}}
_SUM = "sum({distinct}{0}){filter}"
_COUNT = "count({distinct}{0}){filter}"

_LIMIT = "double('infinity')"


def _guard_float_sum(text: str) -> Template:
    """A sum or an average of floats. Overflow gives an infinity, or an error if the option asks for one.

    Infinity or NaN in the input is no overflow: neither is less than infinity.
    """
    endless = f"NOT abs({text}) < {_LIMIT} AND NOT bool_or(NOT abs({{0}}) < {_LIMIT}){{filter}}"
    error = f"(CASE WHEN {endless} THEN {failing('a sum does not fit a float')} ELSE {text} END)"
    return Template("[overflow]", {"overflow": {"SILENT": text, "ERROR": error}})


# A partial sum of i64 may overflow where the sum does not: the upper and the lower bits are added separately.
_WIDE_SUM = (
    "(CAST(sum(shiftright({0}, 24)){filter} AS DECIMAL(20,0)) * 16777216BD"
    " + CAST(sum({0} & 16777215L){filter} AS DECIMAL(20,0)))"
)
_WIDE_SUM_OF_DISTINCT = "sum({distinct}CAST({0} AS DECIMAL(20,0))){filter}"
# Where it is 0, the sum is NULL, and NULL divided by 0 is NULL.
_DECIMAL_COUNT = f"CAST({_COUNT} AS DECIMAL(20,0))"


def _make_i64_templates(total: str) -> Table:
    """The functions that add up i64, by the text of a sum that has room for any."""
    result = f"CAST({total} AS {{T}})"
    return {
        "sum:i64": Template(result, _RAISES),
        "sum0:i64": Template(f"coalesce({result}, 0L)", _RAISES),
        "avg:i64": Template(f"CAST({total} div {_DECIMAL_COUNT} AS {{T}})", _RAISES),
    }


_TOTAL = f"CAST({_SUM} AS {{T}})"


def decimal_average(total: str, many: str, sql_type: str) -> str:
    """Divide a sum by a count, both decimals.

    Spark's own average of decimals rounds first, to four more digits. Here the integral part of the quotient is exact,
    and the remainder is less than one, so Spark has enough digits to round it once. With more than six fractional
    digits the addition would lose one; for those Spark's own division has the right scale.
    """
    rest = f"({total} % {many})"
    return f"CAST(CAST(({total} - {rest}) / {many} AS {sql_type}) + CAST({rest} / {many} AS {sql_type}) AS {sql_type})"


def average_of(total: str, many: str, type_: Type) -> str:
    """An average of this type from the texts of a sum and of a count, NULL for none. Raises `UnsupportedError`."""
    result = spark_sql_type(type_)
    match type_:
        case Decimal(scale=scale) if scale > FINEST:
            raise _double_rounding(type_)
        case Decimal(scale=scale):
            many = f"CAST({many} AS DECIMAL(20,0))"
            return f"CAST({total} / {many} AS {result})" if scale >= FINE else decimal_average(total, many, result)
        case FP32() | FP64():
            return f"CAST({total} / {many} AS {result})"
        case _:
            return f"CAST({total} div {many} AS {result})"


def _too_fine(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    raise _double_rounding(call.output_type)


def _double_rounding(type_: Type) -> UnsupportedError:
    return UnsupportedError(
        f"{ENGINE} cannot compute the average of {type_} exactly: it would round it twice",
        hint=f"cast the values to at most {FINEST} digits after the point",
    )


def _deviation(sample: str, population: str) -> Table:
    """A measure of spread; in deprecated overloads an option says which, in the others an argument does."""
    name = "std_dev" if sample.startswith("stddev") else "variance"
    variants = {"SAMPLE": sample, "POPULATION": population}
    by_option = Template("CAST([distribution]({distinct}{0}){filter} AS {T})", {**NEAREST, "distribution": variants})
    by_argument = Template("CAST([#0]({distinct}{0}){filter} AS {T})", NEAREST, enums=(variants,))
    return {f"{name}:fp32": by_option, f"{name}:fp64": by_option, name: by_argument}


_PRECISION = ({"EXACT": "", "APPROXIMATE": ""},)  # an exact result is a good approximation
_MEDIAN = "median({distinct}{0}){filter}"


def _between(low: str, high: str) -> str:
    """The middle of two doubles, rounded once: halves are exact, but for those of numbers whose sum is exact."""
    both = f"{low} + {high}"
    return f"CAST(CASE WHEN abs({both}) < {_LIMIT} THEN ({both}) / 2 ELSE {low} / 2 + {high} / 2 END AS {{T}})"


_LOWER, _UPPER = (
    f"percentile_disc({{distinct}}0.5) WITHIN GROUP (ORDER BY CAST({{0}} AS DOUBLE) {way}){{filter}}"
    for way in ("ASC", "DESC")
)
_SORTED = "sort_array(collect_list({distinct}CAST({0} AS DOUBLE)){filter})"
_MEDIAN_OF_DISTINCT = template_with_name(_SORTED, "v", _between("get(v, (size(v) - 1) div 2)", "get(v, size(v) div 2)"))
"""Over distinct values Spark's percentiles would still count repetitions, so the values are collected and sorted."""

EXTREMES: Table = {"min": Template("min({0}){filter}"), "max": Template("max({0}){filter}")}

AGGREGATE_GENERIC: Table = {
    "count": Template(_COUNT, _RAISES, empty="count(1){filter}"),
    "any_value": Template("any_value({0}[ignore_nulls]){filter}", {"ignore_nulls": {"FALSE": "", "TRUE": ", TRUE"}}),
}

_RECORD = record_to_sql({"v": "{0}"})
_RECORDS: Mapping[str, Table] = {
    "functions_aggregate_generic": {
        "any_value": Template(
            "[ignore_nulls]", {"ignore_nulls": {"FALSE": _RECORD, "TRUE": f"if({{0}} IS NULL, NULL, {_RECORD})"}}
        )
    }
}
"""The records that an ordered call chooses from, so that a NULL value differs from an excluded row."""

ARITHMETIC: Table = {
    **EXTREMES,
    "sum": Template(_SUM, _RAISES),
    "sum0:int": Template(f"coalesce({_SUM}, 0L)", _RAISES),
    "sum:fp": _guard_float_sum(_SUM),
    "sum0:fp": _guard_float_sum(f"coalesce({_SUM}, 0D)"),
    "avg:int": Template(f"CAST({_SUM} div {_COUNT} AS {{T}})", _RAISES),
    **_make_i64_templates(_WIDE_SUM),
    "avg:fp": _guard_float_sum("CAST(avg({distinct}{0}){filter} AS {T})"),
    **_deviation("stddev_samp", "stddev_pop"),
    **_deviation("var_samp", "var_pop"),
    "corr": Template("CAST(corr({distinct}{0}, {1}){filter} AS {T})", NEAREST),
    "mode": Template("mode({distinct}{0}){filter}"),
    # Spark's own median takes the difference of the two in the middle, which is rounded, and may be infinite.
    "median:fp": Template(_between(_LOWER, _UPPER), NEAREST, enums=_PRECISION),
    # Of i64 the median would be a double, which does not hold them all.
    **{
        f"median:req_{short_name}": Template(
            "CAST([rounding] AS {T})",
            {"rounding": {"TRUNCATE": _MEDIAN, "TIE_TO_EVEN": f"bround({_MEDIAN}, 0)"}},
            enums=_PRECISION,
        )
        for short_name in ("i8", "i16", "i32")
    },
}

ARITHMETIC_DECIMAL: Table = {
    **EXTREMES,
    "sum": Template(f"CAST({_SUM} AS {{T}})", _RAISES),
    "sum0": Template(f"coalesce(CAST({_SUM} AS {{T}}), CAST(0BD AS {{T}}))", _RAISES),
    "avg": Template(decimal_average(_TOTAL, _DECIMAL_COUNT, "{T}"), _RAISES),
    "avg:fine": Template(f"CAST({_TOTAL} / {_DECIMAL_COUNT} AS {{T}})", _RAISES),
    "avg:finest": Template(_too_fine),
}


def _unsigned_sum(outside: str) -> str:
    """A sum of unsigned integers, with the branch for one above the range of u64."""
    total = "sum({distinct}CAST({0} AS DECIMAL(20,0))){filter}"
    return template_with_name(total, "v", f"CASE WHEN v <= {{MAX}} THEN CAST(v AS {{T}}) {outside} END")


_TOO_LARGE = failing("a sum does not fit an unsigned integer")

UNSIGNED_INTEGERS: Table = {
    **EXTREMES,
    "sum": Template(
        "[overflow]",
        {
            "overflow": {
                "ERROR": _unsigned_sum(f"WHEN v IS NOT NULL THEN {_TOO_LARGE}"),
                "SATURATE": _unsigned_sum("WHEN v IS NOT NULL THEN CAST({MAX} AS {T})"),
                "SILENT": _unsigned_sum("WHEN v IS NOT NULL THEN CAST(pmod(v, {SPAN}) AS {T})"),
            }
        },
    ),
}

UNNAMED: Table = {
    f"{name}:{short_name}": template for name, template in EXTREMES.items() for short_name in ("str", "bool")
}
"""Functions that plans declare by a name alone, for types that the specification does not have them for: in the order
in which values are compared there is one that is least."""

AGGREGATE_FUNCTIONS: Mapping[str, Table] = {
    "": UNNAMED,
    "functions_aggregate_approx": {"approx_count_distinct": Template("approx_count_distinct({0}){filter}")},
    "functions_aggregate_decimal_output": {
        "count": Template(f"CAST({_COUNT} AS {{T}})", _RAISES, empty="CAST(count(1){filter} AS {T})"),
        "approx_count_distinct": Template("CAST(approx_count_distinct({0}){filter} AS {T})"),
    },
    "functions_aggregate_generic": AGGREGATE_GENERIC,
    "functions_arithmetic": ARITHMETIC,
    "functions_arithmetic_decimal": ARITHMETIC_DECIMAL,
    "functions_boolean": {
        "bool_and": Template("bool_and({0}){filter}"),
        "bool_or": Template("bool_or({0}){filter}"),
    },
    "functions_datetime": EXTREMES,
    "functions_string": {
        "string_agg": Template(
            # The result is required, and joining no texts gives the empty one.
            "coalesce(listagg({distinct}{0}, {1}){order}{filter}, '')",
            literal_arguments=(1,),
        )
    },
    "unsigned_integers": UNSIGNED_INTEGERS,
    EVERYDAY_URN: EVERYDAY_AGGREGATES,
    PARTIQL_URN: {"collect_list": Template("collect_list({distinct}{0}){filter}")},
}
"""The templates of each extension's aggregate functions: see `functions.SCALAR_FUNCTIONS`."""

OF_DISTINCT_VALUES: Mapping[str, Table] = {
    **AGGREGATE_FUNCTIONS,
    "functions_arithmetic": {
        **ARITHMETIC,
        **_make_i64_templates(_WIDE_SUM_OF_DISTINCT),
        "median:fp": Template(_MEDIAN_OF_DISTINCT, NEAREST, enums=_PRECISION),
    },
}
"""The templates for calls with DISTINCT, some of which differ."""
