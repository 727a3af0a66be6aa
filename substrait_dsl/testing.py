"""Helpers for tests of pipelines: rows in, rows out.

They run a relation on the embedded engine, which needs no Java and answers in milliseconds once it is up, and report
the difference, and what to write if the rows are right. The fixture ``embedded_session`` of the pytest plugin, which
is installed with the package, gives the session of that engine.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from os import PathLike
from struct import pack, unpack
from typing import TYPE_CHECKING, Any
from uuid import UUID

import attrs

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Literal
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.relations import NamedTable, Read
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.analysis.schema_changes import ColumnChangeKind, compare_schemas
from substrait_dsl.contracts import WRITE, Contracts, require_column_changes
from substrait_dsl.errors import InvalidArgumentError, UnknownFieldError, error_context, quote, require
from substrait_dsl.fluent.base import RelationBase
from substrait_dsl.fluent.plan import Plan
from substrait_dsl.fluent.reads import record_of
from substrait_dsl.fluent.relation_schema import RelationSchema
from substrait_dsl.fluent.run_verbs import RunVerbs
from substrait_dsl.fluent.schemas import as_struct
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    import pyarrow as pa

    from substrait_dsl.fluent.execution import Session
    from substrait_dsl.fluent.table_arguments import Tables

MAX_SHOWN = 20
"""How many rows a message shows of each kind."""

Rows = Any
"""A list of tuples or of dicts, an Arrow table, a DataFrame of pandas, Polars or Spark, or a relation, which is run."""


def assert_same_rows(
    relation_or_rows: Rows,
    expected: Rows,
    *,
    tables: Tables | None = None,
    ordered: bool = False,
    session: Session | None = None,
) -> None:
    """Assert that a relation gives some rows, each as often as it is expected.

    Args:
        relation_or_rows: the relation, which is run, or rows that something else gave: a list of tuples or dicts, an
            Arrow table, a DataFrame of pandas, Polars or Spark.
        expected: the rows in any of these forms. Of dicts, each has all columns. Where both sides have names of
            columns, as tables and relations do, these are the same, in order.
        tables: what the relation reads, by name, as of ``collect``; a list of tuples or dicts may stand for a table,
            too: they become rows of the columns that the relation declares, exactly, and a dict may leave out columns
            that may be NULL.
        ordered: whether the order counts.
        session: what runs the relation, as of ``collect``; None: the embedded engine.

    Raises:
        AssertionError: the rows are others. It shows which, and the line that expects those that came.
        InvalidArgumentError: an argument is none of these.
        SubstraitDslError: what the relation raises when it is run.

    Example:
        >>> import substrait_dsl as sd
        >>> from substrait_dsl.testing import assert_same_rows
        >>> orders = sd.read_named("orders", {"id": sd.I64, "price": sd.I64})
        >>> dear = orders.filter(lambda o: o.price > 10).select("id")
        >>> assert_same_rows(dear, [(2,)], tables={"orders": [(1, 5), (2, 20)]})
    """
    __tracebackhide__ = True
    with error_context(verb="assert_same_rows"):
        if type(ordered) is not bool:
            raise InvalidArgumentError(f"ordered must be True or False, got {ordered!r}")
        for each in (relation_or_rows, expected):
            if isinstance(each, Plan):
                raise InvalidArgumentError("a relation is run, got a plan", hint="write plan.roots[0]")
        relations = [each for each in (relation_or_rows, expected) if isinstance(each, RelationBase)]
        if not relations and (tables is not None or session is not None):
            argument = "tables" if tables is not None else "session"
            raise InvalidArgumentError(f"{argument} is for a relation that is run, and both sides are rows")
        struct = relations[0]._rel.schema if relations else None
        run = _Run(relations, tables, session)
        names, actual = _rows(relation_or_rows, struct, run, "the rows")
        wanted_names, wanted = _rows(expected, struct, run, "expected", names)
    if names and wanted_names and names != wanted_names:
        raise AssertionError(
            "the columns are not the expected ones\n"
            f"  columns: {', '.join(names)}\n  expected: {', '.join(wanted_names)}"
        )
    message = _difference(actual, wanted, ordered)
    if message is not None:
        raise AssertionError(f"{message}{_columns(names)}\nto expect what came, write:\n{_list_rows(actual)}")


def assert_schema(relation: RelationBase | RelationSchema, expected: object) -> None:
    """Assert that a relation has some columns: names, types and nullability, in order. Nothing runs.

    Args:
        relation: the relation, or its schema.
        expected: the columns as ``read_named`` takes them: a schema class, a dict of types by names, a schema of
            pyarrow or PySpark. Of a struct without names for its fields, as in a text, any names will do.

    Raises:
        AssertionError: the columns are others. It shows which, and the line that expects those that there are.
        InvalidArgumentError: an argument is none of these.

    Example:
        >>> import substrait_dsl as sd
        >>> from substrait_dsl import functions as f
        >>> from substrait_dsl.testing import assert_schema
        >>> orders = sd.read_named("orders", {"id": sd.I64, "price": sd.I64})
        >>> assert_schema(orders.aggregate("id", total=lambda o: f.sum(o.price)), {"id": "i64", "total": "i64?"})
    """
    __tracebackhide__ = True
    with error_context(verb="assert_schema"):
        require(relation, (RelationBase, RelationSchema), "a relation has a schema")
        found = as_struct(relation.schema if isinstance(relation, RelationBase) else relation)
        wanted = as_struct(expected)  # type: ignore[arg-type]  # which refuses what is none
    lines = ["the columns are not the expected ones"]
    for position in range(max(len(found), len(wanted))):
        one, other = (str(each.fields[position]) if position < len(each) else "nothing" for each in (found, wanted))
        if one != other:
            lines.append(f"  column {position}: {one}, expected {other}")
        elif (names := _other_names(found.types[position], wanted.types[position])) is not None:
            lines.append(f"  column {position}: {one} with {quote(names[0])}, expected {quote(names[1])}")
    if len(lines) == 1:
        return
    columns = ", ".join(f'"{field.name}": "{field.type}"' for field in found)
    raise AssertionError("\n".join([*lines, "to expect what there is, write:", f"{{{columns}}}"]))


def assert_contract(
    relation: RelationBase | RelationSchema,
    pipeline: str,
    *,
    file: str | PathLike[str] = "contracts.json",
    allow: Sequence[ColumnChangeKind] = (),
) -> None:
    """Assert that a relation has the columns that its contract promises. Nothing runs.

    Args:
        relation: the relation, or its schema.
        pipeline: the name of the contract: ``"shop.pipelines.spent"``.
        file: where ``substrait-dsl contract write`` has stored it.
        allow: what may become of columns: ``"added"``, ``"dropped"``, ``"retyped"``, ``"loosened"``, ``"tightened"``
            or ``"moved"``, as `substrait_dsl.ColumnChange` has them.

    Raises:
        AssertionError: it has others. It shows what became of which column.
        InvalidArgumentError: there is no such file, or no contract of this name in it, or an argument is none of these.
        InvalidChoiceError: nothing of this name becomes of columns.
        PlanFormatError: the file holds no contracts.
        OSError: it cannot be read.
    """
    __tracebackhide__ = True
    with error_context(verb="assert_contract"):
        require(relation, (RelationBase, RelationSchema), "a relation has columns")
        require_column_changes(allow)
        promised = Contracts.load(file).find(pipeline)
    schema = relation.schema if isinstance(relation, RelationBase) else relation
    changes = [change for change in compare_schemas(promised, schema.struct) if change.kind not in allow]
    if changes:
        raise AssertionError(
            "\n".join(
                [
                    f"the columns are not those of the contract of {pipeline}",
                    *(f"  {change}" for change in changes),
                    f"if that is meant, write: {WRITE} {pipeline.rpartition('.')[0]}",
                ]
            )
        )


def _other_names(found: t.Type, wanted: t.Type) -> tuple[Sequence[str], Sequence[str]] | None:
    """Return the names of the fields of a struct, and the other ones that are expected.

    None: there are no such structs.
    """
    match found, wanted:
        case t.Struct(field_names=names), t.Struct(names=tuple(others)) if names != others:
            return names, others
    parts = (
        (one, other)
        for one, other in zip(found.parameters, wanted.parameters, strict=True)
        if isinstance(one, t.Type) and isinstance(other, t.Type)
    )
    return next(filter(None, (_other_names(one, other) for one, other in parts)), None)


# --- rows in


def rows_table(rows: Sequence[Any], schema: NamedStruct) -> pa.Table:
    """Make an Arrow table of rows, each value exactly of the type of its column.

    Args:
        rows: tuples in the order of the columns, or dicts, which may leave out columns that may be NULL.
        schema: the columns.

    Raises:
        LiteralError: a value does not fit its column.
        SchemaError: a row has another number of values, or lacks a required one.
        UnknownFieldError: a key is no column.

    Example:
        >>> from substrait_dsl.algebra.schema import NamedStruct
        >>> from substrait_dsl.algebra.types import I64, String
        >>> from substrait_dsl.testing import rows_table
        >>> columns = NamedStruct.of({"key": I64(), "name": String(nullable=True)})
        >>> rows_table([(1, "Ada"), {"key": 2}], columns).to_pylist()
        [{'key': 1, 'name': 'Ada'}, {'key': 2, 'name': None}]
    """
    from substrait_dsl.arrow.values import literals_table

    optional = {field.name: None for field in schema if field.type.nullable}
    scope = Scope("assert_same_rows", (), NamedStruct(()))
    records = []
    for number, row in enumerate(rows):
        record = record_of({**optional, **row} if isinstance(row, Mapping) else row, number, schema, scope)
        values = [value for value in record.fields if isinstance(value, Literal)]
        if len(values) < len(record.fields):
            raise InvalidArgumentError(f"row {number} holds an expression, and a table holds values")
        records.append(values)
    return literals_table(records, schema)


def _names(name: Any) -> Any:
    """Return the parts of a name of `tables`."""
    return (name,) if isinstance(name, str) else name


def _with_tables(relation: RelationBase, tables: Tables | None) -> Tables | None:
    """Return the tables, with Arrow tables in place of lists of rows."""
    if not isinstance(tables, Mapping) or not any(isinstance(each, list | tuple) for each in tables.values()):
        return tables
    declared: dict[tuple[str, ...], NamedStruct] = {}
    for node in walk(relation._rel):
        if isinstance(node, Read) and isinstance(node.definition, NamedTable):
            declared.setdefault(node.definition.names, node.base_schema)
    converted = {}
    for name, table in tables.items():
        names = _names(name)
        is_rows = isinstance(table, list | tuple) and names in declared
        with error_context(place=f"table {quote(['.'.join(names)])}" if is_rows else "tables"):
            converted[name] = rows_table(table, declared[names]) if is_rows else table
    return converted


# --- rows out


@attrs.frozen
class _Run:
    """The arguments with which the relations of a comparison are run."""

    relations: Sequence[RelationBase]
    tables: Tables | None
    session: Session | None

    def rows(self, relation: RunVerbs) -> list[tuple[Any, ...]]:
        """Return the rows of a relation, which is given all tables but those that only the other one reads."""
        used = _with_tables(relation, self.tables)
        if isinstance(used, Mapping):
            own, all_read = _reads(relation), set().union(*map(_reads, self.relations))
            used = {name: table for name, table in used.items() if _names(name) not in all_read - own}
        return [tuple(row) for row in relation.collect(self.session, tables=used)]


def _reads(relation: RelationBase) -> set[Any]:
    """Return the names of the tables that a relation reads."""
    return {access.names for access in relation._plan().accesses.reads}


def _rows(
    rows: Rows, struct: NamedStruct | None, run: _Run, what: str, names: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the names of columns, if there are any, and the rows that are given in any form.

    Args:
        rows: the rows.
        struct: the columns of the relation that they are compared with.
        run: what relations are run with.
        what: what they are, in the words of an error.
        names: what the keys of dicts are.
    """
    if isinstance(rows, RunVerbs):
        return rows.columns, run.rows(rows)
    found: Sequence[Any]
    if hasattr(rows, "sparkSession"):
        names, found = tuple(rows.columns), rows.collect()
    elif hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "iterrows"):
        from substrait_dsl.arrow.tables import table_of

        table = table_of(rows, what)
        columns = list(map(_values, table.columns))
        names = tuple(table.column_names)
        found = list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
    elif isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        is_lazy = type(rows).__name__ == "LazyFrame"
        hint = "frame.collect() gives its rows" if is_lazy else "one row is a list with one tuple: [(1, 'a')]"
        raise InvalidArgumentError(
            f"{what} must be a relation, a list of tuples or dicts, or a table, got {rows!r}", hint=hint
        )
    else:
        found = list(rows)
        names = _names_of_rows(found, names, what)
    return names, [_row(row, number, names, struct, what) for number, row in enumerate(found)]


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column, with maps as dicts where Python has such keys, and each but once."""
    try:
        found: list[Any] = column.to_pylist(maps_as_pydicts="strict")
    except (KeyError, TypeError):
        found = column.to_pylist()
    return found


def _names_of_rows(rows: Sequence[Any], names: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Return the names that the rows of a list have: keys in the order of `names`, or named fields; of tuples, none."""
    found = dict.fromkeys(fields for row in rows if (fields := _fields(row)))
    if len(found) > 1:
        one, other = map(quote, list(found)[:2])
        raise InvalidArgumentError(f"{what}: a row has the fields {one}, and another one {other}")
    if found:
        return next(iter(found))
    keyed = [row for row in rows if isinstance(row, Mapping)]
    return (names or tuple(keyed[0])) if keyed else ()


