"""Relations that move rows between partitions, and that collect them again.

Specification: https://substrait.io/relations/physical_relations/#exchange-operator and the two captures after it.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from substrait_dsl.algebra.extensions import AnyMessage
from substrait_dsl.algebra.frozen_values import FrozenValue
from substrait_dsl.algebra.node import Expression, Node, Rel
from substrait_dsl.algebra.properties import SINGLETON, Distribution, Properties, partitioned
from substrait_dsl.algebra.relations.sortedness import direct_path
from substrait_dsl.algebra.schema import NamedStruct
from substrait_dsl.algebra.types import I32, List
from substrait_dsl.errors import InvalidArgumentError, TypeMismatchError


@attrs.frozen(eq=False, repr=False)
class Scatter(Node):
    """By a hash of some columns that the system defines: equal values go to the same partition."""

    fields: tuple[Expression, ...]

    def _validate(self) -> None:
        if not self.fields:
            raise InvalidArgumentError("a scatter needs at least one field")
        for field in self.fields:
            if direct_path(field) is None:
                raise InvalidArgumentError("a scatter goes by columns or fields of them, not by other expressions")


@attrs.frozen(eq=False, repr=False)
class SingleBucket(Node):
    """To the partition whose number an ``i32`` expression gives.

    `constrained` promises that it is less than the partition count; else it is taken modulo that.
    """

    expression: Expression
    constrained: bool = False

    def _validate(self) -> None:
        if not isinstance(self.expression.type, I32):
            raise TypeMismatchError(f"the number of a bucket is an i32, this is {self.expression.type}")


@attrs.frozen(eq=False, repr=False)
class MultiBucket(Node):
    """To all partitions whose numbers a ``list<i32>`` expression gives.

    `constrained` promises that they are all less than the partition count; else they are taken modulo that.
    """

    expression: Expression
    constrained: bool = False

    def _validate(self) -> None:
        type_ = self.expression.type
        if not isinstance(type_, List) or not isinstance(type_.element, I32):
            raise TypeMismatchError(f"the numbers of several buckets are a list<i32>, this is {type_}")


@attrs.frozen(eq=False, repr=False)
class RoundRobin(Node):
    """To each partition in turn; unless `exact`, only about as many to each."""

    exact: bool = False


@attrs.frozen(eq=False, repr=False)
class Broadcast(Node):
    """To all partitions."""


ExchangeKind = Scatter | SingleBucket | MultiBucket | RoundRobin | Broadcast


@attrs.frozen(eq=False, repr=False)
class ExchangeTarget(FrozenValue):
    """Where some partitions are sent: a URI, or something that only those know who know the message.

    No partition ids are all partitions.
    """

    destination: str | AnyMessage
    partition_ids: tuple[int, ...] = ()


@attrs.frozen(eq=False, repr=False)
class Exchange(Rel):
    """The rows, redistributed. Output: the input's columns and order (within each partition, spec decision 8).

    The distribution is what the kind makes of it: all in one partition, if that is the partition count.
    """

    input: Rel
    kind: ExchangeKind
    partition_count: int | None = None
    targets: tuple[ExchangeTarget, ...] = ()

    def _validate(self) -> None:
        if self.partition_count is not None and self.partition_count < 1:
            raise InvalidArgumentError(f"the partition count must be at least 1, got {self.partition_count}")
        constrained = isinstance(self.kind, SingleBucket | MultiBucket) and self.kind.constrained
        if constrained and self.partition_count is None:
            raise InvalidArgumentError("buckets constrained to the partition count need a partition count")
        for target in self.targets:
            for number in target.partition_ids:
                if number < 0 or (self.partition_count is not None and number >= self.partition_count):
                    count = "" if self.partition_count is None else f": there are {self.partition_count}"
                    raise InvalidArgumentError(f"there is no partition {number}{count}")
        Rel._validate(self)

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return attrs.evolve(self.input.properties, distribution=self._distribution())

    def _distribution(self) -> Distribution | None:
        if self.partition_count == 1:
            return SINGLETON
        match self.kind:
            case Scatter(fields=fields):
                return partitioned(*(path for path in map(direct_path, fields) if path is not None))
            case SingleBucket(expression=bucket) if (path := direct_path(bucket)) is not None:
                return partitioned(path)
            case _:
                return None


@attrs.frozen(eq=False, repr=False)
class MergingCapture(Rel):
    """Several ordered streams merged into one. Output: the input's columns; order and distribution stay.

    `blocking` says whether a stream waits while others are behind, which may be a deadlock.
    """

    has_own_extension: ClassVar[bool] = False

    input: Rel
    blocking: bool = False

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return self.input.properties


@attrs.frozen(eq=False, repr=False)
class SimpleCapture(Rel):
    """Several streams put together as they come. Output: the input's columns; no order, the distribution stays."""

    has_own_extension: ClassVar[bool] = False

    input: Rel

    def _derive_schema(self) -> NamedStruct:
        return self.input.schema

    def _derive_properties(self) -> Properties:
        return self.input.properties.unordered()
