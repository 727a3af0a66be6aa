"""The verbs that join two relations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES, JoinType, LateralJoinType, join_schema
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.errors import InvalidArgumentError, SchemaError, error_context, require_choice
from substrait_dsl.fluent import column_arguments
from substrait_dsl.fluent.base import S2, Condition, RelationBase, S, rel_of, wrap_relation
from substrait_dsl.fluent.schemas import DynRow
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from substrait_dsl.fluent.asof import AsofDirection, AsofHow, ColumnPair, Tolerance
    from substrait_dsl.fluent.join_keys import KeysLike
    from substrait_dsl.fluent.join_using import Using, UsingKeys
    from substrait_dsl.fluent.relation import Relation
    from substrait_dsl.fluent.windows import Keys


MARK = "mark"
"""The default name of the mark column."""


class JoinVerbs(RelationBase, Generic[S]):
    """Cross, join, lateral join, and the joins that say how they are done."""

    __slots__ = ()

    def cross(self, other: RelationBase) -> Relation[DynRow]:
        """Pair every row with every row of another relation.

        Args:
            other: the right side.

        Output: the columns of this one, then of the other; no order. Raises `InvalidArgumentError` for what is no
        relation. Specification: ``CrossRel``.

        Example:
            >>> print(orders.cross(customers).schema)
            0  id        i64
            1  customer  i64
            2  price     fp64?
            3  key       i64
            4  name      string
        """
        with error_context(verb="cross"):
            return wrap_relation(rl.Cross(self._rel, rel_of(other)))

    def join(
        self,
        other: Relation[S2],
        on: Condition | Callable[[S, S2], Condition] | str | Sequence[str] | Literal[True] | None = None,
        how: JoinType = "inner",
        *,
        using: Using | None = None,
        post_filter: Condition | Callable[[DynRow], Condition] | None = None,
        mark: str = MARK,
    ) -> Relation[DynRow]:
        """Match rows with rows of another relation.

        Args:
            other: the right side.
            on: a condition, best as ``lambda l, r: l.key == r.key``; or the name, or names, of columns that both
                sides have and that must be equal; or True, to match everything. Both sides' columns are put out.
            using: in place of `on`: the name, or names, of columns that both sides have and that must be equal; each is
                put out once, at the place of the left one.
            how: one of the twelve join types: inner, outer, left, right, left_semi, right_semi, left_anti,
                right_anti, left_single, right_single (which fail on a second match), left_mark, right_mark.
            post_filter: a condition on the output rows.
            mark: the name of the column that a mark join adds: true, NULL or false.

        Output: inner, outer, left, right, single: left columns, right columns, those of a side that may lack a match
        nullable. Semi and anti: the columns of the side they are named after. Mark: those and a ``boolean?``. A column
        of `using` has the value of the left side, in right and right_single joins of the right one, in outer joins of
        the one that there is. No order.
        Raises `InvalidChoiceError` for another join type, `UnknownFieldError`, `TypeMismatchError` for what is no
        condition, or for columns of `using` of different types. Specification: ``JoinRel``.

        Example:
            >>> print(orders.join(customers, on=lambda o, c: o.customer == c.key, how="left").schema)
            0  id        i64
            1  customer  i64
            2  price     fp64?
            3  key       i64?
            4  name      string?
            >>> customers.join(orders.rename(customer="key"), using="key", how="outer").columns
            ('key', 'name', 'id', 'price')
        """
        with error_context(verb="join"):
            left, right = self._rel, rel_of(other)
            scope = _scope("join", left, right, how, mark)
            if on is not None and using is not None:
                raise _both_on_and_using()
            if on is None and using is None:
                raise InvalidArgumentError(
                    "expected on=, a condition or names, or using=, names of columns that are put out once",
                    hint='write using="x", or on=lambda l, r: l.x == r.y; cross(other) pairs all rows',
                )
            keys = _using_keys(using, scope, how)
            condition = _condition(on, scope) if keys is None else keys.condition()
            after = _post_filter(post_filter, scope, how, mark, keys)
            joined = rl.Join(left, right, how, condition, after, mark, anchor=scope.anchor)
            return wrap_relation(joined if keys is None else keys.merge(joined))

    def lateral_join(
        self,
        right: Callable[[S], Relation[S2]],
        on: Condition | Callable[[S, S2], Condition] | str | Sequence[str] | Literal[True] = True,
        how: LateralJoinType = "inner",
        *,
        using: Using | None = None,
        post_filter: Condition | Callable[[DynRow], Condition] | None = None,
        mark: str = MARK,
    ) -> Relation[DynRow]:
        """Match each row with the rows of a relation that is made anew for that row.

        Args:
            right: a lambda that gets the left row and returns the right side; what it uses of the row makes the right
                side depend on it.
            on: as for `join`; by default every row of the right side matches.
            how: inner, left, left_semi, left_anti, left_single (which fails on a second match), left_mark.
            using: in place of `on`, as for `join`.
            post_filter: a condition on the output rows.
            mark: the name of the column that a mark join adds.

        Output: as of `join`; no order, the distribution of this relation. Raises as `join`.
        Specification: ``LateralJoinRel``.

        Example:
            >>> dearest = lambda c: orders.filter(lambda o: o.customer == c.key).top_n(3, sd.desc("price"))
            >>> print(customers.lateral_join(dearest, how="left").schema)
            0  key       i64
            1  name      string
            2  id        i64?
            3  customer  i64?
            4  price     fp64?
        """
        with error_context(verb="lateral_join"):
            outer = Scope("lateral_join", (self._rel,))
            if not callable(right):
                raise InvalidArgumentError(
                    "expected a lambda that gets the left row and returns a relation",
                    got=right,
                    hint="a right side that does not depend on the left row is for join(...)",
                )
            other = rel_of(column_arguments.call_function(right, outer, column_arguments.rows(outer)))
            scope = _scope("lateral_join", self._rel, other, how, mark, LATERAL_JOIN_TYPES, "lateral-join-type")
            scope.anchor = outer.anchor  # one number for the left row, and for both rows in the condition
            if on is not True and using is not None:
                raise _both_on_and_using()
            keys = _using_keys(using, scope, how)
            condition = _condition(on, scope) if keys is None else keys.condition()
            after = _post_filter(post_filter, scope, how, mark, keys)
            anchor = scope.take_anchor()  # spec decision 28
            joined = rl.LateralJoin(self._rel, other, how, condition, after, mark, anchor=anchor)
            return wrap_relation(joined if keys is None else keys.merge(joined))

    def asof_join(
        self,
        other: Relation[S2],
        on: ColumnPair,
        by: ColumnPair | Sequence[ColumnPair] = (),
        *,
        direction: AsofDirection = "backward",
        how: AsofHow = "left",
        tolerance: Tolerance | None = None,
        order_by: Keys | None = None,
    ) -> Relation[DynRow]:
        """Match each row with the one row of another relation whose time is nearest to its own.

        Args:
            other: the right side.
            on: the time of both sides: a name that both have, or a pair ``("left", "right")``. A number, a date or a
                timestamp, of the same type on both sides.
            by: the columns that must be equal: a name that both sides have, or a list of names and of pairs.
            direction: backward takes the last row that is not later, forward the first that is not earlier, nearest the
                nearer of these two, and of two that are equally near the later one.
            how: left puts out rows without a match, with NULL for the other side; inner leaves them out.
            tolerance: the most that the times may differ: a number for numbers, a ``datetime.timedelta`` for dates and
                timestamps; None for any distance.
            order_by: sort keys of the right side, which order rows of the same key and time: backward takes the last of
                them, forward the first, nearest the first if their time is later. Without it any of them is taken.

        Output: the columns of this relation, then those of the other one without columns that have the same name in
        `on` and `by`; those of the other side are nullable in a left join. A NULL, or a NaN as a time, matches nothing.
        No order. Time and memory grow with the number of rows, not with that of pairs; without `by` all rows of both
        sides are sorted as one, by one task. Raises `TypeMismatchError` for
        columns whose types differ, `UnknownFieldError`, `InvalidChoiceError`. The specification has no such relation; a
        plan holds a ``SetRel`` and window functions.

        Example:
            >>> prices = sd.read_named("prices", {"item": "i64", "since": "date", "price": "fp64"})
            >>> sales = sd.read_named("sales", {"item": "i64", "day": "date"})
            >>> print(sales.asof_join(prices, on=("day", "since"), by="item").schema)
            0  item   i64
            1  day    date
            2  since  date?
            3  price  fp64?
        """
        from substrait_dsl.fluent.asof import asof_join

        with error_context(verb="asof_join"):
            joined = asof_join(self._rel, rel_of(other), on, by, direction, how, tolerance, order_by)
            return wrap_relation(joined)

    def hash_join(
        self,
        other: Relation[S2],
        keys: KeysLike | Callable[[S, S2], Condition | Sequence[Condition]],
        how: JoinType = "inner",
        *,
        residual: Condition | Callable[[S, S2], Condition] | None = None,
        post_filter: Condition | Callable[[DynRow], Condition] | None = None,
        build: rl.BuildSide = "right",
        mark: str = MARK,
    ) -> Relation[DynRow]:
        """Match rows by looking them up in a hash table of one side's keys.

        Args:
            other: the right side.
            keys: columns that must be equal: a name that both sides have, or a list of such names, of pairs
                ``("left", "right")`` and of `join_key`; or ``lambda l, r: [l.a == r.b, ...]``.
            how: as for `join`.
            residual: a further condition for rows to match.
            post_filter: a condition on the output rows.
            build: the side that the hash table is made of: right or left.
            mark: the name of the column that a mark join adds.

        Output: as of `join`. Raises `TypeMismatchError` for keys of different types, `InvalidArgumentError` for one
        that is no column. Specification: ``HashJoinRel``.

        Example:
            >>> print(orders.hash_join(customers, [("customer", "key")], "left_semi"))
            hash join left_semi build right on customer = key -> left.*
              read orders -> id: i64, customer: i64, price: fp64?
              read customers -> key: i64, name: string
        """
        from substrait_dsl.fluent.join_keys import join_keys

        with error_context(verb="hash_join"):
            left, right = self._rel, rel_of(other)
            scope = _scope("hash_join", left, right, how, mark)
            matched = join_keys(keys, scope)
            rest = _residual(residual, scope)
            after = _post_filter(post_filter, scope, how, mark)
            return wrap_relation(rl.HashJoin(left, right, how, matched, rest, after, build, mark, anchor=scope.anchor))

    def merge_join(
        self,
        other: Relation[S2],
        keys: KeysLike | Callable[[S, S2], Condition | Sequence[Condition]],
        how: JoinType = "inner",
        *,
        residual: Condition | Callable[[S, S2], Condition] | None = None,
        post_filter: Condition | Callable[[DynRow], Condition] | None = None,
        mark: str = MARK,
    ) -> Relation[DynRow]:
        """Match rows by merging two sides that are sorted by their keys.

        Args:
            other: the right side.
            keys: as for `hash_join`.
            how: as for `join`.
            residual: a further condition for rows to match.
            post_filter: a condition on the output rows.
            mark: the name of the column that a mark join adds.

        Output: as of `join`. Raises `SchemaError` for a side whose order is known and is not that of the keys, and as
        `hash_join`. Specification: ``MergeJoinRel``.

        Example:
            >>> print(orders.sort("customer").merge_join(customers.sort("key"), [("customer", "key")]))
            merge join inner on customer = key -> id: i64, customer: i64, price: fp64?, key: i64, name: string
              sort by customer asc nulls first
                read orders -> id: i64, customer: i64, price: fp64?
              sort by key asc nulls first
                read customers -> key: i64, name: string
        """
        from substrait_dsl.fluent.join_keys import join_keys

        with error_context(verb="merge_join"):
            left, right = self._rel, rel_of(other)
            scope = _scope("merge_join", left, right, how, mark)
            matched = join_keys(keys, scope)
            rest = _residual(residual, scope)
            after = _post_filter(post_filter, scope, how, mark)
            return wrap_relation(rl.MergeJoin(left, right, how, matched, rest, after, mark, anchor=scope.anchor))

    def nested_loop_join(
        self,
        other: Relation[S2],
        on: Condition | Callable[[S, S2], Condition] | str | Sequence[str] | Literal[True] = True,
        how: JoinType = "inner",
        *,
        mark: str = MARK,
    ) -> Relation[DynRow]:
        """Match rows by comparing every row with every row.

        Args:
            other: the right side.
            on: as for `join`; by default every row of the right side matches.
            how: as for `join`.
            mark: the name of the column that a mark join adds.

        Output and errors: as of `join`. Specification: ``NestedLoopJoinRel``.

        Example:
            >>> print(orders.nested_loop_join(customers, lambda o, c: o.customer >= c.key, "left_anti"))
            nested loop join left_anti on customer >= key -> left.*
              read orders -> id: i64, customer: i64, price: fp64?
              read customers -> key: i64, name: string
        """
        with error_context(verb="nested_loop_join"):
            left, right = self._rel, rel_of(other)
            scope = _scope("nested_loop_join", left, right, how, mark)
            condition = None if on is True else _condition(on, scope)
            return wrap_relation(rl.NestedLoopJoin(left, right, how, condition, mark, anchor=scope.anchor))


def _scope(
    verb: str,
    left: rl.Rel,
    right: rl.Rel,
    how: JoinType,
    mark: str,
    types: Sequence[str] = JOIN_TYPES,
    receiver: str = "join-type",
) -> Scope:
    """Both rows of a join whose type and mark are as they must be."""
    require_choice("how", how, types, receiver)
    if mark != MARK and not how.endswith("_mark"):
        joined = f"{'an' if how in ('inner', 'outer') else 'a'} {how} join"
        raise InvalidArgumentError(
            f"mark={mark!r} names the column that a mark join adds; this is {joined}", names=[mark]
        )
    _require_free(mark, how, left.schema, right.schema)
    return Scope(verb, (left, right))


def _both_on_and_using() -> InvalidArgumentError:
    return InvalidArgumentError(
        "expected on= or using=, not both",
        hint='using="x" is that the columns x are equal, and puts out one of them; add other conditions by filter(...)',
    )


def _using_keys(using: Any, scope: Scope, how: JoinType) -> UsingKeys | None:
    if using is None:
        return None
    from substrait_dsl.fluent.join_using import using_keys

    return using_keys(using, scope, how)


def _condition(on: Any, scope: Scope) -> ex.Expression:
    condition = column_arguments.join_condition(on, scope)
    column_arguments.require_condition(condition)
    return condition


def _residual(residual: Any, scope: Scope) -> ex.Expression | None:
    if residual is None:
        return None
    with error_context(place="residual"):
        condition = column_arguments.evaluate(residual, scope, column_arguments.Role.CONDITION)
        column_arguments.require_condition(condition)
    return condition


def _post_filter(
    post_filter: Any, scope: Scope, how: JoinType, mark: str, keys: UsingKeys | None = None
) -> ex.Expression | None:
    """Return the condition on the output of a join, whose keys of `using` stand there once."""
    if post_filter is None:
        return None
    left, right = scope.inputs
    schema = join_schema(how, left.schema, right.schema, mark)
    output = Scope(scope.verb, (left, right), schema if keys is None else keys.merged_schema(schema))
    with error_context(place="post_filter"):
        after: ex.Expression = column_arguments.evaluate_on_row(post_filter, output, column_arguments.Role.CONDITION)
        column_arguments.require_condition(after)
        if output.anchor is not None:
            raise InvalidArgumentError("a post-join filter takes no correlated subquery", hint="use filter")
    return after if keys is None else keys.rewrite_before_merge(after, schema)


def _require_free(mark: str, how: JoinType, left: NamedStruct, right: NamedStruct) -> None:
    """Raise `SchemaError` if the mark column of a join would be called as a column that is there."""
    column_arguments.require_name(mark)
    preserved = {"left_mark": left, "right_mark": right}.get(how)
    if preserved is not None and mark in preserved.names:
        raise SchemaError(
            f'there is a column "{mark}" already', names=[mark], hint='call the new one otherwise: mark="..."'
        )
