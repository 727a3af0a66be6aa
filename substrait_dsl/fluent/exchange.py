"""The exchanges: how each distributes rows over partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra.extensions import AnyLike, any_message
from substrait_dsl.algebra.pickling import Picklable
from substrait_dsl.errors import InvalidArgumentError, error_context, require
from substrait_dsl.fluent.choices import require_flag
from substrait_dsl.fluent.column_arguments import is_list, key_expression
from substrait_dsl.fluent.scope import Scope
from substrait_dsl.fluent.sorting import Sortable


class ExchangeKind(Picklable):
    """A kind of exchange, for `Relation.exchange`; made by `scatter`, `single_bucket`, and so on.

    Specification: ``ExchangeRel.exchange_kind``.

    Example:
        >>> sd.round_robin()
        ExchangeKind(round_robin)
    """

    __slots__ = ("name", "resolve")

    def __init__(self, name: str, resolve: Callable[[Scope], rl.ExchangeKind]) -> None:
        require(name, str, "the name of a kind of exchange is a str")
        if not callable(resolve):
            raise InvalidArgumentError("a kind of exchange is made by scatter(...) and its like", got=resolve)
        self.name, self.resolve = name, resolve

    def __repr__(self) -> str:
        return f"ExchangeKind({self.name})"


def scatter(*fields: Sortable) -> ExchangeKind:
    """Send rows by a hash of columns that the system defines: rows that agree on them share a partition.

    Args:
        fields: columns, or fields of structs in them, at least one.

    Specification: ``ExchangeRel.ScatterFields``.

    Example:
        >>> print(orders.exchange(sd.scatter("customer")))
        exchange scatter by customer
          read orders -> id: i64, customer: i64, price: fp64?
    """
    return ExchangeKind("scatter", partial(_scatter, fields))


def _scatter(fields: Sequence[Sortable], scope: Scope) -> rl.Scatter:
    return rl.Scatter(tuple(key_expression(field, scope, "scatter") for field in fields))


def single_bucket(expression: Sortable, constrained: bool = False) -> ExchangeKind:
    """Send each row to the partition whose number, an ``i32``, an expression gives.

    Args:
        expression: the number.
        constrained: whether it is promised to be less than the partition count; else it is taken modulo that.

    Specification: ``ExchangeRel.SingleBucketExpression``.

    Example:
        >>> print(orders.exchange(sd.single_bucket(lambda o: o.id.cast("i32"))))
        exchange single bucket by cast(id as i32)
          read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="single_bucket"):
        require_flag("constrained", constrained)
    return ExchangeKind("single_bucket", partial(_single_bucket, expression, constrained))


def _single_bucket(expression: Sortable, constrained: bool, scope: Scope) -> rl.SingleBucket:
    return rl.SingleBucket(key_expression(expression, scope, "choose a bucket"), constrained)


def multi_bucket(expression: Sortable, constrained: bool = False) -> ExchangeKind:
    """Send each row to every partition whose number is in the ``list<i32>`` that an expression gives.

    Args:
        expression: the numbers.
        constrained: whether they are promised to be less than the partition count; else they are taken modulo that.

    Specification: ``ExchangeRel.MultiBucketExpression``.

    Example:
        >>> print(orders.exchange(sd.multi_bucket(lambda o: sd.list_of(o.id.cast("i32"), 0))))
        exchange multi bucket by [cast(id as i32), 0]
          read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="multi_bucket"):
        require_flag("constrained", constrained)
    return ExchangeKind("multi_bucket", partial(_multi_bucket, expression, constrained))


def _multi_bucket(expression: Sortable, constrained: bool, scope: Scope) -> rl.MultiBucket:
    return rl.MultiBucket(key_expression(expression, scope, "choose buckets"), constrained)


def round_robin(exact: bool = False) -> ExchangeKind:
    """Send the rows to each partition in turn.

    Args:
        exact: whether each gets the same number of rows; else only about the same.

    Specification: ``ExchangeRel.RoundRobin``.

    Example:
        >>> print(orders.exchange(sd.round_robin(exact=True), partition_count=4))
        exchange round robin exact into 4 partitions
          read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="round_robin"):
        require_flag("exact", exact)
    return ExchangeKind("round_robin", partial(_without_row, rl.RoundRobin(exact)))


def broadcast() -> ExchangeKind:
    """Send every row to all partitions.

    Specification: ``ExchangeRel.Broadcast``.

    Example:
        >>> print(customers.exchange(sd.broadcast()))
        exchange broadcast
          read customers -> key: i64, name: string
    """
    return ExchangeKind("broadcast", partial(_without_row, rl.Broadcast()))


def _without_row(kind: rl.ExchangeKind, scope: Scope) -> rl.ExchangeKind:
    return kind


def exchange_target(destination: str | AnyLike, *partition_ids: int) -> rl.ExchangeTarget:
    """Say where an exchange sends some partitions.

    Args:
        destination: a URI, or a message that those know who receive the rows.
        partition_ids: the numbers of the partitions; none for all of them.

    Specification: ``ExchangeRel.ExchangeTarget``.

    Example:
        >>> target = sd.exchange_target("grpc://node1", 0, 1)
        >>> print(orders.exchange(sd.scatter("id"), partition_count=2, targets=[target]))
        exchange scatter by id into 2 partitions to 'grpc://node1' (partitions 0, 1)
          read orders -> id: i64, customer: i64, price: fp64?
    """
    with error_context(verb="exchange_target"):
        for number in partition_ids:
            if type(number) is not int:
                raise InvalidArgumentError("the number of a partition is an int", got=number)
        where = destination if isinstance(destination, str) else any_message(destination, "the destination")
        return rl.ExchangeTarget(where, partition_ids)


def exchange(
    rel: rl.Rel, kind: ExchangeKind, partition_count: int | None, targets: Sequence[rl.ExchangeTarget]
) -> rl.Exchange:
    """Return the exchange of the algebra; see `Relation.exchange`."""
    if not isinstance(kind, ExchangeKind):
        raise _exchange_error(kind, rel)
    if partition_count is not None and type(partition_count) is not int:
        raise InvalidArgumentError("the partition count is an int", got=partition_count)
    if not is_list(targets) or not all(isinstance(target, rl.ExchangeTarget) for target in targets):
        raise InvalidArgumentError(
            "targets is a list of exchange targets", got=targets, hint="write exchange_target(uri, *partition_ids)"
        )
    scope = Scope("exchange", (rel,))
    with error_context(place=kind.name):
        resolved = kind.resolve(scope)
    return rl.Exchange(rel, resolved, partition_count, tuple(targets), anchor=scope.anchor)


def _exchange_error(value: Any, rel: rl.Rel) -> InvalidArgumentError:
    from substrait_dsl.hints import advice

    name = getattr(value, "__name__", value)
    if isinstance(name, str):
        found = f'scatter("{name}")' if name in rel.schema.names else advice("exchange", name)
        if found:
            got = repr(value) if value is name else f"the function {name}"
            return InvalidArgumentError(f"expected a kind of exchange, got {got}", names=[name], hint=f"write {found}")
    return InvalidArgumentError(
        "expected a kind of exchange",
        got=value,
        hint="write scatter(...), single_bucket(...), multi_bucket(...), round_robin() or broadcast()",
    )
