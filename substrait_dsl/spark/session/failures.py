"""Spark's errors: their condition, their message and the fragment of SQL text that failed, without stacks.

Advice to loosen Spark's settings is removed from the message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.spark.session.causes import OF_JAVA, last_cause, with_cause
from substrait_dsl.spark.session.engines import current_engine

if TYPE_CHECKING:
    from pyspark.errors import PySparkException


@attrs.frozen
class Failure:
    """A parsed error of Spark."""

    condition: str
    """Spark's error condition: the error class, and its subclass; empty if it has none."""
    message: str
    parameters: Mapping[str, str]
    fragments: tuple[str, ...] = ()
    """The fragments of SQL text that failed."""
    cause: str | None = None
    """The message of the root cause, from `last_cause`."""

    @property
    def error_class(self) -> str:
        """The condition without its subclass."""
        return self.condition.partition(".")[0]


def failure_of(error: BaseException, *, analysis: bool = False) -> Failure | None:
    """Parse an error of a running job, or, for `analysis`, any error of Spark; None for another error."""
    from pyspark.errors import AnalysisException, ArithmeticException, PySparkException

    if (own := current_engine().failure) is not None:
        return own(error, analysis=analysis) if isinstance(error, spark_errors()) else None
    if isinstance(error, AnalysisException) and not analysis:
        return None
    if not isinstance(error, spark_errors()):
        return None
    if not isinstance(error, PySparkException) or error.getCondition() is None:
        found = _parse_causes(str(error))
        if not found.condition and isinstance(error, ArithmeticException):
            found = attrs.evolve(found, condition=OF_ARITHMETIC, message=plain_words(found.message))
    elif error.getCondition() == _SEVERAL:
        found = _one_of(str(error))
    else:
        found = _parse_error(error)
    return attrs.evolve(found, cause=last_cause(error))


def _parse_error(error: PySparkException) -> Failure:
    """Parse an error with an error condition."""
    contexts = error.getQueryContext() or []
    return Failure(
        error.getCondition() or "",
        str(error),
        error.getMessageParameters() or {},
        tuple(filter(None, (each.fragment() for each in contexts if each.contextType().name == "SQL"))),
    )


def spark_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that Spark raises; on a classic session also untranslated ones of Java."""
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


def _parse_causes(text: str) -> Failure:
    """Parse a text with Java stack traces: the last cause with an error condition is the failure."""
    text = _CALL.sub("", text)
    if _OF_PARSER in text:
        return Failure(BROKEN_RECORDS[0], BEHIND_QUOTE, {})
    causes = _CAUSE.findall(text)
    if not causes or causes[-1][1] in OF_WRITING:
        if _OF_JAVA.search(text):
            return Failure(OF_INTERVALS, text, {})
        if arithmetic := _ARITHMETIC.search(text):
            return Failure(OF_ARITHMETIC, plain_words(arithmetic[1]), {})
    if not causes:
        return Failure("", text, {})
    message, condition = causes[-1]
    return _one_of(message) if condition == _SEVERAL else _parse_message(message)


OF_INTERVALS = "INTERVAL_ARITHMETIC_OVERFLOW"
OF_ARITHMETIC = "JAVA_ARITHMETIC"
"""Our error class for an arithmetic error of Java that has none in Spark."""
_ARITHMETIC = re.compile(r"java\.lang\.ArithmeticException: ([^\n]*)")
OF_WRITING = ("TASK_WRITE_FAILED",)
"""Error classes that say only that a task wrote rows."""
_OF_JAVA = re.compile(r"(?:java\.lang\.ArithmeticException: |\A)(?:long|integer) overflow")
"""Java's error for the overflow of a multiple of an interval."""


def _parse_message(message: str) -> Failure:
    """Parse a message: its condition, its parameters and its fragments of SQL text."""
    named = _NAMED.match(message)
    condition = "" if named is None else named[1]
    parameters = {}
    if condition == "USER_RAISED_EXCEPTION":
        parameters = {"errorMessage": plain_words(message)}
    elif misfit := _MISFIT.search(message):
        parameters = {"value": misfit[1], "targetType": misfit[2]}
    marked = (line[len(before) : len(before) + len(marks)] for line, before, marks in _MARKED.findall(message))
    return Failure(condition, message, parameters, tuple(marked))


_NAMED = re.compile(r"\[([A-Z0-9_.]+)\] ")
_MISFIT = re.compile(r'The value (.*?) of the type "[^"]*" cannot be cast to ("[^"]*")', re.DOTALL)


_SEVERAL = "STAGE_MATERIALIZATION_MULTIPLE_FAILURES"
"""Spark's error class for several stages that failed before all were stopped."""
_EACH = re.compile(r"^ *\d+\. [\w$]*: (.*?)(?=\s+^ *\d+\. [\w$]*: |\Z)", re.DOTALL | re.MULTILINE)
_END_OF_ALL = re.compile(r"\s*SQLSTATE: XX000\b.*\Z", re.DOTALL)


def _one_of(text: str) -> Failure:
    """Parse the first of several failures in a list that has an error condition.

    Each of them alone would have been reported, whichever came first, so one is enough. Its parameters and fragments
    are only in the text: those of the error are of the list.
    """
    found = [_parse_message(message) for message in _EACH.findall(_END_OF_ALL.sub("", text))]
    return next((each for each in found if each.condition), found[0] if found else _parse_message(text))


