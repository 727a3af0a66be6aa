"""The text of a query as a Substrait plan of DataFusion's. Nothing is run, and nothing but queries is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

import attrs

from substrait_dsl.arrow.schemas import pyarrow_module, to_arrow
from substrait_dsl.errors import InvalidArgumentError, UnsupportedError
from substrait_dsl.installation import install_line
from substrait_dsl.sql_queries.correlated_subqueries import find_misread_subquery
from substrait_dsl.sql_queries.dropped_clauses import check_clauses
from substrait_dsl.sql_queries.hints import OF_WINDOWS, hint_of_function, hint_of_step

if TYPE_CHECKING:
    from datafusion import SessionContext

    from substrait_dsl.algebra.schema import NamedStruct

MOVING_RULES = frozenset(
    {
        *("optimize_unions", "replace_distinct_aggregate", "eliminate_join", "extract_equijoin_predicate"),
        *("eliminate_duplicated_expr", "eliminate_filter", "eliminate_cross_join", "eliminate_limit"),
        *("propagate_empty_relation", "filter_null_join_keys", "eliminate_outer_join", "push_down_limit"),
        *("push_down_filter", "single_distinct_aggregation_to_group_by", "eliminate_group_by_constant"),
        *("common_sub_expression_eliminate", "extract_leaf_expressions", "push_down_leaf_projections"),
        "optimize_projections",
    }
)
"""Rules of DataFusion's optimizer that move, merge or remove steps of a query. What remains brings types together."""

DECORRELATING_RULES = frozenset(
    {
        *("rewrite_set_comparison", "decorrelate_predicate_subquery", "scalar_subquery_to_join"),
        "decorrelate_lateral_join",
    }
)
"""Rules that make joins of subqueries. DataFusion writes correlated ones to Substrait in no other way."""

AS_WRITTEN = MOVING_RULES | DECORRELATING_RULES
"""The rules without which a plan has the steps of the text."""

VOLATILE = ("now", "current_timestamp", "current_date", "current_time", "today", "random", "uuid")
"""Functions that are taken away: DataFusion would put the moment of the planning into the plan as a constant."""

HINTS = {
    "Column names are case sensitive": 'names without double quotes are in lower case: select "Price" from orders',
    "' not found": "give each table that the query reads by its name: from_sql(query, orders=orders)",
    "DDL not supported": "from_sql reads queries; create_table(...) and its like define tables",
    "DML not supported": "from_sql reads queries; relation.write(name) writes rows to a table",
    "Statement not supported": "from_sql reads queries",
}
"""What to write, by a part of the words of DataFusion."""

LOST_IN_WINDOWS = {
    "(DISTINCT ": "DISTINCT",
    " FILTER ": "FILTER",
    "IGNORE NULLS": "IGNORE NULLS",
}
"""What DataFusion leaves out where it writes a window function to Substrait: as it shows it, and in SQL."""

R = TypeVar("R")
V = TypeVar("V")


@attrs.frozen
class PlannedQuery:
    """DataFusion's plan of a query, with what only its own text of the plan says."""

    data: bytes
    """The plan as Substrait."""
    offsets: int
    """How many bounds of its ranges have an offset."""
    has_null_aware_joins: bool
    """Whether anti joins stand for ``not in``."""
    has_in: bool
    """Whether the query has ``in`` with a subquery."""


def plan_query(sql: str, tables: Mapping[str, NamedStruct], without: frozenset[str]) -> PlannedQuery | UnsupportedError:
    """Return DataFusion's plan of a query, or the refusal of a step for which DataFusion has no Substrait.

    Args:
        sql: the text of one query.
        tables: the columns of each table that it may read.
        without: the rules of the optimizer that are left out.

    Raises:
        InvalidArgumentError: DataFusion does not take the text; with its words.
        UnsupportedError: DataFusion is not installed, or leaves out a part of the query.
    """
    context = _make_context(tables, without)
    from datafusion import SQLOptions
    from datafusion.substrait import Producer

    only_queries = SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
    frame = _call(lambda: context.sql_with_options(sql, only_queries))
    check_clauses(sql)  # after DataFusion, which says what is no SQL at all
    written = frame.logical_plan().display_indent()
    misread = find_misread_subquery(written)
    if misread is not None:
        raise UnsupportedError(f"DataFusion makes a join with other rows of {misread}")
    if re.search(r"^ *Aggregate:.*\) IGNORE NULLS\b", written, re.MULTILINE):
        raise UnsupportedError(
            "DataFusion leaves out the IGNORE NULLS of an aggregate function where it writes Substrait",
            hint="write filter (where x is not null) behind the function",
        )
    logical = _call(frame.optimized_logical_plan)
    try:
        data = bytes(Producer.to_substrait_plan(logical, context).encode())
    except RuntimeError as error:
        words = "plan type: Unnest" if re.search(r"^ *Unnest:", written, re.MULTILINE) else str(error)
        return UnsupportedError("DataFusion has no Substrait for a step of the query", hint=hint_of_step(words))
    shown = logical.display_indent()
    windows = _show_windows(shown)
    lost = next((word for part, word in LOST_IN_WINDOWS.items() if part in windows), None)
    if lost is not None:
        raise UnsupportedError(
            f"DataFusion leaves out the {lost} of a window function where it writes Substrait", hint=OF_WINDOWS[lost]
        )
    return PlannedQuery(
        data,
        offsets=_count_offsets(windows),
        has_null_aware_joins=re.search(r" null_aware$", shown, re.MULTILINE) is not None,
        has_in=" IN (<subquery>)" in written,
    )


