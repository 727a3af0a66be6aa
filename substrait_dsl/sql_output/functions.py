"""The scalar functions that engines are known to compute as the plan means them, in the words of each dialect.

Specification: the files ``functions_*.yaml``. A function, an overload or an option that has no line is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.datetimes import write_part, write_start
from substrait_dsl.sql_output.decimals import MAX_DIGITS, exact_scale, write_quotient, write_remainder
from substrait_dsl.sql_output.dialects import Dialect, SqlDialect, require_same_fields
from substrait_dsl.sql_output.overflows import cut_by, is_floored, write_cut, write_floored
from substrait_dsl.sql_output.written import Written, as_decimal, cast_tree, connect, fill

if TYPE_CHECKING:
    from sqlglot import exp

Check = Callable[[ex.ScalarFunction, Dialect], str | None]
"""Says what a call must not have; None if it has nothing of that."""


@attrs.frozen
class Rule:
    """How a function is written."""

    duckdb: str | None
    """Its template for DuckDB; None: it is not known to be the same there."""
    spark: str | None
    options: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    """The values of options that are what the engines do."""
    needs_types: bool = True
    """Whether arguments must have their derived types in the engine; else any type with the same values will do."""
    check: Check | None = None
    """What else a call must not have."""
    only: str = ""
    """That in words, for the table of functions: which calls are written."""

    def template(self, dialect: SqlDialect) -> str | None:
        return self.duckdb if dialect == "duckdb" else self.spark


def _both(template: str, **more: Any) -> Rule:
    """A function that is written alike in all dialects."""
    return Rule(template, template, **more)


def _literals(*positions: int, least: int = 0) -> Check:
    """Refuse arguments at these positions that are no constants, or numbers below the least, or empty texts."""

    def check(call: ex.ScalarFunction, dialect: Dialect) -> str | None:
        for position in positions:
            if position >= len(call.arguments):
                continue
            argument = call.arguments[position]
            if not isinstance(argument, ex.Literal) or argument.value is None:
                return f"argument {position} that is no constant"
            if isinstance(argument.value, int) and argument.value < least:
                return f"an argument {position} below {least}"
            if argument.value == "":
                return f"an argument {position} that is empty"
        return None

    return check


def _like(call: ex.ScalarFunction, dialect: Dialect) -> str | None:
    pattern = call.arguments[1]
    if dialect.name == "spark" and not (isinstance(pattern, ex.Literal) and "\\" not in (pattern.value or "")):
        return "a pattern that is no constant, or has a backslash"
    return None


def _to_integer(call: ex.ScalarFunction, dialect: Dialect) -> str | None:
    """Refuse digits after the point: engines round to them by products that are no exact ones."""
    digits = call.arguments[1]
    return None if isinstance(digits, ex.Literal) and digits.value == 0 else "digits after the point"


def _finite_exponent(call: ex.ScalarFunction, dialect: Dialect) -> str | None:
    """Refuse exponents of which a power of one is no number to Java."""
    exponent = call.arguments[1]
    if dialect.name == "duckdb" or (isinstance(exponent, ex.Literal) and isfinite(exponent.value or 0)):
        return None
    return "an exponent that is no constant"


def _has_room(call: ex.ScalarFunction, dialect: Dialect) -> str | None:
    """Refuse decimals whose exact result has more digits after the point than a decimal can have."""
    scale = exact_scale(call)
    return None if scale <= MAX_DIGITS else f"a result of {scale} digits after the point"


INTEGER_OPTIONS = {"overflow": ("ERROR",)}
FLOAT_OPTIONS = {"rounding": ("TIE_TO_EVEN",)}
AWAY_FROM_ZERO = {"rounding": ("TIE_AWAY_FROM_ZERO",)}
SENSITIVE = {"case_sensitivity": ("CASE_SENSITIVE",)}
UNICODE = {"char_set": ("UTF8",), "full_unicode": ("TRUE",)}
DIVISION = {"overflow": ("ERROR",), "on_division_by_zero": ("ERROR",), "on_domain_error": ("ERROR",)}

COMPARISON: Mapping[str, Rule] = {
    "equal": _both("{0} = {1}", needs_types=False),
    "not_equal": _both("{0} <> {1}", needs_types=False),
    "lt": _both("{0} < {1}", needs_types=False),
    "lte": _both("{0} <= {1}", needs_types=False),
    "gt": _both("{0} > {1}", needs_types=False),
    "gte": _both("{0} >= {1}", needs_types=False),
    "is_not_distinct_from": _both("{0} IS NOT DISTINCT FROM {1}", needs_types=False),
    "is_distinct_from": _both("{0} IS DISTINCT FROM {1}", needs_types=False),
    "is_null": _both("{0} IS NULL", needs_types=False),
    "is_not_null": _both("{0} IS NOT NULL", needs_types=False),
    "is_true": _both("{0} IS TRUE"),
    "is_not_true": _both("{0} IS NOT TRUE"),
    "is_false": _both("{0} IS FALSE"),
    "is_not_false": _both("{0} IS NOT FALSE"),
    "is_nan": _both("{0} = CAST('NaN' AS {t0})"),
    "is_finite": _both("ABS({0}) < CAST('Infinity' AS {t0})"),
    "is_infinite": _both("ABS({0}) = CAST('Infinity' AS {t0})"),
    "nullif": _both("NULLIF({0}, {1})"),
    "coalesce": _both("COALESCE({args})"),
    "least_skip_null": _both("LEAST({args})"),
    "greatest_skip_null": _both("GREATEST({args})"),
}

BOOLEAN: Mapping[str, Rule] = {
    "not": _both("NOT {0}"),
    "xor": _both("{0} <> {1}"),
    "and_not": _both("{0} AND NOT {1}"),
}

ARITHMETIC: Mapping[str, Rule] = {
    "add:int": _both("{0} + {1}", options=INTEGER_OPTIONS),
    "subtract:int": _both("{0} - {1}", options=INTEGER_OPTIONS),
    "multiply:int": _both("{0} * {1}", options=INTEGER_OPTIONS),
    "divide:int": Rule("{0} // {1}", "CAST({0} DIV {1} AS {T})", options=DIVISION),
    # The remainder of the smallest integer by -1 is an overflow to DuckDB.
    "modulus:int": Rule(
        "CASE WHEN {1} = -1 THEN CAST({0} * 0 AS {T}) ELSE {0} % {1} END",
        "{0} % {1}",
        options={"division_type": ("TRUNCATE",), "overflow": ("ERROR", "SATURATE", "SILENT"), **DIVISION},
    ),
    "negate:int": _both("-{0}", options=INTEGER_OPTIONS),
    "abs:int": _both("ABS({0})", options=INTEGER_OPTIONS),
    "add:fp": _both("{0} + {1}", options=FLOAT_OPTIONS),
    "subtract:fp": _both("{0} - {1}", options=FLOAT_OPTIONS),
    "multiply:fp": _both("{0} * {1}", options=FLOAT_OPTIONS),
    # Divided by zero, DuckDB gives what IEEE 754 has, and Spark an error: both may, if the plan does not say.
    "divide:fp": Rule("{0} / {1}", "CAST({0} / {1} AS {T})", options=FLOAT_OPTIONS),
    "sqrt:fp": _both("SQRT({0})", options={**FLOAT_OPTIONS, "on_domain_error": ("NAN",)}),
    "sqrt:int": _both("SQRT({0})", options={**FLOAT_OPTIONS, "on_domain_error": ("NAN",)}),
    "negate:fp": _both("-{0}"),
    "abs:fp": _both("ABS({0})"),
    "sign": _both("CAST(SIGN({0}) AS {T})"),
    "exp": _both("CAST(EXP({0}) AS {T})", options=FLOAT_OPTIONS),
    "power:fp": _both(
        "CAST(POWER({0}, {1}) AS {T})", check=_finite_exponent, only="on Spark a constant exponent that is finite"
    ),
    "bitwise_not": _both("~{0}"),
    "bitwise_and": _both("{0} & {1}"),
    "bitwise_or": _both("{0} | {1}"),
    "bitwise_xor": Rule("XOR({0}, {1})", "{0} ^ {1}"),
}

ARITHMETIC_DECIMAL: Mapping[str, Rule] = {
    "add": _both(
        "{0} + {1}", options={"overflow": ("ERROR",)}, check=_has_room, only="up to 38 digits after the point"
    ),
    "subtract": _both(
        "{0} - {1}", options={"overflow": ("ERROR",)}, check=_has_room, only="up to 38 digits after the point"
    ),
    "multiply": _both(
        "{0} * {1}", options={"overflow": ("ERROR",)}, check=_has_room, only="up to 38 digits after the point"
    ),
}

ROUNDING: Mapping[str, Rule] = {
    "ceil": Rule("CEIL({0})", "CASE WHEN ABS({0}) < 4503599627370496 THEN CAST(CEIL({0}) AS {T}) ELSE {0} END"),
    "round:int": _both("{0}", check=_literals(1, least=0), only="constant digits from 0 on"),
    "round:fp": _both("CAST(ROUND({0}) AS {T})", options=AWAY_FROM_ZERO, check=_to_integer, only="to 0 digits"),
    "floor": Rule("FLOOR({0})", "CASE WHEN ABS({0}) < 4503599627370496 THEN CAST(FLOOR({0}) AS {T}) ELSE {0} END"),
}

ROUNDING_DECIMAL: Mapping[str, Rule] = {
    "ceil": _both("CAST(CEIL({0}) AS {T})"),
    "floor": _both("CAST(FLOOR({0}) AS {T})"),
    "round": _both(
        "CAST(ROUND({0}, {1}) AS {T})",
        options=AWAY_FROM_ZERO,
        check=_literals(1, least=0),
        only="constant digits from 0 on",
    ),
}

LOGARITHMIC: Mapping[str, Rule] = {
    name: _both(
        f"CASE WHEN {{0}} <= 0 THEN CASE WHEN {{0}} = 0 THEN CAST('-Infinity' AS {{T}}) ELSE CAST('NaN' AS {{T}}) END "
        f"ELSE CAST({name.upper()}({{0}}) AS {{T}}) END",
        options={**FLOAT_OPTIONS, "on_domain_error": ("NAN",), "on_log_zero": ("MINUS_INFINITY",)},
    )
    for name in ("ln", "log10", "log2")
}

STRING: Mapping[str, Rule] = {
    "concat": _both("{dpipe}", options={"null_handling": ("ACCEPT_NULLS",)}),
    "like": _both(
        "{0} LIKE {1}", options=SENSITIVE, check=_like, only="on Spark a constant pattern without a backslash"
    ),
    "substring": _both("SUBSTRING({args})", check=_literals(1, 2, least=1), only="constants from 1 on"),
    "starts_with": Rule("STARTS_WITH({0}, {1})", "STARTSWITH({0}, {1})", options=SENSITIVE),
    "ends_with": Rule("ENDS_WITH({0}, {1})", "ENDSWITH({0}, {1})", options=SENSITIVE),
    "contains": _both("CONTAINS({0}, {1})", options=SENSITIVE),
    "strpos": Rule("STRPOS({0}, {1})", "CAST(INSTR({0}, {1}) AS BIGINT)", options=SENSITIVE),
    "replace": _both(
        "REPLACE({0}, {1}, {2})", options=SENSITIVE, check=_literals(1), only="a constant second argument, not empty"
    ),
    "lower": Rule(None, "LOWER({0})", options=UNICODE),  # DuckDB has other letters of some: of a sharp s, and of sigma
    "upper": Rule(None, "UPPER({0})", options=UNICODE),
    "char_length": Rule("LENGTH({0})", "CAST(LENGTH({0}) AS BIGINT)"),
    "octet_length": Rule("STRLEN({0})", "CAST(OCTET_LENGTH({0}) AS BIGINT)"),
    "left": _both("LEFT({0}, {1})", check=_literals(1), only="a constant second argument, not empty"),
    "right": _both("RIGHT({0}, {1})", check=_literals(1), only="a constant second argument, not empty"),
    "trim": Rule(
        "TRIM({0}, {1})", "TRIM(BOTH {1} FROM {0})", check=_literals(1), only="a constant second argument, not empty"
    ),
    "ltrim": Rule(
        "LTRIM({0}, {1})",
        "TRIM(LEADING {1} FROM {0})",
        check=_literals(1),
        only="a constant second argument, not empty",
    ),
    "rtrim": Rule(
        "RTRIM({0}, {1})",
        "TRIM(TRAILING {1} FROM {0})",
        check=_literals(1),
        only="a constant second argument, not empty",
    ),
    "repeat": Rule(
        "REPEAT({0}, {1})", "REPEAT({0}, CAST({1} AS INT))", check=_literals(1), only="a constant second argument"
    ),
    "reverse": Rule(None, "REVERSE({0})"),  # DuckDB takes several characters that are one letter for one
    "lpad": _both("LPAD({0}, {1}, {2})", check=_literals(1, 2), only="constants, not empty"),
    "rpad": _both("RPAD({0}, {1}, {2})", check=_literals(1, 2), only="constants, not empty"),
}

DATETIME: Mapping[str, Rule] = {
    name: attrs.evolve(COMPARISON[name], only="of dates, and of timestamps") for name in ("lt", "lte", "gt", "gte")
}

FUNCTIONS: Mapping[str, Mapping[str, Rule]] = {
    "functions_arithmetic": ARITHMETIC,
    "functions_arithmetic_decimal": ARITHMETIC_DECIMAL,
    "functions_boolean": BOOLEAN,
    "functions_comparison": COMPARISON,
    "functions_datetime": DATETIME,
    "functions_logarithmic": LOGARITHMIC,
    "functions_rounding": ROUNDING,
    "functions_rounding_decimal": ROUNDING_DECIMAL,
    "functions_string": STRING,
}
"""The rules of each extension's functions, by the URN without ``extension:io.substrait:``."""

