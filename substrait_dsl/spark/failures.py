"""Errors of Spark's: what they say, in words of the plan.

What is said here is free of generated names, and of advice to loosen Spark's settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from zoneinfo import available_timezones

import attrs

from substrait_dsl.algebra.expressions import (
    AggregateFunction,
    Cast,
    Expression,
    ScalarFunction,
    WindowCall,
    WindowFunction,
)
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.relations import DelimitedText, LocalFiles, Read
from substrait_dsl.algebra.types import (
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
)
from substrait_dsl.errors import shortened, suggestion
from substrait_dsl.spark.causes import OF_JAVA, last_cause, with_cause
from substrait_dsl.spark.engines import current_engine
from substrait_dsl.spark.functions_regexp import NO_MATCH
from substrait_dsl.spark.join_plans import MANY_MATCHES
from substrait_dsl.spark.record import Record
from substrait_dsl.spark.tables import NAME
from substrait_dsl.spark.zones import NO_ZONE

if TYPE_CHECKING:
    from pyspark.errors import PySparkException


@attrs.frozen
class Failure:
    """What Spark says of an error."""

    condition: str
    """Spark's name for this kind of error, with that of its subclass; empty if it has none."""
    message: str
    parameters: Mapping[str, str]
    fragments: tuple[str, ...] = ()
    """The pieces of SQL text that failed."""
    cause: str | None = None
    """What the machine said that it comes from, as `last_cause` gives it."""

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
    from pyspark.errors import AnalysisException, ArithmeticException, PySparkException

    if (own := current_engine().failure) is not None:
        return own(error, analysis=analysis) if isinstance(error, spark_errors()) else None
    if isinstance(error, AnalysisException) and not analysis:
        return None
    if not isinstance(error, spark_errors()):
        return None
    if not isinstance(error, PySparkException) or error.getCondition() is None:
        found = _caused(str(error))
        if not found.condition and isinstance(error, ArithmeticException):
            found = attrs.evolve(found, condition=OF_ARITHMETIC, message=_plain(found.message))
    elif error.getCondition() == _SEVERAL:
        found = _one_of(str(error))
    else:
        found = _named_by(error)
    return attrs.evolve(found, cause=last_cause(error))


def _named_by(error: PySparkException) -> Failure:
    """An error that Spark has a name for."""
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
    if _OF_PARSER in text:
        return Failure(BROKEN_RECORDS[0], BEHIND_QUOTE, {})
    causes = _CAUSE.findall(text)
    if not causes or causes[-1][1] in OF_WRITING:
        if _OF_JAVA.search(text):
            return Failure(OF_INTERVALS, text, {})
        if arithmetic := _ARITHMETIC.search(text):
            return Failure(OF_ARITHMETIC, _plain(arithmetic[1]), {})
    if not causes:
        return Failure("", text, {})
    message, condition = causes[-1]
    return _one_of(message) if condition == _SEVERAL else _told_by(message)


OF_INTERVALS = "INTERVAL_ARITHMETIC_OVERFLOW"
INTERVALS = (IntervalDay, IntervalYear)
OF_TIME = (*INTERVALS, Date, PrecisionTimestamp, PrecisionTimestampTZ)
"""The types that what computes with intervals may give; none is wider."""
OF_ARITHMETIC = "JAVA_ARITHMETIC"
"""Our name for what Java cannot compute, and Spark has no name for."""
_ARITHMETIC = re.compile(r"java\.lang\.ArithmeticException: ([^\n]*)")
OF_WRITING = ("TASK_WRITE_FAILED",)
"""Spark's names for errors that say no more than that a task wrote rows."""
_OF_JAVA = re.compile(r"(?:java\.lang\.ArithmeticException: |\A)(?:long|integer) overflow")
"""What Spark raises where a multiple of an interval overflows."""