def _fields(row: Any) -> tuple[str, ...]:
    """Return the names of the fields of a row of Spark, or of a named tuple."""
    names: Any = getattr(row, "__fields__", None) or getattr(row, "_fields", ())
    return tuple(names) if isinstance(row, tuple) else ()


def _row(row: Any, number: int, names: tuple[str, ...], struct: NamedStruct | None, what: str) -> tuple[Any, ...]:
    if isinstance(row, Mapping):
        for name in row:
            if name not in names:
                raise UnknownFieldError.of_name(str(name), names)
        missing = [name for name in names if name not in row]
        if missing:
            raise InvalidArgumentError(f'{what}, row {number}: it has no value for "{missing[0]}"')
        row = tuple(row[name] for name in names)
    if isinstance(row, str | bytes) or not isinstance(row, Sequence):
        raise InvalidArgumentError(
            f"{what}, row {number}: it must be a tuple or a dict, got {row!r}",
            hint=f"a row of one column is ({row!r},)",
        )
    if struct is not None and len(row) != len(struct):
        widths = f"it has {len(row)} values, the relation {len(struct)} columns"
        raise InvalidArgumentError(f"{what}, row {number}: {widths}")
    if struct is None:
        return tuple(row)
    return tuple(_convert_to_type(value, field.type) for value, field in zip(row, struct, strict=True))


