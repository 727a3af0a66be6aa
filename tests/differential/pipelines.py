"""Random pipelines, built with the fluent API: what they compute is determined, up to the order of unsorted rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import substrait_dsl as sd
from substrait_dsl.algebra import relations as rl
from substrait_dsl.algebra import types as t
from substrait_dsl.algebra.node import walk
from substrait_dsl.algebra.rules import JOIN_TYPES, LATERAL_JOIN_TYPES, SET_OPS
from tests.differential.expressions import Column, Expressions, columns_of, f
from tests.differential.measures import Rel
from tests.differential.steps import Steps
from tests.differential.tables import VALUES

MAX_COLUMNS = 7
MAX_ROWS = 1500
"""How many rows a join may have at most; what would have more is not joined."""


class Pipelines(Steps):
    """Builds pipelines."""

    def pipeline(self) -> Rel:
        """A pipeline of one to four steps."""
        relation = self.relation(self.random.randint(1, 4), (), 2)
        if self.chance(0.3):
            relation = relation.sort(*self.total_order(relation))
        return relation

    def relation(self, steps: int, outer: Sequence[Column], depth: int) -> Rel:
        """A relation of so many steps, with subqueries and other inputs as deep, inside rows that it may refer to."""
        relation = self.start(outer)
        for _ in range(steps):
            if len(relation.schema) > MAX_COLUMNS:
                relation = relation.emit(self.random.sample(range(len(relation.schema)), 5))
            step = self.random.choices(STEPS, WEIGHTS)[0]
            made = step(self, relation, outer, depth)
            if made is not None:
                relation = made
                self.kept.append(made)
        return relation

    def inner(self, depth: int) -> Callable[[Sequence[Column]], Rel] | None:
        """Builds the relations in subqueries; None where they would be too deep."""
        if depth <= 0:
            return None
        return lambda outer: self.correlated(self.start(outer), outer, depth - 1)

    def correlated(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """A short relation that depends on rows outside, more often than not."""
        if outer and self.chance(0.8):
            relation = self.filter(relation, outer, depth)
            if self.chance(0.15):  # one row, also where there is none that passes
                measures: dict[str, Any] = {self.name(): self.measure(relation, outer, depth)}
                relation = relation.aggregate(**measures)
                return self.relation_of(relation, self.random.choice((0, 1, 2)), outer, depth, STEPS_OF_ONE_ROW)
        return self.relation_of(relation, self.random.choice((0, 0, 1, 2)), outer, depth)

    def relation_of(
        self, relation: Rel, steps: int, outer: Sequence[Column], depth: int, choices: Sequence[Step] | None = None
    ) -> Rel:
        """The relation with simple steps more."""
        for _ in range(steps):
            step = self.random.choice(choices or INNER_STEPS)
            made = step(self, relation, outer, depth)
            if made is not None:
                relation = made
                self.kept.append(made)
        return relation

    def other(self, depth: int) -> Rel:
        """Another input, short."""
        return self.relation(self.random.choice((0, 0, 0, 1, 2)), (), min(depth - 1, 1))

    # --- several inputs

    def pair(self, relation: Rel, depth: int) -> Rel | None:
        """Another input for a join, if both together do not have too many rows."""
        other = relation if self.chance(0.1) else self.other(depth)
        return other if self.size(relation) * self.size(other) <= MAX_ROWS else None

    def condition(self, depth: int, outer: Sequence[Column], left: Rel, right: Rel) -> Callable[[Any, Any], Any]:
        """A condition of a join: equal columns, something else, or both."""
        pairs = pairs_of(left, right)

        def on(x: Any, y: Any) -> Any:
            columns = [*columns_of(x, left), *columns_of(y, right)]
            expressions = Expressions(self.random, columns, outer, self.inner(depth) if self.chance(0.15) else None)
            if outer and self.chance(0.1):
                return Expressions(self.random, outer, (), None).boolean(1)
            if not pairs or self.chance(0.25):
                return expressions.boolean()
            condition = None
            for a, b in self.random.sample(pairs, min(len(pairs), self.random.choice((1, 1, 2)))):
                test = x[a] == y[b] if self.chance(0.85) else f.is_not_distinct_from(x[a], y[b])
                condition = test if condition is None else condition & test
            return condition & expressions.boolean(1) if self.chance(0.3) else condition

        return on

    def post_filter(self, depth: int) -> Any:
        if not self.chance(0.1):
            return None
        return lambda r: ~f.is_null(r[0]) | f.is_null(r[-1])

    def join(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel | None:
        other = self.pair(relation, depth)
        if other is None:
            return None
        how = self.random.choice(JOIN_TYPES)
        if how.endswith("single"):
            return self.single(relation, other, how)
        named: dict[str, Any] = {"mark": self.name()} if how.endswith("mark") else {}
        rows = self.size(relation) * self.size(other)
        if self.chance(0.25):
            made = self.physical(relation, other, how, named)
            return None if made is None else self.sized(made, rows)
        on = self.condition(depth, outer, relation, other)
        if self.chance(0.1):
            return self.sized(relation.nested_loop_join(other, on, how, **named), rows)
        return self.sized(relation.join(other, on, how, **named, post_filter=self.post_filter(depth)), rows)

    def physical(self, left: Rel, right: Rel, how: Any, named: dict[str, Any]) -> Rel | None:
        pairs = pairs_of(left, right)
        if not pairs:
            return None
        comparisons: tuple[Any, ...] = ("eq", "eq", "is_not_distinct_from", "might_equal")
        keys = [sd.join_key(a, b, self.random.choice(comparisons)) for a, b in self.random.sample(pairs, 1)]
        residual = self.condition(0, (), left, right) if self.chance(0.3) else None
        if self.chance(0.5):
            build: Any = self.random.choice(("left", "right"))
            return left.hash_join(right, keys, how, residual=residual, build=build, **named)
        # an order that is known would have to be that of the keys
        return left.simple_capture().merge_join(right.simple_capture(), keys, how, residual=residual, **named)

    def single(self, left: Rel, right: Rel, how: Any) -> Rel | None:
        """A single join that never meets a second match: the rows looked up have a key of their own."""
        pairs = pairs_of(left, right)
        if not pairs:
            return None
        a, b = self.random.choice(pairs)
        many: dict[str, Any] = {self.name(): lambda _: f.count()}
        if how == "left_single":
            grouped = right.aggregate(b, **many)
            return left.join(grouped, lambda x, y: x[a] == y[0], how)
        grouped = left.aggregate(a, **many)
        return grouped.join(right, lambda x, y: x[0] == y[b], how)

    def cross(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel | None:
        other = self.pair(relation, depth)
        rows = 0 if other is None else self.size(relation) * self.size(other)
        return None if other is None else self.sized(relation.cross(other), rows)

    def lateral(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel | None:
        if self.size(relation) > MAX_ROWS // 11:
            return None
        how = self.random.choice(LATERAL_JOIN_TYPES)
        built: list[Rel] = []

        def right(r: Any) -> Rel:
            around = [*columns_of(r, relation), *outer]
            made = self.correlated(self.start(around), around, depth - 1)
            if how == "left_single":
                one: dict[str, Any] = {self.name(): self.measure(made, around, 0)}
                made = made.aggregate(**one)
            built.append(made)
            return made

        def on(x: Any, y: Any) -> Any:
            columns = [*columns_of(x, relation), *columns_of(y, built[-1])]
            return Expressions(self.random, columns, outer).boolean(1)

        condition: Any = on if self.chance(0.5) else True
        named: dict[str, Any] = {"mark": self.name()} if how.endswith("mark") else {}
        made = relation.lateral_join(right, condition, how, **named)
        return self.sized(made, 11 * self.size(relation))

    def set_op(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel | None:
        kept = [number for number, field in enumerate(relation.schema) if field.type.as_required() in VALUES][:4]
        if not kept:
            return None
        relation = relation.emit(kept)
        others = [self.alike(relation, outer, depth) for _ in range(self.random.choice((1, 1, 2)))]
        if outer and any(map(one_of_all, (relation, *others))):
            return None
        made = relation.set_op(self.random.choice(SET_OPS), *others)
        return self.sized(made, sum(map(self.size, (relation, *others))))

    def alike(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        """Another relation with columns of the same types."""
        if self.chance(0.6):
            other = self.filter(relation, outer, 0) if self.chance(0.7) else relation
            return other.filter(lambda r: self.expressions(r, other, outer, depth).boolean(1))
        other = self.other(depth)

        def column(type_: t.Type) -> Callable[[Any], Any]:
            return lambda r: self.expressions(r, other, outer, 0).of(type_, 1)

        return other.select(**{self.name(): column(type_.as_required()) for type_ in relation.schema.types})

    def distinct(self, relation: Rel, outer: Sequence[Column], depth: int) -> Rel:
        return relation.distinct()


def one_of_all(relation: Rel) -> bool:
    """Whether there is an aggregate over all rows in a relation.

    Where one depends on an outer row, and its rows are subtracted or intersected, DuckDB forgets that it has a row even
    if there are none below it.
    """
    return any(isinstance(node, rl.Aggregate) and () in (node.grouping_sets or ((),)) for node in walk(relation._rel))


def pairs_of(left: Rel, right: Rel) -> list[tuple[int, int]]:
    """The pairs of columns that can be compared."""
    return [
        (a, b)
        for a, mine in enumerate(left.schema)
        for b, theirs in enumerate(right.schema)
        if mine.type.matches(theirs.type)
    ]


Step = Callable[[Pipelines, Rel, Sequence[Column], int], Rel | None]

CHOICES: dict[Step, int] = {
    Pipelines.filter: 9, Pipelines.project: 10, Pipelines.emit: 2, Pipelines.sort: 4, Pipelines.top_n: 3,
    Pipelines.aggregate: 8, Pipelines.window: 6, Pipelines.expand: 3, Pipelines.unnest: 3, Pipelines.move: 2,
    Pipelines.join: 12, Pipelines.cross: 1, Pipelines.lateral: 5, Pipelines.set_op: 7, Pipelines.distinct: 1,
}  # fmt: skip
STEPS, WEIGHTS = tuple(CHOICES), tuple(CHOICES.values())
INNER_STEPS: tuple[Step, ...] = (
    Pipelines.filter, Pipelines.project, Pipelines.aggregate, Pipelines.sort, Pipelines.distinct, Pipelines.set_op,
    Pipelines.join,
)  # fmt: skip
"""The steps inside subqueries."""
STEPS_OF_ONE_ROW = tuple(step for step in INNER_STEPS if step is not Pipelines.set_op)
"""Those after rows have been folded into one: in a set operation DuckDB loses that row where there were none."""


def pipeline(seed: int, number: int) -> Rel:
    """The pipeline of this number, the same for the same seed."""
    return Pipelines(Random(f"{seed}/{number}")).pipeline()


__all__ = ["pipeline"]
