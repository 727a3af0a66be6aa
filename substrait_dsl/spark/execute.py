"""Running a plan on Spark: a root becomes a DataFrame with the names, types and nullability that were derived."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from substrait_dsl.algebra.common import Common
from substrait_dsl.algebra.node import Node, Rel, walk
from substrait_dsl.algebra.relations import LocalFiles, NamedTable, Read
from substrait_dsl.errors import ExecutionError, UnsupportedError, kind_words, quoted
from substrait_dsl.spark.changes import changes_in, make_changes
from substrait_dsl.spark.context import Context, now, settled
from substrait_dsl.spark.correlation import loss_of, refusal_of, require_correlation
from substrait_dsl.spark.failures import advice, failure_of, spark_errors, told
from substrait_dsl.spark.lowering import Change, Lowering
from substrait_dsl.spark.meaning import require_meaning
from substrait_dsl.spark.named import named_frame
from substrait_dsl.spark.record import note_plan
from substrait_dsl.spark.session import require_running
from substrait_dsl.spark.settings import TIME_ZONE, require_settings
from substrait_dsl.spark.versions import require_supported
from substrait_dsl.spark.workspace import Workspace

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from substrait_dsl.algebra.plan import EvaluationMode, Root


def execute(
    root: Root,
    spark: SparkSession,
    moment: dt.datetime | None = None,
    mode: EvaluationMode = "per_plan",
    *,
    persist_shared: bool = False,
) -> DataFrame:
    """Run a root of a plan.

    Args:
        root: a relation and the names of its columns, nested ones depth first.
        spark: the session, which must have ANSI mode on, as Spark has by default.
        moment: what the current time is, the same for all roots of a plan; None: now.
        mode: whether the current time is one for the plan or one for each record.
        persist_shared: whether Spark keeps the rows of shared relations, once they are computed.

    Returns:
        A DataFrame: lazy, but for writes, updates and data definition, which are done now, and a fetch whose count or
        offset is an expression, which is evaluated now. Its columns have the root's names, also duplicate ones, the
        derived types and the derived nullability; a NULL in a required column is an error when the row is computed.

    Raises:
        UnsupportedError: Spark cannot do exactly what the plan says, or not with the session's settings or version.
        SchemaError: a table does not have the columns that the plan declares.
        ExecutionError: a table is not there, Spark refuses the plan, or was stopped; its error, if any, is the cause.
    """
    require_running(spark)
    require_supported(spark)
    zone = spark.conf.get(TIME_ZONE) or "UTC"
    written, nodes = root, list(walk(root.input))
    root = settled(root, nodes, Context(moment or now(), zone), mode)
    if root is not written:
        nodes = list(walk(root.input))
    _check_extensions(nodes)
    require_meaning(nodes)
    require_settings(root.input, nodes, spark)
    note_plan(root.input)
    with _spark_errors(root.input):
        space = Workspace(spark, persist_shared=persist_shared)
        if any(isinstance(node, Change) for node in nodes):
            make_changes(root, changes_in(root.input), space)
        frame = Lowering(space).lower_root(root)
        require_correlation(nodes, frame)
        _refuse_streams(nodes, frame)
        space.persist()
        return frame


@contextmanager
def _spark_errors(plan: Rel) -> Iterator[None]:
    try:
        yield
    except spark_errors() as error:
        if (refusal := refusal_of(error) or loss_of(str(error), plan)) is not None:
            raise refusal from error
        failure = failure_of(error, analysis=True)
        if failure is not None and failure.kind == "PATH_NOT_FOUND":
            words = told(error)
            hint = _HOME if "/~" in words else _PATHS
            raise ExecutionError(f"there is nothing to read: {words}", hint=hint + _of_uris(plan)) from error
        words = told(error)
        start = "Spark refuses the plan: " if failure_of(error) is None else ""  # else it ran a part, which failed
        raise ExecutionError(f"{start}{words}", hint=advice(words)) from error


def _of_uris(plan: Rel) -> str:
    """What to tell who may not know how URIs are written, or reads what was written by columns in braces."""
    reads = (node.definition for node in walk(plan) if isinstance(node, Read))
    files = [item for each in reads if isinstance(each, LocalFiles) for item in each.items]
    if any("%7B" in item.uri for item in files):
        return _BRACES
    return _URIS if any("%" in item.uri for item in files) else ""


_PATHS = "Spark looks for paths on the machines that it runs on; patterns and folders have a kind="
_URIS = '; in a URI "%3A" means ":", and what is called "%3A" itself is written "%253A"'
_BRACES = '; read the folder around those named after columns, with kind="folder"'
_HOME = "~ is a name like any other: os.path.expanduser(path) puts the home directory in its place"


def _refuse_streams(nodes: Sequence[Node], frame: DataFrame) -> None:
    """Refuse streams: most relations are of all rows, and Spark would say so only when the stream is started."""
    tables = [
        node.definition.names for node in nodes if isinstance(node, Read) and isinstance(node.definition, NamedTable)
    ]
    if tables and frame.isStreaming:
        streams = [".".join(names) for names in tables if named_frame(names, frame.sparkSession).isStreaming]
        raise UnsupportedError(
            f"{quoted(dict.fromkeys(streams))} is a stream, and a plan is of all rows of its tables",
            hint="writeStream.foreachBatch(each) calls each(batch, number), which can run it over a view of the batch",
        )


def _check_extensions(nodes: Sequence[Node]) -> None:
    """Refuse extensions that change the meaning of a relation: whoever does not know them must."""
    for node in nodes:
        if not isinstance(node, Rel):
            continue
        common = node.common or Common()
        definition = node.definition if isinstance(node, Read) else None
        own = definition.extension if isinstance(definition, NamedTable | LocalFiles) else None
        for extension in (common.extension, common.own_extension, own):
            if extension is not None and extension.enhancement is not None:
                raise UnsupportedError(
                    f"{kind_words(node)} carries the enhancement {extension.enhancement.type_url}, which changes what "
                    "it means in a way that Spark does not know"
                )