OF_THEIR_OWN: Mapping[str, Mapping[str, str]] = {
    "functions_arithmetic_decimal": {
        "divide": "on Spark operands of so many digits that the quotient is rounded once",
        "modulus": "without options",
    },
    "functions_boolean": {"and": "", "or": ""},
    "functions_comparison": {"between": "", "least": "", "greatest": ""},
    "functions_datetime": {
        "add": "a constant interval without fractions of a second",
        "subtract": "a constant interval without fractions of a second",
        "round_calendar": "FLOOR to a year, quarter, month, week or day; on DuckDB to an hour, minute or second, too",
        "extract": "YEAR, MONTH, QUARTER, DAY, DAY_OF_YEAR of dates and timestamps; HOUR, MINUTE of timestamps",
    },
}
"""The functions that are written by functions of this module, with which calls are written."""

OF_EQUALITY = frozenset(
    {
        *("equal", "not_equal", "is_not_distinct_from", "is_distinct_from", "is_null", "is_not_null"),
        *("nullif", "coalesce"),
    }
)
"""The functions that ask of values whether they are equal, or NULL, and nothing of their order."""

WIDE = 19
"""From this precision on, DuckDB computes with the full precision; below, it keeps to 18 digits and fails beyond."""


def refusal(
    call: ex.ScalarFunction | ex.AggregateFunction | ex.WindowCall, dialect: Dialect, what: str = ""
) -> UnsupportedError:
    """Return the error for a function that is not written."""
    return UnsupportedError(
        f"{call.function.name}{f' with {what}' if what else ''} is not known to be exact in the SQL of {dialect.title}",
        hint="leave it out of the relation that becomes SQL, or execute(session) runs the plan",
    )


