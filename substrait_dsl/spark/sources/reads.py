"""Reads: named tables, virtual tables, and the filters and the mask of every read.

Specification: https://substrait.io/relations/logical_relations/#read-operation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, assert_never

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.types import INTEGER_TYPES, UUID, Type
from substrait_dsl.errors import UnsupportedError, class_words
from substrait_dsl.spark.catalog.file_listings import refresh_if_written
from substrait_dsl.spark.catalog.scans import makes_groups
from substrait_dsl.spark.catalog.table_names import is_format_and_path, named_frame, statement_name
from substrait_dsl.spark.catalog.text_records import EVERY_COLUMN, ReaderRestrictions, read_no_records, restrictions_of
from substrait_dsl.spark.expressions.masks import masked_value
from substrait_dsl.spark.expressions.nested_values import rebuild_parts
from substrait_dsl.spark.expressions.pushdown import opaque_sql
from substrait_dsl.spark.expressions.types import spark_sql_type
from substrait_dsl.spark.relations.expression_context import prepare_context
from substrait_dsl.spark.relations.frames import FrameTable
from substrait_dsl.spark.relations.single_input import choose_by_number, filter_rows, unite_with_no_row
from substrait_dsl.spark.relations.subqueries import is_subquery
from substrait_dsl.spark.relations.tables import PLAIN_NAME, UNUSED, Item, Rows
from substrait_dsl.spark.relations.texts import TextTable
from substrait_dsl.spark.session.engines import ENGINE, current_engine
from substrait_dsl.spark.sources.arrow_tables import ArrowTables, table_title
from substrait_dsl.spark.sources.declared_columns import AS_IN_THE_FILE, check_columns
from substrait_dsl.spark.sources.files import read_files
from substrait_dsl.spark.sources.hadoop_substitution import require_table_read
from substrait_dsl.spark.sources.iceberg import read_snapshot
from substrait_dsl.spark.sources.paths import what_of
from substrait_dsl.spark.sources.schema_compatibility import is_padded
from substrait_dsl.spark.sources.virtual_tables import arrow_frame, can_be_arrow
from substrait_dsl.spark.sources.write_guards import require_folders_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

    from substrait_dsl.algebra.relations import Record
    from substrait_dsl.spark.relations.expression_context import ExpressionContext
    from substrait_dsl.spark.relations.input_lowering import InputLowering
    from substrait_dsl.spark.relations.tables import Table
    from substrait_dsl.spark.session.execution_context import ExecutionContext


_NO_RESTRICTIONS = ReaderRestrictions()


def can_be_text(read: rl.Read, most_rows: int, arrow_tables: ArrowTables) -> bool:
    """Whether a read can become SQL text; a virtual table only with at most so many rows."""
    match read.definition:
        case rl.NamedTable(names=names) if names in arrow_tables:
            return False
        case rl.NamedTable(names=names):
            return all(map(PLAIN_NAME.fullmatch, (*names, *read.base_schema.names)))
        case rl.VirtualTable(rows=rows):
            return 0 < len(rows) <= most_rows  # as text, no rows are NULLs behind a false filter, which may leak
        case rl.LocalFiles() | rl.IcebergTable() | rl.ExtensionTable():
            return False
        case never:
            assert_never(never)


def lower_read(rel: rl.Read, lowering: InputLowering) -> Rows:
    """Read the columns of the base schema, filter them, and apply the mask."""
    rows = lowering.lower_source(rel)
    for condition in (rel.filter, rel.best_effort_filter):
        if condition is not None:
            rows = filter_rows(rows, condition, rel.anchor, lowering)
    return rows if rel.projection is None else _apply_mask(rows, rel, rel.projection)


def lower_source(rel: rl.Read, lowering: InputLowering) -> Rows:
    """Read the columns of the base schema."""
    match rel.definition:
        case rl.NamedTable(names=names) if names in lowering.execution.arrow_tables:
            frame, columns = lowering.execution.arrow_tables.read(names, rel.base_schema)
            return _select_columns(frame, columns, rel, lowering.execution)
        case rl.NamedTable(names=names):
            rows = _name_columns(names, rel, lowering)
            if current_engine().forgets_keys or not makes_groups(named_frame(names, lowering.execution.spark)):
                return rows
            return Rows(unite_with_no_row(rows.table, lowering), rows.columns)
        case rl.VirtualTable():
            return _virtual(rel, lowering)
        case rl.LocalFiles(items=files, text=text):
            read = partial(read_files, files, rel.base_schema, lowering.execution.spark, text)
            return _from_source((files, rel.base_schema, text), read, what_of(files), rel, lowering.execution)
        case rl.IcebergTable(metadata_uri=uri) as table:
            read = partial(read_snapshot, table, rel.base_schema.names, lowering.execution.spark)
            return _from_source((table, rel.base_schema), read, f"the Iceberg table {uri}", rel, lowering.execution)
        case rl.ExtensionTable() as other:
            raise UnsupportedError(f"{ENGINE} does not know how to read {class_words(other)}: {other.detail.type_url}")
        case never:
            assert_never(never)


_MANY_TABLES = 3
"""From so many tables on, one request for all is faster than one for each."""


def look_up(reads: Sequence[rl.Read], execution: ExecutionContext) -> None:
    """Look up the columns of many named tables by one request; few are left to the reads, and all if it fails."""
    from pyspark.errors import AnalysisException
    from pyspark.sql.types import StructType

    tables = list(dict.fromkeys(read.definition.names for read in reads if isinstance(read.definition, rl.NamedTable)))
    if len(tables) < _MANY_TABLES:
        return
    between = execution.name()  # separates the columns of one table from those of the next
    named = [f"{statement_name(names)} AS t{number}" for number, names in enumerate(tables)]
    columns = f", 0 AS {between}, ".join(f"t{number}.*" for number in range(len(tables)))
    try:
        if any(is_format_and_path(names, execution.spark) for names in tables):
            return  # one by one, it turns out that it is not there
        joined = execution.sql(f"SELECT {columns} FROM {', '.join(named)}")
        found = joined.schema
    except AnalysisException:
        return  # one by one, it turns out which of them is not there
    ends = [position for position, field in enumerate(found.fields) if field.name == between]
    if len(ends) == len(tables) - 1:  # as it is, unless a table has a column of that name
        starts = [0, *(end + 1 for end in ends)]
        schemas = (StructType(found.fields[start:end]) for start, end in zip(starts, [*ends, None], strict=True))
        execution.tables.update(zip(tables, schemas, strict=True))
        if read_no_records(tables, joined, execution.spark):
            execution.restrictions.update(dict.fromkeys(tables, ReaderRestrictions()))


def _name_columns(names: tuple[str, ...], rel: rl.Read, lowering: InputLowering) -> Rows:
    execution = lowering.execution
    what = table_title(names)
    frame = _look_up_named(names, lowering)
    schema = execution.tables[names] if frame is None else frame.schema
    columns = check_columns(schema, rel.base_schema, what)
    require_table_read(names, schema, columns, what, execution.spark)
    require_folders_read(names, schema, columns, what, execution.spark)
    if frame is not None and not lowering.as_text:
        return _select_columns(frame, columns, rel, execution, execution.restrictions[names])
    execution.tables[names] = schema
    if _are_alike(schema.names) or any("${" in name for name in columns):
        # The text has to refer to a DataFrame with other names.
        plain = execution.names(len(schema))
        frame = named_frame(names, execution.spark) if frame is None else frame
        renamed = dict(zip(schema.names, zip(plain, schema.fields, strict=True), strict=True))
        table = FrameTable(plain, frame.toDF(*plain), execution).as_text
        return _read(table, [renamed[name] for name in columns], rel, execution.restrictions[names])
    fields = {field.name: field for field in schema.fields}
    there = [(statement_name((name,)), fields[name]) for name in columns]
    return _read(TextTable((), statement_name(names), execution), there, rel, execution.restrictions[names])


def _look_up_named(names: tuple[str, ...], lowering: InputLowering) -> DataFrame | None:
    """Look up a table or view, and what must not be pushed down to it; None: text needs no look-up, since it was."""
    execution = lowering.execution
    is_known = names in execution.tables and names in execution.restrictions
    frame = None if lowering.as_text and is_known else named_frame(names, execution.spark)
    if refresh_if_written(names, execution.spark) and frame is not None:
        frame = named_frame(names, execution.spark)
    if frame is not None and names not in execution.restrictions:
        execution.restrictions[names] = restrictions_of(names, frame, execution.spark)
    return frame


def _from_source(
    key: Hashable, frame: Callable[[], DataFrame], what: str, rel: rl.Read, execution: ExecutionContext
) -> Rows:
    """Read files or a snapshot, which are looked up once per execution."""
    if key not in execution.sources:
        found = frame()
        way_out = (lambda: AS_IN_THE_FILE) if isinstance(rel.definition, rl.LocalFiles) else None
        execution.sources[key] = found, check_columns(found.schema, rel.base_schema, what, way_out=way_out)
    return _select_columns(*execution.sources[key], rel, execution)


def _read(
    table: Table, there: Sequence[tuple[str, StructField]], rel: rl.Read, restrictions: ReaderRestrictions
) -> Rows:
    """Select the used columns of the base schema; `there` has the text and the Spark field of each column."""
    execution = table.execution
    if restrictions.all_columns:
        table = table.where(EVERY_COLUMN)
    used = execution.used.get(id(rel))
    columns, select_items = [], []
    for position, ((text, field), type_) in enumerate(zip(there, rel.base_schema.types, strict=True)):
        columns.append(execution.name() if used is None or position in used else UNUSED)
        if columns[-1] != UNUSED:
            text = opaque_sql(text) if restrictions.filters and field.name not in restrictions.partitions else text
            is_new = is_padded(field) or (isinstance(type_, INTEGER_TYPES) and not current_engine().has_signed_alone)
            select_items.append(Item(as_inside(text, type_, is_new=is_new), (columns[-1],)))
    return Rows(table.select(select_items), tuple(columns))


def _select_columns(
    frame: DataFrame,
    names: tuple[str, ...],
    rel: rl.Read,
    execution: ExecutionContext,
    restrictions: ReaderRestrictions = _NO_RESTRICTIONS,
) -> Rows:
    """Select the columns of the base schema, under their `names` in a DataFrame."""
    fields = frame.schema.fields
    there = tuple(field.name for field in fields)
    table, texts = FrameTable((), frame, execution), [f"`{name}`" for name in there]
    if not all(map(PLAIN_NAME.fullmatch, names)) or _are_alike(there):
        plain = execution.names(len(there))
        table, texts = FrameTable(plain, frame.toDF(*plain), execution), list(plain)
    columns = list(zip(texts, fields, strict=True))
    if there != names:
        by_name = dict(zip(there, columns, strict=True))
        columns = [by_name[name] for name in names]
    return _read(table, columns, rel, restrictions)


def _are_alike(names: Sequence[str]) -> bool:
    """Whether some names are equal, or differ in case only: a case-insensitive session takes them for one."""
    return len({name.lower() for name in names}) < len(names)


def as_inside(text: str, type_: Type, *, is_new: bool = False) -> str:
    """Normalize a column: fields of structs are named by position, UUIDs have one spelling.

    As a new value, the column is no ``CHAR(n)`` to Spark, which then pads nothing that it is compared with. The
    optimizer removes the cast, but only after padding.
    """
    inside = spark_sql_type(type_)
    value = f"CAST({text} AS {inside})" if is_new or "STRUCT<" in inside else text
    return rebuild_parts(value, type_, UUID, _small_letters)


def _small_letters(value: str, type_: Type) -> str:
    """Write a UUID in the spelling of literals.

    Since the value is computed, Spark compares it itself, and pushes no comparison down to readers: Iceberg has another
    order of UUIDs.
    """
    return f"lower({value})"


def _virtual(rel: rl.Read, lowering: InputLowering) -> Rows:
    """Lower a virtual table: literals to an Arrow table; other expressions, and literals within text, to SQL."""
    assert isinstance(rel.definition, rl.VirtualTable)
    records = rel.definition.rows
    names = lowering.execution.names(len(rel.base_schema))
    if any(is_subquery(node) for record in records for node in walk(record, into_relations=False)):
        raise UnsupportedError("a row of a virtual table cannot hold a subquery")  # spec decision 54
    types = rel.base_schema.types
    literals = all(isinstance(value, Literal) for record in records for value in record.fields)
    if literals and not lowering.as_text and types and can_be_arrow(types):
        return Rows(
            FrameTable(names, arrow_frame(records, types, names, lowering.execution.spark), lowering.execution), names
        )
    one_row, here = prepare_context(lowering, Rows(lowering.make_one_row([]), ()), None, [])
    if records and types:
        return _virtual_by_generator(records, one_row.table, names, here, lowering)
    if records:
        return Rows(
            one_row.table.select([Item(f"explode(array_repeat(1, {len(records)}))", lowering.execution.names(1))]), ()
        )
    nulls = [Item(f"CAST(NULL AS {spark_sql_type(type_)})", (name,)) for type_, name in zip(types, names, strict=True)]
    return Rows(one_row.table.select(nulls).where("false"), names)


def _virtual_by_generator(
    records: Sequence[Record], one_row: Table, names: tuple[str, ...], here: ExpressionContext, lowering: InputLowering
) -> Rows:
    """Lower records to a generator over one row: of structs, or of numbers by which the values are chosen."""
    if current_engine().has_lists_of_records:
        structs = (f"struct({', '.join(here.sql(value) for value in record.fields)})" for record in records)
        return Rows(one_row.select([Item(f"inline(array({', '.join(structs)}))", names)]), names)
    number = lowering.execution.name()
    numbers = ", ".join(map(str, range(len(records))))
    counted = one_row.select([Item(f"explode(array({numbers}))", (number,))])
    columns = (
        {n: here.sql(record.fields[position]) for n, record in enumerate(records)} for position in range(len(names))
    )
    select_items = [Item(choose_by_number(number, texts), (name,)) for texts, name in zip(columns, names, strict=True)]
    return Rows(counted.select(select_items), names)


def _apply_mask(rows: Rows, rel: rl.Read, mask: ex.StructMask) -> Rows:
    """Apply a mask to columns; those that are selected in part are new columns."""
    new_items: dict[int, Item] = {}
    for number, item in enumerate(mask.items):
        if item.child is not None:
            type_ = rel.base_schema.types[item.position]
            text = masked_value(rows.columns[item.position], item.child, type_, may_be_null=True)
            new_items[number] = Item(text, (rows.table.execution.name(),))
    wide = rows.append_columns(list(new_items.values())) if new_items else rows
    columns = (
        new_items[n].names[0] if n in new_items else rows.columns[item.position] for n, item in enumerate(mask.items)
    )
    return Rows(wide.table, tuple(columns))
