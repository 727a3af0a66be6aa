"""Explain errors of running jobs in the words of the plan, with hints.

The explanations have no generated names, and no advice to loosen Spark's settings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from zoneinfo import available_timezones

import attrs

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.catalog.implementations import implementation_of
from substrait_dsl.errors import shorten, suggestion
from substrait_dsl.spark.diagnostics.text_hints import OTHER_FORM, hint_for_cast
from substrait_dsl.spark.expressions.casts import NO_TIME
from substrait_dsl.spark.expressions.functions_regexp import NO_MATCH
from substrait_dsl.spark.expressions.time_zones import NO_ZONE
from substrait_dsl.spark.relations.join_strategies import MANY_MATCHES
from substrait_dsl.spark.relations.tables import NAME
from substrait_dsl.spark.session.engines import current_engine
from substrait_dsl.spark.session.failures import (
    ANEW,
    BEHIND_QUOTE,
    BROKEN_RECORDS,
    ENDED,
    INTERNAL,
    INVALID_CAST,
    IS_NULL,
    MANY_ROWS,
    NO_FILES,
    NO_PLAN,
    NO_TABLE,
    OF_INTERVALS,
    OVERFLOWN_CAST,
    RESTART,
    STOPPED,
    TOO_LONG,
    Failure,
    plain_words,
    words_of,
)
from substrait_dsl.spark.session.source_map import Record
from substrait_dsl.spark.sources.delimited_text import text_format
from substrait_dsl.spark.sources.text_parser import is_open, record_rules


@attrs.frozen
class Location:
    """A possible location of an error in a plan."""

    plan: Rel
    """The relation that was executed."""
    rel: Rel
    node: Node | None = None
    """The part of the relation: an expression, an aggregate function or a window function; None: the relation itself.
    """


ON_SPARK = 'Spark runs it: local_session(engine="spark")'
_REASONS = {
    "DIVIDE_BY_ZERO": "division by zero",
    "INTERVAL_DIVIDED_BY_ZERO": "division by zero",
    "REMAINDER_BY_ZERO": "division by zero",
    "DUPLICATED_MAP_KEY": "a map has one key twice",
    MANY_ROWS: "a scalar subquery gives more than one row",
}
INTERVALS = (t.IntervalDay, t.IntervalYear)
OF_TIME = (*INTERVALS, t.Date, t.PrecisionTimestamp, t.PrecisionTimestampTZ)
"""The types of results of interval arithmetic; none has a wider type."""
_RECORD = re.compile(
    r"Malformed (?:CSV record|records .*?): (.*?)(?:\. Parse Mode.*)?(?:\s*SQLSTATE: \w+)?$", re.DOTALL
)
_UNREAD = "FAILED_READ_FILE.NO_HINT"
_GONE = "FAILED_READ_FILE.FILE_NOT_EXIST"
_OVERFLOWS = ("ARITHMETIC_OVERFLOW", "BINARY_ARITHMETIC_OVERFLOW", OF_INTERVALS, "DATETIME_OVERFLOW")
_CALLS = (ex.AggregateFunction, ex.ScalarFunction, ex.WindowCall, ex.WindowFunction)
_MISFITS = (INVALID_CAST, OVERFLOWN_CAST, "NUMERIC_VALUE_OUT_OF_RANGE")

_OF_EITHER = "CAST_OR_ARITHMETIC_OVERFLOW"
"""Our error class for a value that does not fit, of a cast or of a function, where the engine does not say which."""

_HINTS = {
    STOPPED: RESTART,
    ENDED: ANEW,
    TOO_LONG: "cast both sides to fp64, or the divisor to a decimal of fewer digits behind the point, if that will do",
    "division by zero": "functions.nullif(divisor, 0) gives NULL there",
    "a scalar subquery gives more than one row": "an aggregate without keys gives one row, limit(1) at most one",
    NO_TIME: f"functions.substring(x, 1, 10) is the date of a text that begins like 2024-01-31; {ON_SPARK}",
    NO_MATCH: "when(functions.regexp_count_substring(x, pattern) > 0).then(...).otherwise(None) gives NULL there",
    "a map has one key twice": "a list of structs, list_of(struct_of(...)), may have equal ones",
    "Java ran out of memory": "spark.driver.memory and spark.executor.memory say, before Java is started, what it has",
    "Java ran out of stack": 'spark.driver.extraJavaOptions="-Xss16m", set before Java is started, gives it more',
    MANY_MATCHES: 'how="left" or "right" keeps every match; distinct() or an aggregate of the other side leaves one',
}
_WIDER = "cast the operands to a wider type first"
_CAST_HINT = 'cast(type, on_failure="return_null") gives NULL there'
_FORMAT_HINT = 'to_date(..., on_failure="return_null"), and likewise to_timestamp, gives NULL there'
_CLASS_HINTS = {
    INTERNAL: ON_SPARK,
    NO_PLAN: ON_SPARK,
    _OF_EITHER: f"{_WIDER}, or where the cast fails: {_CAST_HINT}",
}
_COLUMN_HINT = (
    "declare it, or the columns that it is made of, nullable where they are read, or leave such rows out: "
    "filter(x.is_not_null())"
)
_FIRST_HINT = (
    "first_value and last_value declare that they are never NULL, nth_value(x, 1) does not, nor does the field of a "
    'struct: functions.last_value(substrait_dsl.struct_of(v=x)).over(...)["v"]'
)
_OPTION_HINT = (
    "the type of a result does not tell that an option, or a position out of range, makes it NULL: "
    'functions.divide(x, functions.nullif(y, 0)) may be NULL, as may what is computed of x.cast("string?")'
)
_VALUE_HINT = "functions.coalesce(x, value) has the value there, filter(x.is_not_null()) leaves such rows out"
_IMPLEMENTED_HINT = (
    "let the implementation give a value there, as coalesce(..., value) does in SQL text, or declare a nullable result "
    "in the extension, such as return: fp64?"
)
_REQUIRED = "a required value is NULL"
_ZONE = re.compile(r"The timezone: (.+?) is invalid")


def reclassify(failure: Failure, locations: Sequence[Location]) -> Failure:
    """Reclassify a failure by its locations: a result that does not fit the type of a function is an overflow."""
    results = [isinstance(each.node, _CALLS) for each in locations]
    if not any(results) or failure.error_class not in _MISFITS[1:]:
        return failure
    if all(results):
        return attrs.evolve(failure, condition=_OVERFLOWS[0])
    types = dict.fromkeys(str(type_.as_required()) for each in locations if (type_ := _type(each.node)) is not None)
    return attrs.evolve(
        failure, condition=_OF_EITHER, parameters={**failure.parameters, "targetType": " or ".join(types)}
    )


def describe_failure(failure: Failure, location: Location | None, record: Record) -> str:
    """Describe a failure in one clause; `location` is its location, if that is known."""
    node = location.node if location is not None else None
    if other := OTHER_FORM.match(refused_text(failure) or ""):
        return f"the text {shorten(repr(other[1]))} {other[2]}"
    if failure.error_class == "USER_RAISED_EXCEPTION":  # a check of the library's own
        message = failure.parameters.get("errorMessage", "")
        return _REQUIRED if message.endswith(IS_NULL) and node is not None else message
    if failure.error_class in (INTERNAL, NO_PLAN):
        return describe_engine_failure(failure)
    if failure.error_class in _OVERFLOWS:
        return "overflow"
    if zone := _ZONE.search(failure.message):
        return f"{zone[1]!r}{NO_ZONE} that Java has"
    text = (location and _describe_source_failure(failure, location.rel)) or _describe_misfit(failure, node)
    return text or _REASONS.get(failure.error_class) or with_column_names(words_of(failure), record)


def _describe_source_failure(failure: Failure, rel: Rel) -> str | None:
    """Describe a missing table, or a malformed record of delimited text; None: the failure is another one."""
    if failure.error_class == NO_TABLE:
        return "the table is not there any more"
    text, broken = text_format(rel), _RECORD.search(failure.message)
    if text is None or broken is None:
        return None
    delimiter = text.field_delimiter  # the reader has added two
    line = broken[1].removeprefix(delimiter).removesuffix(delimiter)
    if is_open(line, text):
        return f"a quote is still open at the end of a record of delimited text: {shorten(line)}"
    return f"a record of delimited text has not the declared fields: {shorten(line)}"


def _describe_misfit(failure: Failure, node: Node | None) -> str | None:
    """Describe a value that does not fit a type; None: the failure is another one."""
    value = _value_of(failure)
    if failure.error_class not in (*_MISFITS, _OF_EITHER) or value is None:
        return None
    value = _SUFFIXED.sub(r"\1", value)
    target = node.target.as_required() if isinstance(node, ex.Cast) else _target(failure)
    if failure.error_class == _OF_EITHER:
        return f"the value {value} does not fit {target}"
    return f"the value {value} cannot be cast to {target}" if target else f"the value {value} does not fit"


def _value_of(failure: Failure) -> str | None:
    return failure.parameters.get("expression") or failure.parameters.get("value")


def refused_text(failure: Failure) -> str | None:
    """Return the text that cannot be cast, also of a message of the library's own, or of Sail, without parameters."""
    value = _value_of(failure)
    if failure.error_class in _MISFITS and value and (text := value.removeprefix("'").removesuffix("'")):
        return text
    found = _NO_PARAMETER.search(failure.message)
    return None if found is None else found[1] or found[2]


