"""Errors of a running job, and the places in the plan that they come from.

Spark tells an error by a condition, and most by the piece of SQL text that failed. The text was written by the
lowering, whose `Record` knows the expression that it came from. An error without such a piece may come from each
expression that can fail in this way, often just one. What is said here is free of generated names, and of advice to
loosen Spark's settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import unquote, urlsplit

import attrs

from substrait_dsl.algebra.expressions import AggregateFunction, Cast, Expression, ScalarSubquery, WindowCall
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.relations import (
    DelimitedText,
    HashJoin,
    Join,
    LateralJoin,
    LocalFiles,
    MergeJoin,
    NestedLoopJoin,
    Read,
)
from substrait_dsl.algebra.types import Type
from substrait_dsl.spark.join_plans import MANY_MATCHES
from substrait_dsl.spark.literals import text_to_sql
from substrait_dsl.spark.record import Record

Holds = Callable[[str], bool]


@attrs.frozen
class Failure:
    """What Spark says of an error."""

    condition: str
    """Spark's name for this kind of error, with that of its subclass; empty if it has none."""
    message: str
    parameters: Mapping[str, str]
    fragments: tuple[str, ...] = ()
    """The pieces of SQL text that failed."""

    @property
    def kind(self) -> str:
        """The condition without its subclass."""
        return self.condition.partition(".")[0]


@attrs.frozen
class Place:
    """Where in a plan an error may come from."""

    plan: Rel
    """The relation that was executed."""
    rel: Rel
    node: Node | None = None
    """The part of the relation: an expression, an aggregate function or a window function; None if there is none."""


def failure_of(error: BaseException, *, analysis: bool = False) -> Failure | None:
    """What Spark says of an error of a running job, or, if `analysis`, of any of its errors; None for another error."""
    from pyspark.errors import AnalysisException, PySparkException

    if isinstance(error, AnalysisException) and not analysis:
        return None
    if not isinstance(error, spark_errors()):
        return None
    if not isinstance(error, PySparkException) or error.getCondition() is None:
        return _caused(str(error))
    contexts = error.getQueryContext() or []
    return Failure(
        error.getCondition() or "",
        str(error),
        error.getMessageParameters() or {},
        tuple(filter(None, (each.fragment() for each in contexts if each.contextType().name == "SQL"))),
    )


def spark_errors() -> tuple[type[Exception], ...]:
    """What Spark raises; on a classic session also what comes of it untranslated."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:  # a client of Spark Connect runs without
        return (PySparkException,)
    return PySparkException, Py4JError


_CALL = re.compile(r"^An error occurred while calling [^\n]*\n: ")
_CAUSE = re.compile(
    r"^(?:Caused by: )?[\w.$]+: (\[([A-Z0-9_.]+)\] .*?)(?=\n\s+at |\nCaused by: |\Z)", re.DOTALL | re.MULTILINE
)
_MARKED = re.compile(r"^== SQL .*\n(.*)\n( *)(\^+)", re.MULTILINE)


def _caused(text: str) -> Failure:
    """What a text with stacks of Java's says: the last cause, if Spark has a name for it, is what failed."""
    text = _CALL.sub("", text)
    causes = _CAUSE.findall(text)
    if not causes:
        return Failure("", text, {})
    message, condition = causes[-1]
    told = {"errorMessage": _plain(message)} if condition == "USER_RAISED_EXCEPTION" else {}
    marked = (line[len(before) : len(before) + len(marks)] for line, before, marks in _MARKED.findall(message))
    return Failure(condition, message, told, tuple(marked))


# --- in words

_BROKEN_RECORD = "MALFORMED_CSV_RECORD"
_UNREAD = "FAILED_READ_FILE.NO_HINT"
_OF_FILES = ("FAILED_READ_FILE", "FILE_NOT_EXIST", _BROKEN_RECORD)

