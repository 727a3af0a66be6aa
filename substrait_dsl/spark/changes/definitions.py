"""Data definition: create, alter and drop tables and views.

Specification: https://substrait.io/relations/logical_relations/#ddl-data-definition-language-operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.plan import Root
from substrait_dsl.algebra.relations import Ddl, ExtensionObject, NamedObject, NamedTable, Read
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import ExecutionError, UnsupportedError, quote
from substrait_dsl.spark.catalog.table_metadata import (
    BESIDE_VIEW,
    ICEBERG,
    REQUIRED,
    find_object,
    format_of_new,
    need_table,
    title,
)
from substrait_dsl.spark.catalog.table_names import (
    column_list,
    is_temporary,
    not_found_error,
    statement_name,
)
from substrait_dsl.spark.changes.alter_table import alter
from substrait_dsl.spark.changes.statements import (
    changing,
    no_output,
    no_rows,
    required_property,
    run_change,
    sql_type,
    using,
)
from substrait_dsl.spark.changes.table_replacement import create_or_replace
from substrait_dsl.spark.expressions.literals import literal_to_sql
from substrait_dsl.spark.expressions.types import to_spark
from substrait_dsl.spark.lowering import Lowering
from substrait_dsl.spark.session.cancellation import hold_interrupts
from substrait_dsl.spark.session.change_outcomes import note_outcome
from substrait_dsl.spark.session.failures import failure_of, spark_errors
from substrait_dsl.spark.sources.arrow_tables import table_title
from substrait_dsl.spark.sources.schema_compatibility import require_distinct, require_lossless

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from substrait_dsl.spark.catalog.table_metadata import StoredTable
    from substrait_dsl.spark.session.execution_context import ExecutionContext


def define(rel: Ddl, execution: ExecutionContext) -> DataFrame:
    """Create, alter or drop a table or a view; returns no rows.

    Raises:
        UnsupportedError: the catalog or the format of the table cannot hold what is asked for.
        SchemaError: two columns have one name.
        ExecutionError: what is to be made is there already, or what is to be changed is not.
    """
    match rel.target:
        case NamedObject(names=names, extension=extension):
            if extension is not None and extension.enhancement is not None:
                raise UnsupportedError(f"{title(names)} carries an enhancement that Spark does not know")
        case ExtensionObject(detail=detail):
            raise UnsupportedError(f"Spark does not know what an object of the type {detail.type_url} is")
        case never:
            assert_never(never)
    if rel.table_schema is not None:
        require_distinct(rel.table_schema, f"{rel.op} {rel.object}")
    if rel.object == "view":
        _view(rel, names, execution)
    else:
        _table(rel, names, execution)
    return no_output(execution.spark)


def _table(rel: Ddl, names: tuple[str, ...], execution: ExecutionContext) -> None:
    what = f"{rel.op} of {title(names)}"
    match rel.op:
        case "create" | "create_or_replace":
            found = _find_object(names, execution, is_view=False)
            _require_absent(rel, found, what)
            assert rel.table_schema is not None
            _create(rel.table_schema, rel.defaults, names, found, what, execution)
        case "alter":
            assert rel.table_schema is not None
            alter(need_table(names, execution.spark), rel.table_schema, rel.defaults, what, execution)
        case "drop" | "drop_if_exist":
            if _to_drop(rel, names, execution, is_view=False):
                run_change(what, f"DROP TABLE IF EXISTS {statement_name(names)}", execution)
        case never:
            assert_never(never)


def _create(
    schema: NamedStruct,
    defaults: Sequence[Literal],
    names: tuple[str, ...],
    found: StoredTable | None,
    what: str,
    execution: ExecutionContext,
) -> None:
    format_ = format_of_new(names, what, execution.spark) if found is None else found.format
    types = to_spark(schema)
    require_lossless(types, format_, what, execution.spark)
    has_defaults = any(default.value is not None for default in defaults)
    if format_ == ICEBERG and has_defaults:
        raise UnsupportedError(f"{what}: Spark cannot give the columns of an Iceberg table default values")
    # Spark's own formats forget NOT NULL.
    stores_nullability = format_ == ICEBERG and (found is None or REQUIRED not in found.properties)
    properties = "" if stores_nullability else required_property(schema, found)
    definition = f" ({', '.join(_column_definitions(types, defaults))}){using(format_)}{properties}"
    if found is None:
        run_change(what, f"CREATE TABLE {statement_name(names)}{definition}", execution)
    else:
        none = no_rows(types, execution.spark)
        required = [field.name for field in schema if not field.type.nullable]
        create_or_replace(what, found, definition, execution, none, required, has_defaults=has_defaults)


def _column_definitions(types: StructType, defaults: Sequence[Literal]) -> Iterator[str]:
    """Yield the columns of a new table, as CREATE TABLE has them."""
    for position, field in enumerate(types.fields):
        column = f"{column_list([field.name])} {sql_type(field.dataType)}{'' if field.nullable else ' NOT NULL'}"
        default = defaults[position] if defaults else None
        if default is not None and default.value is not None:
            column += f" DEFAULT {literal_to_sql(default)}"
        yield column


def _view(rel: Ddl, names: tuple[str, ...], execution: ExecutionContext) -> None:
    what = f"{rel.op} of the view {quote(['.'.join(names)])}"
    match rel.op:
        case "create" | "create_or_replace":
            _require_lasting(names, what, execution)
            _require_absent(rel, _find_object(names, execution, is_view=True), what)
            word = "CREATE OR REPLACE VIEW" if rel.op == "create_or_replace" else "CREATE VIEW"
            assert rel.table_schema is not None
            columns = column_list(rel.table_schema.names)
            _run_view(what, f"{word} {statement_name(names)} ({columns}) AS {_text(rel, what, execution)}", execution)
        case "alter":
            _require_lasting(names, what, execution)
            if _find_object(names, execution, is_view=True) is None:
                error = not_found_error(names, execution.spark, object_type="view")
                error.hint = None
                raise error
            # An ALTER VIEW takes the names of columns from the query alone.
            assert rel.table_schema is not None
            columns = column_list(rel.table_schema.names)
            text = f"CREATE OR REPLACE VIEW {statement_name(names)} ({columns}) AS {_text(rel, what, execution)}"
            _run_view(what, text, execution)
        case "drop" | "drop_if_exist":
            if _to_drop(rel, names, execution, is_view=True):
                run_change(what, f"DROP VIEW IF EXISTS {statement_name(names)}", execution)
        case never:
            assert_never(never)


def _text(rel: Ddl, what: str, execution: ExecutionContext) -> str:
    """The definition of a view as one query over tables of the catalog."""
    assert rel.view_definition is not None
    reads = (node.definition for node in walk(rel.view_definition) if isinstance(node, Read))
    passed = [read.names for read in reads if isinstance(read, NamedTable) and read.names in execution.arrow_tables]
    if passed:
        raise UnsupportedError(
            f"{what}: it reads {table_title(passed[0])}, which is given in tables for this execution alone",
            hint="a view reads tables of a catalog: write the rows to one",
        )
    text = Lowering(execution).write_query(Root.of(rel.view_definition))
    if text is None:
        raise UnsupportedError(
            f"{what}: Spark keeps a view as one query over tables of a catalog; this relation reads what is none, is "
            "too long, has structs, or names that are not of letters, digits and _ alone, or differ in case alone",
            hint="write it to a table, and let the view read that",
        )
    return text


_NO_VIEWS = (
    "UNSUPPORTED_FEATURE.TABLE_OPERATION",
    "MISSING_CATALOG_ABILITY.VIEWS",
    "UNSUPPORTED_FEATURE.CATALOG_OPERATION",
)


def _require_lasting(names: tuple[str, ...], what: str, execution: ExecutionContext) -> None:
    """Raise `ExecutionError` where a temporary view would shadow the new one."""
    if len(names) == 1 and is_temporary(names[0], execution.spark):
        raise ExecutionError(
            f"{what}: a temporary view of the session has this name, and would be read in its place",
            hint='drop_view(...) drops that, or name the database: ("database", "view")',
        )


def _run_view(what: str, text: str, execution: ExecutionContext) -> None:
    if execution.is_rehearsal:
        return
    try:
        with hold_interrupts(cancels=True):
            execution.sql(text)
            note_outcome("made")
    except spark_errors() as error:
        failure = failure_of(error, analysis=True)
        message = "" if failure is None else failure.message
        if failure is not None and failure.condition == "INVALID_TEMP_OBJ_REFERENCE":
            raise UnsupportedError(
                f"{what}: it reads a temporary view, which ends with the session", hint="write the rows to a table"
            ) from error
        if failure is not None and failure.error_class == "RECURSIVE_VIEW":
            raise ExecutionError(f"{what}: it would read itself") from error
        if (failure is not None and failure.condition in _NO_VIEWS) or "not supported by catalog" in message:
            raise UnsupportedError(f"{what}: this catalog cannot hold views") from error
        with changing(what):
            raise


def _find_object(names: tuple[str, ...], execution: ExecutionContext, *, is_view: bool) -> StoredTable | None:
    """Find the object of a name. Raises `ExecutionError` for a table where a view is meant, or the reverse."""
    found = find_object(names, execution.spark)
    if found is not None and found.is_view is not is_view:
        nouns = ("view", "table") if found.is_view else ("table", "view")
        raise ExecutionError(
            f"{quote(['.'.join(names)])} is a {nouns[0]}, not a {nouns[1]}",
            hint=BESIDE_VIEW if len(names) == 1 and is_temporary(names[0], execution.spark) else None,
        )
    return found


def _require_absent(rel: Ddl, found: StoredTable | None, what: str) -> None:
    if found is not None and rel.op == "create":
        raise ExecutionError(f"{what}: there is one of this name already", hint="or_replace=True puts it in its place")


def _to_drop(rel: Ddl, names: tuple[str, ...], execution: ExecutionContext, *, is_view: bool) -> bool:
    """Whether there is something to drop."""
    found = _find_object(names, execution, is_view=is_view)
    if found is not None:
        found.require_no_branch(f"drop of {title(names)}")
    elif rel.op == "drop":
        error = not_found_error(names, execution.spark, object_type=rel.object, may_be_passed=False)
        error.hint = "; ".join(filter(None, (error.hint, "if_exists=True drops what may not be there")))
        raise error
    return found is not None
