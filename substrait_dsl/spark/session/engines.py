"""The engines that take Spark's SQL, and which of them an execution runs on.

What an engine computes otherwise than Spark stands in one table for it, as guards: each is a template in place of
Spark's, or a refusal by name, for the fault that its canary shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal

import attrs

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

FunctionKind = Literal["scalar", "aggregate", "frame"]
"""What a call is of: of the values of a row, of rows, or of the rows of a window's frame."""


@attrs.frozen
class ErrorWords:
    """An answer that is an error, by some of its words."""

    words: str


AN_ERROR = ErrorWords("")
"""The right answer of a guard whose query has no other."""
ANSWER_OF_SPARK = "what Spark gives"
"""The right answer of a guard for another engine that takes Spark's SQL."""


@attrs.frozen
class Guard:
    """What keeps a fault of an engine from users."""

    name: str
    plans: str
    """The plans that it concerns."""
    versions: tuple[str, ...]
    """The versions of the engine that the fault was seen in, the oldest first."""
    canary: str
    """A query that shows the fault. Once the engine gives another answer, the guard is needless.

    Statements may stand before it, with `;` and the end of a line behind each, `{folder}` for a folder that is not
    there yet, and `{others}` for one with files of other writers.
    """
    fault: Any
    """What the engine gives for it, in the first column of the first row: a value, or `ErrorWords`."""
    is_of_schema: bool = False
    """Whether the fault is in what the engine says of the first column: that it is nullable."""
    issue: str | None = None
    """Where it is reported, if that is known."""
    functions: Mapping[str, Table] = attrs.field(factory=dict)
    """The templates in place of Spark's, by extension."""
    aggregates: Mapping[str, Table] = attrs.field(factory=dict)
    """The same for aggregate functions."""
    frames: Mapping[str, Table] = attrs.field(factory=dict)
    """The same for aggregate functions over the frame of a window."""
    right: Any = ANSWER_OF_SPARK
    """The right answer to the query: a value, or `AN_ERROR`."""
    reason: str = ""
    """Why it is right: the specification, or arithmetic."""
    check: tuple[str, ...] = ()
    """What checks plans, or writes them another way, by names inside `substrait_dsl.spark`; none: its templates."""


@attrs.frozen
class Engine:
    """What runs the statements of an execution."""

    name: str
    guards: tuple[Guard, ...] = ()
    literal_to_sql: Callable[[l.Literal], str | None] = lambda literal: None
    """Gives the text of literals that it reads otherwise than Spark; None: as for Spark."""
    replacement: Callable[[str], str] = lambda text: text
    """Gives, for what Java is to put in place of a match, how the engine writes it."""

    failure: Callable[..., Failure | None] | None = None
    """Gives what the engine says of an error; None: what Spark does."""
    tells_fragments: bool = True
    """Whether it tells of most errors which piece of SQL text failed."""
    is_of_outer_rows: Callable[[str], bool] = lambda words: False
    """Whether words of the engine are of a subquery that it cannot turn into a join."""
    file_error: Callable[[str, str], SubstraitDslError | None] = lambda what, words: None
    """Gives, for what files are called and words of the engine, what is wrong with them; None: something else."""
    castable: Callable[[str, t.Type, t.Type], tuple[str, t.Type]] = lambda text, source, target: (text, source)
    """Gives what to cast in place of a value to a type, and its type. Raises `UnsupportedError` for what it cannot."""
    float_key: Callable[[str, t.Type], str] | None = None
    """Gives what a float is compared and sorted by, if to the engine zeros, or values that are no number, differ."""
    require_frame: Callable[[WindowCall], None] = lambda call: None
    """Raises `UnsupportedError` for a function over a frame that the engine does not compute exactly."""
    has_tuples: bool = True
    """Whether several values are compared with those of a subquery in three-valued logic."""
    has_exact_casts: bool = True
    """Whether a cast of structs, which names their fields, keeps what is not nullable."""
    has_lists_of_records: bool = True
    """Whether a list may hold structs of which one has a field that is nullable, and another has not."""
    operand: Callable[[str], str] = lambda text: text
    """Gives what stands for a value in an aggregate or a window, so that no other is taken for it."""
    coalesce: Callable[[Sequence[str], t.Type], str] = lambda texts, type_: f"coalesce({', '.join(texts)})"
    """Gives the first of some values of a type that is not NULL, of which one may fail. No more are computed."""
    has_linear_patterns: bool = False
    """Whether matching a pattern takes time that grows with the text alone."""
    has_lists_of_columns: bool = True
    """Whether what a value is looked for among may depend on the row."""
    has_constant_conditions: bool = True
    """Whether rows may be filtered by a condition that no row is needed for."""
    limits_each: bool = True
    """Whether a limit or a window inside a correlated subquery is of the rows for each outer row."""
    forgets_keys: bool = True
    """Whether keys that tell rows apart are known to do so no more once the rows are copied, or joined."""
    takes_changes: bool = True
    """Whether it writes, updates and defines so that nothing is lost or half done."""
    has_row_numbers: bool = True
    """Whether each row has a number, of any order."""
    has_offsets: bool = True
    """Whether an offset without a limit is of the rows in their order."""
    listed_files: Callable[[FileFormat, Sequence[FileItem]], list[str]] | None = None
    """Gives the URIs of files, where the engine lists them otherwise than Spark; None: as Spark does."""
    retyped: Callable[[DataFrame, Sequence[str]], DataFrame] = lambda frame, names: frame
    """Gives, for a DataFrame of files that is read by some names, one of the types that Spark reads its columns as."""
    has_null_folders: bool = True
    """Whether it reads the name of a folder that stands for NULL as that."""
    has_signed_alone: bool = True
    """Whether a column that it says is of signed integers holds no others."""
    reads_text: bool = True
    """Whether it takes delimited text apart."""
    sent_schema: Callable[[StructType], StructType] = lambda schema: schema
    """Gives, for the schema of rows that are sent to it, one that it reads as the same."""
    has_map_lambdas: bool = True
    """Whether functions of keys and of values make a map of another."""
    has_fields_of_null: bool = True
    """Whether the fields of a struct that is NULL are NULL."""
    keeps_order: bool = True
    """Whether rows stay in their order where a subquery that does not depend on them is asked."""

    moves_by_number: bool = True
    """Whether rows are moved to partitions by a number that is computed of each."""
    in_zone: Callable[[Call, Sequence[str], int, str], str] = lambda call, texts, zone, text: text
    """Gives a call with a time zone, by the texts of its arguments and the position of that, where its clocks end."""

    negates_each: bool = True
    """Whether NOT IN of values that depend on an outer row looks for NULL among those of that row alone."""
    with_known_forms: Callable[[AlgebraPlan], AlgebraPlan] = lambda plan: plan
    """Gives a plan of the same rows in the forms that the engine takes."""

    def functions(self, extension: str, kind: FunctionKind) -> Table:
        """The templates in place of Spark's for an extension."""
        found: dict[str, Template] = {}
        for guard in self.guards:
            tables = {"scalar": guard.functions, "aggregate": guard.aggregates, "frame": guard.frames}[kind]
            found.update(tables.get(extension, {}))
        return found


SPARK = Engine("Spark")

_ENGINE: ContextVar[Engine] = ContextVar("engine", default=SPARK)


def current_engine() -> Engine:
    """The engine that text is written for."""
    return _ENGINE.get()


@contextmanager
def written_for(engine: Engine) -> Iterator[None]:
    """Write text for an engine."""
    token = _ENGINE.set(engine)
    try:
        yield
    finally:
        _ENGINE.reset(token)
