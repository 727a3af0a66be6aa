"""Joins: Spark's own where it has them, subqueries for most others.

A mark join is a column that tells whether a match exists; a single join is a left join, of rows that are counted by key
where it is not known that they match once; or else a scalar subquery that counts its matches. What looks rows of one
input up in the other makes that text inside a subquery.

Specification: https://substrait.io/relations/logical_relations/#join-operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import attrs

from substrait_dsl.algebra.expressions import Expression, FieldReference, ScalarFunction
from substrait_dsl.algebra.node import Rel, walk
from substrait_dsl.algebra.relations import HashJoin, Join, LateralJoin, MergeJoin, NestedLoopJoin
from substrait_dsl.algebra.relations.joins import COMPARISON_URN, conjuncts
from substrait_dsl.algebra.rules import JOIN_RULES, JoinType
from substrait_dsl.errors import UnsupportedError
from substrait_dsl.spark.expressions import AnySubquery, Scope, to_sql
from substrait_dsl.spark.hosts import host, subqueries_of
from substrait_dsl.spark.marks import Key, Test, mark
from substrait_dsl.spark.physical_joins import as_join
from substrait_dsl.spark.pruning import positions_seen
from substrait_dsl.spark.relations import filtered
from substrait_dsl.spark.tables import Item, JoinHow, Rows, Table, all_true, items
from substrait_dsl.spark.texts import TextTable
from substrait_dsl.spark.uniqueness import is_unique

if TYPE_CHECKING:
    from substrait_dsl.algebra.relations import Cross
    from substrait_dsl.spark.lowering import Lowering

Side = Literal["left", "right"]


@attrs.frozen
class Plan:
    """How a join type is lowered: from which side, and Spark's join or what else."""

    stream: Side
    """The side that rows are matched for; the other is looked up."""
    method: JoinHow | Literal["mark", "single"]


PLANS: Mapping[JoinType, Plan] = {
    "inner": Plan("left", "inner"),
    "outer": Plan("left", "full"),
    "left": Plan("left", "left"),
    "right": Plan("left", "right"),
    "left_semi": Plan("left", "leftsemi"),
    "right_semi": Plan("right", "leftsemi"),
    "left_anti": Plan("left", "leftanti"),
    "right_anti": Plan("right", "leftanti"),
    "left_single": Plan("left", "single"),
    "right_single": Plan("right", "single"),
    "left_mark": Plan("left", "mark"),
    "right_mark": Plan("right", "mark"),
}


def streamed(rel: Rel, *, correlated: bool) -> tuple[Rel, ...]:
    """The inputs of a relation that are lowered like itself; one that a join looks rows up in is not.

    `correlated` says whether there are rows around the relation.
    """
    match rel:
        case LateralJoin(left=left):
            return (left,)
        case Join(how=how) | HashJoin(how=how) | MergeJoin(how=how) | NestedLoopJoin(how=how):
            plan = PLANS[how]
            if plan.method in ("mark", "single") and (correlated or not _counts_by_key(rel)):
                return (rel.left if plan.stream == "left" else rel.right,)
    return rel.inputs


def looks_up(rel: Rel) -> bool:
    """Whether anything below a relation is, or may be, looked up row by row: by a subquery, or by a join."""
    return any(
        isinstance(node, AnySubquery) or (isinstance(node, Rel) and streamed(node, correlated=True) != node.inputs)
        for node in walk(rel)
    )


def lower_cross(rel: Cross, to: Lowering) -> Rows:
    """A cross join."""
    left = to[rel.left]
    right = to[rel.right].apart_from(left)
    return Rows(left.table.join(right.table, "cross", None), left.columns + right.columns)


def lower_join(rel: Join, to: Lowering) -> Rows:
    """Match the rows as the join type says, then filter what comes out."""
    plan = PLANS[rel.how]
    match plan.method:
        case "single" if not to.outer and _counts_by_key(rel):
            is_left_join = _has_unique_keys(rel, plan.stream)
            rows = _joined(rel, plan.stream, "left", to) if is_left_join else _counted_by_key(rel, plan.stream, to)
        case "mark" | "single":
            rows = _looked_up(rel, plan, to)
        case how:
            rows = _joined(rel, plan.stream, how, to)
    return rows if rel.post_filter is None else filtered(rows, rel.post_filter, rel.anchor, to)


