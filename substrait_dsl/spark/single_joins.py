"""Single joins: left joins that fail where a row has a second match, whatever is done with the rows.

Where rows match by equal keys, Spark joins them, in one of two ways. A scalar subquery is a join of its own that looks
for a second match (LeftSingle); but it has to send the other rows to all tasks. So that is for rows so few that Spark
would send them anyway; of others it is counted how many have the same key. Where rows match by anything else, each
row counts its matches.

Specification: https://substrait.io/relations/logical_relations/#join-types.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from substrait_dsl.algebra.expressions import FieldReference
from substrait_dsl.algebra.relations import HashJoin, Join, MergeJoin, NestedLoopJoin
from substrait_dsl.algebra.relations.joins import conjuncts
from substrait_dsl.algebra.types import List, Map, Struct, Type
from substrait_dsl.spark.expressions import AnySubquery, Scope
from substrait_dsl.spark.failures import spark_errors
from substrait_dsl.spark.hosts import subqueries_of
from substrait_dsl.spark.join_plans import MANY_MATCHES, PLANS, key_sides, sides_of, test_of
from substrait_dsl.spark.marks import Key
from substrait_dsl.spark.physical_joins import as_join
from substrait_dsl.spark.tables import Item, Rows, Table, all_true, items
from substrait_dsl.spark.texts import TextTable
from substrait_dsl.spark.uniqueness import is_unique

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from substrait_dsl.spark.lowering import Lowering

_TOO_MANY = f"raise_error('{MANY_MATCHES}')"


def is_by_key(rel: Join | HashJoin | MergeJoin | NestedLoopJoin) -> bool:
    """Whether rows match in a single join by equal keys and, beside that, by conditions on one side alone."""
    join = rel if isinstance(rel, Join) else as_join(rel)
    plan = PLANS[join.how]
    if plan.method != "single" or any(True for _ in subqueries_of(join.condition)):
        return False
    others = [part for part in conjuncts(join.condition) if key_sides(part, join, plan.stream) is None]
    return len(others) < len(list(conjuncts(join.condition))) and all(len(sides_of(part, join)) < 2 for part in others)


def has_unique_keys(rel: Join) -> bool:
    """Whether the keys alone tell the rows of the other input apart, as those of an aggregate do."""
    stream = PLANS[rel.how].stream
    other, before = (rel.right, len(rel.left.schema)) if stream == "left" else (rel.left, 0)
    keys = (key_sides(conjunct, rel, stream) for conjunct in conjuncts(rel.condition))
    columns = (sides[1] for sides in keys if sides is not None)
    return is_unique(other, [key.position - before for key in columns if isinstance(key, FieldReference)])


@attrs.frozen
class _Inputs:
    """The two sides of a single join by key, where its rows are matched for one of them."""

    rows: Table
    matches: Table
    """The rows of the other side that the condition lets match at all, with a column for each key."""
    mine: tuple[str, ...]
    theirs: tuple[str, ...]
    keys: tuple[tuple[str, str], ...]
    """The keys: of the rows as text, and the column of the matches."""
    conditions: tuple[str, ...]
    """What else must be true of the rows."""

    def on(self) -> str:
        """The condition of the join."""
        return all_true([*(f"({ours} = {theirs})" for ours, theirs in self.keys), *self.conditions])


def lower_by_key(rel: Join, to: Lowering) -> Rows:
    """A single join for which `is_by_key` is true."""
    stream = PLANS[rel.how].stream
    left = to[rel.left]
    right = to[rel.right].apart_from(left)
    ours, theirs = left.columns[: len(rel.left.schema)], right.columns[: len(rel.right.schema)]
    scope = Scope(ours + theirs, to.outer, _no_subquery)
    mine, others, table = (left, theirs, right.table) if stream == "left" else (right, ours, left.table)
    keys, conditions = [], []
    for conjunct in conjuncts(rel.condition):
        test = test_of(conjunct, rel, stream, scope)
        if isinstance(test, Key):
            keys.append((test, Item(test.inside, (to.space.name(),))))
        elif stream in (sides := sides_of(conjunct, rel)) or not sides:
            conditions.append(test.holds)
        else:
            table = table.where(test.holds)
    inputs = _Inputs(
        mine.table,
        table.select([*items(others), *(key for _, key in keys)]),
        mine.columns,
        others,
        tuple((test.outside, key.names[0]) for test, key in keys),
        tuple(conditions),
    )
    if _may_be_subquery(rel, inputs, to) and (matches := _few(inputs)) is not None:
        checked = _looked_up(inputs, matches)
    else:
        checked = _counted(inputs)
    return Rows(checked, ours + theirs)


def _counted(inputs: _Inputs) -> Table:
    """A left join of rows that tell how many have their key.

    Spark counts where it sorts the rows for the join, and reads them once. To number them would be cheaper, but then
    the first match would not know of the second, and may be all that a limit asks for. The check is a filter that
    depends on a number of the row: so Spark neither moves it, nor a later filter below it, nor leaves out the join
    under it.
    """
    many = inputs.rows.space.name()
    count = f"count(1) OVER (PARTITION BY {', '.join(key for _, key in inputs.keys)})"
    table = inputs.matches.select([*items(inputs.matches.names), Item(count, (many,))])
    joined = inputs.rows.join(table, "left", inputs.on())
    checked = joined.where(f"if({many} > 1, CAST({_TOO_MANY} AS BOOLEAN), monotonically_increasing_id() >= 0)")
    return checked.select(items(inputs.mine + inputs.theirs))


# --- as a scalar subquery

_SINGLE = re.compile(r"\bLeftSingle\b")
_SENT = re.compile(r"BroadcastHashJoin .*\bLeftSingle, BuildRight\b")
_SHUFFLE = re.compile(r"^[\s:|+-]*Exchange\b", re.MULTILINE)

_MOST_NODES = 500
"""Up to how many nodes of a plan Spark's code is not too long. A node takes some 20 to 70 bytes of it, of 64 KB."""


