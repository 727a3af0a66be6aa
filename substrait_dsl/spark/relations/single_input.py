"""Relations of one input that need no module of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import (
    Cast,
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    Literal,
    Row,
    WindowCall,
    WindowFunction,
)
from substrait_dsl.algebra.expressions.references import ROOT
from substrait_dsl.algebra.joined_groups import has_keys
from substrait_dsl.algebra.node import Node, Rel, rebuild, walk
from substrait_dsl.algebra.null_filters import checked_column, is_without_null
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.errors import ExecutionError, UnsupportedError, class_words
from substrait_dsl.spark.expressions.literals import struct_to_sql
from substrait_dsl.spark.expressions.pushdown import column_sql, is_constant_condition
from substrait_dsl.spark.expressions.signed_zeros import sort_key
from substrait_dsl.spark.expressions.sorting import SortKeys, direction_of, ordering
from substrait_dsl.spark.expressions.templates import require_comparable
from substrait_dsl.spark.expressions.windows import window_to_sql
from substrait_dsl.spark.relations.column_pruning import referenced_types
from substrait_dsl.spark.relations.expression_context import (
    ExpressionContext,
    has_correlated,
    prepare_context,
    subqueries_of,
)
from substrait_dsl.spark.relations.partitions import known_order, sort_again, sort_as_known
from substrait_dsl.spark.relations.subqueries import is_subquery
from substrait_dsl.spark.relations.tables import Item, Rows, items
from substrait_dsl.spark.relations.texts import TextTable
from substrait_dsl.spark.session.engines import ENGINE, current_engine
from substrait_dsl.spark.session.source_map import note_refused, note_text

if TYPE_CHECKING:
    from substrait_dsl.spark.relations.input_lowering import InputLowering
    from substrait_dsl.spark.relations.tables import Table

MAX_ROWS = 2**31 - 1
"""The greatest sum of Spark's OFFSET and LIMIT."""

ALL_ROWS = 2**63 - 1
"""The greatest count, which many producers write for all rows."""


def lower_filter(rel: rl.Filter, lowering: InputLowering) -> Rows:
    """Lower to a WHERE; subqueries among its conjuncts become semi and anti joins."""
    rows = filter_rows(lowering[rel.input], rel.condition, rel.anchor, lowering)
    return sort_again(rel, rows) if _loses_order([rel.condition]) else rows


def filter_rows(
    rows: Rows,
    condition: Expression,
    anchor: int | None,
    lowering: InputLowering,
    visible: tuple[str, ...] | None = None,
) -> Rows:
    """Filter rows by a condition, which sees their columns, or those that are `visible`."""
    rows, here = prepare_context(lowering, rows, anchor, [condition], visible=visible)
    table = rows.table
    for conjunct in conjuncts(condition):
        text = here.condition(conjunct)
        table = filter_by_constant(table, text, lowering) if is_constant_condition(conjunct) else table.where(text)
    return Rows(table, rows.columns)


def filter_by_constant(table: Table, condition: str, lowering: InputLowering) -> Table:
    """Filter rows by a condition that refers to no row.

    An engine without such conditions would push one below an aggregate, which makes a row of none. It pushes none below
    a limit; inside of a subquery a limit would be one for each outer row.
    """
    if current_engine().has_constant_conditions or lowering.outer:
        return table.where(condition)
    return table.fetch(0, ALL_ROWS).where(condition)


def lower_sort(rel: rl.Sort, lowering: InputLowering) -> Rows:
    """Lower to an ORDER BY. A clustered key is sorted, which puts equal values together."""
    rows, keys = _sort_keys(rel, lowering)
    return Rows(rows.table.sort(keys), rows.columns)


def _sort_keys(rel: rl.Sort | rl.TopN, lowering: InputLowering) -> tuple[Rows, SortKeys]:
    for key in rel.keys:
        require_comparable(key.expression.type, class_words(rel))
    rows, here = prepare_context(
        lowering, lowering[rel.input], rel.anchor, [key.expression for key in rel.keys], hoist=True
    )
    return rows, [(sort_key(here.sql(key.expression), key.expression.type), direction_of(key)) for key in rel.keys]