_REASONS = {
    "DIVIDE_BY_ZERO": "division by zero",
    "INTERVAL_DIVIDED_BY_ZERO": "division by zero",
    "REMAINDER_BY_ZERO": "division by zero",
    "DUPLICATED_MAP_KEY": "a map has one key twice",
    "SCALAR_SUBQUERY_TOO_MANY_ROWS": "a scalar subquery gives more than one row",
}
_LACKS = {
    "java.lang.OutOfMemoryError": "Java ran out of memory",
    "java.lang.StackOverflowError": "Java ran out of stack",
}
_OVERFLOWS = ("ARITHMETIC_OVERFLOW", "BINARY_ARITHMETIC_OVERFLOW", "INTERVAL_ARITHMETIC_OVERFLOW", "DATETIME_OVERFLOW")
_MISFITS = ("CAST_INVALID_INPUT", "CAST_OVERFLOW", "NUMERIC_VALUE_OUT_OF_RANGE")

_HINTS = {
    "division by zero": "functions.nullif(divisor, 0) gives NULL there",
    "a scalar subquery gives more than one row": "an aggregate without keys gives one row, limit(1) at most one",
    "a map has one key twice": "a list of structs, list_of(struct_of(...)), may have equal ones",
    "Java ran out of memory": "spark.driver.memory and spark.executor.memory say, before Java is started, what it has",
    "Java ran out of stack": 'spark.driver.extraJavaOptions="-Xss16m", set before Java is started, gives it more',
    MANY_MATCHES: 'how="left" or "right" keeps every match; distinct() or an aggregate of the other side leaves one',
}
_CAST_HINT = 'cast(type, on_failure="return_null") gives NULL there'
_COLUMN_HINT = (
    "declare it, or the columns that it is made of, nullable where they are read, or leave such rows out: "
    "filter(x.is_not_null())"
)
_VALUE_HINT = "functions.coalesce(x, value) is never NULL, filter(x.is_not_null()) leaves such rows out"
_REQUIRED = "a required value is NULL"
_IS_NULL = "is required, but it is NULL"
"""How the guards of columns and of casts end what they say."""

_ADVICE = re.compile(
    r""" ?(If necessary set "[^"]*" to "[^"]*"[^.]*\."""  # to turn ANSI mode off
    r"""|(?:To tolerate|Use)[^.]*['`]try_\w+['`][^.]*\.)"""
)
_FRAMING = re.compile(r"^\[[A-Z0-9_.]+\]\s*|\s*SQLSTATE: \w+\s*$")


def reason(failure: Failure, place: Place | None, record: Record) -> str:
    """What failed, in one clause; `place` is where, if that is known."""
    node = place.node if place is not None else None
    told = failure.parameters.get("errorMessage", "")
    value = failure.parameters.get("expression") or failure.parameters.get("value")
    if failure.kind == "USER_RAISED_EXCEPTION":  # they are the library's own
        return _REQUIRED if told.endswith(_IS_NULL) and node is not None else told
    if failure.kind in _OVERFLOWS:
        return "overflow"
    if failure.kind in _MISFITS and value is not None:
        value = _SUFFIXED.sub(r"\1", value)
        target = node.target.as_required() if isinstance(node, Cast) else _target(failure)
        return f"the value {value} cannot be cast to {target}" if target else f"the value {value} does not fit"
    return _REASONS.get(failure.kind) or _lack(failure.message) or readable(_plain(failure.message), record)


def _lack(message: str) -> str | None:
    """What Java had not enough of."""
    return next((told for error, told in _LACKS.items() if error in message), None)


def _target(failure: Failure) -> str | None:
    """The type that a value does not fit, in Spark's words."""
    target = failure.parameters.get("targetType")
    return target and target.strip('"').lower()


def hint(failure: Failure, place: Place | None, told: str) -> str | None:
    """What to do about a failure, given its `reason`."""
    node = place.node if place is not None else None
    if failure.kind in _OVERFLOWS:
        kind = _type(node)
        fit = "" if kind is None else f"the result does not fit {kind.as_required()}; "
        return f"{fit}cast the operands to a wider type first"
    if told == _REQUIRED or told.endswith(_IS_NULL):
        return _VALUE_HINT if told == _REQUIRED else _COLUMN_HINT
    if isinstance(node, Cast) and (failure.kind in _MISFITS or failure.kind == "USER_RAISED_EXCEPTION"):
        return _CAST_HINT
    # A client of Spark Connect learns that a file cannot be read, and not why.
    unread = failure.condition == _UNREAD and place is not None and _reads_text(place.rel)
    if unread or failure.kind == _BROKEN_RECORD:
        return "every record has as many fields as the schema has columns, separated and quoted as the format says"
    return advice(told)