def _may_be_subquery(rel: Join, inputs: _Inputs, to: Lowering) -> bool:
    """Whether a scalar subquery finds every second match, also where only the first is asked for.

    It does where Spark generates code for it: not for many columns, nor where the code grows too long, nor where a key
    calls a function that it has no code for. What is kept as text meets other rows than there are now.
    """
    if to.is_lasting or to.main.size > _MOST_NODES:
        return False
    are_columns = all(ours in inputs.mine for ours, _ in inputs.keys) and not inputs.conditions
    fields = sum(map(_fields, rel.left.schema.types + rel.right.schema.types)) + len(inputs.keys)
    return are_columns and fields + 2 < _most_fields(to.space.spark)


def _fields(kind: Type) -> int:
    """How many columns a type counts for, as Spark counts them."""
    match kind:
        case Struct(types=types):
            return sum(map(_fields, types))
        case List(element=element):
            return _fields(element)
        case Map(key=key, value=value):
            return _fields(key) + _fields(value)
        case _:
            return 1


def _most_fields(spark: SparkSession) -> int:
    """From how many columns on Spark generates no code for a join; none, if it is told not to."""
    generates = (spark.conf.get("spark.sql.codegen.wholeStage") or "true").lower() == "true"
    return int(spark.conf.get("spark.sql.codegen.maxFields") or 100) if generates else 0