def _show_windows(plan: str) -> str:
    """Return the window functions of a plan, as DataFusion shows them, without what is in brackets but ``DISTINCT``."""
    calls = re.findall(r"WindowAggr: windowExpr=\[\[(.*?)\]\]\n", plan, re.DOTALL)
    return ", ".join("".join(_outside_brackets(call)) for call in calls)


def _outside_brackets(text: str) -> Iterator[str]:
    depth = 0
    tokens = re.findall(r"\(DISTINCT |[(\[]|[)\]]|[^()\[\]]+", text)
    opened = sum((token[0] in "([") - (token[0] in ")]") for token in tokens)
    for token in tokens:
        if depth == 0 or opened != 0:  # names may have brackets of their own: all is shown then
            yield token
        depth += (token[0] in "([") - (token[0] in ")]")


def _count_offsets(windows: str) -> int:
    """Return how many bounds of ranges have an offset. The name that a call has is its text, and does not count."""
    windows = re.sub(
        r"(AND (?:CURRENT ROW|UNBOUNDED FOLLOWING|[^ ]+ (?:PRECEDING|FOLLOWING))) AS [^,]*", r"\1", windows
    )
    frames = re.findall(r"(ROWS|RANGE|GROUPS) BETWEEN(.*?)(?=(?:ROWS|RANGE|GROUPS) BETWEEN|$)", windows, re.DOTALL)
    ranges = [bounds for unit, bounds in frames if unit == "RANGE"]
    return sum(len(re.findall(r"(?<!UNBOUNDED) (?:PRECEDING|FOLLOWING)", bounds)) for bounds in ranges)


def _make_context(tables: Mapping[str, NamedStruct], without: frozenset[str]) -> SessionContext:
    """Return a session in which each table has its columns, and no row."""
    try:
        from datafusion import SessionContext
    except ImportError as error:
        raise UnsupportedError("SQL is read by DataFusion, which is not installed", hint=install_line("sql")) from error
    pa = pyarrow_module()
    context = SessionContext()
    for rule in without:
        context.remove_optimizer_rule(rule)
    for name in VOLATILE:
        context.deregister_udf(name)
    for name, schema in tables.items():
        rows = pa.RecordBatch.from_pylist([], schema=to_arrow(schema))
        quoted = name.lower().replace('"', '""')  # one name, also where it has dots
        context.register_record_batches(f'"{quoted}"', [[rows]])
    return context


def find_table(tables: Mapping[str, V], name: str) -> V | None:
    """Return the table that a query means by a name: names without double quotes are in lower case to DataFusion."""
    return next((table for key, table in tables.items() if key.lower() == name), None)


def _call(step: Callable[[], R]) -> R:
    """Return what a step of DataFusion's gives; what it refuses becomes an error of the library with its words."""
    try:
        return step()
    except Exception as error:  # DataFusion's errors have no class of their own
        words = _join_lines(str(error))
        raise InvalidArgumentError(f"DataFusion does not take the query: {words}", hint=_find_hint(words)) from None


def _join_lines(words: str) -> str:
    lines = [line.strip() for line in words.removeprefix("DataFusion error: ").splitlines()]
    return "; ".join(line for line in lines if line and line != "caused by")


def _find_hint(words: str) -> str | None:
    """Return what to write where DataFusion refuses a query with such words."""
    if any(f"'{name}'" in words or f"named {name}." in words for name in VOLATILE):
        return "write the moment as a constant: plans say the same whenever they are made"
    unknown = re.search(r"Invalid function '(\w+)'", words)
    if unknown is not None:
        return hint_of_function(unknown[1])
    return next((hint for part, hint in HINTS.items() if part in words), None)