def _told_by(message: str) -> Failure:
    """What a message says that stands for itself: its condition, parameters and pieces of SQL are read from it."""
    named = _NAMED.match(message)
    condition = "" if named is None else named[1]
    told = {}
    if condition == "USER_RAISED_EXCEPTION":
        told = {"errorMessage": _plain(message)}
    elif misfit := _MISFIT.search(message):
        told = {"value": misfit[1], "targetType": misfit[2]}
    marked = (line[len(before) : len(before) + len(marks)] for line, before, marks in _MARKED.findall(message))
    return Failure(condition, message, told, tuple(marked))


_NAMED = re.compile(r"\[([A-Z0-9_.]+)\] ")
_MISFIT = re.compile(r'The value (.*?) of the type "[^"]*" cannot be cast to ("[^"]*")', re.DOTALL)


_SEVERAL = "STAGE_MATERIALIZATION_MULTIPLE_FAILURES"
"""Spark's name for what it raises if several stages fail before it has stopped all of them."""
_EACH = re.compile(r"^ *\d+\. [\w$]*: (.*?)(?=\s+^ *\d+\. [\w$]*: |\Z)", re.DOTALL | re.MULTILINE)
_END_OF_ALL = re.compile(r"\s*SQLSTATE: XX000\b.*\Z", re.DOTALL)


def _one_of(text: str) -> Failure:
    """Of several failures that Spark has put in a list the first, if Spark has a name for it, else the next with one.

    Each of them alone would have been reported, whichever came first, so one is enough. Its parameters and pieces of
    SQL stand nowhere but in the text: what Spark gives beside it is of the list.
    """
    found = [_told_by(message) for message in _EACH.findall(_END_OF_ALL.sub("", text))]
    return next((each for each in found if each.condition), found[0] if found else _told_by(text))


NO_TABLE = "TABLE_OR_VIEW_NOT_FOUND"
MANY_ROWS = "SCALAR_SUBQUERY_TOO_MANY_ROWS"
BROKEN_RECORDS = ("MALFORMED_CSV_RECORD", "MALFORMED_RECORD_IN_PARSING")
"""Of these a client of Spark Connect learns the second."""
_RECORD = re.compile(
    r"Malformed (?:CSV record|records .*?): (.*?)(?:\. Parse Mode.*)?(?:\s*SQLSTATE: \w+)?$", re.DOTALL
)
BEHIND_QUOTE = "a field of delimited text goes on behind its closing quote"
_OF_PARSER = "com.univocity.parsers.common.TextParsingException"
"""What the parser of delimited text raises, and Spark has no name for."""
_UNREAD = "FAILED_READ_FILE.NO_HINT"
_GONE = "FAILED_READ_FILE.FILE_NOT_EXIST"
OF_FILES = ("FAILED_READ_FILE", "FILE_NOT_EXIST", *BROKEN_RECORDS)

ON_SPARK = 'Spark runs it: local_session(engine="spark")'
_REASONS = {
    "DIVIDE_BY_ZERO": "division by zero",
    "INTERVAL_DIVIDED_BY_ZERO": "division by zero",
    "REMAINDER_BY_ZERO": "division by zero",
    "DUPLICATED_MAP_KEY": "a map has one key twice",
    MANY_ROWS: "a scalar subquery gives more than one row",
}
STOPPED = "the session is stopped"
ENDED = "Spark's Java has ended"
ANEW = "this process cannot start another, a new one can"
RESTART = "start another: SparkSession.builder.getOrCreate()"
_LACKS = {
    **OF_JAVA,
    "Cannot call methods on a stopped SparkContext": STOPPED,
    **dict.fromkeys(("Answer from Java side is empty", "Error while sending or receiving"), ENDED),
}
_NO_FILES = "Spark has no file system for "
_LACKING = {
    r'No FileSystem for scheme "([^"]+)"': _NO_FILES + '"{}"',
    r"Class (org\.apache\.hadoop\.fs\.[\w.]+) not found": _NO_FILES + "this, it lacks {}",
    r"nanos > 999999999 or < 0": "an ORC file has a point in time before 1970 as Spark does not write them",
    r"Mkdirs failed to create (?:file:)?(\S+?)(?:/_temporary/\S*)? \(": "no folder can be made in {}: it may not be "
    "written to",
    r"java\.net\.UnknownHostException: ([^\s:]+)": 'there is no host "{}"',
}
"""What Java says that it lacks, or cannot read, and what that means."""
_TOO_LONG = "a remainder cannot be computed, as the whole quotient has too many digits"
_IMPOSSIBLE = {"Division impossible": _TOO_LONG}
"""What Java says that it cannot compute, and what that means."""
INTERNAL = "ENGINE_INTERNAL_ERROR"
"""Our name for an error of an engine that comes from itself, and not from the plan or the rows."""
NO_PLAN = "ENGINE_SUBQUERY"
"""Our name for what an engine says of a subquery that it cannot plan."""
INVALID_CAST, OVERFLOWN_CAST = "CAST_INVALID_INPUT", "CAST_OVERFLOW"
_OVERFLOWS = ("ARITHMETIC_OVERFLOW", "BINARY_ARITHMETIC_OVERFLOW", OF_INTERVALS, "DATETIME_OVERFLOW")
_CALLS = (AggregateFunction, ScalarFunction, WindowCall, WindowFunction)
_MISFITS = (INVALID_CAST, OVERFLOWN_CAST, "NUMERIC_VALUE_OUT_OF_RANGE")