def _joined(rel: Join, stream: Side, how: JoinHow, to: Lowering) -> Rows:
    """A join of Spark's own."""
    left = to[rel.left]
    right = to[rel.right].apart_from(left)
    values: dict[int, str] = {}
    now, later = [], []
    for conjunct in conjuncts(rel.condition):
        sides = {side for subquery in subqueries_of(conjunct) for side in _sides(subquery, rel)}
        if sides == {"left", "right"}:
            if how != "inner":
                raise UnsupportedError(
                    f"Spark cannot run a {rel.how} join whose condition has a subquery that refers to both inputs",
                    hint="compute the subquery in a project of one input, or use an inner join",
                )
            later.append(conjunct)
            continue
        now.append(conjunct)
        for subquery in subqueries_of(conjunct):
            if "right" in sides:
                right, values[id(subquery)] = _computed(subquery, rel, "right", right, to)
            else:
                left, values[id(subquery)] = _computed(subquery, rel, "left", left, to)
    ours, theirs = left.columns[: len(rel.left.schema)], right.columns[: len(rel.right.schema)]
    scope = Scope(ours + theirs, to.outer, lambda subquery, _: values[id(subquery)])
    condition = " AND ".join(f"({to_sql(conjunct, scope)})" for conjunct in now) or "true"
    first, second = (left, right) if stream == "left" else (right, left)
    rule = JOIN_RULES[rel.how]
    columns = (() if rule.left == "absent" else ours) + (() if rule.right == "absent" else theirs)
    rows = Rows(first.table.join(second.table, how, condition), columns)
    for conjunct in later:
        rows = filtered(rows, conjunct, rel.anchor, to)
    return rows


def _looked_up(rel: Join, plan: Plan, to: Lowering) -> Rows:
    """A mark or single join: each row of one input looked up in the other."""
    stream, other = (rel.left, rel.right) if plan.stream == "left" else (rel.right, rel.left)
    rows = to[stream]
    values: dict[int, str] = {}
    for subquery in subqueries_of(rel.condition):
        if not _sides(subquery, rel) <= {plan.stream}:
            raise UnsupportedError(
                f"Spark cannot run a {rel.how} join whose condition has a subquery that refers to the input "
                "in which rows are looked up",
                hint="compute the subquery in a project of that input",
            )
        rows, values[id(subquery)] = _computed(subquery, rel, plan.stream, rows, to)
    computed, here = host(to, rows, None, [], lookups=[rel.condition, other])
    table, found = here.inside.text(other)
    mine = rows.columns[: len(stream.schema)]
    scope = Scope(
        mine + found if plan.stream == "left" else found + mine,
        here.scope.outer,
        lambda subquery, _: values[id(subquery)],
    )
    tests = [_test(conjunct, rel, plan.stream, scope) for conjunct in conjuncts(rel.condition)]
    rows = Rows(computed.table, mine)
    if plan.method == "mark":
        keys = (_key_sides(conjunct, rel, plan.stream) for conjunct in conjuncts(rel.condition))
        fixed = not other.free_anchors and not any(key and key[1].free_anchors for key in keys)
        return with_mark(rows, mark(table, tests, to.space, fixed=fixed), to)
    for test in tests:
        table = table.where(test.holds)
    single, matched = single_match(rows, table, found, to)
    return Rows(single, mine + matched if plan.stream == "left" else matched + mine)


def _counts_by_key(rel: Join | HashJoin | MergeJoin | NestedLoopJoin) -> bool:
    """Whether a single join may count its matches by key.

    So it is if rows match by equal keys and, beside that, by conditions on one side alone.
    """
    join = rel if isinstance(rel, Join) else as_join(rel)
    plan = PLANS[join.how]
    if plan.method != "single" or any(True for _ in subqueries_of(join.condition)):
        return False
    others = [part for part in conjuncts(join.condition) if _key_sides(part, join, plan.stream) is None]
    return len(others) < len(list(conjuncts(join.condition))) and all(len(_sides(part, join)) < 2 for part in others)


def _has_unique_keys(rel: Join, stream: Side) -> bool:
    """Whether the keys alone tell the rows of the other input apart, as those of an aggregate do."""
    other, before = (rel.right, len(rel.left.schema)) if stream == "left" else (rel.left, 0)
    keys = (_key_sides(conjunct, rel, stream) for conjunct in conjuncts(rel.condition))
    columns = (sides[1] for sides in keys if sides is not None)
    return is_unique(other, [key.position - before for key in columns if isinstance(key, FieldReference)])


