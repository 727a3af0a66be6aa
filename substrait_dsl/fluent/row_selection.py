"""The verbs that keep some of the rows: one of each value, the first of each group, those without NULLs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, get_args

from substrait_dsl.algebra import expressions as ex
from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import InvalidArgumentError, SchemaError, error_context, require_choice
from substrait_dsl.fluent.base import RelationBase, S, wrap_relation
from substrait_dsl.fluent.binding import bind
from substrait_dsl.fluent.calls import FunctionCall, WindowFunction, scalar_call
from substrait_dsl.fluent.column_arguments import Picked, all_of, compute, is_list, sort_keys, unused_names
from substrait_dsl.fluent.expr import SortKey, bound_expr
from substrait_dsl.fluent.schemas import DynRow
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from substrait_dsl.algebra.properties import SortDirection
    from substrait_dsl.fluent.relation import Relation
    from substrait_dsl.fluent.windows import Keys

Keep = Literal["any", "first", "last", "none"]
KEEPS: tuple[Keep, ...] = get_args(Keep)

_REVERSED: dict[str, SortDirection] = {
    "asc_nulls_first": "desc_nulls_last",
    "asc_nulls_last": "desc_nulls_first",
    "desc_nulls_first": "asc_nulls_last",
    "desc_nulls_last": "asc_nulls_first",
}
"""The direction in which the last row is the first."""


class RowSelectionVerbs(RelationBase, Generic[S]):
    """Verbs that keep some of the rows."""

    __slots__ = ()

    def distinct(
        self, *, on: Keys | None = None, keep: Keep | None = None, order_by: Keys | None = None
    ) -> Relation[S]:
        """Put out each different row once, or one row for each different value of some columns.

        Args:
            on: columns or expressions, one or a list; None: the whole row. NULL is a value like others.
            keep: which row of each value of `on`: the ``"first"`` by `order_by`, which is the default with it; the
                ``"last"``; ``"any"``, which need not be the same each time, the default without it; or ``"none"`` of
                a value that stands in several rows.
            order_by: sort keys, one or a list, as for `sort`. Of rows that are equal by it any is kept.

        Output: the same columns; no order for whole rows. Raises `SchemaError` for a relation without columns,
        `InvalidChoiceError` for another word, `InvalidArgumentError` for ``"first"`` and ``"last"`` without an order,
        and an order for the others.
        Specification: ``AggregateRel`` with every column as a key; with `on` a window function and a ``FilterRel``.

        Example:
            >>> print(orders.select("customer").distinct())
            aggregate by customer -> customer: i64
              emit -> customer: i64
                read orders -> id: i64, customer: i64, price: fp64?
            >>> orders.distinct(on="customer", order_by=sd.desc("price")).columns
            ('id', 'customer', 'price')
        """
        with error_context(verb="distinct"):
            if on is None:
                if keep is not None or order_by is not None:
                    raise InvalidArgumentError(
                        "keep and order_by choose a row of each value of some columns",
                        hint='write distinct(on="x", ...)',
                    )
                return wrap_relation(_distinct_rows(self._rel))
            keep = keep if keep is not None else "any" if order_by is None else "first"
            require_choice("keep", keep, KEEPS)
            if (keep in ("first", "last")) is (order_by is None):
                raise InvalidArgumentError(
                    f'keep="{keep}" needs an order' if order_by is None else f'keep="{keep}" has no order',
                    hint='write order_by=..., or keep="any"' if order_by is None else "leave out order_by or keep",
                )
            if keep == "none":
                return wrap_relation(_numbered("count", self._rel, 1, on, ()))
            return wrap_relation(_numbered("row_number", self._rel, 1, on, order_by or (), keep == "last"))

    def first_of(self, count: int = 1, *, partition_by: Keys = (), order_by: Keys) -> Relation[S]:
        """Keep the first rows of each group.

        Args:
            count: how many of each.
            partition_by: columns or expressions, one or a list: rows that agree on them are a group (NULL is NULL).
                By default all rows are one.
            order_by: sort keys, one or a list, as for `sort`. Of rows that are equal by it any come first.

        Output: the same columns. Raises `InvalidArgumentError` for a number below 1, `UnknownFieldError`.
        Specification: the window function ``row_number``, and a ``FilterRel``.

        Example:
            >>> orders.first_of(2, partition_by="customer", order_by=sd.desc("price")).columns
            ('id', 'customer', 'price')
        """
        with error_context(verb="first_of"):
            if type(count) is not int or count < 1:
                raise InvalidArgumentError("expected a number of rows, at least 1", got=count)
            if is_list(order_by) and not order_by:
                raise InvalidArgumentError("which rows are first is for order_by to say", hint='write order_by="x"')
            return wrap_relation(_numbered("row_number", self._rel, count, partition_by, order_by))

    def drop_nulls(self, *columns: str | int) -> Relation[DynRow]:
        """Keep the rows without NULL in some columns.

        Args:
            columns: names or positions; by default every column.

        Output: the same columns, these required: a filter leaves the types as they are, so a cast says what is known
        after it. Order and distribution stay as far as the other columns do. Raises `UnknownFieldError`,
        `AmbiguousFieldError`. Specification: ``FilterRel`` by ``is_not_null``, and ``Expression.Cast``.

        Example:
            >>> print(orders.drop_nulls("price").schema)
            0  id        i64
            1  customer  i64
            2  price     fp64
        """
        with error_context(verb="drop_nulls"):
            schema = self._rel.schema
            chosen = {schema.position(column) for column in columns} if columns else range(len(schema))
            nullable = [position for position in sorted(chosen) if schema.types[position].nullable]
            if not nullable:
                return wrap_relation(self._rel)
            scope = Scope("drop_nulls", (self._rel,))
            tests = [scalar_call("is_not_null", {}, None, None, [scope.column(each)]) for each in nullable]
            remaining = rl.Filter(self._rel, tests[0] if len(tests) == 1 else all_of(tests))
            after = Scope("drop_nulls", (remaining,))
            picked: list[Picked] = [
                (field.name, ex.Cast(after.column(each), field.type.as_required()) if each in nullable else each)
                for each, field in enumerate(schema)
            ]
            return wrap_relation(compute(remaining, picked, after))


def _distinct_rows(rel: rl.Rel) -> rl.Rel:
    if not rel.schema.names:
        raise SchemaError("a relation without columns has no rows that differ", hint="limit(1) leaves one of them")
    scope = Scope("distinct", (rel,))
    positions = tuple(range(len(rel.schema)))
    return rl.Aggregate(rel, tuple(map(scope.column, positions)), (positions,), (), rel.schema.names)


def _numbered(
    function: Literal["count", "row_number"],
    rel: rl.Rel,
    most: int,
    partition_by: Any,
    order_by: Any,
    is_reversed: bool = False,
) -> rl.Rel:
    """Return the rows for which a window function of no arguments gives at most so much."""
    from substrait_dsl.fluent.windows import over

    scope = Scope("", (rel,))
    if is_reversed:
        order_by = [_reversed(key) for key in sort_keys(order_by if is_list(order_by) else [order_by], scope)]
        order_by = [SortKey(bound_expr(key.expression, scope), key.direction) for key in order_by]
    kind: Literal["aggregate", "window"] = "aggregate" if function == "count" else "window"
    window: WindowFunction[Any, Any] = WindowFunction(FunctionCall(kind, function, (), {}, None, None))
    number = bind(over(window, (), partition_by, order_by, None, None), scope)
    (name,) = unused_names([function], rel.schema.names)
    numbered = rl.Project(rel, (number,), (name,), anchor=scope.anchor)
    width = len(rel.schema)
    test = scalar_call("lte", {}, None, None, [Scope("", (numbered,)).column(width), most])
    return rl.emit(rl.Filter(numbered, test), range(width))


def _reversed(key: ex.SortKey) -> ex.SortKey:
    direction = _REVERSED.get(key.direction) if isinstance(key.direction, str) else None
    if direction is None:
        raise InvalidArgumentError('keep="last" needs keys that are asc or desc', hint='write keep="first"')
    return ex.SortKey(key.expression, direction)
