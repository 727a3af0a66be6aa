"""Names of the rules by which calls are rewritten, and the functions of each.

A profile assigns the rules to functions (``function_rules``); `substrait_dsl.engines.lowering` implements them.
"""

from __future__ import annotations

from collections.abc import Mapping

COMPARISONS = ("equal", "not_equal", "lt", "lte", "gt", "gte")
DISTINCTIONS = ("is_distinct_from", "is_not_distinct_from")
SUMS = ("add", "subtract", "multiply")
TEXTS = (
    "left", "lower", "ltrim", "repeat", "replace", "right", "rtrim", "strpos", "substring", "trim", "upper",
)  # fmt: skip

FUNCTION_RULES: Mapping[str, tuple[str, ...]] = {
    "and_not": ("and_not",),
    "arrow_function": ("abs", "bit_length", "char_length", "octet_length", "reverse"),
    "hidden_operand": ("bitwise_and", "bitwise_or", "bitwise_xor"),
    "by_constant": ("contains", "ends_with", "starts_with"),
    "by_quotient": ("modulus",),
    "comparisons": ("between",),
    "date_part": ("extract",),
    "derived_decimal": (*SUMS, "divide"),
    "difference": ("xor",),
    "distinct_by_nulls": DISTINCTIONS,
    "extract_date": ("extract",),
    "extreme": ("bool_and", "bool_or"),
    "extreme_value": ("greatest", "greatest_skip_null", "least", "least_skip_null"),
    "fitted_decimal": SUMS,
    "fitted_division": ("divide",),
    "from_zero": ("negate",),
    "guarded_division": ("divide", "modulus"),
    "if_null": ("coalesce",),
    "is_finite": ("is_finite",),
    "is_infinite": ("is_infinite",),
    "like_by_parts": ("like",),
    "like_pattern": ("like",),
    "nans_compared": COMPARISONS,
    "null_if_any": ("concat",),
    "nullif": ("nullif",),
    "one_character_each": ("reverse",),
    "one_zero": (*COMPARISONS, *DISTINCTIONS),
    "other_sigma": ("lower",),
    "pairs": ("and", "or", "concat"),
    "real_extreme": ("min", "max"),
    "registered": TEXTS,
    "sign": ("sign",),
    "sum_and_count": ("avg",),
    "truth": ("is_true", "is_false", "is_not_true", "is_not_false"),
    "wide_decimal": SUMS,
}
"""The functions whose calls each rule rewrites."""