_OF_EITHER = "CAST_OR_ARITHMETIC_OVERFLOW"
"""Our name for a value that does not fit, of a cast or of what a function gives: an engine does not say of which."""

_HINTS = {
    STOPPED: RESTART,
    ENDED: ANEW,
    _TOO_LONG: "cast both sides to fp64, or the divisor to a decimal of fewer digits behind the point, if that will do",
    "division by zero": "functions.nullif(divisor, 0) gives NULL there",
    "a scalar subquery gives more than one row": "an aggregate without keys gives one row, limit(1) at most one",
    NO_MATCH: "when(functions.regexp_count_substring(x, pattern) > 0).then(...).otherwise(None) gives NULL there",
    "a map has one key twice": "a list of structs, list_of(struct_of(...)), may have equal ones",
    "Java ran out of memory": "spark.driver.memory and spark.executor.memory say, before Java is started, what it has",
    "Java ran out of stack": 'spark.driver.extraJavaOptions="-Xss16m", set before Java is started, gives it more',
    MANY_MATCHES: 'how="left" or "right" keeps every match; distinct() or an aggregate of the other side leaves one',
}
_WIDER = "cast the operands to a wider type first"
_CAST_HINT = 'cast(type, on_failure="return_null") gives NULL there'
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
_REQUIRED = "a required value is NULL"
IS_NULL = "is required, but it is NULL"
"""How the guards of columns and of casts end what they say."""

_ZONE = re.compile(r"The timezone: (.+?) is invalid")
_ADVICE = re.compile(
    r""" ?(If necessary set "[^"]*" to "[^"]*"[^.]*\."""  # to turn ANSI mode off
    r"""| It is possible the underlying files have been updated\. You can [^.]*\."""
    r"""|(?:To tolerate|Use)[^.]*['`]try_\w+['`][^.]*\.)"""
)
_FRAMING = re.compile(r"^\[[A-Z0-9_.]+\]\s*|\s*SQLSTATE: \w+\s*$")


def seen_from(failure: Failure, places: Sequence[Place]) -> Failure:
    """A failure as it is to be told of these places: a function's result that its type cannot hold is an overflow."""
    results = [isinstance(each.node, _CALLS) for each in places]
    if not any(results) or failure.kind not in _MISFITS[1:]:
        return failure
    if all(results):
        return attrs.evolve(failure, condition=_OVERFLOWS[0])
    kinds = dict.fromkeys(str(kind.as_required()) for each in places if (kind := _type(each.node)) is not None)
    return attrs.evolve(
        failure, condition=_OF_EITHER, parameters={**failure.parameters, "targetType": " or ".join(kinds)}
    )


