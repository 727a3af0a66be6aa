"""Alter a table: derive the statements from the columns that it is to have.

Columns are matched by name. If as many columns disappear as are new, at the same positions and with the same types,
they were renamed; if some only disappear, they are dropped, and if some are only new, they are added.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import UnsupportedError, quote
from substrait_dsl.spark.catalog.table_metadata import REQUIRED
from substrait_dsl.spark.catalog.table_names import column_list
from substrait_dsl.spark.changes.statements import property_of, run, sql_type
from substrait_dsl.spark.expressions.literals import literal_to_sql
from substrait_dsl.spark.expressions.types import to_spark
from substrait_dsl.spark.session.cancellation import hold_interrupts
from substrait_dsl.spark.session.change_outcomes import note_outcome
from substrait_dsl.spark.sources.schema_compatibility import parts_as_required, require_lossless

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructField, StructType

    from substrait_dsl.spark.catalog.table_metadata import StoredTable
    from substrait_dsl.spark.session.execution_context import ExecutionContext


@attrs.frozen
class _Changes:
    """The differences between the present and the wanted columns of a table."""

    renamed: dict[str, str]
    dropped: list[str]
    added: list[str]
    retyped: list[str]
    relaxed: list[str]
    """The required columns that become nullable."""


def alter(
    table: StoredTable, schema: NamedStruct, defaults: Sequence[Literal], what: str, execution: ExecutionContext
) -> None:
    """Alter a table: one statement for each kind of change, and for each column that is renamed or gets a default.

    Raises:
        UnsupportedError: the format cannot do it, a column would become required, or it is not clear which column is
            which afterwards.
    """
    table.require_no_branch(what)
    wanted = to_spark(schema)
    changes = _changes(table, wanted, what)
    _require_same_parts(table, schema, changes, what)
    _require_possible(table, changes, wanted, defaults, what, execution)
    statements = list(_statements(table, changes, wanted, dict(zip(schema.names, defaults, strict=False))))
    with hold_interrupts():
        for statement in statements:
            run(what, f"ALTER TABLE {table.sql} {statement}", execution)
        note_outcome("made")


def _statements(
    table: StoredTable, changes: _Changes, wanted: StructType, defaults: Mapping[str, Literal]
) -> Iterator[str]:
    """Yield the clauses of ALTER TABLE, in an order that works."""
    types = {field.name: sql_type(field.dataType) for field in wanted.fields}
    for old, new in changes.renamed.items():
        yield f"RENAME COLUMN {column_list([old])} TO {column_list([new])}"
    if changes.dropped:
        yield f"DROP COLUMNS ({column_list(changes.dropped)})"
    if changes.retyped:
        yield _alter_columns(changes.retyped, {name: f"TYPE {types[name]}" for name in changes.retyped})
    nullable = {changes.renamed.get(field.name, field.name) for field in table.schema.fields if field.nullable}
    if relaxed := _difference(changes.relaxed, nullable):
        yield _alter_columns(relaxed, dict.fromkeys(relaxed, "DROP NOT NULL"))
    if changes.added:
        added = (f"{column_list([name])} {types[name]}{_default(defaults.get(name))}" for name in changes.added)
        yield f"ADD COLUMNS ({', '.join(added)})"
    if not table.is_iceberg:
        for name in _difference(defaults, changes.added):
            default = _default(defaults[name])
            yield _alter_columns([name], {name: f"SET{default}" if default else "DROP DEFAULT"})
    yield from _required_clauses(table, changes)


def _alter_columns(names: Iterable[str], actions: Mapping[str, str]) -> str:
    return f"ALTER COLUMN {', '.join(f'{column_list([name])} {actions[name]}' for name in names)}"


def _required_clauses(table: StoredTable, changes: _Changes) -> Iterator[str]:
    """Yield the clause that corrects the table's property of required columns, if they change."""
    required = json.loads(table.properties.get(REQUIRED, "[]"))
    remaining = [changes.renamed.get(name, name) for name in _difference(required, changes.dropped)]
    remaining = _difference(remaining, changes.relaxed)
    if remaining != required:
        yield f"SET TBLPROPERTIES {property_of(remaining)}"


def _default(value: Literal | None) -> str:
    return "" if value is None or value.value is None else f" DEFAULT {literal_to_sql(value)}"


def _changes(table: StoredTable, wanted: StructType, what: str) -> _Changes:
    """Compare the present and the wanted columns of a table, by name and order."""
    old = {field.name: field for field in table.schema.fields}
    new = {field.name: field for field in wanted.fields}
    gone, fresh = _difference(old, new), _difference(new, old)
    renamed = _match_renamed_columns(list(old), list(new), gone, fresh, what) if gone and fresh else {}
    stays = _difference(old, gone)
    if renamed:
        gone, fresh = [], []
    both = dict(zip(stays, stays, strict=True)) | renamed
    _require_order(list(new), [both[name] for name in old if name in both], fresh, what)
    required = {both[name] for name in both if name in table.required}
    _require_none_tightened(new, required, what)
    return _Changes(
        renamed,
        dropped=gone,
        added=fresh,
        retyped=[to for name, to in both.items() if sql_type(old[name].dataType) != sql_type(new[to].dataType)],
        relaxed=[name for name in both.values() if new[name].nullable and name in required],
    )