def lower_project(rel: rl.Project, lowering: InputLowering) -> Rows:
    """Lower to a SELECT of further columns; mere references are columns already."""
    rows = lowering[rel.input]
    width = len(rows.columns)
    computed: Sequence[Expression] = [each for each in rel.expressions if _column(each, rel.input, rows) is None]
    new_items: list[Item] = []
    if computed:
        computed, rows = _checked_behind_filters(computed, rel.input, rows, lowering)
        rows, here = prepare_context(lowering, rows, rel.anchor, computed, windows=True)
        if has_correlated(computed):
            rows = rows.with_optimizer_barrier()
        texts = (column_sql(here.sql(expression), expression) for expression in computed)
        new_items = [Item(text, (lowering.execution.name(),)) for text in texts]
        rows = Rows(rows.append_columns(new_items).table, rows.columns[:width])
    new = (item.names[0] for item in new_items)
    added = tuple(_column(expression, rel.input, rows) or next(new) for expression in rel.expressions)
    rows = Rows(rows.table, rows.columns + added)
    keeps_order = not any(each.flags.has_window_functions for each in rel.expressions)
    return sort_again(rel, rows) if keeps_order and _loses_order(computed) else rows


def _loses_order(expressions: Sequence[Expression]) -> bool:
    """Whether the subqueries in expressions may change the order of the rows."""
    if has_correlated(expressions):
        return True
    return not current_engine().keeps_order and any(any(subqueries_of(each)) for each in expressions)


def _column(expression: Expression, below: Rel, rows: Rows) -> str | None:
    """Return the column that an expression merely refers to.

    A cast to the required type of a column without NULLs is one, too. A check there could only fail for rows that a
    filter leaves out: engines move conditions that use the column below this filter, beside its test.
    """
    match expression:
        case FieldReference(position=position, root=root) if root == ROOT:
            return rows.columns[position]
        case Cast(input=FieldReference(position=position, root=root) as column, target=target):
            if root == ROOT and target == column.type.as_required() and is_without_null(below, position):
                return rows.columns[position]
    return None


def _checked_behind_filters(
    expressions: Sequence[Expression], below: Rel, rows: Rows, lowering: InputLowering
) -> tuple[list[Expression], Rows]:
    """Return casts of a column that check for NULL as ones that check only the rows which the filters below leave.

    Engines move conditions of later steps below these filters, and with them the check of what the conditions use.
    Columns that the filters use, and that emits leave out, become further columns of the rows.
    """
    checks = {number for number, each in enumerate(expressions) if checked_column(each) is not None}
    conditions = list(_conditions_below(below, lowering)) if checks else []
    columns = list(rows.columns)
    checked = list(expressions)
    for condition, names in conditions:
        used = referenced_types([condition], ROOT, into_relations=False)
        if not {names[position] for position in used} <= {*rows.table.names, *columns}:
            continue
        columns += [name for name in dict.fromkeys(names[position] for position in used) if name not in columns]
        positions = {position: columns.index(names[position]) for position in used}
        test = rebuild(condition, partial(_moved_column, positions=positions), into_relations=False)
        for number in checks:
            unchecked = expressions[number]
            assert isinstance(unchecked, Cast)
            unchecked = Cast(unchecked.input, unchecked.target.as_nullable(), unchecked.on_failure)
            checked[number] = IfThen((IfClause(test, checked[number]),), unchecked)
    return checked, Rows(rows.table, tuple(columns))


def _conditions_below(rel: Rel, lowering: InputLowering) -> Iterator[tuple[Expression, tuple[str, ...]]]:
    """Yield the conditions that the rows of a relation meet, with the names of the columns that they see."""
    while isinstance(rel, rl.Filter | rl.Emit | rl.Sort | rl.Project):
        found = lowering.find_rows(rel)
        if found is None:
            return
        if isinstance(rel, rl.Filter) and _sees_single_columns(rel.condition):
            yield rel.condition, found.columns
        rel = rel.input