def reason(failure: Failure, place: Place | None, record: Record) -> str:
    """What failed, in one clause; `place` is where, if that is known."""
    node = place.node if place is not None else None
    told = failure.parameters.get("errorMessage", "")
    value = failure.parameters.get("expression") or failure.parameters.get("value")
    if failure.kind == "USER_RAISED_EXCEPTION":  # they are the library's own
        return _REQUIRED if told.endswith(IS_NULL) and node is not None else told
    if failure.kind in (INTERNAL, NO_PLAN):
        return engine_fails(failure)
    if failure.kind in _OVERFLOWS:
        return "overflow"
    if zone := _ZONE.search(failure.message):
        return f"{zone[1]!r}{NO_ZONE} that Java has"
    if failure.kind == NO_TABLE and place is not None:
        return "the table is not there any more"
    if place is not None and (text := text_format(place.rel)) and (broken := _RECORD.search(failure.message)):
        delimiter = text.field_delimiter  # the reader has added two
        line = broken[1].removeprefix(delimiter).removesuffix(delimiter)
        return f"a record of delimited text has not the declared fields: {shortened(line)}"
    if failure.kind in (*_MISFITS, _OF_EITHER) and value is not None:
        value = _SUFFIXED.sub(r"\1", value)
        target = node.target.as_required() if isinstance(node, Cast) else _target(failure)
        if failure.kind == _OF_EITHER:
            return f"the value {value} does not fit {target}"
        return f"the value {value} cannot be cast to {target}" if target else f"the value {value} does not fit"
    return _REASONS.get(failure.kind) or readable(_words(failure), record)


_LONGEST = 200
"""How many characters of what an engine says of itself are told."""


def engine_fails(failure: Failure) -> str:
    """What to say of a plan that an engine cannot run, for its own reasons."""
    name = current_engine().name
    if failure.kind == NO_PLAN or current_engine().is_of_outer_rows(failure.message):
        return f"{name} cannot run a subquery, or a join, that refers to an outer row as this one does"
    return f"{name} cannot run the plan, and says: {shortened(_plain(failure.message), _LONGEST)}"


def _lack(message: str) -> str | None:
    """What Java had not enough of, or not at all."""
    for pattern, lacking in _LACKING.items():
        if found := re.search(pattern, message):
            return lacking.format(*found.groups())
    return next((told for error, told in _LACKS.items() if error in message), None)


def _target(failure: Failure) -> str | None:
    """The type that a value does not fit, in Spark's words."""
    target = failure.parameters.get("targetType")
    return target and target.strip('"').lower()


def hint(failure: Failure, place: Place | None, told: str) -> str | None:
    """What to do about a failure, given its `reason`."""
    node = place.node if place is not None else None
    if failure.kind in (INTERNAL, NO_PLAN):
        return ON_SPARK
    if failure.kind in _OVERFLOWS:
        return _fitting_hint(_type(node))
    if failure.kind == _OF_EITHER:
        return f"{_WIDER}, or where the cast fails: {_CAST_HINT}"
    if told == _REQUIRED or told.endswith(IS_NULL):
        return _VALUE_HINT if told == _REQUIRED else _column_hint(place)
    if isinstance(node, Cast) and (failure.kind in _MISFITS or failure.kind == "USER_RAISED_EXCEPTION"):
        return _CAST_HINT
    if (zone := _ZONE.search(failure.message)) and zone[1] not in available_timezones():
        return suggestion(zone[1], available_timezones()) or "zoneinfo.available_timezones() are those that there are"
    if failure.condition in (_GONE, NO_TABLE):
        return "what it reads was removed or replaced after it was looked up: run it again"
    if failure.kind in BROKEN_RECORDS or failure.condition == _UNREAD or told == BEHIND_QUOTE:
        text = None if place is None else text_format(place.rel)
        return None if text is None else record_rules(text)
    return advice(told)


def _fitting_hint(kind: Type | None) -> str:
    """What to do about a result that does not fit its type."""
    if kind is None:
        return _WIDER
    fit = f"the result does not fit {kind.as_required()}"
    is_widest = isinstance(kind, OF_TIME) or (isinstance(kind, Decimal) and kind.precision == 38)
    return fit if is_widest else f"{fit}; {_WIDER}"