def _difference(names: Iterable[str], others: Container[str]) -> list[str]:
    return [name for name in names if name not in others]


def _match_renamed_columns(
    old: Sequence[str], new: Sequence[str], gone: Sequence[str], fresh: Sequence[str], what: str
) -> dict[str, str]:
    """Return the new names of renamed columns, which have the positions of the old ones.

    Raises:
        UnsupportedError: there are more or fewer columns than before, or others stand there.
    """
    places = dict(zip(old, new, strict=False))
    renamed = {name: places.get(name, name) for name in gone}
    if len(old) != len(new) or list(renamed.values()) != fresh:
        raise UnsupportedError(
            f"{what}: the columns {quote(gone)} are gone and {quote(fresh)} are new, so which of them were "
            "renamed is not clear",
            hint="alter the table twice: drop or rename columns first, then add the others",
        )
    return renamed


def _require_order(new: Sequence[str], order: Sequence[str], added: Sequence[str], what: str) -> None:
    """Raise `UnsupportedError` if the columns that stay change their order, or new ones do not follow them."""
    if order != [name for name in new if name in order] or (added and list(new)[-len(added) :] != added):
        raise UnsupportedError(
            f"{what}: columns stay in the order they have, {quote(order)}, and new ones follow",
            hint="give them in that order; a query may have them in another: select(...)",
        )


def _require_none_tightened(new: Mapping[str, StructField], required: Set[str], what: str) -> None:
    """Raise `UnsupportedError` for columns that would become required."""
    if tightened := [name for name, field in new.items() if not field.nullable and name not in required]:
        raise UnsupportedError(
            f"{what}: {quote(tightened)} would become required, which rows that are there may not fit",
            hint="create_table(..., or_replace=True), or a ctas with replace_if_exists",
        )


def _require_same_parts(table: StoredTable, schema: NamedStruct, changes: _Changes, what: str) -> None:
    """Raise `UnsupportedError` for columns with a field or an element that would no longer be required."""
    types = {changes.renamed.get(field.name, field.name): field.dataType for field in table.schema.fields}
    relaxed = [
        field.name
        for field in schema
        if field.name in types
        and field.name not in changes.retyped
        and not parts_as_required(types[field.name], field.type)
    ]
    if relaxed:
        raise UnsupportedError(
            f"{what}: the columns {quote(relaxed)} have required parts, which would no longer be required",
            hint="declare the parts required, too",
        )


def _require_possible(
    table: StoredTable,
    changes: _Changes,
    wanted: StructType,
    defaults: Sequence[Literal],
    what: str,
    execution: ExecutionContext,
) -> None:
    """Raise `UnsupportedError` for changes that the format does not support, before any statement runs."""
    require_lossless(wanted, table.format, what, execution.spark)
    if respelled := [old for old, new in changes.renamed.items() if old.lower() == new.lower()]:
        raise UnsupportedError(f"{what}: Spark cannot change the case of letters alone, as in {quote(respelled)}")
    if table.is_iceberg:
        if keys := [name for name in (*changes.dropped, *changes.relaxed) if name in _keys(table, changes)]:
            raise UnsupportedError(
                f"{what}: {quote(keys)} are identifier fields of the table, which stay, and stay required",
                hint=f"ALTER TABLE {'.'.join(table.names)} DROP IDENTIFIER FIELDS {', '.join(keys)}, in Spark's SQL",
            )
        if any(default.value is not None for default in defaults):
            raise UnsupportedError(f"{what}: Spark cannot give the columns of an Iceberg table default values")
        old = {changes.renamed.get(field.name, field.name): field.dataType for field in table.schema.fields}
        for name in changes.retyped:
            if not _widens(old[name], wanted[name].dataType):
                raise UnsupportedError(
                    f'{what}: Iceberg cannot make column "{name}", {old[name].simpleString()}, a '
                    f"{wanted[name].dataType.simpleString()}",
                    hint="i32 becomes i64, fp32 becomes fp64, a decimal gets more digits before the point",
                )
        return
    refused = {
        "renamed": changes.renamed,
        "dropped": changes.dropped,
        "retyped": changes.retyped,
        "relaxed": changes.relaxed,
    }
    for word, columns in refused.items():
        if columns:
            raise UnsupportedError(
                f"{what}: the columns {quote(columns)} would be {word}, and a table of the format {table.format} "
                "takes new columns and defaults only",
                hint='select(...).write(name, "ctas", create_mode="replace_if_exists") makes a new table of the rows',
            )


def _keys(table: StoredTable, changes: _Changes) -> set[str]:
    """Return the identifier fields of a table under their new names."""
    return {changes.renamed.get(name, name) for name in table.identifiers}


def _widens(old: DataType, new: DataType) -> bool:
    """Whether Iceberg can read values of one type as another."""
    from pyspark.sql import types as spark

    match old, new:
        case (spark.IntegerType(), spark.LongType()) | (spark.FloatType(), spark.DoubleType()):
            return True
        case spark.DecimalType(), spark.DecimalType():
            return old.scale == new.scale and old.precision <= new.precision
        case _:
            return False
