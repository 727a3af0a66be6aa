"""Running relations on Spark: errors name the step that failed, and Spark's plan stands below the library's own."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

import attrs

from substrait_dsl.algebra.accesses import Allowed, require_allowed
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, UnsupportedError, naming, printable
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.given_tables import Tables, arrow_tables, is_table
from substrait_dsl.render.steps import origin, step

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.spark.explain import ExplainMode
    from substrait_dsl.spark.failures import Failure, Place
    from substrait_dsl.spark.record import Record

R = TypeVar("R")

MOST_PLACES = 3
"""How many places an error names that it may come from."""

MOST_NAMES = 60
"""How many generated names are explained below a plan of Spark's."""


class Started:
    """A plan on Spark: a DataFrame for each root, and what is known of how they were made."""

    def __init__(
        self,
        plan: AlgebraPlan,
        session: SparkSession,
        *,
        tables: Tables | None = None,
        persist_shared: bool = False,
        is_preview: bool = False,
        allow: Allowed | None = None,
    ) -> None:
        """`is_preview` leaves out what changes tables: of a write, the rows of its input are started.

        Raises `InvalidArgumentError` for what is no session, and as `execute` of ``spark.execute``.
        """
        require_flag("persist_shared", persist_shared)
        if allow is not None:
            require_allowed(plan.accesses, allow)
        given = {} if tables is None else arrow_tables(tables, plan.accesses)
        from substrait_dsl.spark.execute import execute
        from substrait_dsl.spark.outcomes import Outcomes
        from substrait_dsl.spark.record import recording

        require_session(session)
        self.spark = spark = session
        if is_preview:
            from substrait_dsl.spark.changes import rows_of

            plan = attrs.evolve(plan, trees=tuple(rows for root in plan.roots if (rows := rows_of(root)) is not None))
        self.frames: list[DataFrame] = []
        self.outcomes = Outcomes()
        with self.outcomes.telling(), self.outcomes.noting(), recording() as self.records:
            try:
                if plan.trees:
                    self.frames = execute(plan, spark, persist_shared=persist_shared, tables=given)
            except ExecutionError as error:
                self.require_success(error.__cause__)  # the number of rows of a fetch may have been computed
                raise
            except UnsupportedError as error:
                _name_step(error, self.records)
                raise
            except OSError as error:  # of a file that rows go through, or of the way to Spark
                self._require_system(error)
                raise

    def require_success(self, error: BaseException | None, *, is_all: bool = False) -> None:
        """Raise an error in words of the plan, if it is known to come from it, or comes from it because all does."""
        from substrait_dsl.spark.correlation import loss_of
        from substrait_dsl.spark.failures import NO_TABLE, failure_of
        from substrait_dsl.spark.places import of_tables, places

        failure = None if error is None else failure_of(error, analysis=is_all)
        if failure is None:
            if is_all and isinstance(error, OSError):
                self._require_system(error)
            failure = None if error is None else failure_of(error, analysis=True)
            if failure is None or failure.kind != NO_TABLE:  # a client of Spark Connect looks tables up each time
                return
        for record in self.records:
            if (refusal := loss_of(failure.message, record.plan)) is not None:
                raise refusal from error
        found = [(place, record) for record in self.records for place in places(failure, record)]
        if not found:
            found = [(place, record) for record, frame in self.outputs() for place in of_tables(failure, record, frame)]
        if found or is_all:
            record = found[0][1] if found else self.records[0]
            raise _error(failure, [place for place, _ in found], record) from error

    def outputs(self) -> list[tuple[Record, DataFrame]]:
        """What is known of each root, and its rows."""
        return list(zip(self.records[len(self.records) - len(self.frames) :], self.frames, strict=True))

    def _require_system(self, error: OSError) -> None:
        """Raise `ExecutionError` for an error of the system's, but for one of the output of the program."""
        from substrait_dsl.spark.causes import system_words
        from substrait_dsl.spark.session import require_running

        require_running(self.spark)
        if not isinstance(error, BrokenPipeError):
            raise ExecutionError(
                f"the rows did not get through: {system_words(error)}",
                hint="SPARK_LOCAL_DIRS and TMPDIR say where Spark and Python keep temporary files",
            ) from error


def require_session(session: SparkSession) -> None:
    """Raise `InvalidArgumentError` for what is no session."""
    if not hasattr(session, "createDataFrame"):
        hint = 'tables={"orders": frame} gives the tables that are read' if is_table(session) else None
        raise InvalidArgumentError(f"expected a SparkSession, got {session!r}", hint=hint)