def _column_hint(place: Place | None) -> str:
    if place is None:
        return _COLUMN_HINT
    here = list(walk(place.rel, into_relations=False))
    if any(map(_declares_no_null, here)):
        return _FIRST_HINT
    if any(isinstance(node, ScalarFunction) and _may_be_null(node) for node in here):
        return _OPTION_HINT
    return f"{_COLUMN_HINT}; {_FIRST_HINT}" if any(map(_declares_no_null, walk(place.rel))) else _COLUMN_HINT


def _declares_no_null(node: Node) -> bool:
    return isinstance(node, WindowCall) and node.function.name in ("first_value", "last_value")


def _may_be_null(call: ScalarFunction) -> bool:
    return call.function.name == "replace_slice" or any("NULL" in option.preferences for option in call.options)


def record_rules(text: DelimitedText) -> str:
    """How the records of a format are read, and what tells it otherwise."""
    fields = f"a record is a line that has a field for each column, separated by {text.field_delimiter!r}"
    escaped = f", where {text.escape}{text.quote} is a quote" if text.escape else ""
    quotes = f"; a field may stand in {text.quote}...{text.quote}{escaped}" if text.quote else ""
    most = text.max_line_size
    longest = f"; no field is longer than {most} characters (max_line_size)" if 0 < most < 2**31 - 1 else ""
    return f"{fields}{quotes}{longest}: for other text say DelimitedText(field_delimiter=, quote=, escape=)"


def advice(told: str) -> str | None:
    """What to do about what `reason` or `told` gave, wherever it happened."""
    if told.endswith(IS_NULL):
        return _COLUMN_HINT
    if told.startswith(_NO_FILES):
        return (
            "spark.jars.packages brings one, set before Java is started: org.apache.hadoop:hadoop-aws, of the version "
            "of Spark's Hadoop, that of s3a://"
        )
    return _HINTS.get(MANY_MATCHES if told.startswith(MANY_MATCHES) else told)


def text_format(rel: Rel) -> DelimitedText | None:
    """The format of the delimited text that a relation reads; None: it reads none."""
    files = rel.definition.items if isinstance(rel, Read) and isinstance(rel.definition, LocalFiles) else ()
    return next((item.format for item in files if isinstance(item.format, DelimitedText)), None)


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


_ABORTED = re.compile(
    r"\A(?:[\w.$]+: )?Job aborted due to stage failure: .*?\(TID \d+\) \([^)\n]*\): (?:[\w.$]+: )?", re.DOTALL
)
"""What Spark says before the error of a task."""


def _plain(message: str) -> str:
    """A message of Spark's on one line, without pieces of SQL, stacks, codes and advice to loosen its settings."""
    message = _ABORTED.sub("", message)
    text = re.split(r"\n== |;\n|\n+JVM stacktrace|\n\s+at ", message, maxsplit=1)[0].strip()
    return " ".join(_FRAMING.sub("", _ADVICE.sub("", _FRAMING.sub("", text))).split()).rstrip(".")


def told(error: Exception) -> str:
    """What an error of Spark's says, on one line, without a stack."""
    failure = failure_of(error, analysis=True)
    return str(error) if failure is None else _words(failure)


def _words(failure: Failure) -> str:
    """What a failure says, on one line, and what it comes from."""
    if failure.kind == OF_ARITHMETIC:
        return _IMPOSSIBLE.get(failure.message) or f"Java cannot compute a number: {failure.message}"
    cause = failure.cause and (_lack(failure.cause) or failure.cause)
    return _lack(failure.message) or with_cause(_plain(failure.message), cause)


def readable(text: str, record: Record) -> str:
    """A text of Spark's with the names of columns in place of the generated ones."""

    def name(found: re.Match[str]) -> str:
        if found[0] not in record.columns:
            return found[0]
        rel, position = record.columns[found[0]]
        return rel.schema.names[position]

    return NAME.sub(name, text)


def names_in(text: str, record: Record) -> dict[str, tuple[Rel, int]]:
    """The generated names in a text of Spark's that stand for columns: of which relation, and at which position."""
    return {name: record.columns[name] for name in dict.fromkeys(NAME.findall(text)) if name in record.columns}
