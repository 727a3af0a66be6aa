"""Locate the error of a running job in the plan.

Spark describes an error by its condition, and most errors by the fragment of SQL text that failed. The text was written
by the lowering, whose source map has the expression of each text. An error without a fragment may come from each
expression that can fail in this way, often just one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    Cast,
    Expression,
    ScalarFunction,
    ScalarSubquery,
    WindowCall,
)
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.types import FP32, FP64, I8, I16, I32, I64, Decimal
from substrait_dsl.catalog.implementations import OF_IMPLEMENTATION
from substrait_dsl.spark.diagnostics.explanations import INTERVALS, OF_TIME, Location
from substrait_dsl.spark.expressions.literals import failing, text_to_sql
from substrait_dsl.spark.expressions.time_zones import NO_ZONE
from substrait_dsl.spark.relations.join_strategies import MANY_MATCHES
from substrait_dsl.spark.relations.physical_joins import as_join
from substrait_dsl.spark.relations.single_joins import may_tell
from substrait_dsl.spark.session.engines import current_engine
from substrait_dsl.spark.session.failures import (
    BROKEN_RECORDS,
    INVALID_CAST,
    IS_NULL,
    MANY_ROWS,
    NO_TABLE,
    OF_ARITHMETIC,
    OF_FILES,
    OF_INTERVALS,
    OVERFLOWN_CAST,
    Failure,
    spark_errors,
)
from substrait_dsl.spark.session.source_map import Record
from substrait_dsl.spark.sources.delimited_text import OF_TEXT, text_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Holds = Callable[[str], bool]


def locate_failure(failure: Failure, record: Record) -> list[Location]:
    """Return the possible locations of an error, one of which is its origin; none if nothing is known."""
    plan = record.plan
    message = failure.parameters.get("errorMessage", "")
    if message.startswith(MANY_MATCHES):
        return [Location(plan, rel) for rel in walk(plan) if isinstance(rel, Rel) and _may_say(rel, message)]
    if (failure.error_class in OF_FILES and not failure.fragments) or message in OF_TEXT:
        return [Location(plan, rel) for rel in walk(plan) if isinstance(rel, rl.Read) and _is_read_by(failure, rel)]
    nodes = list(_calls_of_python(failure, plan) or _find_failed_parts(failure, record))
    if not nodes and message.endswith(IS_NULL):
        return list(_find_null_checks(message, record))
    return _locate_nodes(nodes, plan, innermost=bool(failure.fragments) or current_engine().reports_fragments)


_OF_PYTHON = re.compile(rf"Error: {OF_IMPLEMENTATION}([^\s:]+)")


def _calls_of_python(failure: Failure, plan: Rel) -> list[Node]:
    """Return the calls of the implementation, a Python function, that a failure names."""
    if (found := _OF_PYTHON.search(failure.message)) is None:
        return []
    return [
        node
        for node in walk(plan)
        if isinstance(node, ScalarFunction | AggregateFunction | WindowCall) and node.function.name == found[1]
    ]


def _locate_nodes(nodes: Iterable[Node], plan: Rel, *, innermost: bool) -> list[Location]:
    """Return the locations of parts of expressions; for `innermost` not of those that contain another one."""
    owners = _owners(plan)
    found = {id(node): node for node in nodes if id(node) in owners}
    if innermost:
        for node in list(found.values()):
            if any(id(part) in found for part in walk(node) if part is not node):
                del found[id(node)]
    return [Location(plan, owners[id(node)], node) for node in found.values()]


def locate_missing_tables(failure: Failure, record: Record, frame: DataFrame) -> list[Location]:
    """Return the reads of missing tables: of the one that the failure names, or of one with a missing file."""
    tables = [
        rel for rel in walk(record.plan) if isinstance(rel, rl.Read) and isinstance(rel.definition, rl.NamedTable)
    ]
    if failure.error_class == NO_TABLE:
        gone = failure.parameters.get("relationName", "").replace("`", "").lower()
        return [Location(record.plan, rel) for rel in tables if _last_name(rel) == gone.rpartition(".")[2]]
    if failure.error_class not in OF_FILES:
        return []
    message = unquote(failure.message)
    with suppress(*spark_errors()):
        if any(unquote(urlsplit(uri).path) in message for uri in (frame.inputFiles() if tables else ())):
            return [Location(record.plan, rel) for rel in tables]
    return []


def _last_name(read: rl.Read) -> str:
    """Return the unqualified name of a table, in lower case."""
    return read.definition.names[-1].lower() if isinstance(read.definition, rl.NamedTable) else ""


def _may_say(rel: Rel, message: str) -> bool:
    """Whether a relation is a single join that may have failed with this message."""
    match rel:
        case rl.Join(how="left_single" | "right_single") | rl.LateralJoin(how="left_single"):
            return may_tell(rel, message)
        case rl.HashJoin() | rl.MergeJoin() | rl.NestedLoopJoin():
            return _may_say(as_join(rel), message)
        case _:
            return False


def _is_read_by(failure: Failure, read: rl.Read) -> bool:
    """Whether a relation reads the file that a failure names, or may read its malformed record."""
    if not isinstance(read.definition, rl.LocalFiles):
        return False
    if failure.error_class not in OF_FILES or failure.error_class in BROKEN_RECORDS:
        return text_format(read) is not None
    message = unquote(failure.message)
    paths = (unquote(urlsplit(item.uri).path) for item in read.definition.items)
    return any(re.split(r"[*?\[{]", path, maxsplit=1)[0].rstrip("/") in message for path in paths)


def _find_failed_parts(failure: Failure, record: Record) -> Iterator[Node]:
    """Yield the parts of expressions that may have failed."""
    for fragment in failure.fragments:
        yield from _with_fragment(fragment, record)
    if failure.fragments:
        return
    if failure.error_class == MANY_ROWS:
        parts = (part for node, _ in record.written for part in walk(node, into_relations=False))
        yield from (part for part in parts if isinstance(part, ScalarSubquery) and not part.input.single_row)
    if casts := _casts_to_target(failure, record):
        yield from casts
        return
    signs = _signs(failure)
    for node, texts in record.written:
        yield from (part for part in _showing(node, texts, signs) if _may_give(part, failure))
        if failure.error_class in ("ARITHMETIC_OVERFLOW", OF_INTERVALS):
            yield from _find_interval_parts(node)


def _casts_to_target(failure: Failure, record: Record) -> list[Node]:
    """Return the casts to the type that a failed cast of a text names; none if it names none."""
    if failure.error_class != INVALID_CAST or "targetType" not in failure.parameters:
        return []
    target = failure.parameters["targetType"].strip('"')
    signs = (f" AS {target})", f" AS {target}(")
    return [part for node, texts in record.written for part in _showing(node, texts, signs)]


def _with_fragment(fragment: str, record: Record) -> Iterator[Node]:
    """Yield the smallest parts of expressions whose text contains a fragment."""
    holds = _contains(_without_frames(fragment))
    inlined = {before for before, after in record.inlined if holds(after)}
    for node, texts in record.written:
        yield from _smallest(node, texts, holds)
        if texts.get(id(node)) in inlined:
            yield node


def _is_float(expression: Expression) -> bool:
    return isinstance(expression.type, FP32 | FP64)


def _may_give(part: Node, failure: Failure) -> bool:
    """Whether a part may have given the value that does not fit: a float is shown with a point."""
    if failure.error_class != OVERFLOWN_CAST or current_engine().reports_fragments:
        return True
    is_float = re.fullmatch(r"-?\d+", failure.parameters.get("value", "")) is None
    if not isinstance(part, Cast):
        return not is_float or any(isinstance(each, Expression) and _is_float(each) for each in part.children())
    if _is_float(part.input):
        return is_float
    return isinstance(part.input.type, Decimal) or (isinstance(part.input.type, I8 | I16 | I32 | I64) and not is_float)


def _contains(fragment: str) -> Holds:
    """Return a predicate for texts that contain a fragment, at word boundaries."""
    start, end = (r"\b" if re.match(r"\w", edge) else "" for edge in (fragment[:1], fragment[-1:]))
    pattern = re.compile(start + re.escape(fragment) + end)
    return lambda text: pattern.search(_without_frames(text)) is not None


def _without_frames(text: str) -> str:
    """Replace the names of DataFrames in a text by one name: Spark's differ from those of the lowering."""
    return re.sub(r"\b(__frame\d+__|_pyspark_(connect_temp_view_)?[0-9a-f]{32})(?!\w)", "__frame__", text)


