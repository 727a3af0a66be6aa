"""Reads: tables by their names, and rows in the plan."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.sql_output.dialects import Dialect
from substrait_dsl.sql_output.expressions import Outer, Scope, write
from substrait_dsl.sql_output.names import distinct_names, fold, identifier
from substrait_dsl.sql_output.queries import Select
from substrait_dsl.sql_output.written import Written, cast_tree

if TYPE_CHECKING:
    from sqlglot import exp

    from substrait_dsl.sql_output.relations import QueryWriter

_SOURCES = {
    rl.LocalFiles: "files",
    rl.IcebergTable: "the metadata of an Iceberg table",
    rl.ExtensionTable: "a table of an extension",
}

FILE_ENDINGS = frozenset(
    {
        *("arrow", "arrows", "avro", "csv", "db", "ddb", "duckdb", "feather", "fgb", "geojson", "gpkg", "gz", "ipc"),
        *("json", "jsonl", "lance", "ndjson", "orc", "parq", "parquet", "pq", "shp", "sqlite", "tsv", "txt", "vortex"),
        *("xls", "xlsx", "xml", "zip", "zst"),
    }
)
"""What the names of files end with that DuckDB reads, by itself or with an extension, where no table has the name."""

FORMATS = frozenset(
    {
        *("avro", "binaryfile", "cobol", "com", "csv", "delta", "deltasharing", "excel", "hudi", "iceberg", "image"),
        *("json", "kafka", "libsvm", "lance", "org", "orc", "paimon", "parquet", "protobuf", "text", "xml"),
    }
)
"""What Spark takes for a format of files, if it is the first of two parts of a name that no table has."""

MAX_PARTS = 3
"""Of so many parts the name of a table may be: a catalog, a schema, a table."""


def read_table(read: rl.Read, outer: Outer, writer: QueryWriter) -> Select:
    """Write a read. Raises `UnsupportedError` for one of files, and for columns of types that are not written."""
    match read.definition:
        case rl.NamedTable(names=names):
            select = _named(read, names, writer)
        case rl.VirtualTable(rows=rows):
            select = _virtual(read, rows, writer)
        case other:
            raise UnsupportedError(
                f"a read of {_SOURCES[type(other)]} is not written as SQL: a query reads tables by their names",
                hint="register the files as a table of the engine, and read it by read_named(name, schema)",
            )
    if read.filter is not None:
        select = writer.filtered(select, read.filter, outer, read)
    if read.projection is not None:
        if any(item.child is not None for item in read.projection.items):
            raise UnsupportedError("a read of a part of a struct is not written as SQL")
        places = [item.position for item in read.projection.items]
        select = attrs.evolve(
            select,
            columns=tuple(select.columns[place] for place in places),
            names=tuple(select.names[place] for place in places),
        )
    return select


def _named(read: rl.Read, names: tuple[str, ...], writer: QueryWriter) -> Select:
    from sqlglot import exp

    if len(names) > MAX_PARTS:
        raise UnsupportedError(f"the name of a table has at most {MAX_PARTS} parts in SQL, this is {'.'.join(names)}")
    _check_no_file(names, writer.dialect)
    first_of: dict[str, str] = {}
    for name in read.base_schema.names:
        if (other := first_of.setdefault(fold(name), name)) != name:
            raise UnsupportedError(
                f"the columns {other!r} and {name!r} of the table {'.'.join(names)} are one to {writer.dialect.title}, "
                "which does not tell capital letters from small ones"
            )
    alias = writer.names.take(names[-1], is_table=True)
    *above, table = names
    source = exp.Table(
        this=identifier(table),
        db=identifier(above[-1]) if above else None,
        catalog=identifier(above[0]) if len(above) > 1 else None,
        alias=None if alias == table else exp.TableAlias(this=identifier(alias)),
    )
    columns = tuple(
        Written(exp.Column(this=identifier(field.name), table=identifier(alias)), field.type)
        for field in read.base_schema
    )
    return Select(source, (), columns, tuple(read.base_schema.names))


def _check_no_file(names: tuple[str, ...], dialect: Dialect) -> None:
    """Raise `UnsupportedError` for a name that the engine takes for a file, if there is no table of that name."""
    name = ".".join(names)
    if dialect.name == "duckdb":
        endings = re.split(r"[^a-z0-9_]+", name.casefold())[1:]
        is_file = "/" in name or "\\" in name or not FILE_ENDINGS.isdisjoint(endings)
        hint = "give the table another name"
    else:
        is_file = len(names) == 2 and (
            names[0].casefold() in FORMATS or "." in names[0] or re.search(r"[./:\\]", names[1]) is not None
        )
        hint = f"name its catalog, too: read_named({('spark_catalog', *names)!r}, schema)"
    if is_file:
        raise UnsupportedError(
            f"where there is no table {name}, {dialect.title} would read a file of this name, which the plan does not",
            hint=hint,
        )


def _virtual(read: rl.Read, rows: tuple[rl.Record, ...], writer: QueryWriter) -> Select:
    """Write rows of the plan: VALUES, whose columns are cast where constants alone would have other types."""
    from sqlglot import exp

    schema = read.base_schema
    names = tuple(schema.names)
    if not rows or not len(schema):
        if len(rows) > 1:
            raise UnsupportedError("rows without columns are not written as SQL")
        nulls = tuple(Written(cast_tree(exp.Null(), field.type, writer.dialect), field.type) for field in schema)
        return Select(None, (), nulls, names, where=() if rows else (exp.Boolean(this=False),))

    def refuse(rel: object, outer: object) -> exp.Query:
        raise AssertionError("rows of the plan are constant")

    scope = Scope((), {}, writer.dialect, refuse)
    written = [[write(value, scope) for value in row.fields] for row in rows]
    alias = writer.names.take("listed")
    inside = distinct_names(names)
    values = exp.Values(
        expressions=[exp.Tuple(expressions=[value.tree.copy() for value in row]) for row in written],
        alias=exp.TableAlias(this=identifier(alias), columns=[identifier(name) for name in inside]),
    )
    columns = []
    for number, (name, field) in enumerate(zip(inside, schema, strict=True)):
        is_typed = all(row[number].is_typed for row in written)
        column = exp.Column(this=identifier(name), table=identifier(alias))
        columns.append(Written(column if is_typed else cast_tree(column, field.type, writer.dialect), field.type))
    return Select(values, (), tuple(columns), names)