NO_TABLE = "TABLE_OR_VIEW_NOT_FOUND"
MANY_ROWS = "SCALAR_SUBQUERY_TOO_MANY_ROWS"
BROKEN_RECORDS = ("MALFORMED_CSV_RECORD", "MALFORMED_RECORD_IN_PARSING")
"""The error classes of malformed records; a client of Spark Connect gets the second."""
BEHIND_QUOTE = "a field of delimited text goes on behind its closing quote"
_OF_PARSER = "com.univocity.parsers.common.TextParsingException"
"""The exception of the parser of delimited text, which has no error class."""
OF_FILES = ("FAILED_READ_FILE", "FILE_NOT_EXIST", *BROKEN_RECORDS)

STOPPED = "the session is stopped"
ENDED = "Spark's Java has ended"
ANEW = "this process cannot start another, a new one can"
RESTART = "start another: SparkSession.builder.getOrCreate()"
_LACKS = {
    **OF_JAVA,
    "Cannot call methods on a stopped SparkContext": STOPPED,
    **dict.fromkeys(("Answer from Java side is empty", "Error while sending or receiving"), ENDED),
}
NO_FILES = "Spark has no file system for "
_LACKING = {
    r'No FileSystem for scheme "([^"]+)"': NO_FILES + '"{}"',
    r"Class (org\.apache\.hadoop\.fs\.[\w.]+) not found": NO_FILES + "this, it lacks {}",
    r"nanos > 999999999 or < 0": "an ORC file has a timestamp before 1970 as Spark does not write them",
    r"Mkdirs failed to create (?:file:)?(\S+?)(?:/_temporary/\S*)? \(": "no folder can be made in {}: it may not be "
    "written to",
    r"java\.net\.UnknownHostException: ([^\s:]+)": 'there is no host "{}"',
}
"""Messages of Java about something missing or unreadable, and what they mean."""
TOO_LONG = "a remainder cannot be computed, as the whole quotient has too many digits"
_IMPOSSIBLE = {"Division impossible": TOO_LONG}
"""Messages of Java about arithmetic, and what they mean."""
INTERNAL = "ENGINE_INTERNAL_ERROR"
"""Our error class for an internal error of an engine, which is no fault of the plan or the rows."""
NO_PLAN = "ENGINE_SUBQUERY"
"""Our error class for a subquery that an engine cannot plan."""
INVALID_CAST, OVERFLOWN_CAST = "CAST_INVALID_INPUT", "CAST_OVERFLOW"
IS_NULL = "is required, but it is NULL"
"""The end of the messages of null checks."""

_ADVICE = re.compile(
    r""" ?(If necessary set "[^"]*" to "[^"]*"[^.]*\."""  # to turn ANSI mode off
    r"""| It is possible the underlying files have been updated\. You can [^.]*\."""
    r"""|(?:To tolerate|Use)[^.]*['`]try_\w+['`][^.]*\.)"""
)
_FRAMING = re.compile(r"^\[[A-Z0-9_.]+\]\s*|\s*SQLSTATE: \w+\s*$")


def _lack(message: str) -> str | None:
    """Explain a message of Java about something missing or exhausted."""
    for pattern, lacking in _LACKING.items():
        if found := re.search(pattern, message):
            return lacking.format(*found.groups())
    return next((lacking for error, lacking in _LACKS.items() if error in message), None)


_ABORTED = re.compile(
    r"\A(?:[\w.$]+: )?Job aborted due to stage failure: .*?\(TID \d+\) \([^)\n]*\): (?:[\w.$]+: )?", re.DOTALL
)
"""Spark's prefix of the error of a task."""


_OF_PYTHON = re.compile(
    r"thrown from the Python worker:\s*Traceback .*?\n(?! |\t|Traceback|\n)(.*?)(?=\n\s+at |\n*\s*SQLSTATE|\Z)",
    re.DOTALL,
)
"""An error of a Python function that Spark has called: what follows the trace."""


def plain_words(message: str) -> str:
    """Reduce a message of Spark to one line, without SQL text, stacks, codes and advice to loosen its settings."""
    message = _ABORTED.sub("", message)
    if (of_python := _OF_PYTHON.search(message)) is not None:
        return " ".join(of_python[1].split())
    text = re.split(r"\n== |;\n|\n+JVM stacktrace|\n\s+at ", message, maxsplit=1)[0].strip()
    return " ".join(_FRAMING.sub("", _ADVICE.sub("", _FRAMING.sub("", text))).split()).rstrip(".")


def message_of(error: Exception) -> str:
    """Return the message of a Spark error on one line, without a stack."""
    failure = failure_of(error, analysis=True)
    return str(error) if failure is None else words_of(failure)


def words_of(failure: Failure) -> str:
    """Return the message of a failure on one line, with its root cause."""
    if failure.error_class == OF_ARITHMETIC:
        return _IMPOSSIBLE.get(failure.message) or f"Java cannot compute a number: {failure.message}"
    cause = failure.cause and (_lack(failure.cause) or failure.cause)
    return _lack(failure.message) or with_cause(plain_words(failure.message), cause)
