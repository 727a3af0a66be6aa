"""Hints for what people write by habit: other libraries' names, Python's own operators, literals of another type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra.types import Boolean, String, VarChar
from substrait_dsl.catalog import standard_catalog
from substrait_dsl.errors import LiteralError, SubstraitDslError, suggestion

VERBS: Mapping[str, str] = {
    "agg": "aggregate(...)",
    "assign": "with_columns(...)",
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
    "to_bytes": "to_plan().to_bytes()",
    "to_json": "to_plan().to_json()",
    "toPandas": "execute(spark).toPandas()",
    "to_pandas": "execute(spark).toPandas()",
    "unionAll": "union_all(...)",
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
    "over": "a window, which expressions do not have yet",
}
"""Methods that expressions have elsewhere, and what to write here."""

FUNCTIONS: Mapping[str, str] = {
    "ceiling": "ceil",
    "count_distinct": "count(x).distinct()",
    "countDistinct": "count(x).distinct()",
    "day": 'extract("DAY", "ONE", x)',
    "first": "any_value(x)",
    "hour": 'extract("HOUR", x)',
    "ifnull": "coalesce",
    "isnull": "is_null",
    "len": "char_length",
    "length": "char_length",
    "log": "ln",
    "mean": "avg",
    "minute": 'extract("MINUTE", x)',
    "mod": "modulus",
    "month": 'extract("MONTH", "ONE", x)',
    "nvl": "coalesce",
    "pow": "power",
    "second": 'extract("SECOND", x)',
    "stddev": "std_dev",
    "stddev_samp": 'std_dev("SAMPLE", x)',
    "substr": "substring",
    "sum_distinct": "sum(x).distinct()",
    "var_samp": 'variance("SAMPLE", x)',
    "year": 'extract("YEAR", x)',
}
"""Functions of SQL and of other libraries, and what the specification calls them."""


class UnknownAttributeError(SubstraitDslError, AttributeError):
    """A method or verb that does not exist."""

    code = "unknown-attribute"


def no_attribute(what: str, name: str, habits: Mapping[str, str], known: Iterable[str]) -> UnknownAttributeError:
    """The error for a method that does not exist, with what it is called here."""
    habit = habits.get(name)
    hint = f"write {habit}" if habit else suggestion(name, [each for each in known if not each.startswith("_")])
    return UnknownAttributeError(f'{what} has no "{name}"', hint=hint)


def no_method(name: str, known: Iterable[str]) -> UnknownAttributeError:
    """The error for a method that expressions do not have; many are functions."""
    functions = {function for each in standard_catalog().extensions.values() for function in each.functions}
    habits = {**{function: f"functions.{function}(x, ...)" for function in functions}, **METHODS}
    return no_attribute("an expression", name, habits, [*known, *METHODS, *functions])


def argument_hint(name: str, parts: Sequence[Any]) -> str | None:
    """What is probably wrong with the arguments of a call that no overload takes."""
    typed = [part for part in parts if isinstance(part, ex.Expression)]
    plain = [part for part in parts if not isinstance(part, ex.Expression)]
    if name in ("and", "or", "xor") and any(not isinstance(part.type, Boolean) for part in typed):
        return "put each comparison in parentheses: (a > 1) & (b < 2)"
    if name == "add" and any(isinstance(part.type, String | VarChar) for part in typed):
        return "functions.concat(a, b) joins texts"
    if len(typed) == len(plain) == 1:
        try:
            ex.literal(plain[0], typed[0].type.as_required())
        except LiteralError as error:
            return f"{error.message}; {error.hint}" if error.hint else error.message
    return None