def _sees_single_columns(condition: Expression) -> bool:
    """Whether a condition is the same for a row wherever its columns are known, and refers to these one by one."""
    parts = walk(condition, into_relations=False)
    return not any(is_subquery(part) or isinstance(part, WindowFunction | Row) for part in parts)


def _moved_column(node: Node, positions: Mapping[int, int]) -> Node:
    if isinstance(node, FieldReference) and node.root == ROOT:
        return FieldReference(positions[node.position], node.column_type)
    return node


def lower_emit(rel: rl.Emit, lowering: InputLowering) -> Rows:
    """Reorder the columns."""
    return lowering[rel.input].pick(rel.mapping)


def lower_fetch(rel: rl.Fetch, lowering: InputLowering) -> Rows:
    """Lower to an OFFSET and a LIMIT. Spark takes them as numbers, so other expressions are evaluated now."""
    rows = lowering[rel.input]
    return Rows(_take_rows(rel, rows, *_limits(rel, lowering), lowering), rows.columns)


def _take_rows(rel: rl.Fetch | rl.TopN, rows: Rows, offset: int, count: int | None, lowering: InputLowering) -> Table:
    """Take some of the rows; beyond the range of OFFSET and LIMIT rows are numbered, in one task."""
    table = _restore_order(rel, rows)
    if rel.free_anchors and lowering.as_text:
        return _take_rows_for_each_outer_row(rel, table, offset, count, lowering)
    if offset + (count or 0) <= MAX_ROWS:
        return table.fetch(offset, count)
    order, number = table.execution.names(2)
    table = table.select([*items(table.names), Item("monotonically_increasing_id()", (order,))])
    counted = Item(f"count(1) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING)", (number,))  # row_number() is an INT
    table = table.select([*items(table.names), counted]).where(f"{number} > {offset}")
    if count is not None:
        table = table.where(f"{number} <= {offset + count}")
    return table.sort([(number, "asc_nulls_first")])


def _restore_order(rel: rl.Fetch | rl.TopN, rows: Rows) -> Table:
    """Return the rows, sorted again if Spark would not take the first ones, or does not know their order."""
    keys = rows.table.keys
    if keys and rows.table.is_in_order and (current_engine().keeps_order or not rows.table.since_sorted):
        return rows.table
    keys = keys or known_order(rel.input, rows)
    return rows.table.sort(keys) if keys else rows.table


def _take_rows_for_each_outer_row(
    rel: rl.Fetch | rl.TopN, table: Table, offset: int, count: int | None, lowering: InputLowering
) -> TextTable:
    """Take some of the rows for each outer row, in their present or known order."""
    assert isinstance(table, TextTable)
    if id(rel) in lowering.exact_limits and offset + (count or 0) <= MAX_ROWS:
        return table.limit_in_order(offset, count)
    return table.number(offset, count)


def lower_top_n(rel: rl.TopN, lowering: InputLowering) -> Rows:
    """Lower to an ORDER BY with an OFFSET and a LIMIT; with ties, rows are ranked: Spark's LIMIT has no ties."""
    rows, keys = _sort_keys(rel, lowering)
    offset, count = _limits(rel, lowering)
    if rel.mode == "rows_only" or not count:  # no row has no ties, neither have all rows
        ordered = Rows(rows.table.sort(keys), rows.columns)
        return Rows(_take_rows(rel, ordered, offset, count, lowering), rows.columns)
    if offset + count > MAX_ROWS:  # rank() is an INT
        raise UnsupportedError(
            f"{ENGINE} cannot rank more than {MAX_ROWS} rows; {class_words(rel)} is of {offset + count}"
        )
    over = f"OVER (ORDER BY {ordering(keys)})"
    place, number = lowering.execution.names(2)
    number_items = [Item(f"rank() {over}", (place,)), Item(f"row_number() {over}", (number,))]
    table = rows.table.select([*items(rows.columns), *(number_items if offset else number_items[:1])])
    if offset:
        table = table.where(f"{number} > {offset}")
    table = table.where(f"{place} <= {offset + count}")
    return Rows(table.sort([(place, "asc_nulls_first")]), rows.columns)


