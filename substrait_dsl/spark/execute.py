"""Running a plan on Spark: each root becomes a DataFrame with the names, types and nullability that were derived."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.common import Common
from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.live_ranges import EvaluationOrder
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.relations import DROPS, Change
from substrait_dsl.errors import ExecutionError, UnsupportedError, class_words, quote
from substrait_dsl.spark.catalog.table_names import named_frame
from substrait_dsl.spark.diagnostics.explanations import ON_SPARK, describe_engine_failure, hint_for_message
from substrait_dsl.spark.diagnostics.settings import require_settings
from substrait_dsl.spark.evaluation import Evaluation
from substrait_dsl.spark.expressions.bound_functions import implementing_in
from substrait_dsl.spark.expressions.call_validation import require_meaning
from substrait_dsl.spark.expressions.context_variables import Context, now, with_values
from substrait_dsl.spark.lowering import Lowering
from substrait_dsl.spark.relations.correlation import loss_of, refusal_of, require_correlation
from substrait_dsl.spark.relations.joins import probe_inputs
from substrait_dsl.spark.relations.repetition import require_size
from substrait_dsl.spark.sail.engine import engine_of
from substrait_dsl.spark.session.cancellation import Cancellation
from substrait_dsl.spark.session.change_outcomes import expect_changes
from substrait_dsl.spark.session.engines import ENGINE, Engine, current_engine, write_for
from substrait_dsl.spark.session.execution_context import ExecutionContext
from substrait_dsl.spark.session.explain import spark_plan
from substrait_dsl.spark.session.failures import INTERNAL, NO_PLAN, Failure, failure_of, message_of, spark_errors
from substrait_dsl.spark.session.local import require_running
from substrait_dsl.spark.session.source_map import forget, note_plan, note_refused
from substrait_dsl.spark.session.time_zone import TIME_ZONE
from substrait_dsl.spark.session.versions import require_supported
from substrait_dsl.spark.sources.arrow_tables import ArrowTables
from substrait_dsl.spark.sources.paths import suggest_path

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.algebra.plan import AlgebraPlan
    from substrait_dsl.algebra.trees import Root


def execute(
    plan: AlgebraPlan,
    spark: SparkSession,
    current_time: dt.datetime | None = None,
    *,
    persist_shared: bool = False,
    tables: Mapping[tuple[str, ...], pa.Table] | None = None,
) -> list[DataFrame]:
    """Run a plan: evaluate its trees in order.

    Args:
        plan: the plan; what it says of its variables and parameters holds.
        spark: the session, which must have ANSI mode on, as Spark has by default.
        current_time: what the current time is; None: now.
        persist_shared: whether Spark keeps the rows of shared relations, once they are computed.
        tables: what this execution reads under some names, in place of tables of the session.

    Returns:
        A DataFrame for each root: lazy, but for writes, updates and data definition, which are done now, rows that one
        of these would change, and a fetch whose count or offset is an expression, which are computed now. Its columns
        have the root's names, also duplicate ones, the derived types and the derived nullability; a NULL in a required
        column is an error when the row is computed.

    Raises:
        UnsupportedError: Spark cannot do exactly what the plan says, or not with the session's settings or version.
        SchemaError: a table does not have the columns that the plan declares.
        ExecutionError: a table is not there, Spark refuses the plan, or was stopped; its error, if any, is the cause.
        LiteralError: a parameter is bound to a value of another type.
        KeyboardInterrupt: the user interrupted it; its jobs are cancelled, and what a change had begun is undone, or
            made if its rows were becoming visible.
    """
    require_running(spark)
    require_supported(spark)
    engine = engine_of(spark)
    with write_for(engine):
        return _execute(plan, spark, engine, current_time or now(), persist_shared, tables or {})


def _execute(
    plan: AlgebraPlan,
    spark: SparkSession,
    engine: Engine,
    current_time: dt.datetime,
    persist_shared: bool,
    tables: Mapping[tuple[str, ...], pa.Table],
) -> list[DataFrame]:
    """Run a plan on the current engine."""
    require_known(plan.settings.enhancement)
    zone = spark.conf.get(TIME_ZONE) or "UTC"
    plan = with_values(plan.with_parameters_bound(), Context(current_time, zone))
    plan = engine.with_known_forms(plan)
    for rel in plan.relations:
        nodes = list(walk(rel))
        require_executable(nodes, engine)
        require_settings(rel, nodes, spark)
        if rel.flags.has_changes:  # a relation with several parents is evaluated for each
            require_size(rel)
    order = EvaluationOrder(plan.trees)
    _require_changes(order, engine)
    execution = ExecutionContext(spark, ArrowTables(tables, spark), persist_shared=persist_shared)
    tops = [tree.input for tree in order.trees]
    note_plan(tops[-1])
    expect_changes([placed.change for placed in order.changes])
    with (
        Cancellation(spark),
        implementing_in(spark),
        _explaining_order(order),
        _spark_errors(tops),
    ):
        if _is_rehearsed(order):
            Evaluation(order, execution.rehearsal(), _lower_root).run()
            forget()
        frames = Evaluation(order, execution, _lower_root).run()
        execution.persist()
        return frames


def require_executable(nodes: Sequence[Node], engine: Engine) -> None:
    """Raise `UnsupportedError` for a node that is lowered, and that the engine would compute otherwise than it says."""
    _require_no_limits_of_outer_rows(nodes, engine)
    _check_extensions(nodes)
    require_meaning(nodes)


def _require_no_limits_of_outer_rows(nodes: Sequence[Node], engine: Engine) -> None:
    """Refuse limits and windows over correlated rows where the engine applies them to all rows at once."""
    if engine.limits_each:
        return
    for node in nodes:
        is_window = isinstance(node, rl.Project) and any(each.flags.has_window_functions for each in node.expressions)
        if (is_window or isinstance(node, rl.Fetch | rl.TopN | rl.Window)) and node.free_anchors:
            raise UnsupportedError(
                f"{engine.name} cannot run {class_words(node)} of rows that depend on an outer row", hint=ON_SPARK
            )


def _require_changes(order: EvaluationOrder, engine: Engine) -> None:
    """Refuse changes of tables and files on an engine that does not make them safely."""
    if order.changes and not engine.takes_changes:
        change = order.changes[0].change
        words = f"{change.op.partition('_')[0]}_{change.object}" if isinstance(change, rl.Ddl) else class_words(change)
        refusal = UnsupportedError(
            f"{engine.name} cannot run a plan that changes something, such as {words}",
            hint=f"collect the rows of its input, and write those, as to_polars().write_parquet(path); {ON_SPARK}",
        )
        raise refusal


def _is_rehearsed(order: EvaluationOrder) -> bool:
    """Whether something may be refused after a change was made: there is more than the one change of a table."""
    if not order.changes:
        return False
    (last, *others) = reversed(order.changes)
    return bool(others) or len(order.trees) > 1 or last.change is not order.trees[0].input


def _lower_root(root: Root, execution: ExecutionContext) -> DataFrame:
    note_plan(root.input)
    nodes = list(walk(root.input))
    frame = Lowering(execution).lower_root(root)
    require_correlation(nodes, frame)
    _require_plan(nodes, frame)
    _refuse_streams(nodes, frame, execution.arrow_tables)
    return frame


def _require_plan(nodes: Sequence[Node], frame: DataFrame) -> None:
    """Raise `UnsupportedError` for subqueries and look-ups that an embedded engine cannot plan, before it runs."""
    if current_engine().failure is None:
        return
    suspects = [node for node in nodes if isinstance(node, Rel) and _may_look_up(node)]
    if not suspects:
        return
    cause: Exception | None = None
    try:
        _, is_refused, words = spark_plan(frame, "simple").partition("Physical plan error: ")
        failure = Failure(INTERNAL, words, {}) if is_refused else None
    except spark_errors() as error:
        failure, cause = failure_of(error, analysis=True), error
        if failure is None or failure.error_class not in (INTERNAL, NO_PLAN):
            raise
    if failure is not None:
        refusal = UnsupportedError(describe_engine_failure(failure), hint=ON_SPARK)
        note_refused(refusal, suspects[0])
        raise refusal from cause


def _may_look_up(rel: Rel) -> bool:
    """Whether a relation has subqueries in its own expressions, or looks up rows of one input in the other."""
    has_subqueries = any(child.flags.has_subqueries for child in rel.children())
    return has_subqueries or probe_inputs(rel, correlated=True) != rel.inputs


def require_known(enhancement: AnyMessage | None) -> None:
    """Raise `UnsupportedError` for an enhancement of a whole plan."""
    if enhancement is not None:
        raise UnsupportedError(
            f"the plan has an enhancement of the type {enhancement.type_url}, which changes what it means in a way "
            "that is not known here"
        )


@contextmanager
def _spark_errors(trees: Sequence[Rel]) -> Iterator[None]:
    try:
        yield
    except spark_errors() as error:
        losses = (loss for rel in trees if (loss := loss_of(str(error), rel)) is not None)
        if (refusal := refusal_of(error) or next(losses, None)) is not None:
            raise refusal from error
        failure = failure_of(error, analysis=True)
        if failure is not None and failure.error_class in (INTERNAL, NO_PLAN):
            raise UnsupportedError(describe_engine_failure(failure), hint=ON_SPARK) from error
        if failure is not None and failure.error_class == "PATH_NOT_FOUND":
            words = message_of(error)
            hint = _HOME if "/~" in words else _PATHS
            near = next(filter(None, map(suggest_path, _file_items(trees))), None)
            hints = (near, hint + _uri_hint(trees))
            raise ExecutionError(f"there is nothing to read: {words}", hint="; ".join(filter(None, hints))) from error
        words = message_of(error)
        has_run = failure_of(error) is not None  # a part, which failed
        start = "" if has_run else f"{current_engine().name} refuses the plan: "
        raise ExecutionError(f"{start}{words}", hint=hint_for_message(words)) from error


@contextmanager
def _explaining_order(order: EvaluationOrder) -> Iterator[None]:
    """Explain a missing table if the plan creates it later, or dropped it before."""
    try:
        yield
    except ExecutionError as error:
        if error.table is not None and (hint := _order_hint(order, error.table)) is not None:
            error.hint = hint
        raise


def _order_hint(order: EvaluationOrder, names: tuple[str, ...]) -> str | None:
    ops = {op for placed in order.changes if (op := _operation(placed.change, names)) is not None}
    if ops & {"ctas", "create", "create_or_replace"}:
        return "the plan makes it, but not before: trees are evaluated in order, so put the tree that makes it first"
    if ops & DROPS:
        return "the plan drops it before: trees are evaluated in order, so put the tree that reads it first"
    return None


def _operation(change: Change, names: tuple[str, ...]) -> str | None:
    """Return the operation of a change if it is on this table or view, in any case of letters; else None."""
    match change:
        case rl.Write(target=rl.NamedObject(names=target)) | rl.Ddl(target=rl.NamedObject(names=target)):
            is_it = [name.lower() for name in target] == [name.lower() for name in names]
            return change.op if is_it else None
        case _:
            return None


def _file_items(trees: Sequence[Rel]) -> list[rl.FileItem]:
    """Return the files that are read, by path."""
    reads = (node.definition for rel in trees for node in walk(rel) if isinstance(node, rl.Read))
    return [item for each in reads if isinstance(each, rl.LocalFiles) for item in each.items]


def _uri_hint(trees: Sequence[Rel]) -> str:
    """Return a hint on URIs if a path is percent-encoded, or if it holds the braces of a partition directory."""
    files = _file_items(trees)
    if any("%7B" in item.uri for item in files):
        return _BRACES
    return _URIS if any("%" in item.uri for item in files) else ""


_PATHS = "Spark looks for paths on the machines that it runs on; patterns and folders have a kind="
_URIS = '; in a URI "%3A" means ":", and what is called "%3A" itself is written "%253A"'
_BRACES = '; read the folder around those named after columns, with kind="folder"'
_HOME = "~ is a name like any other: os.path.expanduser(path) puts the home directory in its place"


def _refuse_streams(nodes: Sequence[Node], frame: DataFrame, arrow_tables: ArrowTables) -> None:
    """Refuse streams: most relations are of all rows, and Spark would say so only when the stream is started."""
    tables = [
        node.definition.names
        for node in nodes
        if isinstance(node, rl.Read) and isinstance(node.definition, rl.NamedTable)
    ]
    tables = [names for names in tables if names not in arrow_tables]
    if tables and frame.isStreaming:
        streams = [".".join(names) for names in tables if named_frame(names, frame.sparkSession).isStreaming]
        raise UnsupportedError(
            f"{quote(dict.fromkeys(streams))} is a stream, and a plan is of all rows of its tables",
            hint="writeStream.foreachBatch(each) calls each(batch, number), which can run it over a view of the batch",
        )


def _check_extensions(nodes: Sequence[Node]) -> None:
    """Refuse enhancements of a relation: a consumer that does not know one must not run it."""
    for node in nodes:
        if not isinstance(node, Rel):
            continue
        common = node.common or Common()
        definition = node.definition if isinstance(node, rl.Read) else None
        own = definition.extension if isinstance(definition, rl.NamedTable | rl.LocalFiles) else None
        for extension in (common.extension, common.own_extension, own):
            if extension is not None and extension.enhancement is not None:
                raise UnsupportedError(
                    f"{class_words(node)} carries the enhancement {extension.enhancement.type_url}, which changes what "
                    f"it means in a way that {ENGINE} does not know"
                )