def write_function(call: ex.ScalarFunction, values: Sequence[Written], dialect: Dialect) -> Written:
    """Write the call of a scalar function, given its value arguments. Raises `UnsupportedError`."""
    urn, name = call.function.extension, call.function.name
    if isinstance(call.output_type, t.VarChar) and name not in ("coalesce", "nullif"):
        raise refusal(call, dialect, "a result of limited length")
    for value in values:
        dialect.type_text(value.type, is_ordered=name not in OF_EQUALITY)  # which refuses what has other orders
    require_same_fields([value.type for value in values])
    match urn, name:
        case "functions_boolean", "and" | "or":
            return _connect(call, values)
        case "functions_comparison", "between":
            return _between(call, values, dialect)
        case "functions_comparison", "least" | "greatest":
            return _extreme(call, values, dialect)
        case "functions_datetime", "extract":
            part = write_part(call, values, dialect)
            if part is None:
                raise refusal(
                    call, dialect, " ".join(each.value for each in call.arguments if isinstance(each, ex.EnumArgument))
                )
            return part
        case "functions_datetime", "round_calendar":
            start = write_start(call, values[0], dialect)
            if start is None:
                words = [each.value for each in call.arguments if isinstance(each, ex.EnumArgument)]
                raise refusal(call, dialect, f"{' '.join(words)}, which is date_trunc in a query,")
            return start
        case "functions_arithmetic_decimal", "modulus" if not call.options:
            return write_remainder(call, values, dialect)
        case "functions_arithmetic_decimal", "divide":
            quotient = None if call.options else write_quotient(call, values, dialect)
            if quotient is None:
                raise refusal(call, dialect, "decimals of so many digits, or an option")
            return quotient
        case _:
            rule = _find_rule(urn, call)
    template = None if rule is None else rule.template(dialect.name)
    if rule is None or template is None:
        raise refusal(call, dialect)
    by, is_of_divisor = cut_by(call), is_floored(call)
    if by is not None or is_of_divisor:
        written_so = ("division_type" if is_of_divisor else "overflow",)
        others = tuple(option for option in call.options if option.name.lower() not in written_so)
        _check_options(attrs.evolve(call, options=others), rule, dialect)
        return write_floored(call, values, dialect) if by is None else write_cut(call, values, dialect, by)
    _check_options(call, rule, dialect)
    if rule.check is not None and (what := rule.check(call, dialect)) is not None:
        raise refusal(call, dialect, what)
    if urn == "functions_arithmetic_decimal" and isinstance(call.output_type, t.Decimal) and len(values) == 2:
        return _write_decimals(template, call, values, call.output_type, dialect)
    trees = operands(values, dialect, needs_types=rule.needs_types)
    is_typed = name != "nullif" or values[0].is_typed  # to the engines its type is that of the first argument alone
    return Written(_fill(template, call, trees, dialect), call.output_type, is_typed)