def _python_value(value: Any) -> Any:
    """Return the value of Python for one of numpy, and lists for its arrays."""
    is_of_numpy = type(value).__module__ == "numpy" and hasattr(value, "tolist")
    return value.tolist() if is_of_numpy and "64[" not in str(value.dtype) else value  # no numbers for times


def _convert_to_type(value: Any, type_: t.Type) -> Any:
    """Return an expected value as `collect` has it: a struct as a tuple, a uuid as text, a timestamp in local time.

    What is none of the type stays what it is, and so differs from all that are.
    """
    value = _python_value(value)
    match value, type_:
        case None, _:
            return None
        case UUID(), t.UUID():
            return str(value)
        case int(), t.Decimal() if not isinstance(value, bool):
            return Decimal(value)
        case int() | float(), t.FP32() | t.FP64() if not isinstance(value, bool):
            return _round_to_float(value, type_)
        case dt.datetime(tzinfo=zone), t.PrecisionTimestampTZ() if zone is not None:
            return value.astimezone().replace(tzinfo=None)
        case Mapping(), t.Struct(types=types):
            for name in value:
                if name not in type_.field_names:
                    raise UnknownFieldError.of_name(str(name), type_.field_names)
            return tuple(
                _convert_to_type(value.get(name), part) for name, part in zip(type_.field_names, types, strict=True)
            )
        case list() | tuple(), t.Struct(types=types) if len(value) == len(types):
            return tuple(_convert_to_type(each, part) for each, part in zip(value, types, strict=True))
        case list() | tuple(), t.List(element=element):
            return [_convert_to_type(each, element) for each in value]
        case Mapping(), t.Map():
            return {
                _convert_to_type(key, type_.key): _convert_to_type(each, type_.value) for key, each in value.items()
            }
        case _:
            return value


