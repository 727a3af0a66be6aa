"""Single joins: left joins that fail if a row has a second match, however the rows are used.

Where the condition is an equality of keys, the rows of the build side count their key, and are then joined. Else each
row counts its matches.

Spark has a join that looks for a second match (LeftSingle, for scalar subqueries). It is not used: there is none for
large tables, and where Spark generates no code for it, a limit may take the first match before the second is found.

Specification: https://substrait.io/relations/logical_relations/#join-types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.expressions import Expression, FieldReference
from substrait_dsl.algebra.relations import HashJoin, Join, LateralJoin, MergeJoin, NestedLoopJoin
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.spark.expressions.literals import failing, record_to_sql, text_to_sql
from substrait_dsl.spark.expressions.sql_text import AnySubquery, Scope
from substrait_dsl.spark.relations.expression_context import subqueries_of
from substrait_dsl.spark.relations.join_inputs import is_small
from substrait_dsl.spark.relations.join_strategies import (
    JOIN_STRATEGIES,
    MANY_MATCHES,
    key_sides,
    keys_inside,
    name_of,
    sides_of,
    test_of,
)
from substrait_dsl.spark.relations.mark_joins import Key
from substrait_dsl.spark.relations.physical_joins import as_join
from substrait_dsl.spark.relations.subqueries import scalar
from substrait_dsl.spark.relations.tables import Item, Rows, Table, all_true, items
from substrait_dsl.spark.relations.texts import TextTable
from substrait_dsl.spark.relations.uniqueness import is_unique
from substrait_dsl.spark.session.engines import current_engine

if TYPE_CHECKING:
    from substrait_dsl.algebra.node import Rel
    from substrait_dsl.spark.relations.input_lowering import InputLowering

TOO_MANY = failing(MANY_MATCHES)


def is_by_key(rel: Join | HashJoin | MergeJoin | NestedLoopJoin) -> bool:
    """Whether the condition of a single join is equality of keys, and conditions on one input alone."""
    join = rel if isinstance(rel, Join) else as_join(rel)
    strategy = JOIN_STRATEGIES[join.how]
    if strategy.method != "single" or any(True for _ in subqueries_of(join.condition)):
        return False
    others = [part for part in conjuncts(join.condition) if key_sides(part, join, strategy.probe_side) is None]
    return len(others) < len(list(conjuncts(join.condition))) and all(len(sides_of(part, join)) < 2 for part in others)


def has_unique_keys(rel: Join | LateralJoin) -> bool:
    """Whether the keys are unique in the build side by construction, as those of an aggregate are."""
    other, before = (
        (rel.right, len(rel.left.schema)) if JOIN_STRATEGIES[rel.how].probe_side == "left" else (rel.left, 0)
    )
    return is_unique(other, [key.position - before for key in keys_inside(rel) if isinstance(key, FieldReference)])


def lower_by_key(rel: Join, lowering: InputLowering) -> Rows:
    """Lower a single join for which `is_by_key` is true: a left join with rows that count their key.

    Spark counts within the sort of the join, and reads the rows once; where it would broadcast them, and need not sort,
    one task counts. Row numbers would be cheaper, but then the first match would not know of the second, and may be all
    that a limit takes. The check is a filter on a row id: so Spark neither moves it, nor pushes a later filter below
    it, nor removes the join under it.
    """
    probe_side = JOIN_STRATEGIES[rel.how].probe_side
    left = lowering[rel.left]
    right = lowering[rel.right].with_names_disjoint_from(left)
    left_columns, right_columns = left.columns[: len(rel.left.schema)], right.columns[: len(rel.right.schema)]
    scope = Scope(left_columns + right_columns, lowering.outer, _no_subquery)
    streaming, table, others = (
        (left, right.table, right_columns) if probe_side == "left" else (right, left.table, left_columns)
    )
    keys, values, computed, on = [], [], [], []
    for conjunct in conjuncts(rel.condition):
        test = test_of(conjunct, rel, probe_side, scope)
        if isinstance(test, Key):
            key = test.inside
            if key not in others:  # of a column, a copy would be shuffled, too
                key = lowering.execution.name()
                computed.append(Item(test.inside, (key,)))
            keys.append(key)
            values.append(test.outside)
            on.append(f"({test.outside} = {key})")
        elif probe_side in (sides := sides_of(conjunct, rel)) or not sides:
            on.append(test.holds)
        else:
            table = table.where(test.holds)
    table = table.select([*items(others), *computed])
    if is_small(rel.right if probe_side == "left" else rel.left, lowering.execution):
        table = table.move_to_one_task()
    many = lowering.execution.name()
    count = f"count(1) OVER (PARTITION BY {', '.join(keys)})"
    joined = streaming.table.join(table.select([*items(table.names), Item(count, (many,))]), "left", all_true(on))
    error = too_many(rel, values, many, "rows have")
    if not current_engine().has_row_numbers:
        return Rows(
            _check_by_window(joined, f"{many} > 1", error, lowering).select(items(left_columns + right_columns)),
            left_columns + right_columns,
        )
    checked = joined.where(f"if({many} > 1, CAST({error} AS BOOLEAN), monotonically_increasing_id() >= 0)")
    return Rows(checked.select(items(left_columns + right_columns)), left_columns + right_columns)


def _check_by_window(table: Table, is_wrong: str, error: str, lowering: InputLowering) -> Table:
    """Fail if a row is wrong: a window over all rows checks each, however the rows are filtered later."""
    checked = lowering.execution.name()
    found = Item(f"max(if({is_wrong}, CAST({error} AS INT), 0)) OVER ()", (checked,))
    return table.select([*items(table.names), found]).where(f"{checked} = 0")


_SHOWN = (t.Boolean, *t.INTEGER_TYPES, t.FP32, t.FP64, t.Decimal, t.String, t.VarChar, t.FixedChar, t.Date)
"""The types whose values a message can show."""

_LONGEST = 60
"""The most characters of a value in a message."""


def _key_text(key: Expression, rel: Join | LateralJoin, value: str) -> str:
    """Write the part of the message of a second match that shows a key: its name, and its value if it can be shown."""
    start = text_to_sql(_start(key, rel))
    return f"{start}, left(CAST({value} AS STRING), {_LONGEST})" if isinstance(key.type, _SHOWN) else start


def _start(key: Expression, rel: Join | LateralJoin) -> str:
    name = name_of(key, rel)
    if isinstance(key.type, _SHOWN):
        return "the key " if name is None else f"{name} = "
    return f"the same {name or 'key'}"


def too_many(rel: Join | LateralJoin, values: Sequence[str], count: str, words: str = "rows match that have") -> str:
    """Write the error of a second match: the number of matches, and the values of the keys."""
    if not values:
        return TOO_MANY
    message = ", ' and ', ".join(
        _key_text(key, rel, value) for key, value in zip(keys_inside(rel), values, strict=True)
    )
    start, middle = text_to_sql(f"{MANY_MATCHES}: "), text_to_sql(f" {words} ")
    return f"raise_error(concat({start}, CAST({count} AS STRING), {middle}, {message}))"


def may_tell(rel: Join | LateralJoin, message: str) -> bool:
    """Whether the message of a second match may come from this single join."""
    if has_unique_keys(rel):
        return False
    starts = [_start(key, rel) for key in keys_inside(rel)]
    return message == MANY_MATCHES or (bool(starts) and all(start in message for start in starts))


def single_match(rows: Rows, found: Rows, other: Rel, lowering: InputLowering, error: Callable[[str], str]) -> Rows:
    """Look up the one match of each row, NULL if there is none; an error if there are more (spec decision 5).

    Args:
        rows: the rows.
        found: the matches of one row, as text in its scope.
        other: the relation of the matches.
        lowering: the lowering that the join is part of.
        error: writes the error, given the text of the number of matches.

    Returns:
        The columns of the match, in a table with those of the rows.

    The error must be raised however the rows are used. So the check is a filter, which stays when nothing uses the
    columns, and part of every column; and it depends on a row id, which keeps Spark from computing it for rows without
    a match, and from filtering the rows first. Inside of a correlated subquery Spark has no row ids.
    """
    table = found.table
    assert isinstance(table, TextTable)
    match, *names = lowering.execution.names(1 + len(found.columns))
    fields = {f"f{number}": f"any_value({column})" for number, column in enumerate(found.columns)}
    struct = record_to_sql({"n": "count(1)", **fields})
    number = None if lowering.outer else Item("monotonically_increasing_id()", (lowering.execution.name(),))
    there = items(rows.table.names)  # the table may depend on columns that are not among the rows' own
    found_one = Item(scalar(table.closed.query([Item(struct, (match,))]), other, folded=True), (match,))
    if not current_engine().has_row_numbers:
        looked_up = rows.table.select([*there, found_one])
        checked = _check_by_window(looked_up, f"{match}.n > 1", error(f"{match}.n"), lowering)
        values = [Item(f"{match}.f{position}", (name,)) for position, name in enumerate(names)]
        return Rows(checked.select([*items(rows.columns), *values]), tuple(names))
    # Beside a number, the look-up is not pulled into the filter, which would look up everything twice.
    looked_up = rows.table.with_optimizer_barrier().select([*there, *(() if number is None else (number,)), found_one])
    many, one = f"{match}.n > 1", "true"
    if number is not None:
        many, one = f"{many} AND {number.names[0]} >= 0", "monotonically_increasing_id() >= 0"
    checked = looked_up.where(f"if({many}, CAST({error(f'{match}.n')} AS BOOLEAN), {one})")
    checked_items = [
        Item(f"if({many}, {TOO_MANY}, {match}.f{position})", (name,)) for position, name in enumerate(names)
    ]
    return Rows(checked.select([*items(rows.columns), *checked_items]), tuple(names))


def _no_subquery(subquery: AnySubquery, scope: Scope) -> str:
    raise AssertionError("a condition with a subquery is not for a join by key")
