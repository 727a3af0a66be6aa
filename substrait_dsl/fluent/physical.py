"""The verbs of physical relations: top-n, exchange, captures, window, expand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic

from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import error_context
from substrait_dsl.fluent.base import Count, RelationBase, S, wrap_relation
from substrait_dsl.fluent.calls import MeasureBase, WindowFunction
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.column_arguments import ColumnLike, row_count, sort_keys
from substrait_dsl.fluent.expr import ExprBase, SortKey
from substrait_dsl.fluent.schemas import DynRow
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from substrait_dsl.fluent.exchange import ExchangeKind
    from substrait_dsl.fluent.expand import Switching
    from substrait_dsl.fluent.relation import Relation
    from substrait_dsl.fluent.windows import Keys


class PhysicalVerbs(RelationBase, Generic[S]):
    """Relations of the specification that engines choose and people seldom write."""

    __slots__ = ()

    def top_n(
        self,
        count: Count,
        *keys: str | int | ExprBase | SortKey | Callable[[S], ExprBase | SortKey],
        offset: Count = None,
        with_ties: bool = False,
    ) -> Relation[S]:
        """Keep the first `count` rows in an order: a sort and a fetch in one.

        Args:
            count: how many rows; None for all. A number, or an integer expression over no row.
            keys: what to sort by, at least one, as for `sort`.
            offset: how many rows to leave out first; None for 0.
            with_ties: whether to include the rows whose keys equal those of the last of these.

        Output: the same columns; the order is the keys', the distribution stays. Raises as `sort` and `fetch`.
        Specification: ``TopNRel``.

        Example:
            >>> print(orders.top_n(3, sd.desc("price"), with_ties=True))
            top n 3 with ties by price desc nulls last
              read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="top_n"):
            require_flag("with_ties", with_ties)
            scope = Scope("top_n", (self._rel,))
            first, skipped = row_count("count", count, scope), row_count("offset", offset, scope)
            mode: rl.FetchMode = "with_ties" if with_ties else "rows_only"
            return wrap_relation(rl.TopN(self._rel, sort_keys(keys, scope), first, skipped, mode, anchor=scope.anchor))

    def exchange(
        self,
        kind: ExchangeKind,
        *,
        partition_count: int | None = None,
        targets: Sequence[rl.ExchangeTarget] = (),
    ) -> Relation[S]:
        """Send the rows to partitions.

        Args:
            kind: which rows go where: ``scatter("a", ...)``, ``single_bucket(expression)``,
                ``multi_bucket(expression)``, ``round_robin()``, ``broadcast()``.
            partition_count: how many partitions there are; None leaves it to the engine.
            targets: where the partitions are sent; each an ``exchange_target(destination, *partition_ids)``.

        Output: the same columns, in the same order within each partition; the distribution is by the fields of a
        scatter or the column of a single bucket, and otherwise unknown. Raises `UnknownFieldError`,
        `TypeMismatchError` for a bucket that is no ``i32``, `InvalidArgumentError` for a partition that is not there.
        Specification: ``ExchangeRel``.

        Example:
            >>> print(orders.exchange(sd.scatter("customer"), partition_count=8))
            exchange scatter by customer into 8 partitions
              read orders -> id: i64, customer: i64, price: fp64?
        """
        from substrait_dsl.fluent.exchange import exchange

        with error_context(verb="exchange"):
            return wrap_relation(exchange(self._rel, kind, partition_count, targets))

    def merging_capture(self, blocking: bool = False) -> Relation[S]:
        """Take several ordered streams in as one that is ordered.

        Args:
            blocking: whether a stream waits while others are behind, which may be a deadlock.

        Output: the same columns; order and distribution stay. Specification: the merging capture of the physical
        relations, which has no message of its own.

        Example:
            >>> print(orders.sort("id").merging_capture())
            merging capture
              sort by id asc nulls first
                read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="merging_capture"):
            require_flag("blocking", blocking)
            return wrap_relation(rl.MergingCapture(self._rel, blocking))

    def simple_capture(self) -> Relation[S]:
        """Take several streams in as they come.

        Output: the same columns; no order, the distribution stays. Specification: the simple capture of the physical
        relations, which has no message of its own.

        Example:
            >>> print(orders.simple_capture())
            simple capture
              read orders -> id: i64, customer: i64, price: fp64?
        """
        with error_context(verb="simple_capture"):
            return wrap_relation(rl.SimpleCapture(self._rel))

    def window(
        self,
        /,
        *,
        partition_by: Keys = (),
        order_by: Keys = (),
        method: rl.WindowMethod = "consistent_partition",
        **functions: MeasureBase | WindowFunction[Any, Any] | Callable[[S], MeasureBase | WindowFunction[Any, Any]],
    ) -> Relation[DynRow]:
        """Add the values of window functions that share their partitions and their order.

        Args:
            partition_by: columns or expressions, one or a list: a function sees the rows that agree on them.
            order_by: sort keys, one or a list, as for `sort`.
            method: how: consistent_partition, hashing or streaming (which needs an input sorted by the partitions,
                then the keys).
            functions: name=window or aggregate function, such as ``place=f.rank()``, with a frame if it is not to have
                the usual one: ``total=lambda r: f.sum(r.x).frame(rows=(-3, 0))``.

        Output: the input's columns, then one per function. The distribution stays, and so does the order for a
        consistent_partition window. Raises `SchemaError` for a name that exists, or a streaming window over an input
        sorted otherwise. Specification: ``ConsistentPartitionWindowRel``.

        Example:
            >>> print(orders.window(partition_by="customer", order_by=sd.desc("price"), place=f.rank()).schema)
            0  id        i64
            1  customer  i64
            2  price     fp64?
            3  place     i64?
        """
        from substrait_dsl.fluent.window_relation import window

        with error_context(verb="window"):
            return wrap_relation(window(self._rel, partition_by, order_by, method, functions))

    def expand(
        self, /, *, index: str = "index", **fields: Switching | ColumnLike[S] | Callable[[S], Switching]
    ) -> Relation[DynRow]:
        """Copy each row, with other values in some of the columns.

        Args:
            index: the name of the column that numbers the copies from 0.
            fields: name=``switching(a, b, ...)`` for a column with a value for each copy; anything else, as for
                `with_columns`, is the same in all copies.

        Output: these columns, then ``index: i32``. A switching field is nullable if any of its values is, or if it has
        fewer than another. The order stays as far down as its columns do, the distribution if all of its columns do.
        Raises `TypeMismatchError` for values of different types. Specification: ``ExpandRel``.

        Example:
            >>> print(orders.expand(customer=lambda o: sd.switching(o.customer, None), price=sd.col("price")).schema)
            0  customer  i64?
            1  price     fp64?
            2  index     i32
        """
        from substrait_dsl.fluent.expand import expand

        with error_context(verb="expand"):
            return wrap_relation(expand(self._rel, fields, index))
