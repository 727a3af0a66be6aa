"""What to write instead of what is refused, in the SQL that is read."""

from __future__ import annotations

import re
from collections.abc import Mapping

_FIRST = "first_value(number order by other)"
_LAST = "first_value(number order by other desc nulls last)"

OF_FUNCTIONS: Mapping[str, str] = {
    **dict.fromkeys(("arg_max", "argmax", "max_by"), _LAST),
    **dict.fromkeys(("arg_min", "argmin", "min_by", "first"), _FIRST),
    "last": "last_value(number order by other)",
    **dict.fromkeys(("count_if", "countif"), "count(*) filter (where condition)"),
    **dict.fromkeys(("sum_if", "sumif"), "sum(number) filter (where condition)"),
    **dict.fromkeys(("if", "iff", "iif"), "case when condition then number else other end"),
    "isnull": "number is null",
    "zeroifnull": "coalesce(number, 0)",
    "nullifzero": "nullif(number, 0)",
    **dict.fromkeys(("div", "safe_divide", "try_divide"), "number / nullif(other, 0)"),
    "every": "bool_and(condition)",
    **dict.fromkeys(("len", "datalength"), "length(text)"),
    "charindex": "strpos(text, 'sought')",
    "ucase": "upper(text)",
    "lcase": "lower(text)",
    **dict.fromkeys(("regexp_matches", "regexp_contains", "rlike", "regexp_match"), "regexp_like(text, '^[A-Z]')"),
    **dict.fromkeys(("group_concat", "listagg", "concat_agg"), "string_agg(text, ',' order by number)"),
    **dict.fromkeys(("list", "collect_list"), "array_agg(number order by number)"),
    **dict.fromkeys(("strftime", "format_date", "to_varchar"), "to_char(day, '%Y-%m')"),
    **dict.fromkeys(("datediff", "timestampdiff", "days_between", "age"), "cast(at as date) - day"),
    **dict.fromkeys(("dateadd", "date_add", "timestampadd", "date_sub", "adddate"), "day + interval '1 day'"),
    "add_months": "day + interval '1 month'",
    "last_day": "cast(date_trunc('month', day) + interval '1 month' - interval '1 day' as date)",
    "year": "extract(year from day)",
    "quarter": "extract(quarter from day)",
    "month": "extract(month from day)",
    **dict.fromkeys(("week", "weekofyear"), "extract(week from day)"),
    **dict.fromkeys(("day", "dayofmonth"), "extract(day from day)"),
    **dict.fromkeys(("dayofweek", "weekday"), "extract(dow from day)"),
    "dayofyear": "extract(doy from day)",
    "hour": "extract(hour from at)",
    "minute": "extract(minute from at)",
    "second": "extract(second from at)",
    **dict.fromkeys(("epoch", "unix_timestamp", "to_unixtime"), "extract(epoch from at)"),
    **dict.fromkeys(("to_date", "str_to_date"), "cast(text as date)"),
    **dict.fromkeys(("to_number", "to_numeric", "to_decimal"), "cast(text as decimal(18, 2))"),
    "variance": "var_samp(value)",
    **dict.fromkeys(("approx_distinct", "approx_count_distinct"), "count(distinct number)"),
    **dict.fromkeys(
        ("approx_percentile_cont", "approx_percentile"), "percentile_cont(0.5) within group (order by value)"
    ),
    "approx_median": "median(value)",
    **dict.fromkeys(("trunc", "truncate"), "case when value < 0 then ceil(value) else floor(value) end"),
}
"""What is read instead of a function, of columns by the names of what they hold."""

IN_A_VERB = "compute it in a verb, and give the query that relation: from_sql(query, orders=orders.with_columns(...))"
"""What to write where SQL has nothing else."""

_STEPS: Mapping[str, str] = {
    r"plan type: Unnest": (
        'give the query the rows of the lists: from_sql(query, items=orders.unnest("items", element="item"))'
    ),
    r"plan type: RecursiveQuery": "write a join for each level: Substrait has no recursion",
    r"plan type: <subquery>": (
        "number the rows in a subquery, row_number() over (partition by k order by t) as n, and join it with n = 1"
    ),
}
"""What to write instead of a step, by a pattern in the words with which DataFusion refuses it."""

OF_WINDOWS: Mapping[str, str] = {
    "DISTINCT": "join a subquery that groups: select k, count(distinct x) as n from t group by k",
    "FILTER": "write the condition into the function: sum(case when c then x end) over (...)",
    "IGNORE NULLS": (
        "count the values before, count(x) over (order by t) as n, and take max(x) over (partition by n) of that"
    ),
}
"""What to write instead of a part of a window function that is left out."""

OF_RANGES = (
    "order by a whole number, and write the offset in its unit: "
    "order by cast(extract(epoch from t) * 1000000 as bigint) range between 1800000000 preceding and current row"
)

OF_ROWS = 'give the numbers as a table: from_sql(query, numbers=sd.read_virtual([(1,), (2,)], {"n": "i64"}))'
"""What to write instead of a function that gives rows."""


def hint_of_function(name: str) -> str:
    """Return what to write instead of a function that is not read."""
    known = OF_FUNCTIONS.get(name.lower())
    return IN_A_VERB if known is None else f"write {known}"


def hint_of_step(words: str) -> str | None:
    """Return what to write instead of a step, by the words with which DataFusion refuses to write it to Substrait."""
    return next((hint for pattern, hint in _STEPS.items() if re.search(pattern, words)), None)