def _round_to_float(value: float, type_: t.Type) -> float:
    """Return a number as a float of a type: a whole one if it is exactly one, any other as the nearest."""
    if isinstance(value, int):
        return float(value) if abs(value) < 2**1024 - 2**970 and int(float(value)) == value else value
    if isinstance(type_, t.FP32) and math.isfinite(value):
        try:
            nearest: float = unpack("<f", pack("<f", value))[0]
        except OverflowError:  # larger than any
            return value
        return nearest
    return value


# --- what is different


def _key(value: Any) -> Any:
    """Return a key that is equal for values that count as the same.

    NaN is NaN, both zeros are one, and of decimals the digits count and not the scale. 1 is neither 1.0 nor a decimal,
    nor True, nor "1".
    """
    value = _python_value(value)
    match value:
        case bool() | Decimal():
            return (type(value).__name__, value)
        case float():
            return ("float", "NaN" if math.isnan(value) else value)
        case list() | tuple():
            return ("list" if isinstance(value, list) else "tuple", *map(_key, value))
        case Mapping():
            pairs = Counter((_key(key), _key(each)) for key, each in value.items())
            return ("map", frozenset(pairs.items()))
        case bytearray() | memoryview():
            return bytes(value)
        case Hashable():
            return value
    raise InvalidArgumentError(f"a row has a value that is none of a column: {value!r}")