def _write_decimals(
    template: str, call: ex.ScalarFunction, values: Sequence[Written], type_: t.Decimal[Any, Any], dialect: Dialect
) -> Written:
    """Write a sum, difference or product of decimals. Where digits are cut off, it has the derived type at once."""
    is_cut = exact_scale(call) != type_.scale
    trees = [value.cast(dialect) if is_cut else as_decimal(value, dialect) for value in values]
    if dialect.name == "duckdb":
        trees[0] = _widened(values, trees[0], type_, dialect)
    tree = _fill(template, call, trees, dialect)
    if is_cut and dialect.name == "duckdb":
        tree = cast_tree(tree, type_, dialect)
    return Written(tree, type_, is_cut)


def _fill(template: str, call: ex.ScalarFunction, trees: Sequence[exp.Expr], dialect: Dialect) -> exp.Expr:
    places = [f"{{{number}}}" for number in range(len(trees))]
    template = template.replace("{args}", ", ".join(places)).replace("{dpipe}", " || ".join(places))
    types = {}
    if "{T}" in template:
        types["T"] = dialect.type_text(call.output_type)
    if "{t0}" in template:
        types["t0"] = dialect.type_text(next(each.type for each in call.arguments if isinstance(each, ex.Expression)))
    return fill(template, trees, types, dialect)