def _smallest(node: Node, texts: Mapping[int, str], holds: Holds) -> Iterator[Node]:
    """Yield the smallest part of an expression whose text contains the fragment."""
    parts = [part for part in walk(node, into_relations=False) if holds(texts.get(id(part), ""))]
    if parts:
        # Of parts with the same text the outermost: the others are what it leaves as they are.
        yield min(parts, key=lambda part: len(texts[id(part)]))


def _signs(failure: Failure) -> tuple[str, ...]:
    """Return the SQL operators and functions that can fail in the way of a failure without a fragment."""
    match failure.error_class:
        case "USER_RAISED_EXCEPTION":
            message = failure.parameters.get("errorMessage", "")
            if about := re.fullmatch(r"the value .*( does not fit [^ ]+)", message, re.DOTALL):
                return (f"{text_to_sql(about[1])}))",)
            if message.endswith(NO_ZONE):
                return (f"{text_to_sql(NO_ZONE)}))",)
            return (failing(message),)
        case "DIVIDE_BY_ZERO" | "REMAINDER_BY_ZERO":
            return " / ", " div ", " % "
        case "CAST_INVALID_INPUT":
            return ("CAST(",)
        case "ARITHMETIC_OVERFLOW" | "NUMERIC_VALUE_OUT_OF_RANGE":
            return "sum(", "avg(", "(- ", "abs(", "round("
        case _ if failure.error_class == OF_ARITHMETIC:
            return (" % ",) if failure.message.startswith("Division impossible") else (" % ", " / ", " div ", " * ")
        case "INVALID_TIMEZONE":
            return ("convert_timezone(",)
        case "DUPLICATED_MAP_KEY":
            return "map(", "map_from_entries("
        case "BINARY_ARITHMETIC_OVERFLOW" if "symbol" in failure.parameters:
            return (f" {failure.parameters['symbol']} ",)
        case "CAST_OVERFLOW" if "targetType" in failure.parameters:
            return (f" AS {failure.parameters['targetType'].strip(chr(34))})",)
        case _:
            return ()