def _difference(actual: Sequence[Any], expected: Sequence[Any], ordered: bool) -> str | None:
    """Describe the difference of two results; None if there is none."""
    found, wanted = [*map(_key, actual)], [*map(_key, expected)]
    missing, unexpected = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    if not missing and not unexpected:
        if not ordered or found == wanted:
            return None
        place = next(number for number, (one, other) in enumerate(zip(found, wanted, strict=True)) if one != other)
        return (
            "the rows are the expected ones in another order\n"
            f"  row {place}: {_write_value(actual[place])}, expected {_write_value(expected[place])}"
        )
    same = len(found) - unexpected.total()
    counts = f"{missing.total()} missing, {unexpected.total()} unexpected, {same} the same"
    lines = [f"the rows are not the expected ones: {counts}"]
    lines += _some("missing", expected, wanted, missing)
    lines += _some("unexpected", actual, found, unexpected)
    return "\n".join(lines)


def _some(what: str, rows: Sequence[Any], keys: Sequence[Any], counted: Counter[Any]) -> list[str]:
    left = Counter(counted)
    lines = []
    for row, key in zip(rows, keys, strict=True):
        if left[key] > 0:
            left[key] -= 1
            lines.append(f"  {what}: {_write_value(row)}")
    more = len(lines) - MAX_SHOWN
    return lines if more <= 0 else [*lines[:MAX_SHOWN], f"  {what}: {more:,} more"]


def _columns(names: Sequence[str]) -> str:
    return f"\n  columns: {', '.join(names)}" if names else ""


def _write_value(value: Any) -> str:
    """Return a value as a program writes it; structs are tuples."""
    match value:
        case tuple():
            return f"({', '.join(map(_write_value, value))}{',' if len(value) == 1 else ''})"
        case list():
            return f"[{', '.join(map(_write_value, value))}]"
        case dict():
            return f"{{{', '.join(f'{_write_value(key)}: {_write_value(each)}' for key, each in value.items())}}}"
        case _:
            return repr(value)


def _list_rows(rows: Sequence[Any]) -> str:
    shown = ", ".join(map(_write_value, rows[:MAX_SHOWN]))
    return f"[{shown}]" if len(rows) <= MAX_SHOWN else f"[{shown}, ...]  # {len(rows):,} rows"