def _find_rule(urn: str, call: ex.ScalarFunction) -> Rule | None:
    """Return the rule of a function: of its own name, or of what it computes with."""
    rules, name = FUNCTIONS.get(urn, {}), call.function.name
    first = next((each.type for each in call.arguments if isinstance(each, ex.Expression)), None)
    kind = "int" if isinstance(first, t.INTEGER_TYPES) else "fp" if isinstance(first, t.FP32 | t.FP64) else ""
    return rules.get(f"{name}:{kind}") or rules.get(name)


def _check_options(call: ex.ScalarFunction, rule: Rule, dialect: Dialect) -> None:
    for option in call.options:
        if not {each.upper() for each in option.preferences} & {*rule.options.get(option.name.lower(), ())}:
            raise refusal(call, dialect, f"the option {option.name} = {' or '.join(option.preferences)}")


def operands(values: Sequence[Written], dialect: Dialect, *, needs_types: bool) -> list[exp.Expr]:
    """Return the trees of arguments.

    A constant is cast to its type, unless the engine takes it for one of the type of another argument.
    """
    from sqlglot import exp

    if not needs_types:
        return [value.tree for value in values]
    typed = [value for value in values if value.is_typed]

    def is_adapted(value: Written) -> bool:
        number = value.tree.this if isinstance(value.tree, exp.Neg) else value.tree
        if not isinstance(number, exp.Literal | exp.Null) or not isinstance(value.type, t.INTEGER_TYPES):
            return False
        is_small = isinstance(value.type, t.I8 | t.I16) and dialect.name == "spark"
        return not is_small and any(each.type.matches(value.type) for each in typed)

    return [value.tree if value.is_typed or is_adapted(value) else value.cast(dialect) for value in values]


