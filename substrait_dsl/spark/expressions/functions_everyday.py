"""The functions of this library's extension for everyday work, ``catalog/everyday.yaml``, that Spark runs exactly."""

from __future__ import annotations

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import AggregateFunction, Expression, Literal
from substrait_dsl.catalog.everyday import URN as EVERYDAY_URN
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.templates import Table, Template

__all__ = ["EVERYDAY", "EVERYDAY_AGGREGATES", "EVERYDAY_URN", "require_exact_percentile"]

_MONTHS = "CAST((year({1}) - year({0})) * 12 + month({1}) - month({0})"
_INCOMPLETE = (
    "CASE WHEN {1} > {0} AND day({1}) < day({0}) THEN 1 WHEN {1} < {0} AND day({1}) > day({0}) THEN -1 ELSE 0 END"
)

EVERYDAY: Table = {
    "date_diff_days": Template("CAST(datediff({1}, {0}) AS BIGINT)"),
    "date_diff_months": Template(f"{_MONTHS} - {_INCOMPLETE} AS BIGINT)"),
    "last_day": Template("last_day({0})"),
    "md5": Template("md5({0})"),
    "sha256": Template("sha2({0}, 256)"),
    "sha512": Template("sha2({0}, 512)"),
    "array_distinct": Template("array_distinct({0})", requires_comparable=True),
    "map_keys": Template("map_keys({0})"),
    "map_values": Template("map_values({0})"),
    "map_entries": Template("transform(map_entries({0}), e -> named_struct('f0', e.key, 'f1', e.value))"),
    "xxhash64": Template("if({0} IS NULL, NULL, xxhash64({0}))"),  # which hashes NULL, too
}

_POSITION = "CAST({1} AS DECIMAL(7,6)) * CAST(size(v) - 1 AS DECIMAL(10,0))"
_BELOW, _ABOVE = (f"get(v, CAST({way}({_POSITION}) AS INT))" for way in ("floor", "ceil"))
_PART = f"({_POSITION}) % 1BD"
_BETWEEN = f"CAST({_BELOW} * CAST(1BD - {_PART} AS DECIMAL(7,6)) + {_ABOVE} * ({_PART}) AS {{T}})"
_OF_DECIMALS = f"transform(array(sort_array(collect_list({{0}}){{filter}})), v -> {_BETWEEN})[0]"
"""A percentile of decimals: Spark's own is one of doubles."""

_MOST_DIGITS = 29
"""The most digits of decimals by whose products with a share of six digits Spark loses none."""


def require_exact_percentile(call: AggregateFunction) -> None:
    """Raise `UnsupportedError` for a percentile of decimals that Spark would round before it is computed."""
    value, share = call.arguments
    assert isinstance(value, Expression)
    if not isinstance(value.type, t.Decimal):
        return
    if value.type.precision > _MOST_DIGITS:
        raise UnsupportedError(
            f"Spark cannot compute a percentile of {value.type} exactly",
            hint=f"cast the values to a decimal of at most {_MOST_DIGITS} digits",
        )
    if isinstance(share, Literal) and round(share.value, 6) != share.value:
        raise UnsupportedError(f"Spark cannot compute the percentile {share.value} of decimals: it has over six digits")


EVERYDAY_AGGREGATES: Table = {
    "collect_list": Template("collect_list({0}){filter}"),
    "collect_set": Template("collect_set({0}){filter}", requires_comparable=True),
    "max_by": Template("max_by({0}, {1}){filter}"),
    "min_by": Template("min_by({0}, {1}){filter}"),
    "percentile": Template("percentile({0}, {1}){filter}"),
    "percentile:dec": Template(_OF_DECIMALS, literal_arguments=(1,)),
    "approx_percentile": Template("approx_percentile({0}, {1}, {2}){filter}", literal_arguments=(1, 2)),
    "mode": Template("mode({0}){filter}"),
    "min": Template("min({0}){filter}"),
    "max": Template("max({0}){filter}"),
}
