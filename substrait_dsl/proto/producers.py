"""Deviations of known producers from the specification, in one table: `PRODUCERS`.

A plan means what its producer meant by it. `producer_of` finds a producer by the name in a plan (``Version.producer``)
and its version of the specification. Decoders ask ``decoder.producer``, and report as a finding what they read
otherwise than specified.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from substrait_dsl.algebra.function_ids import FunctionId
from substrait_dsl.algebra.types import FP32, FP64, UNSIGNED_BITS, PrecisionTimestamp, PrecisionTimestampTZ, Type
from substrait_dsl.proto import datafusion_aggregates, datafusion_functions, duckdb_functions, ibis_functions
from substrait_dsl.proto.construction import Reader

if TYPE_CHECKING:
    from substrait import algebra_pb2 as pb

    from substrait_dsl.algebra.expressions import Expression, WindowFunction
    from substrait_dsl.algebra.node import Rel
    from substrait_dsl.algebra.relations import Aggregate
    from substrait_dsl.proto.decoder import Decoder

SpecificationVersion = tuple[int, int, int]
"""A version of the specification: major, minor, patch."""

ARROW_LAYOUTS: Mapping[tuple[int, str], str] = {
    **dict.fromkeys(((1, type_name) for type_name in ("string", "binary", "list")), "a Large type of Arrow"),
    **dict.fromkeys(((2, type_name) for type_name in ("string", "binary", "list")), "a View type of Arrow"),
}
"""Type variations with the same values, in another memory layout."""

ARROW_UNSIGNED: Mapping[tuple[int, str], str] = {(1, f"i{bits}"): name for name, bits in UNSIGNED_BITS.items()}
"""Type variations that make an integer unsigned, with the names of these."""

ARROW_VARIATIONS: Mapping[tuple[int, str], str] = {
    **ARROW_LAYOUTS,
    **dict.fromkeys(ARROW_UNSIGNED, "an unsigned integer"),
    (1, "date"): "a Date64 of Arrow",
    (1, "decimal"): "a Decimal256 of Arrow",
    (1, "interval_day"): "a duration",
    (1, "map"): "a dictionary of Arrow",
}
"""The type variations of Arrow: their numbers, with their types."""


def _as_it_is(decoder: Decoder, read: Any, message: Any) -> Any:
    return read


def _as_specified(name: str, argument: Type, declared: Type | None) -> Type | None:
    return None


ScalarReader = Reader
"""Reads a call of a producer, given its arguments and the type that it declares; None: as specified."""


@attrs.frozen
class Producer:
    """A producer; each field but the first three is a deviation of its plans from the specification."""

    name: str
    """The name in its plans, alone or before a version of the producer."""
    title: str
    """Its name in messages."""
    before: SpecificationVersion | None = None
    """The version of the specification from which on its plans do not deviate any more."""
    undeclared_variations: Mapping[tuple[int, str], str] = attrs.field(factory=dict)
    """Its undeclared type variations: their numbers, with their types."""
    like_has_escape: bool = False
    """Whether its ``like`` has a third argument, the escape character, NULL for none."""
    mark_joins_keep_one_side: bool = False
    """Whether its joins that preserve one side put out that side alone, whatever version the plan is of."""
    anti_joins_may_be_not_in: bool = False
    """Whether it writes ``NOT IN`` of a subquery as the same anti join that it writes for ``NOT EXISTS``."""
    scalar_functions: Mapping[str, ScalarReader] = attrs.field(factory=dict)
    """The readers of scalar functions that deviate, by its names for them."""
    function_forms: Mapping[str, datafusion_aggregates.FunctionForm] = attrs.field(factory=dict)
    """Its names of aggregate and window functions that have another form in the specification."""
    window_value: Callable[[Decoder, WindowFunction, Any], Expression] = _as_it_is
    """Returns a window function as it computes it."""
    aggregate_columns: Callable[[Decoder, Aggregate, pb.AggregateRel], Rel] = _as_it_is
    """Returns an aggregate with the columns that it counts."""
    types_with_own_text: tuple[type[Type], ...] = ()
    """The types whose strings differ, where it casts them to a string."""
    repeats_operands: bool = False
    """Whether what it computes is read as expressions that have operands several times."""
    projects_put_out_expressions: bool = False
    """Whether its projects without an emit put out their expressions only."""
    type_of_computation: Callable[[str, Type, Type | None], Type | None] = _as_specified
    """Returns the type that an aggregate function is computed in; None for that of its argument.

    It takes the name of the function, the type of the argument, and the declared type, or None.
    """
    derives_types_as_read: bool = False
    """Whether undeclared types are derived from its own readings."""
    functions_meant: Mapping[FunctionId, FunctionId] = attrs.field(factory=dict)
    """The aggregate functions that it confuses with others, which return its declared type."""
    predicates_declare_other_types: bool = False
    """Whether its comparisons and other predicates may declare the type of their arguments."""
    nested_names_first: bool = False
    """Whether the names of nested fields come before the name of their column."""


UNKNOWN = Producer("", "")
"""A producer without known deviations."""

DATAFUSION = Producer(
    "datafusion",
    "DataFusion",
    # DataFusion 55 declares none; a view of text comes as variation 2 of string, `UInt32` as variation 1 of i32.
    undeclared_variations=ARROW_VARIATIONS,
    # DataFusion 55 writes `s LIKE 'x%'` as like(s, 'x%', NULL), and `ESCAPE '!'` as like(s, 'x%', '!').
    like_has_escape=True,
    # In DataFusion 55 relations above a mark join count the columns of one side and the mark.
    mark_joins_keep_one_side=True,
    # DataFusion 55 writes `a NOT IN (SELECT k FROM u)` and `NOT EXISTS (SELECT 1 FROM u WHERE k = a)` as the same
    # bytes, and gives no rows of the first one where a k is NULL.
    anti_joins_may_be_not_in=True,
    # Held against what DataFusion computes, function by function, in `tests/producers/test_datafusion_functions.py`.
    scalar_functions=datafusion_functions.SCALAR_FUNCTIONS,
    function_forms=datafusion_aggregates.FUNCTION_FORMS,
    # DataFusion 55 writes 1e10 as 10000000000.0, and midnight of a day as 2024-02-29T00:00:00; Spark 1.0E10 and
    # 2024-02-29 00:00:00.
    types_with_own_text=(FP32, FP64, PrecisionTimestamp, PrecisionTimestampTZ),
    # DataFusion 55 gives 0.066666 for the average of 0.62, 0.63 and -1.05, of decimal(7, 2), as decimal(11, 6).
    window_value=datafusion_aggregates.own_window,
    # A plan that DataFusion 55 has not optimised has no casts: the avg of an i32 is one of an i32, and gives fp64.
    type_of_computation=datafusion_aggregates.type_of_computation,
    # What is read otherwise than specified, by the fields above, has the types of DataFusion.
    derives_types_as_read=True,
    # DataFusion 55 writes rollup(a, b) as the keys a, b, a with the sets (0, 1), (2), (), and counts the columns as
    # a, b, ``__grouping_id``, measures.
    aggregate_columns=datafusion_aggregates.own_columns,
    # A quotient of decimals has its dividend twice.
    repeats_operands=True,
)

ARROW = Producer(
    "Acero",
    "Arrow",
    # pyarrow 26 writes the names of a column of structs so (`pyarrow.substrait.serialize_expressions`).
    nested_names_first=True,
)

DUCKDB = Producer(
    "DuckDB",
    "DuckDB",
    # In plans of 0.54 and later every project has an emit.
    before=(0, 54, 0),
    # DuckDB 1.1.3 writes `SELECT a FROM t` as a project of one expression over a read of one column, and one name.
    projects_put_out_expressions=True,
    scalar_functions=duckdb_functions.SCALAR_FUNCTIONS,
    type_of_computation=duckdb_functions.type_of_computation,
    # DuckDB 1.1.3 writes `s = 'x'`, pushed down to a read, as an equal:string_string that gives string.
    predicates_declare_other_types=True,
)

IBIS = Producer(
    "ibis-substrait",
    "ibis",
    # ibis-substrait 4.0.1 writes `t.i / 2` of integers as a divide:i32_i32 that gives fp64, and `t.i.mean()` likewise.
    scalar_functions=ibis_functions.SCALAR_FUNCTIONS,
    type_of_computation=ibis_functions.type_of_computation,
    # It writes `t.count()` as a count of functions_aggregate_decimal_output that gives i64.
    functions_meant=ibis_functions.FUNCTIONS_MEANT,
)

PRODUCERS = (DATAFUSION, ARROW, DUCKDB, IBIS)
"""All known producers. The first matching entry counts."""


def producer_of(name: str, version: SpecificationVersion) -> Producer:
    """Find the producer of a plan.

    Args:
        name: what the plan says of who wrote it.
        version: the version of the specification that the plan says to be of.
    """
    for producer in PRODUCERS:
        if producer.before is not None and version >= producer.before:
            continue
        if name.startswith(producer.name) and _VERSION.fullmatch(name, len(producer.name)):
            return producer
    return UNKNOWN


_VERSION = re.compile(r"(?:[ /]?v?\d.*)?")
"""The version after the name of a producer, as in ``Acero 26.0.1``. Any other word is part of another name."""