def _widened(values: Sequence[Written], first: exp.Expr, type_: t.Decimal[Any, Any], dialect: Dialect) -> exp.Expr:
    """Return the first operand of decimals in a type in which DuckDB computes with all digits of the result."""
    precisions = [value.type.precision for value in values if isinstance(value.type, t.Decimal)]
    if type_.precision < WIDE or max(precisions) >= WIDE:
        return first
    own = values[0].type
    assert isinstance(own, t.Decimal)
    return cast_tree(first, attrs.evolve(own, precision=WIDE), dialect)


def _connect(call: ex.ScalarFunction, values: Sequence[Written]) -> Written:
    from sqlglot import exp

    connector, of_none = (exp.And, True) if call.function.name == "and" else (exp.Or, False)
    if not values:
        return Written(exp.Boolean(this=of_none), call.output_type)
    tree = values[0].tree.copy()
    for value in values[1:]:
        tree = connect(connector, tree, value.tree)
    return Written(tree, call.output_type)


def _between(call: ex.ScalarFunction, values: Sequence[Written], dialect: Dialect) -> Written:
    """Unlike in SQL, a NULL bound makes the result NULL even if the other bound decides."""
    trees = [value.tree for value in values]
    if any(value.type.nullable for value in values[1:]):
        test = "CASE WHEN NOT ({1} IS NULL OR {2} IS NULL) THEN {0} BETWEEN {1} AND {2} END"
        return Written(fill(test, trees, {}, dialect), call.output_type)
    return Written(fill("{0} BETWEEN {1} AND {2}", trees, {}, dialect), call.output_type)


def _extreme(call: ex.ScalarFunction, values: Sequence[Written], dialect: Dialect) -> Written:
    """Unlike the engines' functions, those of the specification are NULL if any argument is."""
    trees = operands(values, dialect, needs_types=True)
    places = [f"{{{number}}}" for number in range(len(trees))]
    text = f"{call.function.name.upper()}({', '.join(places)})"
    nulls = [place for place, value in zip(places, values, strict=True) if value.type.nullable]
    if nulls:
        text = f"CASE WHEN {' AND '.join(f'{place} IS NOT NULL' for place in nulls)} THEN {text} END"
    return Written(fill(text, trees, {}, dialect), call.output_type)
