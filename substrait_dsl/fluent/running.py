"""Execution on Spark: errors name the step that failed, and `explain` shows Spark's plan below the library's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.plan import AlgebraPlan
from substrait_dsl.errors import ExecutionError, InvalidArgumentError, UnsupportedError, printable
from substrait_dsl.fluent.execution import Execution, Output, Running, root_schema
from substrait_dsl.fluent.table_arguments import tables_clause
from substrait_dsl.render.step_summary import origin, step

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

    from substrait_dsl.spark.diagnostics.explanations import Location
    from substrait_dsl.spark.session.explain import ExplainMode
    from substrait_dsl.spark.session.failures import Failure
    from substrait_dsl.spark.session.source_map import Record

MAX_PLACES = 3
"""How many places an error names that it may come from."""

MAX_NAMES = 60
"""How many generated names are explained below a plan of Spark's."""


class SparkExecution(Execution):
    """A plan on Spark: a DataFrame for each root, and what is known of how they were made."""

    def __init__(
        self,
        plan: AlgebraPlan,
        spark: SparkSession,
        tables: Mapping[tuple[str, ...], pa.Table],
        *,
        persist_shared: bool,
        is_preview: bool,
        output: Output,
    ) -> None:
        from substrait_dsl.spark.execute import execute
        from substrait_dsl.spark.relations.collecting import require_arrow, require_collectable
        from substrait_dsl.spark.session.change_outcomes import Outcomes
        from substrait_dsl.spark.session.source_map import recording

        self.spark = spark
        self._roots = plan.roots
        if output == "rows":
            require_collectable(plan.roots[0].input.schema)
        elif output == "arrow":
            require_arrow(plan.roots[0].input.schema)
        if is_preview:
            from substrait_dsl.spark.changes.dispatch import rows_of

            plan = attrs.evolve(plan, trees=tuple(rows for root in plan.roots if (rows := rows_of(root)) is not None))
        self.frames = []
        self.outcomes = Outcomes()
        with self.outcomes.telling(), self.outcomes.noting(), recording() as self.records:
            try:
                if plan.trees:
                    self.frames = execute(plan, spark, persist_shared=persist_shared, tables=tables)
            except ExecutionError as error:
                if error.table is not None and tables:
                    error.message += tables_clause(tables)
                    error.args = (error.message,)
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
        from substrait_dsl.spark.sail.engine import engine_of
        from substrait_dsl.spark.session.engines import write_for

        if error is not None:
            with write_for(engine_of(self.spark)):
                self._require_success(error, is_all=is_all)

    def _require_success(self, error: BaseException, *, is_all: bool) -> None:
        from substrait_dsl.spark.diagnostics.error_locations import locate_failure, locate_missing_tables
        from substrait_dsl.spark.relations.correlation import loss_of
        from substrait_dsl.spark.session.failures import INTERNAL, NO_TABLE, failure_of

        failure = failure_of(error, analysis=is_all)
        if failure is None:
            if is_all and isinstance(error, OSError):
                self._require_system(error)
            failure = failure_of(error, analysis=True)
            if (
                failure is None or failure.error_class != NO_TABLE
            ):  # a client of Spark Connect looks tables up each time
                return
        for record in self.records:
            if (refusal := loss_of(failure.message, record.plan)) is not None:
                raise refusal from error
        found = [(place, record) for record in self.records for place in locate_failure(failure, record)]
        if not found:
            found = [
                (place, record)
                for record, frame in self.outputs()
                for place in locate_missing_tables(failure, record, frame)
            ]
        if found or is_all or failure.error_class == INTERNAL:
            record = found[0][1] if found else self.records[0]
            raise _error(failure, [place for place, _ in found], record, self.records) from error

    def watching(self, *, progress: bool, is_all: bool) -> AbstractContextManager[object]:
        from substrait_dsl.spark.session.cancellation import Cancellation

        stack = ExitStack()
        stack.enter_context(Cancellation(self.spark, at_end=not is_all))
        if progress:
            from substrait_dsl.spark.diagnostics.progress import progress as shown

            stack.enter_context(shown(self.spark))
        return stack

    def telling(self) -> AbstractContextManager[object]:
        return self.outcomes.telling()

    def tell(self, interrupt: KeyboardInterrupt) -> None:
        self.outcomes.tell(interrupt)

    def rows(self) -> list[Row]:
        from substrait_dsl.spark.relations.collecting import collect_rows
        from substrait_dsl.spark.sail.engine import SAIL, engine_of
        from substrait_dsl.spark.sail.schemas import with_long_times

        frame = self.frames[0]
        return collect_rows(with_long_times(frame) if engine_of(self.spark) is SAIL else frame)

    def arrow(self) -> pa.Table:
        from substrait_dsl.arrow.exact import exact_table
        from substrait_dsl.spark.relations.collecting import collect_arrow

        table = collect_arrow(self.frames[0])
        return exact_table(table.columns, table.num_rows, root_schema(self._roots[0]))

    def show(self, n: int, truncate: bool | int, vertical: bool) -> None:
        from substrait_dsl.arrow.exact import exact_table
        from substrait_dsl.consumers.text import can_be_shown, format_rows
        from substrait_dsl.spark.relations.collecting import collect_arrow
        from substrait_dsl.spark.sail.engine import SAIL, engine_of

        schema = root_schema(self._roots[0])
        if engine_of(self.spark) is not SAIL or not can_be_shown(schema):  # Sail has another text of its own
            self.frames[0].show(n, truncate, vertical)
            return

        table = collect_arrow(self.frames[0].limit(n + 1))
        print(format_rows(exact_table(table.columns, table.num_rows, schema), schema, n, truncate, vertical))

    def explain(self, text: str, mode: ExplainMode | None) -> str:
        """Return a plan as text, with Spark's plan of each root below, and a legend of the generated names."""
        from substrait_dsl.spark.sail.engine import engine_of
        from substrait_dsl.spark.session.explain import spark_plan

        parts, name = [text], engine_of(self.spark).name
        for number, (record, frame) in enumerate(self.outputs()):
            heading = f"root {number} on {name}" if len(self.frames) > 1 else f"on {name}"
            with Running("explain", self, frame, progress=False, is_all=True):  # Spark computes constants beforehand
                shown = spark_plan(frame, mode or "simple")
            lines = "\n".join(map(printable, shown.split("\n")))
            parts.append(f"--- {heading}\n{lines}")
            if names := _names(shown, record):
                parts.append(f"--- where {name}'s names come from\n{names}")
        return "\n\n".join(parts)

    def outputs(self) -> list[tuple[Record, DataFrame]]:
        """Return the source map and the rows of each root."""
        return list(zip(self.records[len(self.records) - len(self.frames) :], self.frames, strict=True))

    def _require_system(self, error: OSError) -> None:
        """Raise `ExecutionError` for an error of the system's, but for one of the output of the program."""
        from substrait_dsl.spark.session.causes import system_words
        from substrait_dsl.spark.session.local import require_running

        require_running(self.spark)
        if not isinstance(error, BrokenPipeError):
            raise ExecutionError(
                f"the rows could not be transferred: {system_words(error)}",
                hint="SPARK_LOCAL_DIRS and TMPDIR say where Spark and Python keep temporary files",
            ) from error