def advice(told: str) -> str | None:
    """What to do about what `reason` or `told` gave, wherever it happened."""
    return _HINTS.get(told)


def _type(node: Node | None) -> Type | None:
    match node:
        case Expression():
            return node.type
        case AggregateFunction() | WindowCall():
            return node.output_type
        case _:
            return None


_SUFFIXED = re.compile(r"^(-?[0-9.]+)(?:[LSY]|BD)$")
"""A number as Spark's SQL writes it."""


def _plain(message: str) -> str:
    """A message of Spark's on one line, without pieces of SQL, stacks, codes and advice to loosen its settings."""
    text = re.split(r"\n== |;\n|\n+JVM stacktrace|\n\s+at ", message, maxsplit=1)[0].strip()
    return " ".join(_FRAMING.sub("", _ADVICE.sub("", _FRAMING.sub("", text))).split()).rstrip(".")


def told(error: Exception) -> str:
    """What an error of Spark's says, on one line, without a stack."""
    failure = failure_of(error, analysis=True)
    return str(error) if failure is None else _lack(failure.message) or _plain(failure.message)


_NAME = re.compile(r"\b__s\d+\b")


def readable(text: str, record: Record) -> str:
    """A text of Spark's with the names of columns in place of the generated ones."""

    def name(found: re.Match[str]) -> str:
        if found[0] not in record.columns:
            return found[0]
        rel, position = record.columns[found[0]]
        return rel.schema.names[position]

    return _NAME.sub(name, text)


def names_in(text: str, record: Record) -> dict[str, tuple[Rel, int]]:
    """The generated names in a text of Spark's that stand for columns: of which relation, and at which position."""
    return {name: record.columns[name] for name in dict.fromkeys(_NAME.findall(text)) if name in record.columns}


# --- where


def places(failure: Failure, record: Record) -> list[Place]:
    """The places that an error may come from, of which it comes from one; none if nothing is known."""
    plan = record.plan
    told = failure.parameters.get("errorMessage", "")
    if told == MANY_MATCHES:
        return [
            Place(plan, rel)
            for rel in walk(plan)
            if isinstance(rel, _JOINS) and rel.how in ("left_single", "right_single")
        ]
    if failure.kind in _OF_FILES and not failure.fragments:
        return [Place(plan, rel) for rel in walk(plan) if isinstance(rel, Read) and _is_read_by(failure, rel)]
    nodes = list(_failed(failure, record))
    if not nodes and told.endswith(_IS_NULL):
        return list(_required(told, record))
    owners = _owners(plan)
    found = {id(node): node for node in nodes if id(node) in owners}
    for node in list(found.values()):  # what fails is inside of what it is part of
        if any(id(part) in found for part in walk(node) if part is not node):
            del found[id(node)]
    return [Place(plan, owners[id(node)], node) for node in found.values()]


_JOINS = (Join, LateralJoin, HashJoin, MergeJoin, NestedLoopJoin)


def _is_read_by(failure: Failure, read: Read) -> bool:
    """Whether a failure names a file that a relation reads, or names none and may be one of its records."""
    if not isinstance(read.definition, LocalFiles):
        return False
    if failure.kind == _BROKEN_RECORD:
        return _reads_text(read)
    message = unquote(failure.message)
    paths = (unquote(urlsplit(item.uri).path) for item in read.definition.items)
    return any(re.split(r"[*?\[{]", path, maxsplit=1)[0].rstrip("/") in message for path in paths)


def _reads_text(rel: Rel) -> bool:
    """Whether a relation reads delimited text."""
    files = rel.definition.items if isinstance(rel, Read) and isinstance(rel.definition, LocalFiles) else ()
    return any(isinstance(item.format, DelimitedText) for item in files)


