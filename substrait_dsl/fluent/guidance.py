"""Hints for what people write by habit: other libraries' names, Python's own operators, literals of another type."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.types import (
    Boolean,
    Date,
    Decimal,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    VarChar,
)
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import LiteralError, SubstraitDslError, suggestion

VERBS: Mapping[str, str] = {
    "agg": "aggregate(...)",
    "assign": "with_columns(...)",
    "count": "aggregate(n=functions.count())",
    "collect": "execute(spark).collect()",
    "except_": "subtract(...)",
    "filter_": "filter(...)",
    "groupBy": "group_by(...)",
    "groupby": "group_by(...)",
    "having": "filter(...) after the aggregate",
    "head": "limit(...)",
    "intersectAll": 'set_op("intersection_multiset_all", ...)',
    "exceptAll": 'set_op("minus_primary_all", ...)',
    "mutate": "with_columns(...)",
    "orderBy": "sort(...)",
    "order_by": "sort(...)",
    "save": "to_plan().save(path)",
    "show": "execute(spark).show()",
    "take": "limit(...)",
    "minus": "subtract(...)",
    "union_distinct": "union(...)",
    "to_bytes": "to_plan().to_bytes()",
    "to_json": "to_plan().to_json()",
    "toPandas": "execute(spark).toPandas()",
    "to_pandas": "execute(spark).toPandas()",
    "unionAll": "union_all(...)",
    "crossJoin": "cross(...)",
    "cross_join": "cross(...)",
    "drop_duplicates": "distinct()",
    "dropDuplicates": "distinct()",
    "insertInto": "write(name)",
    "insert_into": "write(name)",
    "insert": "write(name)",
    "delete": 'write(name, "delete")',
    "lateralJoin": "lateral_join(...)",
    "merge": "join(...)",
    "nlargest": "top_n(count, desc(...))",
    "repartition": "exchange(...)",
    "repartition_by_hash": "exchange(scatter(...))",
    "saveAsTable": 'write(name, "ctas")',
    "top": "top_n(...)",
    "top_k": "top_n(...)",
    "writeTo": "write(name)",
    "write_table": "write(name)",
    "where": "filter(...)",
    "withColumn": "with_columns(...)",
    "withColumnRenamed": "rename(...)",
}
"""Verbs of other libraries, and what they are here."""

METHODS: Mapping[str, str] = {
    "desc_nulls_first": 'desc(nulls="first")',
    "asc_nulls_last": 'asc(nulls="last")',
    "endswith": "functions.ends_with(x, ...)",
    "fill_null": "functions.coalesce(x, ...)",
    "fillna": "functions.coalesce(x, ...)",
    "isNotNull": "is_not_null()",
    "isNull": "is_null()",
    "isin": "is_in(...)",
    "isna": "is_null()",
    "name": "alias(...)",
    "startswith": "functions.starts_with(x, ...)",
    "substr": "functions.substring(x, start, length)",
    "over": "functions.sum(x).over(...): a window is that of one function, not of an expression",
    "getField": 'x["field"], by name',
    "getItem": "x[0], by offset",
    "withField": "the struct anew: struct_of(...)",
}
"""Methods that expressions have elsewhere, and what to write here."""

WINDOW_METHODS: Mapping[str, str] = {
    "alias": 'over(...).alias("name")',
    "distinct": "over(...); only aggregate functions take different values once",
    "filter": "over(...), then filter(...) the relation",
    "orderBy": "over(order_by=...)",
    "order_by": "over(order_by=...)",
    "partitionBy": "over(partition_by=...)",
    "partition_by": "over(partition_by=...)",
    "range": "over(range=(first, last))",
    "rangeBetween": "over(range=(first, last))",
    "range_between": "over(range=(first, last))",
    "rows": "over(rows=(first, last))",
    "rowsBetween": "over(rows=(first, last))",
    "rows_between": "over(rows=(first, last))",
    "window": "over(...)",
}
"""What other libraries call the parts of a window, and what to write here."""

FUNCTIONS: Mapping[str, str] = {
    "array": "substrait_dsl.list_of(...)",
    "array_size": "cardinality",
    "array_sort": "sort",
    "array_transform": "transform(xs, lambda x: ...)",
    "ceiling": "ceil",
    "count_distinct": "count(x).distinct()",
    "countDistinct": "count(x).distinct()",
    "create_map": "substrait_dsl.map_of(...)",
    "current_date": "substrait_dsl.current_date()",
    "current_timestamp": "substrait_dsl.current_timestamp()",
    "current_timezone": "substrait_dsl.current_timezone()",
    "day": 'extract("DAY", "ONE", x)',
    "exists": "any_match(xs, lambda x: ...)",
    "first": "any_value(x)",
    "forall": "all_match(xs, lambda x: ...)",
    "hour": 'extract("HOUR", x)',
    "ifnull": "coalesce",
    "isnull": "is_null",
    "len": "char_length",
    "length": "char_length",
    "list_filter": "filter(xs, lambda x: ...)",
    "list_transform": "transform(xs, lambda x: ...)",
    "log": "ln",
    "mean": "avg",
    "minute": 'extract("MINUTE", x)',
    "mod": "modulus",
    "month": 'extract("MONTH", "ONE", x)',
    "named_struct": "substrait_dsl.struct_of(...)",
    "now": "substrait_dsl.current_timestamp()",
    "nvl": "coalesce",
    "pow": "power",
    "second": 'extract("SECOND", x)',
    "size": "cardinality",
    "stddev": "std_dev",
    "stddev_samp": 'std_dev("SAMPLE", x)',
    "struct": "substrait_dsl.struct_of(...)",
    "substr": "substring",
    "sum_distinct": "sum(x).distinct()",
    "var_samp": 'variance("SAMPLE", x)',
    "year": 'extract("YEAR", x)',
}
"""Functions of SQL and of other libraries, and what the specification calls them."""


OPERATORS = frozenset(
    ("add", "subtract", "multiply", "divide", "modulus", "equal", "not_equal", "lt", "lte", "gt", "gte", "between")
)
"""Functions whose operands are of one kind, so that a value that does not fit the other operand is the mistake."""


class UnknownAttributeError(SubstraitDslError, AttributeError):
    """A method or verb that does not exist."""

    code = "unknown-attribute"


def no_attribute(what: str, name: str, habits: Mapping[str, str], known: Iterable[str]) -> UnknownAttributeError:
    """The error for a method that does not exist, with what it is called here."""
    names = {each: each for each in (*known, *habits) if not each.startswith("_")}
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    habit = habits.get(name) or (habits.get(near[0]) if near else None)
    hint = f"write {habit}" if habit else suggestion(name, [each for each in names if each not in habits])
    return UnknownAttributeError(f'{what} has no "{name}"', hint=hint)


def no_method(name: str, known: Collection[str]) -> UnknownAttributeError:
    """The error for a method that expressions do not have; many are functions."""
    functions = {function for each in standard_catalog().extensions.values() for function in each.functions}
    functions.difference_update(known)
    habits = {**{function: f"functions.{function}(x, ...)" for function in functions}, **METHODS}
    return no_attribute("an expression", name, habits, known)


def argument_hint(name: str, parts: Sequence[Any]) -> str | None:
    """What is probably wrong with the arguments of a call that no overload takes."""
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    plain = [part for part in parts if not isinstance(part, ex.Expression)]
    if name in ("and", "or", "xor") and any(not isinstance(part.type, Boolean) for part in typed):
        return "put each comparison in parentheses: (a > 1) & (b < 2)"
    if name == "add" and any(isinstance(part.type, String | VarChar) for part in typed):
        return "functions.concat(a, b) joins texts"
    if not typed and plain and isinstance(plain[0], str) and plain[0].isidentifier():
        return f"a column is col({plain[0]!r}), or the row's in a lambda"
    if any(isinstance(part, ex.DaySeconds | ex.Compound) for part in plain):
        return "give the span a type: lit(value, IntervalDay(6))"
    if len(typed) == 2 and not plain:
        return _common_type(typed[0].type, typed[1].type)
    if len(typed) == len(plain) == 1 and name in OPERATORS:
        return _literal_hint(plain[0], typed[0].type)
    return None


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


def _literal_hint(value: Any, other: Type) -> str | None:
    """Why a Python value cannot stand beside an expression of a type."""
    if isinstance(other, Date | PrecisionTimestamp | PrecisionTimestampTZ) and type(value) is int:
        return "a span of time is a datetime.timedelta: timedelta(days=30)"
    try:
        ex.literal(value, other.as_required())
    except LiteralError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message
    return None
