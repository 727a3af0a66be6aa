"""The bindings expressions: what evaluates to a bag or a list of binding tuples.

`Scan`, `CrossJoin` and `Filter` are those of the document; the others it defers, and they are defined here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal, get_args

import attrs

from substrait_dsl.errors import InvalidArgumentError, SchemaError, quote, shorten
from substrait_dsl.partiql.expressions import Lit
from substrait_dsl.partiql.node import BindingsExpr, Form, Node, ValueExpr, Words, part

JoinHow = Literal["inner", "left", "right", "full"]
Direction = Literal["asc", "desc"]
Nulls = Literal["nulls_first", "nulls_last"]
AggregateFunction = Literal["count", "sum", "avg", "min", "max"]

_HOW = Words("kind of join", get_args(JoinHow), "partiql-join")
_DIRECTION = Words("direction", get_args(Direction))
_NULLS = Words("place of nulls", get_args(Nulls), "partiql-nulls")
_AGGREGATE = Words("aggregate", get_args(AggregateFunction), "partiql-aggregate")


@attrs.frozen
class _Iteration(BindingsExpr):
    """A tuple for each part of a value: the part, and its index or name."""

    value: ValueExpr = part(Form.VALUE)
    as_: str = part(Form.NAME)
    at: str | None = part(Form.MAYBE_NAME, default=None)
    by: str | None = part(Form.MAYBE_NAME, default=None)

    def _bound_names(self) -> Iterable[str]:
        return (name for name in (self.as_, self.at, self.by) if name is not None)


@attrs.frozen
class Scan(_Iteration):
    """``(scan e as at by)``: a tuple for each element of a bag or list; one tuple for any other value.

    A list makes a list of tuples, all others a bag. `at` is the index in a list, from 0; else it is missing, as `by`
    is where the value has no record ids.
    """

    head: ClassVar[str] = "scan"


@attrs.frozen
class Unpivot(_Iteration):
    """``(unpivot e as at by)``: a tuple for each attribute of a struct: its value, its name; a bag."""

    head: ClassVar[str] = "unpivot"


@attrs.frozen
class CrossJoin(BindingsExpr):
    """``(cross_join l r)``: every tuple of the left with every one of the right, which may refer to it; a bag."""

    head: ClassVar[str] = "cross_join"
    left: BindingsExpr = part(Form.BINDINGS)
    right: BindingsExpr = part(Form.BINDINGS)

    def _free(self) -> frozenset[str]:
        return self.left.free_among(self.right)


@attrs.frozen
class Join(BindingsExpr):
    """``(join how l r p)``: the pairs for which a condition is true; a bag.

    Where a tuple has no partner and the join keeps it, the partner's variables are null. The right side of an inner or
    left join may refer to the variables of the left side.
    """

    head: ClassVar[str] = "join"
    how: JoinHow = part(Form.WORD, _HOW)
    left: BindingsExpr = part(Form.BINDINGS)
    right: BindingsExpr = part(Form.BINDINGS)
    condition: ValueExpr | None = part(Form.MAYBE_VALUE, default=None)

    def _validate(self) -> None:
        super()._validate()
        used = self.right.free & set(self.left.variables)
        if used and self.how in ("right", "full"):
            raise SchemaError(
                f"the right side of a {self.how} join cannot refer to the left side's {quote(sorted(used))}"
            )

    def _free(self) -> frozenset[str]:
        inside = frozenset[str]() if self.condition is None else self.condition.free
        return self.left.free_among(self.right) | inside - set(self.variables)


@attrs.frozen
class Filter(BindingsExpr):
    """``(filter p b)``: the tuples for which a condition is true; a bag or a list, as they are."""

    head: ClassVar[str] = "filter"
    condition: ValueExpr = part(Form.VALUE)
    source: BindingsExpr = part(Form.BINDINGS)

    def _free(self) -> frozenset[str]:
        return self.source.free_among(self.condition)


@attrs.frozen
class _Cut(BindingsExpr):
    """Some of the tuples. Their number does not depend on the tuples; a constant is 0 or more."""

    count: ValueExpr = part(Form.VALUE)
    source: BindingsExpr = part(Form.BINDINGS)

    def _validate(self) -> None:
        super()._validate()
        known = self.count.value if isinstance(self.count, Lit) else 0
        if isinstance(known, bool) or not isinstance(known, int) or known < 0:
            raise InvalidArgumentError(f"expected a number of tuples, 0 or more, got {shorten(repr(known))}")


@attrs.frozen
class Limit(_Cut):
    """``(limit n b)``: the first n tuples of a list, any n of a bag. The number sees no variable of the tuples."""

    head: ClassVar[str] = "limit"


@attrs.frozen
class Offset(_Cut):
    """``(offset n b)``: all but the first n tuples of a list, or any n of a bag."""

    head: ClassVar[str] = "offset"


@attrs.frozen
class SortKey(Node):
    """``(e asc nulls_last)``: a sort key. Null and missing sort alike, at the end that it names."""

    called: ClassVar[str] = "a key, `((id f) asc)`"
    key: ValueExpr = part(Form.VALUE)
    direction: Direction = part(Form.WORD, _DIRECTION, default="asc")
    nulls: Nulls = part(Form.WORD, _NULLS)

    @nulls.default
    def _usual(self) -> Nulls:
        return "nulls_last" if self.direction == "asc" else "nulls_first"


@attrs.frozen
class OrderBy(BindingsExpr):
    """``(order_by ((e desc) (e asc nulls_first)) b)``: the tuples in an order; a list."""

    head: ClassVar[str] = "order_by"
    keys: tuple[SortKey, ...] = part(Form.NODES, SortKey)
    source: BindingsExpr = part(Form.BINDINGS)

    def _validate(self) -> None:
        super()._validate()
        if not self.keys:
            raise InvalidArgumentError("it has no key")

    def _free(self) -> frozenset[str]:
        return self.source.free_among(*self.keys)


@attrs.frozen
class Named(Node):
    """``(name e)``: a new variable."""

    called: ClassVar[str] = "a variable and its value, `(name (id f))`"
    name: str = part(Form.NAME)
    value: ValueExpr = part(Form.VALUE)


@attrs.frozen
class MapLet(BindingsExpr):
    """``(map_let ((name e) ..) b)``: the tuples with further variables; a bag or a list, as they are."""

    head: ClassVar[str] = "map_let"
    named: tuple[Named, ...] = part(Form.NODES, Named)
    source: BindingsExpr = part(Form.BINDINGS)

    def _bound_names(self) -> Iterable[str]:
        return (*self.source.variables, *(one.name for one in self.named))

    def _free(self) -> frozenset[str]:
        return self.source.free_among(*self.named)


@attrs.frozen
class Measure(Node):
    """``(name count e)``: an aggregate over the tuples of a group; it disregards null and missing."""

    called: ClassVar[str] = "an aggregate, `(name count (id f))`"
    name: str = part(Form.NAME)
    function: AggregateFunction = part(Form.WORD, _AGGREGATE)
    value: ValueExpr = part(Form.VALUE)


@attrs.frozen
class GroupBy(BindingsExpr):
    """``(group_by ((k e)) ((n count e)) group_as b)``: a tuple for each combination of keys; a bag.

    A missing key counts as null. `group_as` is a bag of the group's tuples, as structs. Without keys there is one
    group, also of no tuples.
    """

    head: ClassVar[str] = "group_by"
    keys: tuple[Named, ...] = part(Form.NODES, Named)
    measures: tuple[Measure, ...] = part(Form.NODES, Measure)
    group_as: str | None = part(Form.MAYBE_NAME)
    source: BindingsExpr = part(Form.BINDINGS)

    def _bound_names(self) -> Iterable[str]:
        more = () if self.group_as is None else (self.group_as,)
        return (*(one.name for one in self.keys), *(one.name for one in self.measures), *more)

    def _validate(self) -> None:
        super()._validate()
        if not self.variables:
            raise InvalidArgumentError("it has no key, no measure and no name for the group")

    def _free(self) -> frozenset[str]:
        return self.source.free_among(*self.keys, *self.measures)


AnyBindingsExpr = Scan | CrossJoin | Filter | Join | Limit | Offset | OrderBy | MapLet | GroupBy | Unpivot
"""All bindings expressions."""
