"""Sail, a Spark Connect server without Java: its profile of deviations, and how a session of it is recognized."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from zlib import crc32

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import WindowCall
from substrait_dsl.algebra.expressions.literals import Literal
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.sail.casts import castable, castable_folder_name
from substrait_dsl.spark.sail.correlated_filters import with_filters_above_joins
from substrait_dsl.spark.sail.failures import is_of_outer_rows, sail_failure
from substrait_dsl.spark.sail.files import file_error, listed_files, with_types_of_spark
from substrait_dsl.spark.sail.functions import coalesce, guard_zone_rules
from substrait_dsl.spark.sail.guards import GUARDS
from substrait_dsl.spark.sail.schemas import castable_schema
from substrait_dsl.spark.session.connect import is_remote
from substrait_dsl.spark.session.engines import SPARK, Engine
from substrait_dsl.spark.session.servers import server_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _literal(literal: Literal) -> str | None:
    """Write a negative integer as a cast of a string: Sail parses the sign as an operator on a number out of range."""
    if not isinstance(literal.type, t.INTEGER_TYPES) or literal.value is None or literal.value >= 0:
        return None
    return f"CAST('{literal.value}' AS {spark_sql_type(literal.type)})"


def _replacement(text: str) -> str:
    """Write groups in braces, since following letters and digits would belong to the number."""
    return re.sub(r"\\(\d)", r"\1", re.sub(r"\$(\d)", r"${\1}", text))


def _float_key(value: str, type_: t.Type) -> str:
    """Write one zero and one NaN in place of all: Sail compares their bits."""
    name = spark_sql_type(type_)
    return f"(nanvl({value}, CAST('NaN' AS {name})) + CAST(0 AS {name}))"


def _operand(text: str) -> str:
    """Mark an operand: Sail confuses aggregates, and windows, that differ in casts only."""
    return f"if('{crc32(text.encode()):x}' != '', {text}, NULL)" if "CAST(" in text else text


_INEXACT_BACKWARDS = frozenset(("sum", "sum0", "avg", "std_dev", "variance", "corr"))


def _require_frame(call: WindowCall) -> None:
    """Refuse sums of floats over frames that rows leave: Sail subtracts them again, which rounds."""
    name = call.function.name
    is_float = isinstance(call.output_type, t.FP32 | t.FP64)
    if name in _INEXACT_BACKWARDS and is_float and call.lower.kind != "unbounded":
        raise UnsupportedError(
            f"Sail cannot compute {name} of floats over a frame that rows leave exactly",
            hint="a frame that begins with the partition, or decimals, or a join with the rows of the frame",
        )
    if name == "collect_list":
        raise UnsupportedError("Sail cannot run collect_list over a frame: it would keep NULLs")
    if name in ("lag", "lead") and not all(isinstance(each, Literal) for each in call.arguments[2:]):
        raise UnsupportedError(
            f"Sail takes the default of {name} only as a literal",
            hint=f"no default, and functions.coalesce({name}(...).over(...), the default) where no value is NULL",
        )


_UNNEST = re.compile(r"^\s*UnnestExec\b", re.MULTILINE)
"""The step of a plan for functions such as explode."""


def _multiplies_rows(plan: str) -> bool:
    return _UNNEST.search(plan) is not None


SAIL = Engine(
    "Sail",
    GUARDS,
    _literal,
    _replacement,
    failure=sail_failure,
    reports_fragments=False,
    castable=castable,
    castable_folder_name=castable_folder_name,
    file_error=file_error,
    has_null_folders=False,
    is_of_outer_rows=is_of_outer_rows,
    float_key=_float_key,
    require_frame=_require_frame,
    around_list=("get(", ", 0)"),  # of [0] it evaluates the list three times, to say that the list is long enough
    # A list of a constant would have no NULL once it is computed, and Sail plans no lambda over another type of list.
    around_element=("slice(array(", ", NULL), 1, 1)"),
    runs_python_functions=False,
    has_checkpoints=False,
    multiplies_rows=_multiplies_rows,
    has_tuples=False,
    has_exact_casts=False,
    has_lists_of_records=False,
    operand=_operand,
    coalesce=coalesce,
    has_linear_patterns=True,
    forgets_keys=False,
    has_lists_of_columns=False,
    has_constant_conditions=False,
    limits_each=False,
    takes_changes=False,
    has_row_numbers=False,
    has_offsets=False,
    listed_files=listed_files,
    retyped=with_types_of_spark,
    has_signed_alone=False,
    reads_text=False,
    sent_schema=castable_schema,
    has_map_lambdas=False,
    has_fields_of_null=False,
    keeps_order=False,
    moves_by_number=False,
    guard_zone_rules=guard_zone_rules,
    negates_each=False,
    with_known_forms=with_filters_above_joins,
)


def engine_of(spark: SparkSession) -> Engine:
    """Return the engine of a session. A classic one is not asked: its Java may have ended."""
    return SAIL if is_remote(spark) and server_of(spark).engine == "sail" else SPARK