def _few(inputs: _Inputs) -> TextTable | None:
    """The matches as text, if Spark would send them to all tasks, as far as it can tell beforehand; else None.

    It is asked how it would look these rows up in themselves. What it learns later, of rows that it shuffles, would
    come too late.
    """
    matches, space = inputs.matches.as_text, inputs.rows.space
    names = space.names(len(inputs.keys))
    keys = [Item(column, (name,)) for (_, column), name in zip(inputs.keys, names, strict=True)]
    on = all_true([f"({name} = {column})" for (_, column), name in zip(inputs.keys, names, strict=True)])
    found = Item(_match(matches, on, inputs.theirs), (space.name(),))
    try:
        plan = str(space.sql(f"EXPLAIN {matches.select(keys).query([found])}").collect()[0][0])
    except spark_errors():  # a session may not take such a subquery
        return None
    sent = _SENT.findall(plan)
    return matches if sent and len(sent) == len(_SINGLE.findall(plan)) and not _SHUFFLE.search(plan) else None


def _looked_up(inputs: _Inputs, matches: TextTable) -> Table:
    """The rows with the columns of the one match.

    Spark leaves out a look-up that nothing asks for, and filters the rows before it: not so where a filter asks for it
    that depends on a number of the row. Beside another such number the look-up is not pulled into the filter, and done
    twice.
    """
    match, number, hinted = inputs.rows.space.names(3)
    found = Item(_match(matches, inputs.on(), inputs.theirs, hinted), (match,))
    numbered = Item("monotonically_increasing_id()", (number,))
    looked_up = inputs.rows.fenced().select([*items(inputs.rows.names), numbered, found])
    checked = looked_up.where(f"if({match} IS NULL, {number} >= 0, monotonically_increasing_id() >= 0)")
    made = [Item(f"{match}.f{position}", item.names) for position, item in enumerate(items(inputs.theirs))]
    return checked.select([*items(inputs.mine), *made])


_NO_FIELD = "'n', 0"


def _match(matches: TextTable, on: str, columns: tuple[str, ...], hinted: str | None = None) -> str:
    """A scalar subquery: the one match as a struct. Called `hinted`, the rows are sent to all tasks."""
    fields = [f"'f{position}', {item.text}" for position, item in enumerate(items(columns))]
    struct = f"named_struct({', '.join(fields or [_NO_FIELD])})"
    hint, name = ("", "") if hinted is None else (f"/*+ BROADCAST({hinted}) */ ", f" {hinted}")
    return f"(SELECT {hint}{struct} FROM ({matches.query()}){name} WHERE {on})"


# --- in any other way


def single_match(rows: Rows, table: TextTable, found: tuple[str, ...], to: Lowering) -> tuple[Table, tuple[str, ...]]:
    """The columns of the one match in a table, NULL if there is none; an error if there are more (reading 5).

    The error must come whatever is done with the rows. So the check is a filter, which stays when nothing uses the
    columns, and part of every column; and it depends on a number that the row has, which keeps Spark from computing
    it for rows that nothing matches, and from filtering the rows first. Inside a correlated subquery Spark takes no
    such number.
    """
    match, *names = to.space.names(1 + len(found))
    fields = ["'n', count(1)", *(f"'f{number}', any_value({column})" for number, column in enumerate(found))]
    struct = f"named_struct({', '.join(fields)})"
    number = None if to.outer else Item("monotonically_increasing_id()", (to.space.name(),))
    there = items(rows.table.names)  # the table may depend on columns that are not among the rows' own
    found_one = Item(f"({table.closed.query([Item(struct, (match,))])})", (match,))
    # Beside a number, the look-up is not pulled into the filter, which would look up everything twice.
    looked_up = rows.table.fenced().select([*there, *(() if number is None else (number,)), found_one])
    many, one = f"{match}.n > 1", "true"
    if number is not None:
        many, one = f"{many} AND {number.names[0]} >= 0", "monotonically_increasing_id() >= 0"
    checked = looked_up.where(f"if({many}, CAST({_TOO_MANY} AS BOOLEAN), {one})")
    made = [Item(f"if({many}, {_TOO_MANY}, {match}.f{position})", (name,)) for position, name in enumerate(names)]
    return checked.select([*items(rows.columns), *made]), tuple(names)


def _no_subquery(subquery: AnySubquery, scope: Scope) -> str:
    raise AssertionError("a condition with a subquery is not for a join by key")
