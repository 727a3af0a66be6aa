"""The engines that accept Spark's SQL, and the one that an execution runs on.

Deviations of an engine from Spark are in one table of guards: each is a template in place of Spark's, or a refusal by
name, for the fault that its canary shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Literal

import attrs

from substrait_dsl.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from substrait_dsl.algebra import types as t
    from substrait_dsl.algebra.expressions import WindowCall
    from substrait_dsl.algebra.expressions import literals as l
    from substrait_dsl.algebra.plan import AlgebraPlan
    from substrait_dsl.algebra.relations import FileFormat, FileItem
    from substrait_dsl.errors import SubstraitDslError
    from substrait_dsl.spark.expressions.templates import Call, Table, Template
    from substrait_dsl.spark.session.failures import Failure

    Castable = Callable[[str, t.Type, t.Type], tuple[str, t.Type]]
    """What is cast in place of a value, and its type, by the value, its type, and the one that it is cast to."""

FunctionKind = Literal["scalar", "aggregate", "frame"]
"""The kind of a call: a scalar function, an aggregate function, or one over a window frame."""


@attrs.frozen
class ErrorWords:
    """An error as the answer of a canary, by some words of its message."""

    words: str


AN_ERROR = ErrorWords("")
"""The right answer of a guard whose query has no other."""
ANSWER_OF_SPARK = "what Spark gives"
"""The right answer of a guard for another engine that takes Spark's SQL."""


@attrs.frozen
class Guard:
    """A guard against a fault of an engine."""

    name: str
    plans: str
    """The plans that it concerns."""
    versions: tuple[str, ...]
    """The versions of the engine that had the fault, the oldest first."""
    canary: str
    """A query that shows the fault. When the engine gives another answer, the guard is obsolete.

    Statements may precede it, each with `;` and a line end behind it; `{folder}` is a folder that does not exist yet,
    and `{others}` one with files of other writers.
    """
    fault: Any
    """The wrong answer, in the first column of the first row: a value, or `ErrorWords`."""
    is_of_schema: bool = False
    """Whether the fault is in the schema: the first column is nullable."""
    issue: str | None = None
    """The issue, if the fault is reported."""
    functions: Mapping[str, Table] = attrs.field(factory=dict)
    """The templates in place of Spark's, by extension."""
    aggregates: Mapping[str, Table] = attrs.field(factory=dict)
    """The same for aggregate functions."""
    frames: Mapping[str, Table] = attrs.field(factory=dict)
    """The same for aggregate functions over a window frame."""
    right: Any = ANSWER_OF_SPARK
    """The right answer: a value, or `AN_ERROR`."""
    reason: str = ""
    """Why it is right: the specification, or arithmetic."""
    check: tuple[str, ...] = ()
    """The functions inside `substrait_dsl.spark` that check or rewrite plans; none: the templates do."""


