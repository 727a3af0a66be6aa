"""The scalar functions that Spark runs exactly: comparison, logic, lists; each large family has a table elsewhere.

Specification: the files ``functions_*.yaml``. A function, or an option of one, that is in no table is refused by
name. Where an option is not given, its first value here holds: overflow and division by zero are errors, as Spark's
ANSI mode has it, and what floating point gives (NaN, infinity) where the specification offers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from substrait_dsl.algebra.expressions import Expression, Lambda, Literal, ScalarFunction
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.functions_arithmetic import (
    ARITHMETIC,
    LOGARITHMIC,
    ROUNDING,
    ROUNDING_DECIMAL,
    UNSIGNED_INTEGERS,
)
from substrait_dsl.spark.expressions.functions_datetime import DATETIME
from substrait_dsl.spark.expressions.functions_decimal import ARITHMETIC_DECIMAL
from substrait_dsl.spark.expressions.functions_everyday import EVERYDAY, EVERYDAY_URN
from substrait_dsl.spark.expressions.functions_format import FORMAT
from substrait_dsl.spark.expressions.functions_partiql import PARTIQL, PARTIQL_URN
from substrait_dsl.spark.expressions.functions_regexp import REGEXP
from substrait_dsl.spark.expressions.functions_string import STRING
from substrait_dsl.spark.expressions.literals import FALSE, TRUE
from substrait_dsl.spark.expressions.pushdown import hide_from_readers
from substrait_dsl.spark.expressions.templates import Call, Table, Template, lower
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.session.engines import ENGINE


def function_to_sql(call: ScalarFunction, texts: Sequence[str]) -> str:
    """Write the call of a scalar function; `texts` are its value arguments.

    Raises:
        UnsupportedError: Spark cannot run the function, with these options and arguments, exactly.
    """
    if (name := call.function.name) in _TESTS:
        values = [argument for argument in call.arguments if isinstance(argument, Expression)]
        texts = [
            hide_from_readers(text, value, [other for other in values if other is not value], ordered=name in _BY_ORDER)
            for text, value in zip(texts, values, strict=True)
        ]
    return lower(call, texts, SCALAR_FUNCTIONS)


_BY_ORDER = frozenset(("lt", "gt", "lte", "gte", "between"))
COMPARISONS = _BY_ORDER | {"equal", "not_equal", "is_not_distinct_from", "is_distinct_from"}
"""The functions that compare values."""
_TESTS = COMPARISONS | {"is_nan", "like"}
"""The functions that a reader of files may be given; a pattern without wildcards is an equality."""


def _between(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
    """Unlike in SQL, a NULL bound makes the result NULL even if the other bound decides."""
    _, *bounds = (argument.type for argument in call.arguments if isinstance(argument, Expression))
    test = "({0} >= {1} AND {0} <= {2})".format(*texts)
    if any(bound.nullable for bound in bounds):
        return f"if({texts[1]} IS NULL OR {texts[2]} IS NULL, NULL, {test})"
    return test


COMPARISON: Table = {
    # To Spark NaN equals itself and is the largest number, and 0.0 equals -0.0; the specification does not say.
    "equal": Template("({0} = {1})", requires_comparable=True),
    "not_equal": Template("({0} != {1})", requires_comparable=True),
    "is_not_distinct_from": Template("({0} <=> {1})", requires_comparable=True),
    "is_distinct_from": Template("(NOT ({0} <=> {1}))", requires_comparable=True),
    "lt": Template("({0} < {1})", requires_comparable=True),
    "gt": Template("({0} > {1})", requires_comparable=True),
    "lte": Template("({0} <= {1})", requires_comparable=True),
    "gte": Template("({0} >= {1})", requires_comparable=True),
    "between": Template(_between, requires_comparable=True),
    "is_true": Template("({0} IS TRUE)"),
    "is_not_true": Template("({0} IS NOT TRUE)"),
    "is_false": Template("({0} IS FALSE)"),
    "is_not_false": Template("({0} IS NOT FALSE)"),
    "is_null": Template("({0} IS NULL)"),
    "is_not_null": Template("({0} IS NOT NULL)"),
    "is_nan": Template("({0} = CAST('NaN' AS {t0}))"),
    "is_finite": Template("(abs({0}) < CAST('Infinity' AS {t0}))"),
    "is_infinite": Template("(abs({0}) = CAST('Infinity' AS {t0}))"),
    "nullif": Template("if({0} = {1}, NULL, {0})", requires_comparable=True),
    "coalesce": Template("coalesce({args:, })"),
    "least": Template("if({nulls}, NULL, least({args:, }))", requires_comparable=True),
    "least_skip_null": Template("least({args:, })", requires_comparable=True),
    "greatest": Template("if({nulls}, NULL, greatest({args:, }))", requires_comparable=True),
    "greatest_skip_null": Template("greatest({args:, })", requires_comparable=True),
}

BOOLEAN: Table = {
    "or": Template("({args: OR })", empty=FALSE),
    "and": Template("({args: AND })", empty=TRUE),
    "and_not": Template("({0} AND NOT {1})"),
    "xor": Template("({0} != {1})"),
    "not": Template("(NOT {0})"),
}


def _higher_order_template(name: str) -> Template:
    """A higher-order function: it takes a list and a lambda over its elements."""

    def text(call: Call, texts: Sequence[str], choices: Mapping[str, str]) -> str:
        match call.arguments[1]:
            case Lambda():
                return f"{name}({texts[0]}, {texts[1]})"
            case Literal(value=None):
                return f"CAST(NULL AS {spark_sql_type(call.output_type)})"
            case _:
                raise UnsupportedError(
                    f"{ENGINE} takes a function in {call.function.name} only where it is written out"
                )

    return Template(text)


LIST: Table = {
    "transform": _higher_order_template("transform"),
    "filter": _higher_order_template("filter"),
    "any_match": _higher_order_template("exists"),
    "all_match": _higher_order_template("forall"),
    "cardinality": Template("CAST(array_size({0}) AS BIGINT)"),
    "sort": Template(
        "[direction]",
        {
            "direction": {
                "ASC_NULLS_LAST": "array_sort({0})",
                "ASC_NULLS_FIRST": "sort_array({0}, TRUE)",
                "DESC_NULLS_LAST": "sort_array({0}, FALSE)",
                "DESC_NULLS_FIRST": "reverse(array_sort({0}))",
            }
        },
        requires_comparable=True,
    ),
}

SET: Table = {
    "index_in": Template(
        "(nullif(array_position({1}, {0}), 0L) - 1L)", {"nan_equality": {"NAN_IS_NAN": ""}}, requires_comparable=True
    ),
}

SCALAR_FUNCTIONS: Mapping[str, Table] = {
    "functions_arithmetic": ARITHMETIC,
    "functions_arithmetic_decimal": ARITHMETIC_DECIMAL,
    "functions_boolean": BOOLEAN,
    "functions_comparison": COMPARISON,
    "functions_datetime": {**DATETIME, **FORMAT},
    "functions_list": LIST,
    "functions_logarithmic": LOGARITHMIC,
    "functions_rounding": ROUNDING,
    "functions_rounding_decimal": ROUNDING_DECIMAL,
    "functions_set": SET,
    "functions_string": {**STRING, **REGEXP},
    "unsigned_integers": UNSIGNED_INTEGERS,
    PARTIQL_URN: PARTIQL,
    EVERYDAY_URN: EVERYDAY,
}
"""The templates of each extension's functions, by the URN without ``extension:io.substrait:``, or the whole URN."""
