"""Trace the columns of a relation to the sources that they come from.

Each relation below is looked at once, inputs first. What it says of a column are uses: which column of a source, and
how. A subquery is traced before the relation around it, so a reference to an outer row is a source of its own until the
relation is there whose row is meant, and is then replaced by what that row's column comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.accesses import AccessObject
from substrait_dsl.algebra.node import Expression, Rel, walk_upwards
from substrait_dsl.algebra.rules import JOIN_RULES, SetOp
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.analysis.column_lineage import ColumnLineage, ColumnOrigin, Lineage, SourceColumn
from substrait_dsl.analysis.uses import NOTHING, Row, Traced, Uses, combine, with_row


def trace_columns(rel: Rel) -> Lineage:
    """Return where the columns of a relation come from; of one that changes a table, those that it writes."""
    traced = trace_relations(rel)
    names, written = _written(rel, traced)
    return Lineage(tuple(map(_column, names, written.columns)), _origins(written.rows))


def trace_relations(root: Rel) -> dict[int, Traced]:
    """Return what each relation in and below one comes from, subqueries too, by the id of the relation."""
    traced: dict[int, Traced] = {}
    for node in walk_upwards(root):
        if isinstance(node, Rel):
            traced[id(node)] = trace_relation(node, traced)
    return traced


def _written(rel: Rel, traced: Mapping[int, Traced]) -> tuple[tuple[str, ...], Traced]:
    """Return the names of the columns that a lineage is about, and what they come from."""
    match rl.as_union(rel):
        case rl.Write(table_schema=schema, input=source):
            return schema.names, traced[id(source)]
        case rl.Ddl(table_schema=NamedStruct() as schema, view_definition=Rel() as definition):
            return schema.names, traced[id(definition)]
        case rl.Update(table_schema=schema, transformations=transformations) as update:
            return tuple(schema.names[each.column] for each in transformations), _updated(update, traced)
        case _:
            return rel.schema.names, traced[id(rel)]


def _column(name: str, uses: Uses) -> ColumnLineage:
    origins = _origins(uses)
    return ColumnLineage(
        name,
        tuple(origin for origin in origins if origin.is_direct),
        tuple(origin for origin in origins if not origin.is_direct),
    )


def _origins(uses: Uses) -> tuple[ColumnOrigin, ...]:
    return tuple(sorted(ColumnOrigin(source, use) for source, use in uses if isinstance(source, SourceColumn)))


# --- relations


def trace_relation(rel: Rel, traced: Mapping[int, Traced]) -> Traced:
    """Trace one relation whose inputs, and the relations of its subqueries, are traced."""
    inputs = [traced[id(each)] for each in rel.inputs]
    row = row_of(rel, inputs)
    found = _trace_own(rel, inputs, Row(row, traced))
    return found if rel.anchor is None else with_row(found, rel.anchor, row)


def row_of(rel: Rel, inputs: Sequence[Traced]) -> Sequence[Uses]:
    """Return what the columns of the row come from that the expressions of a relation see."""
    match rl.as_union(rel):
        case rl.Read(definition=definition, base_schema=schema):
            return _table_columns(definition, schema)
        case rl.Update(table=table, table_schema=schema):
            return _table_columns(table, schema)
        case _:
            return [uses for each in inputs for uses in each.columns]


def _trace_own(rel: Rel, inputs: Sequence[Traced], row: Row) -> Traced:  # a closed union
    columns = tuple(row.columns)
    rows = NOTHING.union(*(each.rows for each in inputs))
    match rl.as_union(rel):
        case rl.Read() as read:
            return _read(read, row)
        case rl.Filter(condition=condition):
            return Traced(columns, rows | row.uses([condition], "filter"))
        case rl.Sort(keys=keys) | rl.TopN(keys=keys):
            return Traced(columns, rows | row.uses(keys, "sort"))
        case rl.Project(expressions=expressions):
            return Traced(columns + tuple(row.uses([each], "identity") for each in expressions), rows)
        case rl.Emit(mapping=mapping):
            return Traced(tuple(columns[position] for position in mapping), rows)
        case rl.Aggregate(keys=keys, measures=measures, grouping_sets=grouping_sets):
            grouped = tuple(row.uses([key], "identity") for key in keys)
            measured = tuple(_measure(each, row) for each in measures)
            number = (NOTHING,) if len(grouping_sets) > 1 else ()
            return Traced(grouped + measured + number, rows | row.uses(keys, "group_by"))
        case rl.Window(functions=functions, partitions=partitions, sorts=sorts):
            window = row.uses((*partitions, *sorts), "window")
            return Traced(columns + tuple(row.uses([each], "transformation") | window for each in functions), rows)
        case rl.Expand(fields=fields):
            return Traced((*(_expanded(field, row) for field in fields), NOTHING), rows)
        case rl.Unnest(column=column):
            element = combine(columns[column], "transformation")
            return Traced((*columns, element, element), rows | combine(columns[column], "join"))
        case rl.Set(op=op):
            return _trace_set_operation(op, inputs, rows)
        case rl.Join() | rl.LateralJoin() | rl.HashJoin() | rl.MergeJoin() | rl.NestedLoopJoin() as join:
            return _trace_join(join, inputs, row)
        case rl.Write():
            return Traced(columns if len(rel.schema) else (), rows)
        case rl.Update(condition=condition):
            return Traced((row.uses([condition], "filter"),))
        case rl.Ddl():
            return Traced(())
        case rl.ExtensionLeaf(detail=detail):
            return Traced(tuple(_columns_of("extension", (detail.type_url,), rel.schema)))
        case rl.ExtensionSingle() | rl.ExtensionMulti():  # nobody knows what it does
            return Traced((combine(NOTHING.union(*columns), "transformation"),) * len(rel.schema), rows)
        case rl.Cross() | rl.Fetch() | rl.Exchange() | rl.MergingCapture() | rl.SimpleCapture():
            return Traced(columns, rows)
        case never:
            assert_never(never)


def _read(read: rl.Read, row: Row) -> Traced:
    columns = tuple(row.columns)
    if read.projection is not None:
        columns = tuple(
            columns[item.position] if item.child is None else combine(columns[item.position], "transformation")
            for item in read.projection.items
        )
    return Traced(columns, row.uses([read.filter, read.best_effort_filter], "filter"))


def _measure(measure: ex.Measure, row: Row) -> Uses:
    arguments = [each for each in measure.function.arguments if isinstance(each, Expression)]
    decided = row.uses(measure.function.sorts, "sort") | row.uses([measure.filter], "filter")
    return row.uses(arguments, "aggregation") | decided


def _expanded(field: rl.ExpandField, row: Row) -> Uses:
    values = field.duplicates if isinstance(field, rl.SwitchingField) else (field.expression,)
    return row.uses(values, "identity")


def _updated(update: rl.Update, traced: Mapping[int, Traced]) -> Traced:
    """Return what an update writes: the new values, into the rows for which its condition is true."""
    row = Row(row_of(update, ()), traced)
    written = tuple(row.uses([each.value], "identity") for each in update.transformations)
    found = Traced(written, row.uses([update.condition], "filter"))
    return found if update.anchor is None else with_row(found, update.anchor, row.columns)


def _trace_set_operation(op: SetOp, inputs: Sequence[Traced], rows: Uses) -> Traced:
    """Trace a set operation: a union has the values of all inputs, the others those of the first one.

    Unless it keeps all rows, the values of all columns decide which rows there are.
    """
    first, *_ = inputs
    if op in ("union_distinct", "union_all"):
        columns = tuple(NOTHING.union(*uses) for uses in zip(*(each.columns for each in inputs), strict=True))
    else:
        columns = first.columns
    if op == "union_all":
        return Traced(columns, rows)
    compared = NOTHING.union(*(uses for each in inputs for uses in each.columns))
    return Traced(columns, rows | combine(compared, "set_operation"))


_AnyJoin = rl.Join | rl.LateralJoin | rl.HashJoin | rl.MergeJoin | rl.NestedLoopJoin


def _trace_join(join: _AnyJoin, inputs: Sequence[Traced], row: Row) -> Traced:
    """Trace a join: its condition decides which rows come out.

    A mark join or a single join puts out each row of one input once. So its condition decides about the columns that
    come from the other input, or the mark, and not about rows.
    """
    left, right = inputs
    compared = _compared(join, left, right, row)
    rule = JOIN_RULES[join.how]
    each_left_once = join.how in ("left_mark", "left_single")
    each_right_once = join.how in ("right_mark", "right_single")
    left_columns, right_columns = left.columns, right.columns
    if each_left_once:
        rows, decided = left.rows, compared | right.rows
        right_columns = tuple(uses | decided for uses in right_columns)
    elif each_right_once:
        rows, decided = right.rows, compared | left.rows
        left_columns = tuple(uses | decided for uses in left_columns)
    else:
        rows = decided = left.rows | right.rows | compared
    columns: tuple[Uses, ...] = ()
    if rule.left != "dropped":
        columns += left_columns
    if rule.right != "dropped":
        columns += right_columns
    if rule.mark:
        columns += (decided,)
    if not isinstance(join, rl.NestedLoopJoin):
        rows |= Row(columns, row.traced).uses([join.post_filter], "filter")
    return Traced(columns, rows)


def _compared(join: _AnyJoin, left: Traced, right: Traced, row: Row) -> Uses:
    """Return what the condition of a join, or its keys and its residual, come from."""
    if not isinstance(join, rl.HashJoin | rl.MergeJoin):
        return row.uses([join.condition], "join")
    lefts = Row(left.columns, row.traced).uses([key.left for key in join.keys], "join")
    rights = Row(right.columns, row.traced).uses([key.right for key in join.keys], "join")
    return lefts | rights | row.uses([join.residual], "join")


def _table_columns(definition: rl.ReadDefinition, schema: NamedStruct) -> list[Uses]:
    """Return the columns of what is read, as sources of their own."""
    match definition:
        case rl.NamedTable(names=names):
            return _columns_of("table", names, schema)
        case rl.VirtualTable():
            return _columns_of("virtual_table", (), schema)
        case rl.LocalFiles(items=items):
            return _columns_of("files", tuple(dict.fromkeys(item.uri for item in items)), schema)
        case rl.IcebergTable(metadata_uri=uri):
            return _columns_of("iceberg_table", (uri,), schema)
        case rl.ExtensionTable(detail=detail):
            return _columns_of("extension", (detail.type_url,), schema)
        case never:
            assert_never(never)


def _columns_of(object_: AccessObject, names: tuple[str, ...], schema: NamedStruct) -> list[Uses]:
    return [frozenset(((SourceColumn(object_, names, name), "identity"),)) for name in schema.names]
