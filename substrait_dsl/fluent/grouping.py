"""Aggregates: keys, grouping sets and measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from substrait_dsl.algebra import relations as rl
from substrait_dsl.errors import InvalidArgumentError, SchemaError, TypeMismatchError, naming, quoted, suggestion
from substrait_dsl.fluent.calls import MeasureBase, measure_node
from substrait_dsl.fluent.columns import called, keys_of, require_distinct, rows, sort_keys
from substrait_dsl.fluent.expr import ExprBase
from substrait_dsl.fluent.schemas import DynRow, Schema
from substrait_dsl.fluent.scope import Scope

if TYPE_CHECKING:
    from substrait_dsl.fluent.relation import Relation

S = TypeVar("S", bound=Schema, covariant=True, default=DynRow)

SET_INDEX = "grouping_set"
"""What the column that numbers the grouping sets is called."""


def aggregate(
    rel: rl.Rel,
    keys: Sequence[Any],
    grouping_sets: Sequence[Sequence[str | int]] | None,
    measures: Mapping[str, Any],
) -> rl.Aggregate:
    """The aggregate of the algebra; see `Relation.aggregate`."""
    scope = Scope("aggregate", (rel,))
    named = keys_of(keys, scope)
    key_names = [name for name, _ in named]
    sets = _positions(grouping_sets, key_names)
    names = [*key_names, *measures]
    if len(sets) > 1:
        names.append(SET_INDEX)
    require_distinct(names)
    nodes = tuple(measure_node(_measure(name, value, scope), scope, sort_keys) for name, value in measures.items())
    return rl.Aggregate(rel, tuple(e for _, e in named), sets, nodes, tuple(names), anchor=scope.anchor)


def _measure(name: str, value: Any, scope: Scope) -> MeasureBase:
    if callable(value):
        value = called(value, scope, rows(scope))
    if isinstance(value, MeasureBase):
        return value
    if isinstance(value, ExprBase):
        raise TypeMismatchError(
            f'measure "{name}" is no aggregate function but an expression',
            hint="wrap it, for example f.sum(...); to group by it, pass it as a key",
        )
    raise InvalidArgumentError(f'measure "{name}" must be an aggregate function, got {value!r}')


def _positions(sets: Sequence[Sequence[str | int]] | None, keys: list[str]) -> tuple[tuple[int, ...], ...]:
    """Grouping sets as positions of keys."""
    if sets is None:
        return (tuple(range(len(keys))),) if keys else ()
    if not sets:
        raise SchemaError("grouping_sets is empty", hint="leave it out to group by all keys; [()] makes one group")
    return tuple(_key_set(each, number, keys) for number, each in enumerate(sets))


def _key_set(each: Sequence[str | int], number: int, keys: list[str]) -> tuple[int, ...]:
    if isinstance(each, str):
        raise InvalidArgumentError(f"grouping set {number} must be a tuple of keys, got {each!r}", hint=f'("{each}",)')
    positions: list[int] = []
    for key in each:
        position = keys.index(key) if key in keys else key
        if not isinstance(position, int) or not 0 <= position < len(keys):
            raise SchemaError(
                f"grouping set {number} names {key!r}, which is no key; the keys are {quoted(keys)}",
                hint=suggestion(key, keys) if isinstance(key, str) else None,
            )
        if position in positions:
            raise SchemaError(f"grouping set {number} names {key!r} twice")
        positions.append(position)
    return tuple(positions)


class GroupBy(Generic[S]):
    """The keys of an aggregate that waits for its measures."""

    __slots__ = ("_keys", "_relation")

    def __init__(self, relation: Relation[S], keys: Sequence[Any]) -> None:
        self._relation = relation
        self._keys = keys

    def agg(self, **measures: MeasureBase | Callable[[S], MeasureBase]) -> Relation[DynRow]:
        """One row for each different combination of the keys. See `Relation.aggregate`."""
        with naming("group_by"):
            return self._aggregate(None, measures)

    def rollup(self, **measures: MeasureBase | Callable[[S], MeasureBase]) -> Relation[DynRow]:
        """Grouping sets of all keys, of all but the last, and so on to none."""
        with naming("rollup"):
            size = len(self._keys)
            return self._aggregate([tuple(range(width)) for width in range(size, -1, -1)], measures)

    def cube(self, **measures: MeasureBase | Callable[[S], MeasureBase]) -> Relation[DynRow]:
        """Grouping sets of every subset of the keys, larger ones first."""
        with naming("cube"):
            size = len(self._keys)
            return self._aggregate([s for w in range(size, -1, -1) for s in combinations(range(size), w)], measures)

    def _aggregate(self, sets: Sequence[Sequence[int]] | None, measures: Mapping[str, Any]) -> Relation[DynRow]:
        from substrait_dsl.fluent.relation import Relation

        if not self._keys:
            raise InvalidArgumentError("expected at least one key", hint="aggregate(...) folds all rows into one")
        return Relation(aggregate(self._relation._rel, self._keys, sets, measures))