class Running(Generic[R]):
    """A context manager in which a relation runs; made by ``rel.running(spark)``.

    Errors inside it that come from the relation are `ExecutionError`, which name the step that failed. Jobs that its
    thread has started inside, and that still run when it is left, by an interrupt or otherwise, are cancelled.
    """

    __slots__ = ("_given", "_is_all", "_progress", "_stack", "_started", "_verb")

    def __init__(self, verb: str, started: Started, given: R, *, progress: bool, is_all: bool = False) -> None:
        """`given` is what ``with`` gives; `is_all` says that nothing but the relation runs inside."""
        self._verb = verb
        self._started = started
        self._given = given
        self._progress = progress
        self._is_all = is_all
        self._stack = ExitStack()

    def __reduce__(self) -> NoReturn:
        raise InvalidArgumentError(
            "what runs in a session cannot be pickled",
            hint="pickle the relation or the plan, and run it where it is read",
        )

    def __enter__(self) -> R:
        from substrait_dsl.spark.cancellation import Cancellation

        self._stack.enter_context(Cancellation(self._started.spark, at_end=not self._is_all))
        if self._progress:
            from substrait_dsl.spark.progress import progress

            self._stack.enter_context(progress(self._started.spark))
        return self._given

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        outcomes = self._started.outcomes
        with outcomes.telling():
            self._stack.__exit__(kind, error, trace)
            with naming(self._verb):
                self._started.require_success(error, is_all=self._is_all)
        if isinstance(error, KeyboardInterrupt):
            outcomes.tell(error)


def running(
    verb: str,
    plan: AlgebraPlan,
    session: SparkSession,
    *,
    progress: bool,
    tables: Tables | None = None,
    persist_shared: bool = False,
    is_all: bool = False,
    allow: Allowed | None = None,
) -> Running[DataFrame]:
    """Start the plan of one relation. Raises as `Started` does."""
    require_flag("progress", progress)
    started = Started(plan, session, tables=tables, persist_shared=persist_shared, allow=allow)
    return Running(verb, started, started.frames[0], progress=progress, is_all=is_all)


def _error(failure: Failure, places: Sequence[Place], record: Record) -> ExecutionError:
    """The error that a failure becomes, which comes from one of these places."""
    from substrait_dsl.spark.failures import hint, reason, seen_from

    failure = seen_from(failure, places)
    steps = [step(each.plan, each.rel, each.node) for each in places]
    place = places[0] if len({each.part for each in steps}) == 1 else None  # or several that say the same
    told = reason(failure, place, record)
    texts = list(dict.fromkeys(map(str, steps)))
    message = f"{told} {', or '.join(texts[:MOST_PLACES])}".rstrip()
    if len(texts) > MOST_PLACES:
        message += f", or in {len(texts) - MOST_PLACES} more places"
    error = ExecutionError(message, hint=hint(failure, place, told))
    if len(texts) == 1:
        error.step, error.expression = steps[0].text, steps[0].part
    return error


def _name_step(error: UnsupportedError, records: Sequence[Record]) -> None:
    """Let an error say which step of the plan is refused, if one is, and which part of it."""
    for record in records:
        nodes = [node for each, node in record.refused if each is error]
        rel = next((node for node in nodes if isinstance(node, Rel)), None)
        if rel is not None:
            place = step(record.plan, rel, None if isinstance(nodes[0], Rel) else nodes[0])
            error.step, error.expression = place.text, place.part
            error.message = f"{error.message} {place}"
            error.args = (error.message,)


def explanation(text: str, started: Started, mode: ExplainMode | None) -> str:
    """A plan as text, with Spark's plan of each root below it, and what the generated names in these stand for."""
    from substrait_dsl.spark.explain import spark_plan

    parts = [text]
    for number, (record, frame) in enumerate(started.outputs()):
        heading = f"root {number} on Spark" if len(started.frames) > 1 else "on Spark"
        with Running("explain", started, frame, progress=False, is_all=True):  # Spark computes constants beforehand
            shown = spark_plan(frame, mode or "simple")
        lines = "\n".join(map(printable, shown.split("\n")))
        parts.append(f"--- {heading}\n{lines}")
        if names := _names(shown, record):
            parts.append(f"--- where Spark's names come from\n{names}")
    return "\n\n".join(parts)


def _names(shown: str, record: Record) -> str:
    """The generated names in a plan of Spark's: of which columns, made by which steps."""
    from substrait_dsl.spark.failures import names_in

    found = names_in(shown, record)
    lines = [f"{name}  {origin(rel, position)}" for name, (rel, position) in list(found.items())[:MOST_NAMES]]
    if len(found) > MOST_NAMES:
        lines.append(f"... ({len(found) - MOST_NAMES} more)")
    return "\n".join(lines)


def require_explained(session: object, mode: object, tables: object) -> None:
    """Raise for a `mode` that is none of Spark's, or one without a session, and for tables without one."""
    from substrait_dsl.spark.explain import require_mode

    if isinstance(session, str):
        raise InvalidArgumentError(
            f"the first argument is the session, got {session!r}", hint=f'write explain(spark, mode="{session}")'
        )
    if session is None and tables is not None:
        raise InvalidArgumentError(
            "tables are for the plan of a session's engine", hint="write explain(spark, tables=...)"
        )
    if mode is not None:
        require_mode(mode)
        if session is None:
            raise InvalidArgumentError(
                "a mode is one of Spark's plan, which takes a session", hint=f'write explain(spark, mode="{mode}")'
            )