_NO_PARAMETER = re.compile(r"the value (.*) does not fit |string '(.*)' to value of ", re.DOTALL)
_LONGEST = 200
"""The most characters of an engine's message that are shown."""


def describe_engine_failure(failure: Failure) -> str:
    """Describe the internal failure of an engine."""
    name = current_engine().name
    if failure.error_class == NO_PLAN or current_engine().is_of_outer_rows(failure.message):
        return f"{name} cannot run a subquery, or a join, that refers to an outer row as this one does"
    return f"{name} cannot run the plan, and says: {shorten(plain_words(failure.message), _LONGEST)}"


def _target(failure: Failure) -> str | None:
    """Return the type that a value does not fit, in Spark's words."""
    target = failure.parameters.get("targetType")
    return target and target.strip('"').lower()


def hint_for_failure(failure: Failure, location: Location | None, message: str) -> str | None:
    """Return the hint for a failure and its description."""
    node = location.node if location is not None else None
    if failure.error_class in _CLASS_HINTS:
        return _CLASS_HINTS[failure.error_class]
    if failure.error_class in _OVERFLOWS:
        return _fitting_hint(_type(node))
    if message == _REQUIRED:
        return _IMPLEMENTED_HINT if _is_implemented(node) else _VALUE_HINT
    if message.endswith(IS_NULL):
        return _column_hint(location)
    is_misfit = failure.error_class in (*_MISFITS, "USER_RAISED_EXCEPTION") and message not in _HINTS
    if isinstance(node, ex.Cast) and is_misfit:
        return _cast_hint(failure, node)
    if (zone := _ZONE.search(failure.message)) and zone[1] not in available_timezones():
        return suggestion(zone[1], available_timezones()) or "zoneinfo.available_timezones() are those that there are"
    if failure.condition in (_GONE, NO_TABLE):
        return "what it reads was removed or replaced after it was looked up: run it again"
    if failure.error_class in BROKEN_RECORDS or failure.condition == _UNREAD or message == BEHIND_QUOTE:
        return _record_hint(location)
    return hint_for_message(message)