def _showing(node: Node, texts: Mapping[int, str], signs: tuple[str, ...]) -> Iterator[Node]:
    """Yield the parts of an expression whose own text, without that of their operands, has one of these operators."""
    for part in walk(node, into_relations=False):
        own = texts.get(id(part), "")
        for text in sorted(_operand_texts(part, texts), key=len, reverse=True):
            if text != own:
                own = own.replace(text, "")
        if any(sign in own for sign in signs):
            yield part


def _find_interval_parts(node: Node) -> Iterator[Node]:
    """Yield the outermost parts that compute with intervals; Spark does not say which part has failed."""
    inside: set[int] = set()
    for part in walk(node, into_relations=False):
        if id(part) not in inside and _computes_with_intervals(part):
            inside.update(id(each) for each in walk(part, into_relations=False))
            yield part


def _computes_with_intervals(node: Node) -> bool:
    return (
        isinstance(node, ScalarFunction)
        and isinstance(node.type, OF_TIME)
        and any(isinstance(each, Expression) and isinstance(each.type, INTERVALS) for each in (node, *node.arguments))
    )


def _operand_texts(node: Node, texts: Mapping[int, str]) -> set[str]:
    """Return the texts of the operands of an expression, also of those in its clauses."""
    found: set[str] = set()
    waiting = list(node.children())
    while waiting:
        below = waiting.pop()
        if id(below) in texts:
            found.add(texts[id(below)])
        elif not isinstance(below, Rel):
            waiting += below.children()
    return found


def _find_null_checks(message: str, record: Record) -> Iterator[Location]:
    """Yield the relations of the output columns that the message of a null check names."""
    names = record.names.get(id(record.plan), ())
    for position, column in enumerate(record.plan.schema.names[: len(names)]):
        if f'column "{column}" {IS_NULL}' in message and names[position] in record.columns:
            yield Location(record.plan, record.columns[names[position]][0])


def _owners(plan: Rel) -> dict[int, Rel]:
    """Return the relation of each part of an expression in a plan, by the part's id."""
    owners: dict[int, Rel] = {}
    for rel in walk(plan):
        if isinstance(rel, Rel):
            for child in rel.children():
                if not isinstance(child, Rel):
                    for part in walk(child, into_relations=False):
                        owners.setdefault(id(part), rel)
    return owners