def _limits(rel: rl.Fetch | rl.TopN, lowering: InputLowering) -> tuple[int, int | None]:
    """Return the number of rows to skip, and the number to take: None for all."""
    what = class_words(rel)
    offset = _number(rel.offset, f"offset of {what}", lowering) or 0
    count = _number(rel.count, f"count of {what}", lowering)
    return offset, None if count is None or offset + count >= ALL_ROWS else count


def _number(expression: Expression | None, what: str, lowering: InputLowering) -> int | None:
    """Evaluate a count or an offset; None if it is omitted, or NULL."""
    if expression is None:
        return None
    if isinstance(expression, Literal):
        number = expression.value
    elif expression.free_anchors:
        raise UnsupportedError(f"{ENGINE} cannot take the {what} from an enclosing row")
    else:
        rows, here = prepare_context(lowering.main, Rows(lowering.main.make_one_row([]), ()), None, [expression])
        value = Item(f"CAST({here.sql(expression)} AS BIGINT)", (lowering.execution.name(),))
        number = lowering.main.compute_first(rows.append_columns([value]))
    if number is not None and number < 0:
        raise ExecutionError(f"the {what} must not be negative, it is {number}")
    return None if number is None else int(number)


def lower_window(rel: rl.Window, lowering: InputLowering) -> Rows:
    """Lower to a SELECT of window functions. Those with the same partitions and sort keys share one sort.

    Spark sorts the rows for it, so an order that is preserved is restored.
    """
    nodes = [*rel.functions, *rel.partitions, *rel.sorts]
    rows, here = prepare_context(lowering, lowering[rel.input], rel.anchor, nodes, hoist=True)
    rows = rows.append_columns(
        [Item(_window_function(call, rel, here), (lowering.execution.name(),)) for call in rel.functions]
    )
    return sort_again(rel, rows) if rel.method == "consistent_partition" else rows


def _window_function(call: WindowCall, rel: rl.Window, here: ExpressionContext) -> str:
    try:
        text = window_to_sql(call, rel.partitions, rel.sorts, here.sql)
    except UnsupportedError as error:
        note_refused(error, call)
        raise
    note_text(call, {id(call): text})
    return text


def lower_expand(rel: rl.Expand, lowering: InputLowering) -> Rows:
    """Lower to a generator over an array of the copies; each row of the input is computed once."""
    rows, here = prepare_context(lowering, lowering[rel.input], rel.anchor, rel.fields, hoist=True)
    if not current_engine().has_lists_of_records:
        return _expand_by_number(rel, rows, here, lowering)
    columns = lowering.execution.names(len(rel.schema))
    consistent: list[Item] = []
    switching: list[tuple[str, rl.SwitchingField]] = []
    for name, field in zip(columns, rel.fields, strict=False):
        match field:
            case rl.ConsistentField(expression=expression):
                consistent.append(Item(here.sql(expression), (name,)))
            case rl.SwitchingField():
                switching.append((name, field))
    copies = (
        struct_to_sql([str(number), *(here.sql(field.duplicates[number]) for _, field in switching)])
        for number in range(rel.copies_of_a_row)
    )
    names = (columns[-1], *(name for name, _ in switching))
    copied = Rows(rows.table.select([*consistent, Item(f"inline(array({', '.join(copies)}))", names)]), columns)
    return sort_as_known(rel, copied) if has_correlated(rel.fields) else copied


