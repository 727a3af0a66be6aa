"""Fields that always have one value stand in for each other: in an order, in a distribution, in what is refused.

What relations know of their rows is compared with rows: each step is done to a table in memory as well.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as r
from substrait_dsl.algebra import rules
from substrait_dsl.algebra.node import Rel
from substrait_dsl.algebra.properties import Properties, SortDirection, partitioned, unite_equal_fields
from substrait_dsl.algebra.rules import JoinType
from substrait_dsl.algebra.types import I64
from substrait_dsl.errors import SchemaError
from tests.nodes import ARITHMETIC, TRUE, asc, col, equal, gt, i64, leaf, part, plus, window_sum
from tests.support import ascending

Values = tuple[int, ...]
Row = tuple[Values, Values]
"""The values of the columns, then those that say which partition the row is in."""

UNSORTED = random.Random(0)
ALL: list[Row] = [(values, ()) for values in itertools.product(range(3), repeat=3) for _ in range(6)]


@attrs.frozen
class Table:
    """A relation and its rows."""

    rel: Rel
    rows: list[Row]

    @property
    def width(self) -> int:
        return len(self.rel.schema)


def copied(table: Table, column: int) -> Table:
    rel = r.Project(table.rel, (col(table.rel, column),), ("copy",))
    return Table(rel, [((*row, row[column]), place) for row, place in table.rows])


def picked(table: Table, columns: Sequence[int]) -> Table:
    return Table(r.emit(table.rel, columns), [(tuple(row[c] for c in columns), place) for row, place in table.rows])


def positive(table: Table, column: int) -> Table:
    rel = r.Filter(table.rel, gt(col(table.rel, column), i64(0)))
    return Table(rel, [(row, place) for row, place in table.rows if row[column] > 0])


def scattered(table: Table, columns: Sequence[int]) -> Table:
    rel = r.Exchange(table.rel, r.Scatter(tuple(col(table.rel, c) for c in columns)), 4)
    return Table(rel, [(row, tuple(row[c] for c in columns)) for row, _ in table.rows])


SortBy = tuple[int, bool, bool]
"""A column, whether the largest value comes first, whether it is not the column but the double of it."""


def sorted_by(table: Table, keys: Sequence[SortBy]) -> Table:
    def key(column: int, falling: bool, computed: bool) -> ex.SortKey:
        value = col(table.rel, column)
        direction: SortDirection = "desc_nulls_last" if falling else "asc_nulls_first"
        return ex.SortKey(plus(value, value) if computed else value, direction)

    rows = UNSORTED.sample(table.rows, len(table.rows))  # what was in order before is not any more
    rows.sort(key=lambda row: [-row[0][column] if falling else row[0][column] for column, falling, _ in keys])
    return Table(r.Sort(table.rel, tuple(key(*by) for by in keys)), rows)


STEPS = ("copy", "pick", "filter", "scatter", "sort")


@st.composite
def tables(draw: st.DrawFn) -> Table:
    table = Table(leaf("a: i64, b: i64, c: i64"), ALL)
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=8)):
        column = st.integers(0, table.width - 1)
        match step:
            case "copy":
                table = copied(table, draw(column))
            case "pick":
                table = picked(table, draw(st.lists(column, min_size=1, max_size=5)))
            case "filter":
                table = positive(table, draw(column))
            case "scatter":
                table = scattered(table, draw(st.lists(column, min_size=1, max_size=2)))
            case _:
                computed = st.sampled_from([False, False, False, True])
                table = sorted_by(table, draw(st.lists(st.tuples(column, st.booleans(), computed), min_size=1)))
    return table


def stand_in(rows: list[Row], columns: Sequence[int]) -> bool:
    """Whether each value that says where a row lies is in one of these columns."""
    return all(
        any(all(row[column] == place[number] for row, place in rows) for column in columns)
        for number in range(len(rows[0][1]))
    )


@given(tables())
def test_what_is_known_is_so_in_the_rows(table: Table) -> None:
    known = table.rel.properties
    rows = [row for row, _ in table.rows]
    assert rows == sorted(
        rows,
        key=lambda row: [row[k.field[0]] * (1 if k.direction == "asc_nulls_first" else -1) for k in known.ordering],
    )
    for column, path in known.equal.items():
        assert [row[column] for row in rows] == [row[path[0]] for row in rows]


@given(tables())
def test_a_distribution_is_known_as_long_as_its_values_are_there(table: Table) -> None:
    known = table.rel.properties.distribution
    is_scattered = table.rows[0][1] != ()
    assert (known is not None) == (is_scattered and stand_in(table.rows, range(table.width)))
    if known is not None:
        columns = [path[0] for path in known.fields]
        places = {(tuple(row[column] for column in columns), place) for row, place in table.rows}
        assert len(places) == len({values for values, _ in places})


def grouped(table: Table, columns: Sequence[int], method: r.AggregateMethod) -> Rel:
    keys = tuple(col(table.rel, column) for column in columns)
    names = tuple(f"k{number}" for number in range(len(keys)))
    return r.Aggregate(table.rel, keys, (tuple(range(len(keys))),), (), names, method)


@given(tables(), st.data())
def test_an_aggregate_keeps_a_distribution_by_what_is_equal_to_its_keys(table: Table, data: st.DataObject) -> None:
    columns = data.draw(st.lists(st.integers(0, table.width - 1), min_size=1, max_size=3))
    known = grouped(table, columns, "hash").properties.distribution
    assert (known is not None) == (table.rows[0][1] != () and stand_in(table.rows, columns))


@given(tables(), st.data())
def test_only_what_is_not_sorted_by_its_keys_is_refused(table: Table, data: st.DataObject) -> None:
    columns = data.draw(st.lists(st.integers(0, table.width - 1), min_size=1, max_size=3))
    groups = [tuple(row[column] for column in columns) for row, _ in table.rows]
    together = len(list(itertools.groupby(groups))) == len(set(groups))
    known = table.rel.properties
    try:
        grouped(table, columns, "streaming")
    except SchemaError:
        assert not together
    else:
        assert together or known.ordered_further or not known.ordering


# --- what the rows above do not have


KEYED = leaf("k: i64, v: i64", ascending(0), ascending(1), distribution=partitioned((0,)))
SORTED = leaf("a: i64, b: i64", ascending(0), ascending(1), distribution=partitioned((0,)))
COPIES = r.emit(r.Project(SORTED, (col(SORTED, "b"), col(SORTED, "a")), ("b2", "a2")), [2, 3])


def test_a_merge_join_takes_copies_for_what_they_are_copies_of() -> None:
    keys = r.JoinKey(col(COPIES, "a2"), col(KEYED, "k")), r.JoinKey(col(COPIES, "b2"), col(KEYED, "v"))
    rel = r.MergeJoin(COPIES, KEYED, "left", keys)
    assert rel.properties == Properties((), partitioned((1,)))


def test_an_order_is_not_known_after_what_is_computed() -> None:
    by_sum = r.Sort(SORTED, (asc(col(SORTED, "a")), asc(plus(col(SORTED, "b"), i64(1)))))
    summed = r.Project(by_sum, (plus(col(by_sum, "b"), i64(1)),), ("g",))
    for name in ("g", "b"):
        keys = r.JoinKey(col(summed, "a"), col(KEYED, "k")), r.JoinKey(col(summed, name), col(KEYED, "v"))
        assert len(r.MergeJoin(summed, KEYED, "inner", keys).schema) == 5
        assert len(grouped(Table(summed, []), [0, summed.schema.position(name)], "streaming").schema) == 2
    with pytest.raises(SchemaError, match="sorted by a"):  # a comes first: that is known
        grouped(Table(summed, []), [1], "streaming")
    rank = ex.WindowCall(ex.FunctionId(ARITHMETIC, "row_number:"), (), I64())
    for rel, refused in ((summed, False), (SORTED, False), (r.Sort(SORTED, by_sum.keys[:1]), True)):
        make = partial(r.Window, rel, (rank,), (col(rel, "a"),), (asc(col(rel, "b")),), ("n",), "streaming")
        with pytest.raises(SchemaError) if refused else nullcontext():
            make()


def test_an_order_is_not_known_after_what_is_dropped() -> None:
    rel = r.emit(leaf("a: i64, b: i64, c: i64", ascending(0), ascending(1)), [0, 2])
    assert rel.properties == Properties((ascending(0),))
    assert len(grouped(Table(rel, []), [0, 1], "streaming").schema) == 2  # c may go with b
    with pytest.raises(SchemaError, match="sorted by a"):
        grouped(Table(rel, []), [1], "streaming")


PLAIN = leaf("a: i64, b: i64")
COPIED = r.Project(SORTED, (col(SORTED, 0),), ("c",))
TWICE: dict[str, tuple[Rel, int, int]] = {
    "a column picked twice": (r.emit(PLAIN, [0, 0]), 0, 1),
    "a key twice": (r.Aggregate(PLAIN, (col(PLAIN, 0), col(PLAIN, 0)), ((0, 1),), (), ("x", "y")), 0, 1),
    "a copy, then no order": (
        r.Window(COPIED, (window_sum(col(COPIED, 0)),), (), (), ("n",), "hashing"),
        0,
        2,
    ),
    "the keys of a join": (r.Join(PLAIN, PLAIN, "inner", equal(col(PLAIN, 1), col(PLAIN, 0, 2))), 1, 2),
    "beside a lateral join": (r.LateralJoin(PLAIN, r.emit(PLAIN, [0, 0]), "left", TRUE, anchor=1), 2, 3),
}


@pytest.mark.parametrize(("rel", "one", "other"), TWICE.values(), ids=TWICE)
def test_what_is_equal_before_it_is_sorted_is_sorted_alike(rel: Rel, one: int, other: int) -> None:
    for first, second in ((one, other), (other, one)):
        by_first = r.Sort(rel, (asc(col(rel, first)),))
        assert len(grouped(Table(by_first, []), [second], "streaming").schema) == 1


def test_copies_line_the_partitions_of_a_join_up() -> None:
    left = r.Exchange(r.emit(PLAIN, [0, 0, 1]), r.Scatter((col(PLAIN, 0, 1),)))
    right = r.Exchange(r.emit(PLAIN, [1, 1]), r.Scatter((col(PLAIN, 0, 1),)))
    assert (left.properties.distribution, right.properties.distribution) == (partitioned((1,)), partitioned((1,)))
    for mine, theirs in itertools.product((0, 1), (0, 1)):
        rel = r.HashJoin(left, right, "left", (r.JoinKey(col(left, mine), col(right, theirs)),))
        assert rel.properties.distribution == partitioned((1,))


def test_what_an_inner_join_requires_to_be_equal_is_equal() -> None:
    on = r.JoinKey(col(SORTED, "a"), col(KEYED, "k"))
    inner, left = (r.HashJoin(SORTED, KEYED, how, (on,)) for how in ("inner", "left"))
    assert r.emit(inner, [2]).properties.distribution == partitioned((0,))
    assert r.emit(left, [2]).properties.distribution is None  # k may be NULL where a is not
    by_a = r.Sort(inner, (asc(col(inner, "a")),))
    assert len(grouped(Table(by_a, []), [2], "streaming").schema) == 1
    assert r.Join(SORTED, KEYED, "inner", equal(col(KEYED, "k", 2), col(SORTED, "a"))).properties == inner.properties


@pytest.mark.parametrize("how", ["inner", "outer", "left", "right", "left_semi", "right_anti", "right_mark"])
def test_what_is_equal_in_an_input_is_equal_in_a_join(how: JoinType) -> None:
    doubled = r.Project(SORTED, (col(SORTED, "a"),), ("a2",))
    rel = r.Join(doubled, doubled, how, gt(col(doubled, 0), i64(0)))
    found = {column: path[0] for column, path in rel.properties.equal.items()}
    assert found == {column: column - 2 for column in range(2, len(rel.schema), 3)}
    if rules.JOIN_RULES[how].left == "dropped":
        assert r.Join(doubled, KEYED, how, TRUE).properties.equal == {}


def test_what_is_equal_in_all_inputs_of_a_set_is_equal_in_it() -> None:
    doubled = r.emit(SORTED, [0, 1, 0])
    swapped = r.emit(SORTED, [0, 1, 1])
    assert r.Set((doubled, doubled), "union_all").properties.equal == {2: (0,)}
    assert r.Set((doubled, swapped), "union_all").properties.equal == {}


def test_a_field_of_a_struct_is_equal_to_that_of_a_copy_of_the_struct() -> None:
    struct = leaf("s: struct<i64, i64>", ascending(0, 1), distribution=partitioned((0, 1)))
    rel = r.Project(struct, (part(struct, 0, 1), col(struct, 0)), ("x", "s2"))
    moved = Properties((ascending(0, 1),), partitioned((0, 1)))
    assert r.emit(rel, [2]).properties == moved
    both = r.Filter(r.emit(rel, [1, 2]), TRUE)
    assert r.emit(both, [0]).properties == Properties((ascending(0),), partitioned((0,)))
    assert r.emit(both, [1]).properties == moved


def test_a_field_of_a_struct_that_is_read_twice_is_none_of_its_row() -> None:
    struct = leaf("s: struct<i64, i64>", ascending(0, 1))
    twice = attrs.evolve(
        struct, projection=ex.StructMask((ex.MaskItem(0, ex.StructMask((ex.MaskItem(1), ex.MaskItem(1)))),))
    )
    assert twice.properties == Properties((ascending(0, 0),))
    assert r.emit(twice, [0, 0]).properties == Properties((ascending(0, 0),))


def test_no_column_is_equal_to_what_is_inside_it() -> None:
    """Who reads plans leniently may be told so; it would have no end."""
    assert unite_equal_fields({}, [((0,), (0, 1)), ((1,), (0, 1)), ((0,), (1, 2))]) == {1: (0, 1)}


def test_nothing_is_equal_where_nothing_is_copied() -> None:
    plain = leaf("a: i64, b: i64")
    summed = r.emit(r.Project(plain, (plus(col(plain, 0), col(plain, 1)),), ("n",)), [2, 0])
    assert summed.properties.equal == {}