def _failed(failure: Failure, record: Record) -> Iterator[Node]:
    """The parts of expressions that may have failed."""
    for fragment in failure.fragments:
        holds = _around(_without_frames(fragment))
        inlined = {before for before, after in record.inlined if holds(after)}
        for node, texts in record.written:
            yield from _smallest(node, texts, holds)
            if texts.get(id(node)) in inlined:
                yield node
    if failure.kind == "SCALAR_SUBQUERY_TOO_MANY_ROWS" and not failure.fragments:
        parts = (part for node, _ in record.written for part in walk(node, into_relations=False))
        yield from (part for part in parts if isinstance(part, ScalarSubquery) and not part.input.single_row)
    if not failure.fragments and (signs := _signs(failure)):
        for node, texts in record.written:
            yield from _showing(node, texts, signs)


def _around(fragment: str) -> Holds:
    """Tells texts that a fragment is part of, from one word to another."""
    start, end = (r"\b" if re.match(r"\w", edge) else "" for edge in (fragment[:1], fragment[-1:]))
    pattern = re.compile(start + re.escape(fragment) + end)
    return lambda text: pattern.search(_without_frames(text)) is not None


def _without_frames(text: str) -> str:
    """A text with one name for all DataFrames that it refers to: Spark gives them others than the lowering does."""
    return re.sub(r"\b(__frame\d+__|_pyspark_(connect_temp_view_)?[0-9a-f]{32})(?!\w)", "__frame__", text)


def _smallest(node: Node, texts: Mapping[int, str], holds: Holds) -> Iterator[Node]:
    """The smallest part of an expression whose text holds what is looked for."""
    parts = [part for part in walk(node, into_relations=False) if holds(texts.get(id(part), ""))]
    if parts:
        # Of parts with the same text the outermost: the others are what it leaves as they are.
        yield min(parts, key=lambda part: len(texts[id(part)]))


def _signs(failure: Failure) -> tuple[str, ...]:
    """What the text of an expression shows that can fail in a way that Spark does not tell the place of."""
    match failure.kind:
        case "USER_RAISED_EXCEPTION":
            told = failure.parameters.get("errorMessage", "")
            if about := re.fullmatch(r"the value .*( does not fit [^ ]+)", told, re.DOTALL):
                return (f"'{about[1]}'))",)
            return tuple({f"raise_error({text_to_sql(told)})", f"raise_error('{told}')"})
        case "ARITHMETIC_OVERFLOW" | "NUMERIC_VALUE_OUT_OF_RANGE":
            return "sum(", "avg("
        case "DUPLICATED_MAP_KEY":
            return "map(", "map_from_entries("
        case "BINARY_ARITHMETIC_OVERFLOW" if "symbol" in failure.parameters:
            return (f" {failure.parameters['symbol']} ",)
        case "CAST_OVERFLOW" if "targetType" in failure.parameters:
            return (f" AS {failure.parameters['targetType'].strip(chr(34))})",)
        case _:
            return ()


def _showing(node: Node, texts: Mapping[int, str], signs: tuple[str, ...]) -> Iterator[Node]:
    """The parts of an expression whose own text, less that of their operands, shows a sign."""
    for part in walk(node, into_relations=False):
        own = texts.get(id(part), "")
        for text in sorted(_operand_texts(part, texts), key=len, reverse=True):
            if text != own:
                own = own.replace(text, "")
        if any(sign in own for sign in signs):
            yield part


def _operand_texts(node: Node, texts: Mapping[int, str]) -> set[str]:
    """The texts of the operands of an expression, also of those in clauses of it."""
    found: set[str] = set()
    waiting = list(node.children())
    while waiting:
        below = waiting.pop()
        if id(below) in texts:
            found.add(texts[id(below)])
        elif not isinstance(below, Rel):
            waiting += below.children()
    return found


def _required(told: str, record: Record) -> Iterator[Place]:
    """The relations that the columns of the result come from which a guard's message names."""
    names = record.names.get(id(record.plan), ())
    for position, column in enumerate(record.plan.schema.names[: len(names)]):
        if f'column "{column}" {_IS_NULL}' in told and names[position] in record.columns:
            yield Place(record.plan, record.columns[names[position]][0])


def _owners(plan: Rel) -> dict[int, Rel]:
    """The relation that each part of an expression in a plan stands in."""
    owners: dict[int, Rel] = {}
    for rel in walk(plan):
        if isinstance(rel, Rel):
            for child in rel.children():
                if not isinstance(child, Rel):
                    for part in walk(child, into_relations=False):
                        owners.setdefault(id(part), rel)
    return owners