def _expand_by_number(rel: rl.Expand, rows: Rows, here: ExpressionContext, lowering: InputLowering) -> Rows:
    """Copy each row, and choose the values of each copy by its number: of a list, or nested ones by a condition.

    The lists are made before rows are copied, so that few columns are: Sail plans many columns slowly.
    """
    columns = lowering.execution.names(len(rel.schema))
    number = columns[-1]
    before: list[Item] = []
    after, keeps_columns = [Item(number, (number,))], False
    for name, field, type_ in zip(columns, rel.fields, rel.schema.types, strict=False):
        match field:
            case rl.ConsistentField(expression=expression):
                before.append(Item(here.sql(expression), (name,)))
                after.append(Item(name, (name,)))
            case rl.SwitchingField(duplicates=duplicates) if isinstance(type_, t.Struct | t.List | t.Map):
                keeps_columns = True
                after.append(Item(choose_by_number(number, dict(enumerate(map(here.sql, duplicates)))), (name,)))
            case rl.SwitchingField(duplicates=duplicates):
                before.append(Item(f"array({', '.join(map(here.sql, duplicates))})", (name,)))
                after.append(Item(f"get({name}, {number})", (name,)))
    if keeps_columns:
        before = [*items(rows.table.names), *before]
    numbers = ", ".join(map(str, range(rel.copies_of_a_row)))
    table = rows.table.select(before) if before else rows.table
    table = table.select([*items(table.names), Item(f"explode(array({numbers}))", (number,))])
    return sort_as_known(rel, Rows(without_keys(rel, table, lowering).select(after), columns))


def without_keys(rel: Rel, table: Table, lowering: InputLowering) -> Table:
    """Hide the keys of aggregates below from an engine that takes them for keys of copied or joined rows.

    Such an engine knows no keys of a union.
    """
    is_keyed = any(isinstance(node, Rel) and has_keys(node) for node in walk(rel))
    return table if current_engine().forgets_keys or not is_keyed else unite_with_no_row(table, lowering)


def unite_with_no_row(table: Table, lowering: InputLowering) -> Table:
    """Unite a table with an empty one that the optimizer does not recognize as empty."""
    nulls = [Item("NULL", (lowering.execution.name(),)) for _ in table.names]
    return table.union_all([lowering.make_one_row(nulls).where("rand() > 2")])


def choose_by_number(number: str, texts: Mapping[int, str]) -> str:
    """Write the choice of a value by a number."""
    cases = " ".join(f"WHEN {position} THEN {text}" for position, text in texts.items())
    return f"(CASE {number} {cases} END)"


def lower_unnest(rel: rl.Unnest, lowering: InputLowering) -> Rows:
    """Lower to a generator that numbers the elements; an empty or NULL list makes no row."""
    rows = lowering[rel.input]
    position, element, offset = lowering.execution.names(3)
    if current_engine().has_lists_of_records:
        rows = rows.append_columns([Item(f"posexplode({rows.columns[rel.column]})", (position, element))])
        rows = rows.append_columns([Item(f"CAST({position} AS BIGINT)", (offset,))])
    else:
        keys, values = rows.table.keys or known_order(rel.input, rows), rows.columns[rel.column]
        last = f"size({values}) - 1"
        rows = rows.append_columns([Item(f"explode(if(size({values}) > 0, sequence(0, {last}), NULL))", (position,))])
        element_items = [Item(f"get({values}, {position})", (element,)), Item(f"CAST({position} AS BIGINT)", (offset,))]
        rows = Rows(rows.append_columns(element_items).table, (*rows.columns, element, offset))
        copied = without_keys(rel, rows.table, lowering)
        copied = copied.sort([*keys, (offset, "asc_nulls_first")]) if keys else copied
        return Rows(copied, (*rows.columns[:-3], element, offset))
    if rows.table.keys:  # elements stay in the order that they have in their list
        rows = Rows(rows.table.with_further_sort_keys([(offset, "asc_nulls_first")]), rows.columns)
    return Rows(rows.table, (*rows.columns[:-3], element, offset))