def _cast_hint(failure: Failure, cast: ex.Cast) -> str | None:
    """Return the hint for a value that a cast refuses."""
    if cast.on_failure != "throw":
        return None
    value = refused_text(failure) or ""
    is_formatted = OTHER_FORM.match(value)
    hint = _FORMAT_HINT if is_formatted else _CAST_HINT
    special = hint_for_cast(is_formatted[1] if is_formatted else value, cast.target)
    return hint if special is None else f"{special}; {hint}"


def _is_implemented(node: Node | None) -> bool:
    """Whether a node is a call of a function that the user has implemented."""
    if not isinstance(node, ex.AggregateFunction | ex.ScalarFunction | ex.WindowCall):
        return False
    return implementation_of("spark", node.function) is not None


def _record_hint(location: Location | None) -> str | None:
    """Return the hint for a malformed record: the rules of its format."""
    text = None if location is None else text_format(location.rel)
    return None if text is None else record_rules(text)


def _fitting_hint(type_: t.Type | None) -> str:
    """Return the hint for a result that does not fit its type."""
    if type_ is None:
        return _WIDER
    fit = f"the result does not fit {type_.as_required()}"
    is_widest = isinstance(type_, OF_TIME) or (isinstance(type_, t.Decimal) and type_.precision == 38)
    return fit if is_widest else f"{fit}; {_WIDER}"


def _column_hint(location: Location | None) -> str:
    if location is None:
        return _COLUMN_HINT
    here = list(walk(location.rel, into_relations=False))
    if any(map(_declares_no_null, here)):
        return _FIRST_HINT
    if any(isinstance(node, ex.ScalarFunction) and _may_be_null(node) for node in here):
        return _OPTION_HINT
    return f"{_COLUMN_HINT}; {_FIRST_HINT}" if any(map(_declares_no_null, walk(location.rel))) else _COLUMN_HINT


def _declares_no_null(node: Node) -> bool:
    return isinstance(node, ex.WindowCall) and node.function.name in ("first_value", "last_value")


def _may_be_null(call: ex.ScalarFunction) -> bool:
    return call.function.name == "replace_slice" or any("NULL" in option.preferences for option in call.options)


def hint_for_message(message: str) -> str | None:
    """Return the hint for a message, wherever the error occurred."""
    if message.endswith(IS_NULL):
        return _COLUMN_HINT
    if message.startswith(NO_FILES):
        return (
            "spark.jars.packages brings one, set before Java is started: org.apache.hadoop:hadoop-aws, of the version "
            "of Spark's Hadoop, that of s3a://"
        )
    return _HINTS.get(MANY_MATCHES if message.startswith(MANY_MATCHES) else message)


def _type(node: Node | None) -> t.Type | None:
    match node:
        case ex.Expression():
            return node.type
        case ex.AggregateFunction() | ex.WindowCall():
            return node.output_type
        case _:
            return None


_SUFFIXED = re.compile(r"^(-?[0-9.]+)(?:[LSY]|BD)$")
"""A numeric literal of Spark's SQL."""


def with_column_names(text: str, record: Record) -> str:
    """Replace generated names in a text of Spark by the names of columns."""

    def name(found: re.Match[str]) -> str:
        if found[0] not in record.columns:
            return found[0]
        rel, position = record.columns[found[0]]
        return rel.schema.names[position]

    return NAME.sub(name, text)


def columns_in_text(text: str, record: Record) -> dict[str, tuple[Rel, int]]:
    """Return the generated names of columns in a text of Spark: the relation, and the position in it."""
    return {name: record.columns[name] for name in dict.fromkeys(NAME.findall(text)) if name in record.columns}