def _counted_by_key(rel: Join, stream: Side, to: Lowering) -> Rows:
    """A single join that is a left join: each row of the other input tells how many rows have its key.

    Spark counts where it sorts the rows for the join, and reads them once. To number them would be cheaper, but then
    the first match would not know of the second, and may be all that a limit asks for. The check is a filter that
    depends on a number of the row: so Spark neither moves it, nor a later filter below it, nor leaves out the join
    under it.
    """
    left = to[rel.left]
    right = to[rel.right].apart_from(left)
    ours, theirs = left.columns[: len(rel.left.schema)], right.columns[: len(rel.right.schema)]
    scope = Scope(ours + theirs, to.outer, _no_subquery)
    streaming, table, others = (left, right.table, theirs) if stream == "left" else (right, left.table, ours)
    keys, on = [], []
    for conjunct in conjuncts(rel.condition):
        test = _test(conjunct, rel, stream, scope)
        if isinstance(test, Key):
            keys.append(Item(test.inside, (to.space.name(),)))
            on.append(f"({test.outside} = {keys[-1].names[0]})")
        elif stream in (sides := _sides(conjunct, rel)) or not sides:
            on.append(test.holds)
        else:
            table = table.where(test.holds)
    table = table.select([*items(others), *keys])
    many = to.space.name()
    count = f"count(1) OVER (PARTITION BY {', '.join(key.names[0] for key in keys)})"
    joined = streaming.table.join(table.select([*items(table.names), Item(count, (many,))]), "left", all_true(on))
    checked = joined.where(f"if({many} > 1, CAST({_TOO_MANY} AS BOOLEAN), monotonically_increasing_id() >= 0)")
    return Rows(checked.select(items(ours + theirs)), ours + theirs)


def _no_subquery(subquery: AnySubquery, scope: Scope) -> str:
    raise AssertionError("a condition with a subquery is not for a count by key")


def with_mark(rows: Rows, marked: str, to: Lowering) -> Rows:
    """The rows and a mark, which is text with subqueries that depend on the row."""
    return rows.fenced().extended([Item(marked, (to.space.name(),))])


MANY_MATCHES = "a row has more than one match in a single join"
_TOO_MANY = f"raise_error('{MANY_MATCHES}')"


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


def _test(conjunct: Expression, rel: Join, stream: Side, scope: Scope) -> Key | Test:
    """A conjunct of the condition, as a key if it is an equality of the two sides."""
    sides = _key_sides(conjunct, rel, stream)
    if sides is None:
        return Test(to_sql(conjunct, scope), conjunct.type.nullable)
    ours, theirs = sides
    return Key(to_sql(ours, scope), to_sql(theirs, scope), conjunct.type.nullable)


def _key_sides(conjunct: Expression, rel: Join, stream: Side) -> tuple[Expression, Expression] | None:
    """If a conjunct is an equality of the two sides: the one of the rows that are matched, and the other."""
    match conjunct:
        case ScalarFunction(function=function, arguments=(Expression() as first, Expression() as second)) if (
            function.urn == COMPARISON_URN and function.name == "equal"
        ):
            by_side = {frozenset(_sides(argument, rel)): argument for argument in (first, second)}
            ours: frozenset[Side] = frozenset((stream,))
            theirs: frozenset[Side] = frozenset(("right" if stream == "left" else "left",))
            if by_side.keys() == {ours, theirs}:
                return by_side[ours], by_side[theirs]
    return None


def _sides(expression: Expression, rel: Join) -> set[Side]:
    """The inputs of a join that an expression in its condition refers to, from inside subqueries, too."""
    width = len(rel.left.schema)
    return {"left" if position < width else "right" for position in positions_seen([expression], rel.anchor)}


def _computed(subquery: AnySubquery, rel: Join, side: Side, rows: Rows, to: Lowering) -> tuple[Rows, str]:
    """One input with the value of a subquery as a further column, and that column."""
    left, right = len(rel.left.schema), len(rel.right.schema)
    unseen = ("NULL",)
    visible = rows.columns[:left] + unseen * right if side == "left" else unseen * left + rows.columns[:right]
    wide, here = host(to, rows, rel.anchor, [subquery], hoist=True, visible=visible)
    name = here.sql(subquery)
    return Rows(wide.table, (*wide.columns, name)), name