def _error(
    failure: Failure, locations: Sequence[Location], record: Record, records: Sequence[Record]
) -> ExecutionError:
    """Return the error that a failure becomes, which comes from one of these locations."""
    from substrait_dsl.spark.diagnostics.explanations import (
        describe_failure,
        hint_for_failure,
        reclassify,
        refused_text,
    )
    from substrait_dsl.spark.diagnostics.json_values import name_json
    from substrait_dsl.spark.diagnostics.text_values import name_text

    failure = reclassify(failure, locations)
    steps = [step(each.plan, each.rel, each.node) for each in locations]
    location = locations[0] if len({each.part for each in steps}) == 1 else None  # or several that say the same
    text = describe_failure(failure, location, record)
    texts = list(dict.fromkeys(map(str, steps)))
    message = f"{text} {', or '.join(texts[:MAX_PLACES])}".rstrip()
    if len(texts) > MAX_PLACES:
        message += f", or in {len(texts) - MAX_PLACES} more places"
    error = ExecutionError(message, hint=hint_for_failure(failure, location, text))
    error.value = refused_text(failure)
    if len(texts) == 1:
        error.step, error.expression = steps[0].text, steps[0].part
    name_text(error, failure, locations, records)
    name_json(error, failure, records)
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


def _names(shown: str, record: Record) -> str:
    """Return the generated names in a plan of Spark's: of which columns, made by which steps."""
    from substrait_dsl.spark.diagnostics.explanations import columns_in_text

    found = columns_in_text(shown, record)
    lines = [f"{name}  {origin(rel, position)}" for name, (rel, position) in list(found.items())[:MAX_NAMES]]
    if len(found) > MAX_NAMES:
        lines.append(f"... ({len(found) - MAX_NAMES} more)")
    return "\n".join(lines)


def require_explained(session: object, mode: object, tables: object) -> None:
    """Raise for a `mode` that is none of Spark's, or one without a session, and for tables without one."""
    from substrait_dsl.spark.session.explain import require_mode

    if isinstance(session, str):
        raise InvalidArgumentError(
            "the first argument is the session", got=session, hint=f'write explain(spark, mode="{session}")'
        )
    if session is None and tables is not None:
        raise InvalidArgumentError(
            "tables are for the plan of a session's engine", hint="write explain(spark, tables=...)"
        )
    if mode is not None:
        require_mode(mode)
        if session is None:
            raise InvalidArgumentError(
                "mode selects a form of Spark's plan, which needs a session",
                hint=f'write explain(spark, mode="{mode}")',
            )