@attrs.frozen
class Engine:
    """An engine that runs statements, and its deviations from Spark."""

    name: str
    guards: tuple[Guard, ...] = ()
    literal_to_sql: Callable[[l.Literal], str | None] = lambda literal: None
    """Writes literals that it parses otherwise than Spark; None: as for Spark."""
    replacement: Callable[[str], str] = lambda text: text
    """Rewrites a replacement string in Java's syntax for the engine."""

    failure: Callable[..., Failure | None] | None = None
    """Parses the errors of the engine; None: they are Spark's."""
    reports_fragments: bool = True
    """Whether most of its errors name the fragment of SQL text that failed."""
    is_of_outer_rows: Callable[[str], bool] = lambda words: False
    """Whether a message of the engine is about a subquery that it cannot decorrelate."""
    file_error: Callable[[str, str], SubstraitDslError | None] = lambda what, words: None
    """Explains a message of the engine about files, given their name; None: it is about something else."""
    castable: Castable = lambda text, source, target: (text, source)
    """Returns the value, and its type, that is cast in place of a value. Raises `UnsupportedError` for an unsupported
    cast."""
    castable_folder_name: Castable | None = None
    """The same for a value in the name of a folder, by which folders are filtered; None: as for all values."""
    float_key: Callable[[str, t.Type], str] | None = None
    """Writes the key by which floats are compared and sorted, if the engine distinguishes zeros, or NaNs."""
    require_frame: Callable[[WindowCall], None] = lambda call: None
    """Raises `UnsupportedError` for a function over a frame that the engine does not compute exactly."""
    around_list: tuple[str, str] = ("", "[0]")
    """The texts before and behind a list of one element, for that element."""
    around_element: tuple[str, str] = ("array(", ")")
    """The texts before and behind a value, for a list of it alone."""
    runs_python_functions: bool = True
    """Whether it calls functions of Python."""
    has_checkpoints: bool = True
    """Whether it can store the rows of a relation, for all that refers to them."""
    multiplies_rows: Callable[[str], bool] | None = None
    """Whether a plan, as the engine prints it, gives several rows for one where a value is computed; None: the engine
    refuses such a plan."""
    has_tuples: bool = True
    """Whether IN with several left operands follows three-valued logic."""
    has_exact_casts: bool = True
    """Whether a cast of structs, which names their fields, preserves their nullability."""
    has_lists_of_records: bool = True
    """Whether a list may hold structs whose fields differ in nullability."""
    operand: Callable[[str], str] = lambda text: text
    """Marks the operand of an aggregate or a window, so that it is not confused with another one."""
    coalesce: Callable[[Sequence[str], t.Type], str] = lambda texts, type_: f"coalesce({', '.join(texts)})"
    """Writes a coalesce whose later values, which may fail, are not computed if an earlier one is not NULL."""
    has_linear_patterns: bool = False
    """Whether pattern matching takes linear time: without looking around or going back, and with Unicode's cases."""
    has_lists_of_columns: bool = True
    """Whether the options of an IN list may depend on the row."""
    has_constant_conditions: bool = True
    """Whether rows may be filtered by a condition that refers to no row."""
    limits_each: bool = True
    """Whether a limit or a window inside a correlated subquery applies to the rows of each outer row."""
    forgets_keys: bool = True
    """Whether unique keys are forgotten once the rows are copied or joined."""
    takes_changes: bool = True
    """Whether it makes writes, updates and data definition atomically."""
    has_row_numbers: bool = True
    """Whether it has row ids, in any order."""
    has_offsets: bool = True
    """Whether an offset without a limit respects the order of the rows."""
    listed_files: Callable[[FileFormat, Sequence[FileItem]], list[str]] | None = None
    """Lists the URIs of files, where the engine lists them otherwise than Spark; None: as Spark does."""
    retyped: Callable[[DataFrame, Sequence[str]], DataFrame] = lambda frame, names: frame
    """Casts the columns of a DataFrame of files to the types that Spark reads them as."""
    has_null_folders: bool = True
    """Whether it reads the default partition as NULL."""
    has_signed_alone: bool = True
    """Whether a column of signed integers holds no unsigned ones."""
    reads_text: bool = True
    """Whether it can parse delimited text."""
    sent_schema: Callable[[StructType], StructType] = lambda schema: schema
    """Returns a schema for rows that are sent to it, which it reads as the given one."""
    has_map_lambdas: bool = True
    """Whether it has functions that transform the keys and the values of a map."""
    has_fields_of_null: bool = True
    """Whether the fields of a NULL struct are NULL."""
    keeps_order: bool = True
    """Whether an uncorrelated subquery preserves the order of the rows."""

    moves_by_number: bool = True
    """Whether rows can be moved to partitions by a computed number."""
    guard_zone_rules: Callable[[Call, Sequence[str], int, str], str] = lambda call, texts, zone, text: text
    """Guards a call with a time zone against instants after the end of the engine's time zone rules."""

    negates_each: bool = True
    """Whether a correlated NOT IN looks for NULL only among the rows of its outer row."""
    with_known_forms: Callable[[AlgebraPlan], AlgebraPlan] = lambda plan: plan
    """Rewrites a plan to equivalent forms that the engine supports."""

    def functions(self, extension: str, kind: FunctionKind) -> Table:
        """Return the templates in place of Spark's for an extension."""
        found: dict[str, Template] = {}
        for guard in self.guards:
            tables = {"scalar": guard.functions, "aggregate": guard.aggregates, "frame": guard.frames}[kind]
            found.update(tables.get(extension, {}))
        return found


SPARK = Engine("Spark")

_ENGINE: ContextVar[Engine] = ContextVar("engine", default=SPARK)


def current_engine() -> Engine:
    """Return the engine that SQL text is written for."""
    return _ENGINE.get()


class _Name:
    """The name of the engine that text is written for, looked up where a message is made."""

    def __str__(self) -> str:
        return current_engine().name


ENGINE: Final = _Name()
"""The name of the current engine, for messages of what several engines share: ``f"{ENGINE} cannot ..."``."""


@contextmanager
def write_for(engine: Engine) -> Iterator[None]:
    """Write text for an engine. A refusal that is raised inside has its name, as `UnsupportedError.engine`."""
    token = _ENGINE.set(engine)
    try:
        yield
    except UnsupportedError as error:
        error.engine = engine.name
        raise
    finally:
        _ENGINE.reset(token)
